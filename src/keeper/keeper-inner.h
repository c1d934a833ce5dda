/* SPDX-License-Identifier: ISC */

/* The inner process: the parent of the program (keeper.h). */
#ifndef KEEPER_INNER_H
#define KEEPER_INNER_H

#include <stdbool.h>
#include <sys/types.h>

struct keeper;

/* Start it in the mode keeper->mode and let it prepare; sets keeper->inner.
 * Negative errno: this mode is not to be had here, and nothing is left. */
int keeper_inner_start(struct keeper *keeper);

/* Let it start the program. */
void keeper_inner_go(const struct keeper *keeper);

/* Of a command, from the inner process to the keeper: 0 when the program is
 * there, then how it ended, as waitpid(2) says. False: it is gone. */
void keeper_inner_say(int number);
bool keeper_inner_hear(int *ret_number);

#endif
