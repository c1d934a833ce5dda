/* SPDX-License-Identifier: ISC */

/*
 * Commands that the daemon runs for people: checks, setup, notices, the pool.
 * They are started below the program keeper, so that nothing that they start
 * outlives them, whether they end, take too long, are cancelled or lose the
 * process that started them.
 *
 * The keeper leads the process group of the command, and is what child.h and
 * errands see: a signal to the group reaches the command, the exit status or
 * the signal that ended it is that of the command, and SIGKILL to the keeper
 * ends everything. No user namespace is used, because ssh and sudo must work in
 * a command: root gets a pid namespace, others a cgroup or a subreaper.
 */
#ifndef KEPT_H
#define KEPT_H

/* Left running when the process that starts it ends; it ends by itself. */
#define KEPT_ALONE 1u

/* The argument vector that runs `sh -c command`, or a program with arguments,
 * below a keeper; for strv_free(). To be started by this process itself. If the
 * keeper is not installed, it cannot be started.
 */
char **kept_shell(const char *command, unsigned flags);
char **kept_argv(const char *const *argv, unsigned flags);

/* The modes of such a keeper, for its option --mode. */
const char *kept_modes(void);

#endif
