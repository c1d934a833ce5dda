/* SPDX-License-Identifier: ISC */

/*
 * post_accept_command: runs once for each landing, and the next landing waits
 * for it. It survives a daemon that is killed; a daemon that is asked to stop
 * ends it, and the next daemon runs it again.
 */
#ifndef POST_ACCEPT_H
#define POST_ACCEPT_H

struct auto_mode;
struct task;

/* The task has landed, and no worker has it any more. */
void post_accept_begin(struct auto_mode *mode, struct task *task);
/* Begin it for a task that has landed and whose command has not run yet. */
void post_accept_due(struct auto_mode *mode);
void post_accept_stop(struct auto_mode *mode);
/* Forget it; a running command continues, and the next daemon finds it. */
void post_accept_drop(struct auto_mode *mode);

#endif
