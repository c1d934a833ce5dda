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

/* Of the whole answer of a tool, without its numbers, for which it may be any
 * text; never 0. */
uint64_t error_answer_hash(const char *text, size_t len);

/* Of one line, with the last part of each path: the same error in another file
 * is another one. */
uint64_t error_line_hash(const char *line, size_t len);

#endif
