/* SPDX-License-Identifier: ISC */

/*
 * What a check, a test or llmc itself said when the end of a turn was refused:
 * which failure it is, how much of it there is, and the line to quote.
 *
 * Two failures are the same if the same tests failed, by their names. Where no
 * test is named, the lines that tell of it count, each with the two before it,
 * without numbers, times and addresses. The random examples of a property test
 * do not count.
 */
#ifndef FAILURE_TEXT_H
#define FAILURE_TEXT_H

struct buf;

#define FAILURE_NUMBERS 12 /* that are compared */

struct failure {
	uint64_t key; /* never 0 */
	bool named;
	int64_t names; /* tests */
	int64_t lines; /* that tell of it */
	int64_t stated; /* "3 failed", "9 errors": the sum; -1 = not said */
	int64_t ok; /* lines that tell of success, and "3 passed" */
	double coverage; /* NAN = not said */
	/* Of the line that failed and those before it, to see whether one of
	 * them moves. */
	double numbers[FAILURE_NUMBERS];
	size_t number_count;
};

void failure_read(const char *text, struct failure *ret_failure);

/* Append the line that failed: never a ruler or a sum, if there is another. */
void failure_quote(const char *text, struct buf *out);

#endif
