/* SPDX-License-Identifier: ISC */

/*
 * post_accept_command: once for each landing, and the next landing waits for
 * it. It outlives a daemon that is killed; one that is told to stop ends it,
 * and the next daemon runs it again.
 */
#ifndef POST_ACCEPT_H
#define POST_ACCEPT_H

struct auto_mode;
struct task;

/* The task has landed, and no worker has it any more. */
void post_accept_begin(struct auto_mode *mode, struct task *task);
/* Begin it for a task that landed and whose command has not been run. */
void post_accept_due(struct auto_mode *mode);
void post_accept_stop(struct auto_mode *mode);
/* Forget it; a command that runs goes on, and the next daemon finds it. */
void post_accept_drop(struct auto_mode *mode);

#endif
