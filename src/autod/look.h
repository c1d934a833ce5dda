/* SPDX-License-Identifier: ISC */

/*
 * The book for programs that do not link SQLite: read as it was committed last,
 * without the lock, whether or not a daemon runs or answers.
 */
#ifndef LOOK_H
#define LOOK_H

struct workspace;

/* Print what was asked for, in JSON. Returns the exit status of the program; a
 * failure is printed on standard error.
 *
 *   state   the document of state.h; {} = there is none yet
 *   others  see look.c; with their parameters on standard input */
int look_run(const struct workspace *workspace, const char *name);

#endif
