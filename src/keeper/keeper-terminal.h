/* SPDX-License-Identifier: ISC */

/* The terminal of a pane. */
#ifndef KEEPER_TERMINAL_H
#define KEEPER_TERMINAL_H

#include <sys/types.h>

/* Make the calling process's group the one that the terminal talks to: keys
 * and changes of size reach it and not the keeper. All signals must be blocked.
 * Without a terminal this does nothing. */
void keeper_terminal_take(void);

/* By the parent of the process that leads the group: continue the group if one
 * of its processes is stopped. Its leader tells us that; but one that was
 * stopped between vfork(2) and execve(2) keeps the leader from stopping, and
 * both would wait for ever. A job of a shell has a group of its own. */
void keeper_terminal_continue(pid_t group);

#endif
