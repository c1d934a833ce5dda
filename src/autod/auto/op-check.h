/* SPDX-License-Identifier: ISC */

/* check_command on the work of a turn: passed, it is finished; failed, the
 * worker is told why in its next prompt. */
#ifndef OP_CHECK_H
#define OP_CHECK_H

struct agent;
struct auto_mode;

/* head: the worker's HEAD; its worktree is clean. Nothing must have the
 * worker. */
void
op_check_begin(struct auto_mode *mode, struct agent *agent, const char *head);

#endif
