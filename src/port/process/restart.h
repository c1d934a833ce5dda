/* SPDX-License-Identifier: ISC */

/*
 * llmc restart: a process replaces its program with the one that is on disk
 * now. It keeps its pid, its lock and its instance, so nobody can take its
 * place meanwhile, and nobody takes it for dead.
 */
#ifndef RESTART_H
#define RESTART_H

#include <stdbool.h>
#include <sys/types.h>

#include "id.h"

/* What the heartbeat says in between: the overseer allows as much time as for a
 * start. */
#define RESTART_PHASE "restarting"

/* What is handed on. A descriptor of 0: there is none. */
struct restart {
	int count; /* restarts of this process, this one included */
	int lock;
	int kept; /* a channel (relay.h) with what else is kept */
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

#endif
