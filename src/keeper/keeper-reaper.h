/* SPDX-License-Identifier: ISC */

/* A subreaper: what loses its parent below us becomes our child. */
#ifndef KEEPER_REAPER_H
#define KEEPER_REAPER_H

#include <stdbool.h>

/* Become one. Negative errno. */
int keeper_reaper_begin(void);

/* SIGKILL to every child, then to theirs, which come to us, until there is
 * none. All signals must be blocked. False if some are still there after
 * several seconds: they belong to another user, or hang in the kernel. */
bool keeper_reaper_end_all(void);

#endif
