/* SPDX-License-Identifier: ISC */

/*
 * One request while no daemon runs: read from standard input, carried out with
 * the same lock and the same code, answered on standard output.
 */
#ifndef ONESHOT_H
#define ONESHOT_H

struct core;

/* The exit status of the program: 0 when an answer was printed, also when that
 * is an error. */
int oneshot_run(struct core *core);

#endif
