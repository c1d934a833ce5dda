/* SPDX-License-Identifier: ISC */

/*
 * The verification of a task's work against its contract: when it is due, and
 * what follows from its result. Its state is a part of the task (task-run.h).
 * Pure.
 *
 *   none -> there is no contract
 *   pending -> running -> passed, and running again for another commit
 *                      -> failed: one more attempt (pending), or the end
 */
#ifndef VERIFICATION_H
#define VERIFICATION_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;
struct json_object;
struct task;

/* Set the contract of a task that has not begun; NULL = none. */
void verification_set(struct task *task, struct json_object *contract);
/* A new attempt begins: nothing of it is verified. */
void verification_attempt(struct task *task);

/* Must this commit ("" = none, NULL = any) be verified before it goes on? */
bool verification_is_due(const struct task *task, const char *commit);
/* It is about to be. Save the state before the checks run. */
void verification_begin(struct task *task);

/* Has this attempt ended with a completion report? One that was there when its
 * work was verified before counts, when the work is sent back later. */
bool verification_reported(const struct task *task);

enum verification_next {
	VERIFICATION_GO_ON,
	VERIFICATION_RETRY, /* one more attempt, marked in the task by now */
	VERIFICATION_GIVE_UP /* the task has failed, whatever may be tried */
};

/* The checks of that commit have ended with this result (artifact-check.h),
 * which is kept in the task. Saved before anything else is done, a retry
 * happens once. */
enum verification_next verification_end(
    struct task *task, struct json_object *result, const char *commit);

/* Was a contract that asks for anything met by this attempt? */
bool verification_is_met(const struct task *task);
/* Has the task a result, even without a commit of its own? Its contract is met,
 * work of agents that it has spawned has landed, or another agent spawned it
 * and it has reported, in whatever way. */
bool verification_has_result(const struct task *task);
/* Does the agent of a task that another agent spawned report that it could not
 * do it, or not all of it? Without a commit it has failed then, and is not
 * tried again; why is appended. */
bool verification_gave_up(const struct task *task, struct buf *why);

/* Why it failed: a sentence, appended. */
void verification_reason(const struct task *task, struct buf *out);

/* Is the attempt one that follows a failed verification? */
bool verification_is_retry(const struct task *task);
/* The prompt of such an attempt, with the reasons, appended. */
void verification_retry_text(const struct task *task, struct buf *out);

/* Has it failed its contract in a way that concerns only the agent that asked
 * for it, and nobody else? */
bool verification_is_parents(const struct task *task);

#endif
