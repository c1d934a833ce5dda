/* SPDX-License-Identifier: ISC */

/* Landing of finished work, and what happens afterwards. The functions with
 * `void *arg` are the policies of landing.h; arg is the mode. */
#ifndef AFTER_LANDING_H
#define AFTER_LANDING_H

#include <stdbool.h>

#include "landing.h"

struct auto_mode;
struct event;
struct landing_item;

/* The worker has finished: land its work, now or when the wait is over. */
void after_landing_begin(struct auto_mode *mode, struct agent *agent);
/* Begin the landings that waited. */
void after_landing_resume(struct auto_mode *mode);
/* EVENT_LANDED of a task: the work is on the default branch; called in the same
 * pass of the loop that saves this. */
void after_landing_published(struct auto_mode *mode, const struct event *event);
void after_landing_ended(struct auto_mode *mode, const struct landing_end *end);

enum landing_return after_landing_ejected(void *arg, struct agent *agent,
    const char *task, const char *from, bool conflict, const char *words);
bool after_landing_frees(void *arg, struct agent *agent, const char *task);
bool after_landing_keeps(void *arg, const char *task);
void after_landing_blocked(void *arg, const char *class, const char *worker,
    const char *task, const char *reason);
void after_landing_red(void *arg, const char *tree, const char *words);
/* A task has ended without success: if it was to fix a branch that still fails,
 * nothing can land, and that is a failure. */
void after_landing_unfixed(struct auto_mode *mode, const struct task *t);
void after_landing_not_reverted(
    void *arg, const struct landing_item *item, const char *words);
int after_landing_priority(void *arg, const char *task);

#endif
