/* SPDX-License-Identifier: ISC */

/* The program, as a child of the inner process (keeper.h). */
#ifndef KEEPER_PROGRAM_H
#define KEEPER_PROGRAM_H

#include <stdbool.h>

struct keeper;

/* Become it without keeping it, with the standard streams only. scoped: and
 * closed to abstract unix sockets of others; filter: where that of
 * keeper-filter.h is open, -1 = nowhere. The exit status if that fails. */
int keeper_program_become(char **argv, bool scoped, int filter);

/* Start it, pass signals on to it, collect orphans, and exit with its status
 * when it has ended, or when the keeper has. */
_Noreturn void keeper_program_run(const struct keeper *keeper);

#endif
