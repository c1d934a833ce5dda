/* SPDX-License-Identifier: ISC */

/*
 * What the parts of the program keeper share.
 *
 * There are two processes. The keeper is what others know: they signal it, wait
 * for it and see its exit status. It starts the inner process, which starts the
 * program, collects every orphan below it and ends with the program. Each ends
 * everything when the other is killed, so that it takes the death of both at
 * once to leave something behind; in a pid namespace, where the inner process
 * is the init, not even that does.
 *
 * Only the C library, static memory, no allocation after the start.
 */
#ifndef KEEPER_H
#define KEEPER_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define KEEPER_FAILED 125 /* exit status: nothing was started */

/* Between keeper and inner process: the keeper is gone, end everything. */
#define KEEPER_ORPHANED (SIGRTMIN)

enum keeper_mode {
	KEEPER_NAMESPACE, /* a pid namespace: the kernel ends everything */
	KEEPER_CGROUP, /* a control group with cgroup.kill */
	KEEPER_SCOPE, /* subreaper; Landlock protects us from the program */
	KEEPER_REAPER, /* subreaper alone */
	KEEPER_BOX, /* the program is bwrap with a pid namespace */
	KEEPER_MODE_COUNT
};

struct keeper {
	bool terminal;
	bool command; /* of the daemon: keeper-program.h */
	pid_t parent; /* with whom a command ends; 0: nobody */
	const char *record; /* NULL: none */
	const char *mark; /* NULL: none */
	const char *cgroup; /* NULL: made if the mode needs one */
	enum keeper_mode modes[KEEPER_MODE_COUNT]; /* in the order to try */
	int mode_count;
	char **argv; /* of the program */

	enum keeper_mode mode; /* in force */
	pid_t inner; /* its pid for the keeper */
	pid_t pid, group; /* of the keeper of a command */
	sigset_t mask; /* of the program: before we blocked everything */
};

/* "namespace", ... */
const char *keeper_mode_word(enum keeper_mode mode);

#endif
