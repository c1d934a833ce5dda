/* SPDX-License-Identifier: ISC */

/*
 * One request while no daemon runs: read from standard input, handled with the
 * same lock and the same code, answered on standard output.
 */
#ifndef ONESHOT_H
#define ONESHOT_H

struct core;

/* Returns the exit status of the program: 0 if an answer was printed, even if
 * it is an error. */
int oneshot_run(struct core *core);

#endif
