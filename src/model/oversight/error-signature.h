/* SPDX-License-Identifier: ISC */

/*
 * What stays the same when an error happens again: its text without paths,
 * numbers, hashes, addresses and times, which become <path>, <n>, <hash> and
 * <addr>. Runs of blanks become one, terminal escapes go.
 *
 * A number is one that stands alone ("line 12", "12ms"): the codes TS2304 and
 * E0308 are two errors. A bare exit code ("Exit code 1", which is how grep says
 * that it found nothing) is no error.
 */
#ifndef ERROR_SIGNATURE_H
#define ERROR_SIGNATURE_H

struct buf;

#define ERROR_SIGNATURE_BYTES 1024 /* what follows does not count */

void error_signature(const char *text, size_t len, struct buf *out);

/* The same as a number, see behaviour_hash(); 0 = it says nothing: blanks, or
 * an exit code and perhaps numbers. */
uint64_t error_signature_hash(const char *text, size_t len);

/*
 * What a check or a test printed when it failed: the lines that tell of
 * failures (all of them, where none does), in any order. The numbers are
 * normalised, so how bad it is is counted beside. Of a path the last part
 * counts: who repairs one file after another meets another failure each time.
 */
struct failure_signature {
	uint64_t hash; /* never 0 */
	int64_t lines; /* that tell of failures */
	int64_t stated; /* "3 failed", "errors: 2": the sum; 0 = not said */
};

struct failure_signature failure_signature(const char *text, size_t len);

/* Append the first line that tells of it. */
void failure_first_line(const char *text, struct buf *out);

#endif
