/* SPDX-License-Identifier: ISC */

/* What the units of this folder share. */
#ifndef AUTO_PRIVATE_H
#define AUTO_PRIVATE_H

#include "landing.h"

struct agent;
struct auto_mode;
struct event;
struct landing_item;
struct session_life;
struct task;
struct turn_facts;

/* --- after-landing.c ---------------------------------------------------- */

/* Landing of finished work, and what happens afterwards. The functions with
 * `void *arg` are the policies of landing.h; arg is the mode. */

/* The worker has finished: land its work, now or when the wait is over. */
void after_landing_begin(struct auto_mode *mode, struct agent *agent);
/* A person decides about its work, and the worker is needed. */
void after_landing_hold(struct auto_mode *mode, struct agent *agent);
/* Begin the landings that waited. */
void after_landing_resume(struct auto_mode *mode);
/* EVENT_LANDED of a task: the work is on the default branch; called in the same
 * pass of the loop that saves this. */
void after_landing_published(struct auto_mode *mode, const struct event *event);
/* True: its task has landed, and what is to be done then is due. */
bool after_landing_ended(struct auto_mode *mode, const struct landing_end *end);

enum landing_return after_landing_ejected(void *arg, struct agent *agent,
    const char *task, const char *from, bool conflict, const char *words);
void after_landing_rejected(
    void *arg, const char *task, const char *from, const char *words);
bool after_landing_keeps(void *arg, const char *task);
void after_landing_blocked(void *arg, const char *class, const char *worker,
    const char *task, const char *reason);
void
after_landing_red(void *arg, const char *tree, const char *words, bool trial);
int after_landing_priority(void *arg, const char *task);
bool after_landing_proposes(
    void *arg, const struct landing_item *item, const char **ret_wait);
void after_landing_propose(void *arg, const struct landing_item *item);

/* --- after-landing.c, reviews ------------------------------------------- */

/*
 * auto.review: finished work is reviewed by another agent before it lands
 * (review.h). The reviewer has a task of its own, for a worker of a team beyond
 * team.max_concurrent, so that it never waits for the worker that waits for it.
 * Such a task is neither counted nor filed: what it costs is its author's, and
 * so is what is known of it.
 */

/* The worker has finished: true = its work must not land now. */
bool work_review_holds(struct auto_mode *mode, struct agent *agent);
/* Was this commit of the task approved? */
bool work_review_approved(const struct task *task, const char *commit);
/* The turn of a reviewer has ended; its worktree does not matter. */
void work_review_seen(struct agent *agent, struct turn_facts *facts);
/* The reviewer has finished; its task has its outcome. */
void work_review_said(struct auto_mode *mode, struct agent *agent);
/* Go on with the work of those that have ended; end those that nobody waits for
 * any more, and those that cannot go on. */
void work_review_tend(struct auto_mode *mode);

/* --- post-accept.c ------------------------------------------------------ */

/*
 * post_accept_command: runs once for each move of the branch, for all tasks
 * that landed with it, and the next move waits for it. It survives a daemon
 * that is killed; a daemon that is asked to stop ends it, and the next daemon
 * runs it again.
 */

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

/* --- scheduler.c -------------------------------------------------------- */

/* Assigns tasks to free workers, and detects when everything is done. */

/* Remove those that have had nothing to do for a while; now: all that have
 * nothing to do. Returns how many of these are left, which are being removed,
 * or are about to be. */
size_t team_workers_dismiss(struct auto_mode *mode, bool now);
void scheduler_init(struct auto_mode *mode);

/* Part of struct landing_policy: is its worker needed for another task? */
bool scheduler_frees(void *arg, struct agent *agent, const char *task);

/* --- pause.c ------------------------------------------------------------ */

/*
 * Pausing at the budgets, or when tasks fail alike (ladder.h), and continuing.
 * In the latter case no more tasks are given out until a person says so (llmc
 * resume) or the hooks of the repository change, instead of failing all that
 * wait: a worker without a sandbox can set hooks for all of them.
 */

/* The method auto.resume. */
void pause_register(struct auto_mode *mode);
/* An attempt at the task failed. True: like those at others before, so it must
 * not count; nothing is given out any more. */
bool pause_task_failed(
    struct auto_mode *mode, const struct task *task, const char *reason);
/* Look at the hooks of the repository. */
bool pause_hooks_changed(struct auto_mode *mode);
/* Something was used: pause at the budgets that it reached. agent: who used it,
 * NULL = a conversation that is over. */
void pause_at_budgets(struct auto_mode *mode, struct agent *agent);
/* True: its task has reached its budget, and is being parked. */
bool pause_at_task_budget(struct auto_mode *mode, struct agent *agent);
/* Check the time budgets and the end of the day. */
void pause_patrol(struct auto_mode *mode);
/* check_command fails on the branch as it is, before any work: ask a person.
 * words: with its output. */
void pause_for_trial(struct auto_mode *mode, const char *words);
/* The command, the branch or the daemon is another one: try again, if that is
 * why no task is given out. */
void pause_try_again(struct auto_mode *mode);
/* A person lets it go on: what its budget allows is granted once more, also to
 * those whose budget it shares. */
void pause_grant(const struct auto_mode *mode, struct task *task);

/* May no other task begin for now (quota.h)? Said once, and in the state. */
bool pause_holds(struct auto_mode *mode);
/* Its turn has ended, and it would go on with these words. True: it is outside
 * of auto.hours, and it gets them when they begin. */
bool
pause_at_hours(struct auto_mode *mode, struct agent *agent, const char *words);

/* --- turn-policy.c, about stalls ------------------------------------------ */

/*
 * A worker with a task shows no sign of life: interrupt it and tell it to
 * continue, then restart it, then give up. Part of struct fleet_policy; mode is
 * a struct auto_mode.
 */

bool stalls_silence(
    void *mode, struct agent *agent, const struct session_life *life);

/* When there was a last sign, by the monotonic clock, that work on tasks goes
 * on: a hook, growth of a transcript, a stage of the above, an operation or a
 * check that is running. 0 = none. */
int64_t stalls_sign_ms(const void *mode);

/* --- task-commands.c ---------------------------------------------------- */

/* The methods for tasks: task.add, task.priority, task.retry and
 * task.drop. */

void task_commands_register(struct auto_mode *mode);

/* --- holders.c ---------------------------------------------------------- */

/* The worker that has the task; NULL = none. */
struct agent *auto_holder(const struct auto_mode *mode, const struct task *t);

#endif
