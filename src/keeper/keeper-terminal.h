/* SPDX-License-Identifier: ISC */

/* The terminal of a pane. */
#ifndef KEEPER_TERMINAL_H
#define KEEPER_TERMINAL_H

/* Make the calling process's group the one that the terminal talks to: keys
 * and changes of size reach it and not the keeper. All signals must be blocked.
 * Without a terminal this does nothing. */
void keeper_terminal_take(void);

/* By the parent of that process: leave the terminal's session. Then no process
 * above the group is in its session, and Ctrl-Z does not stop the group: there
 * is no shell that would let it go on. */
void keeper_terminal_leave(void);

#endif
