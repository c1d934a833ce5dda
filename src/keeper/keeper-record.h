/* SPDX-License-Identifier: ISC */

/* The record: who we are, for those who clean up after us (remains.h). */
#ifndef KEEPER_RECORD_H
#define KEEPER_RECORD_H

#include <stdbool.h>

struct keeper;

/* Replace the file that the keeper's options name, if they do. ended: nothing
 * of the program is left, and the kernel has killed so often for memory.
 * Negative errno. */
int
keeper_record_write(const struct keeper *keeper, bool ended, long oom_kills);

#endif
