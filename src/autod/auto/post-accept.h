/* SPDX-License-Identifier: ISC */

/*
 * post_accept_command: runs once for each move of the branch, for all tasks
 * that landed with it, and the next move waits for it. It survives a daemon
 * that is killed; a daemon that is asked to stop ends it, and the next daemon
 * runs it again.
 */
#ifndef POST_ACCEPT_H
#define POST_ACCEPT_H

#include <stdbool.h>

struct auto_mode;
struct task;

/* Begin it for a move whose tasks no worker has any more, and whose command has
 * not run yet. Where there is no command, the tasks are settled at once. */
void post_accept_due(struct auto_mode *mode);

/* Does it run, or has it yet to run? */
bool post_accept_pending(const struct auto_mode *mode);

/* A commit of its move was taken back, or cannot be: the policy wanted that. */
void post_accept_reverted(struct auto_mode *mode, struct task *task);
void post_accept_not_reverted(
    struct auto_mode *mode, const char *commit, const char *words);
void post_accept_stop(struct auto_mode *mode);

/* Forget it; a running command continues, and the next daemon finds it. */
void post_accept_drop(struct auto_mode *mode);

#endif
