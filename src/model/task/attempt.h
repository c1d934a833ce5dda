/* SPDX-License-Identifier: ISC */

/*
 * The attempts at a task: who works on it, from when on, and what counts of
 * what was done. How its agent is launched, and what the attempt did, are
 * members of the task (task.h). Pure.
 *
 * The id of an attempt is made of the task's and its number
 * (task_attempt_id()).
 */
#ifndef ATTEMPT_H
#define ATTEMPT_H

#include "plan-status.h"
#include "schema.h"
#include "task.h"
#include "worker.h"

struct err;
struct json_object;

/* The identity of the daemon itself, in mail and in plans. */
#define ACTOR_OVERSEER "actor:system:overseer"
/* A person at the command line. */
#define ACTOR_PERSON "actor:system:person"

/* Was it asked for by the agent of another task, which may have ended? */
bool task_is_spawned(const struct task *task);
/* Is it for the workers of a team? One that was spawned on another host is for
 * any. */
bool task_is_for_team(const struct task *task);
/* And is that, or the one above it, still there? */
bool task_is_child(const struct task *task);
/* Has work of this task, or of those that it has asked for, landed? */
bool task_has_landed(const struct task *task);
/* "t17-2", the second attempt; the caller frees it. The id that assignments
 * have. */
char *task_attempt_id(const struct task *task);
/* Who works on the task: "actor:task:t17", or the name it was given; the caller
 * frees it. */
char *task_actor(const struct task *task);
/* An attempt begins: nothing of the last one counts for it. */
void task_attempt_begin(struct task *task, int64_t now_ms);
/* What was spent on it so far belongs to attempts that are recorded: the rest
 * is the next one's, also what an attempt used that was taken back. */
void task_attempt_spent(struct task *task);
/* Its worker waits for those that it has asked for, or does not any more. True:
 * that is new. */
bool task_attempt_waits(struct task *task, bool waits, int64_t now_ms);
/* How long its worker has worked on it. */
int64_t task_attempt_time(const struct task *task, int64_t now_ms);
/* A turn on it has ended. */
void task_turn_ended(struct task *task);
/* The turns of this attempt that count: those that began with mail do not, nor
 * those before a person let it go on. */
int task_attempt_turns(const struct task *task);
/* Has it begun, or is its agent launched in a way of its own? */
bool task_is_special(const struct task *task);

/* --- the status ------------------------------------------------------ */

/*
 * How an agent is doing, in one word: runStatus. Pure.
 *
 *   queued     no worker has its task yet
 *   running    it works
 *   waiting    it waits for agents that it asked for
 *   blocked    it waits for an answer, a person or a limit; why is known
 *   verifying  its contract is being checked, or another agent reviews it
 *   landing    its work is on its way to the branch
 *   done, failed, cancelled
 *   idle       it has no task
 */

struct run_facts {
	const struct task *task; /* NULL = none is in the state */
	enum task_outcome filed; /* of one that was filed; OUTCOME_NONE */
	const char *filed_reason; /* why that failed */
	enum worker_status worker; /* WORKER_STATUS_COUNT = it has none */
	const char *worker_reason; /* why it is paused, limited, in error */
	enum node_status node; /* NODE_STATUS_COUNT = it has no node */
	const char *node_reason; /* why that is blocked */
	size_t pending; /* its questions that have no answer yet */
	const char *pending_reason; /* the words for that */
};

enum run_status {
	RUN_QUEUED,
	RUN_RUNNING,
	RUN_WAITING,
	RUN_BLOCKED,
	RUN_VERIFYING,
	RUN_LANDING,
	RUN_DONE,
	RUN_FAILED,
	RUN_CANCELLED,
	RUN_IDLE,
	RUN_STATUS_COUNT
};

extern const char *const run_status_words[RUN_STATUS_COUNT + 1];

/* ret_reason (may be NULL): why it is blocked or has failed, borrowed from the
 * facts; NULL = unknown. */
enum run_status
run_status(const struct run_facts *facts, const char **ret_reason);

#endif
