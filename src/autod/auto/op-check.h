/* SPDX-License-Identifier: ISC */

/* Runs check_command after a turn: if it passes, the work is finished; if it
 * fails, the worker gets the reason in its next prompt, unless the branch may
 * fail too: then the landing queue finds out first. */
#ifndef OP_CHECK_H
#define OP_CHECK_H

struct agent;
struct auto_mode;

/* head: the worker's HEAD; its worktree is clean. No operation may be running
 * on the worker. */
void
op_check_begin(struct auto_mode *mode, struct agent *agent, const char *head);

#endif
