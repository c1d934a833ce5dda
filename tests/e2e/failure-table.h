/* SPDX-License-Identifier: ISC */

/*
 * What can break, how the tests break it, and what must happen: a row for each
 * failure of the design, and some more. docs/failures.md is generated from
 * this.
 */
#ifndef FAILURE_TABLE_H
#define FAILURE_TABLE_H

#include "base.h"

struct failure_row {
	const char *row; /* "15a" */
	const char *what;
	const char *injected;
	const char *class; /* "AUTO", "AI", "HUMAN", or one after another */
	const char *expected;
	const char *program, *test; /* test-<program>.c */
	bool fails_unrepaired; /* run again without repairs: it does not
				* recover */
};

extern const struct failure_row failure_rows[];
extern const size_t failure_row_count;

#endif
