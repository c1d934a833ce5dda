/* SPDX-License-Identifier: ISC */

/*
 * The fork for child.c: everything between the decision to run a program and
 * its first instruction. For child.c only.
 */
#ifndef CHILD_EXEC_H
#define CHILD_EXEC_H

#include <stdbool.h>
#include <sys/types.h>

struct child_spec;
struct err;

/* Our ends of the pipes, non-blocking and close-on-exec; -1 if there is none.
 * The caller closes them. */
struct child_exec_pipes {
	pid_t pid;
	int in, out, err;
	int status; /* a struct child_exec_failure, or end of file */
};

struct child_exec_failure {
	int error; /* errno */
	bool in_chdir;
};

/* Returns negative errno if no process could be created; nothing is left open
 * then. */
int child_exec(const struct child_spec *spec,
    struct child_exec_pipes *ret_pipes, struct err *err);

/* Are we a copy that runs a function (child_spec.call)? */
bool child_exec_is_copy(void);

#endif
