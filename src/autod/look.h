/* SPDX-License-Identifier: ISC */

/*
 * The book for programs that do not link SQLite: read as it was committed last,
 * without the lock, whether or not a daemon runs or answers. And the one thing
 * that llmc writes to it: a new state, by llmc doctor --rebuild.
 */
#ifndef LOOK_H
#define LOOK_H

struct err;
struct state;
struct workspace;

/* Until a daemon has made the book, the state of the version before. -ENOENT:
 * there is none yet. -ENODATA with words: there was one (root-mark.h). */
int look_read_state(
    const struct workspace *workspace, struct state *state, struct err *err);

/* Print what was asked for, in JSON. Returns the exit status of the
 * program; a failure is told on standard error.
 *
 *   state   the document of state.h; {} = there is none yet
 *   others  see look-private.h; with their parameters on standard input */
int look_run(const struct workspace *workspace, const char *name);

/* Replace the state in the book by the document on standard input; history and
 * plans stay. A damaged book is put aside: {"aside": path or null}. Takes the
 * lock. */
int look_rebuild(const struct workspace *workspace);

#endif
