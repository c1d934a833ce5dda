/* SPDX-License-Identifier: ISC */

/* The programs of llmc: where they are, and how a process becomes one of them:
 * at a restart, as the keeper of an agent, as the keeper of a command. */
#ifndef SIBLING_H
#define SIBLING_H

#include <stdbool.h>
#include <sys/types.h>

#include "id.h"

struct err;

/* The path of `llmc`, `autod`, `overseer` or `keeper`: beside our own file,
 * then in libexecdir, then on PATH. In the build tree the folders of the
 * programs are siblings. The caller frees; NULL when there is none. */
char *sibling_find(const char *name);

/* The path of any program: a name is searched in the absolute folders of PATH,
 * a path is taken as it is. The caller frees; NULL when it is no program. */
char *sibling_program(const char *name);

/*
 * llmc restart: a process replaces its program with the one that is on disk
 * now. It keeps its pid, its lock and its instance, so nobody can take its
 * place meanwhile, and nobody takes it for dead.
 */

/* What the heartbeat says in between: the overseer allows as much time as for a
 * start. */
#define RESTART_PHASE "restarting"

/* What is handed on. A descriptor of 0: there is none. */
struct restart {
	int count; /* restarts of this process, this one included */
	int lock;
	int kept; /* a channel (client.h) with what else is kept */
	char instance[ID_UUID_SIZE];
};

/* What the program before us in this process has handed on; all 0 if there was
 * none. Reaps the children that it left. Before the first child is started. */
void restart_taken(struct restart *ret_restart);

/* Before the end of this program's loop: signals wait until the next one
 * handles them (loop_signal_new). They would kill the process, and leave what
 * it is responsible for to nobody. */
void restart_hold_signals(void);

/* Become the program, with the words of this one. Returns only on failure:
 * negative errno. The descriptors must survive: restart_keep(). */
int restart_become(
    const char *program, char *const *argv, const struct restart *restart);

/* A copy of the descriptor that the next program gets; 0 on failure. */
int restart_keep(int fd);

/* Was the program that the process runs replaced or removed on disk? */
bool restart_is_due(pid_t pid);

/* What `llmc pane FILE` does: become a keeper (src/keeper/) whose program is
 * the agent that the file describes. */

/* Read argument vector and environment from the file that claude_prepare()
 * wrote, remove it, and exec. Its member "keeper" has "record" and "mark"
 * (orphans.h), "boxed" (the agent's argument vector begins with bwrap and its
 * own pid namespace), "modes" (of the keeper, to try in this order) and
 * "cgroup" (a folder to put it into); all may be missing. Returns only on
 * failure: negative errno. */
int launcher_exec(const char *file, struct err *err);

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
