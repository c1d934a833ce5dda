/* SPDX-License-Identifier: ISC */

/* Replace constants (settings-table.h) until the test has ended. */
#ifndef TUNE_H
#define TUNE_H

#include "settings-table.h"

static inline void
untune(void)
{
	tuning_read(NULL);
}

/* "slice=100 slice_tools=1"; all others are as they are for users. */
static inline void
tune(const char *text)
{
	unit_at_end(untune);
	ck_assert_msg(tuning_read(text), "%s", text);
}

#endif
