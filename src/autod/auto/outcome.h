/* SPDX-License-Identifier: ISC */

/*
 * How attempts and tasks end. An outcome is saved first, then reported to the
 * source, then the task leaves the state for the ended ones, in one
 * transaction. If this is interrupted at any point, it is repeated.
 */
#ifndef OUTCOME_H
#define OUTCOME_H

#include "task.h"

struct agent;
struct auto_mode;
struct err;

/* End the task with this outcome; reason may be NULL. */
void outcome_settle(struct auto_mode *mode, struct task *task,
    enum task_outcome outcome, const char *reason);
/* Is it done if it ends without a commit of its own? By what is on the branch,
 * by a result of another kind (verification_has_result()) or, unless it is a
 * node of a goal, by its worker's words (SAID_NO_CHANGE). */
bool outcome_is_believed(const struct task *task);
/* It ended without a commit of its own; words (may be NULL): what its worker
 * said. One that is not believed has failed. */
void outcome_without_commit(
    struct auto_mode *mode, struct task *task, const char *words);
/* It is not wanted any more: its worker is reset, which salvages its work, and
 * it is aborted; work that no worker has is salvaged, too. No person need look
 * at it. -EALREADY: it has landed or ended; -EINPROGRESS: it is landing;
 * -EBUSY: not now, its worker is busy. */
int outcome_drop(struct auto_mode *mode, struct task *task, const char *reason,
    struct err *err);
/* A person is to say whether it goes on: it is parked with its work, also if
 * that is in the landing queue. The same errors. */
int outcome_hold(struct auto_mode *mode, struct task *task, const char *reason);
/* Another host may have it: its worker is reset, which salvages its work, and
 * it waits. The same errors. */
int outcome_take_back(
    struct auto_mode *mode, struct task *task, const char *reason);
/* Its pull request needs something: it waits for a worker, who goes on from
 * there (task->from) and reads words; or (asks) for a person, who says whether
 * it does. */
void outcome_pull_back(struct auto_mode *mode, struct task *task,
    const char *words, const char *asks);
/* Report and file all tasks that have an outcome, once that is saved. */
void outcome_settle_due(struct auto_mode *mode);

/* The attempt at it failed: it is tried again, or what its goal says is done
 * about it (struct auto_policy), or it ends. What happens to its worker is up
 * to the caller. */
void outcome_task_failed(
    struct auto_mode *mode, struct task *task, const char *reason);
/* The same for one that had landed and was reverted: that is its own fault,
 * whatever happened to the other tasks. */
void
outcome_undone(struct auto_mode *mode, struct task *task, const char *reason);
/* The worker's attempt failed: its task is tried again or ends, and the worker
 * is reset. No operation may be running on the worker. */
void outcome_attempt_failed(
    struct auto_mode *mode, struct agent *agent, const char *reason);
/* The same where the worker's tree is to blame (agent.h): it is kept for
 * people, and the reason says where. */
void outcome_tree_failed(
    struct auto_mode *mode, struct agent *agent, const char *reason);
/* The same for an attempt that goes in circles: another worker gets the task,
 * and however many tasks do, others are given out. The worker must be on it. */
void outcome_attempt_stuck(
    struct auto_mode *mode, struct agent *agent, const char *reason);
/* Would the task go on without a person if no attempt were left: is it planned
 * anew, or given to another worker? Have that done, however many are left. */
bool
outcome_is_handed_on(const struct auto_mode *mode, const struct task *task);
void outcome_hand_on(
    struct auto_mode *mode, struct agent *agent, const char *reason);
/* Is neither another attempt left, nor that? */
bool outcome_is_last(const struct auto_mode *mode, const struct task *task);
/* Its work does not meet the contract of its task, which is tried once more
 * (again) or has failed, however many attempts are left. No operation may be
 * running on the worker. */
void outcome_contract_failed(
    struct auto_mode *mode, struct agent *agent, bool again);
/* The same for a worker that is being reset anyway: only the task is dealt
 * with. Work that is in the landing queue did not fail. */
void outcome_worker_failed(
    struct auto_mode *mode, struct agent *agent, const char *reason);

/* The worker was reset or removed: its task waits again, or lands without
 * it. */
void outcome_worker_lost(
    struct auto_mode *mode, struct agent *agent, const char *reason);
/* A person merged its work: its task is done. commit: its last one, which is on
 * the branch; NULL = another one is. */
void outcome_landed_elsewhere(
    struct auto_mode *mode, struct agent *agent, const char *commit);

#endif
