/* SPDX-License-Identifier: ISC */

/*
 * The attempts at a task: who works on it, from when on, what counts of what
 * was done, and how each of them went. How its agent is launched, and what the
 * attempt did, are members of the task (task.h). Pure.
 *
 * The id of an attempt is made of the task's and its number
 * (task_attempt_id()).
 */
#ifndef ATTEMPT_H
#define ATTEMPT_H

#include "schema.h"
#include "task.h"
#include "work-record.h"
#include "worker.h"

struct err;
struct json_object;
struct perf_stats;
struct schema;

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

/* Whose budget a task shares: that of the task whose agent has spawned its own,
 * unless the spawn has said otherwise; NULL = of nobody, or that one is not
 * here any more. */
const struct task *
task_purse(struct task *const *tasks, size_t count, const struct task *task);
/* What it has used, and all that share its budget: tokens and cost. */
struct budget task_family_spent(
    struct task *const *tasks, size_t count, const struct task *task);
/* It has ended: what it has used stays with whose budget it shared. */
void task_family_ended(struct task *purse, const struct task *task);
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

/* --- how it went --------------------------------------------------------- */

/*
 * How one run, an attempt at a task, went: numbers and names. What its agent
 * said last goes with it into the book, and is no part of the record. Pure.
 *
 * In JSON: {"runId", "agentId", "taskType", "spawnerSessionKey", "startedAt",
 * "endedAt", "runtimeMs", "outcome", "verificationPassed",
 * "completionReport": {"status", "confidence"}, "tokens": {"input", "output"},
 * "retryOf", "model", "costUsd", "worker", "goal"}. Times are
 * wall clock milliseconds; tokens and costs that are not known are null; what
 * does not apply is missing.
 */

enum perf_outcome {
	PERF_SUCCESS,
	PERF_PARTIAL, /* done, but not all of it, as its agent says */
	PERF_FAILURE,
	PERF_TIMEOUT,
	PERF_OUTCOME_COUNT
};

extern const char *const perf_outcome_words[PERF_OUTCOME_COUNT + 1];

/* The member that has it until then. */
#define PERF_LAST_WORDS "lastMessage"

/* Who was asked for neither by the name of a card nor by a role is this one. */
#define PERF_AGENT_DEFAULT "default"

/* Valid as long as the object it was read from. NULL = not given. */
struct perf_record {
	const char *run, *agent, *task_type, *spawner;
	int64_t started_ms, ended_ms, runtime_ms;
	enum perf_outcome outcome;
	int verified; /* 1 = yes, 0 = no, -1 = not known */
	bool reported; /* by its agent, how it ended */
	const char *report_status, *report_confidence;
	int64_t tokens_in, tokens_out; /* -1 = not known */
	double cost; /* dollars; NAN = not known */
	const char *retry_of, *model, *worker, *goal;
};

/* -EINVAL with the member that is wrong. */
int perf_record_read(
    struct json_object *json, struct perf_record *ret_record, struct err *err);

/* The attempt that goes on, if one does, ends in this way: its record is made
 * and kept in task->attempt.ended until it is in its table. */
void
perf_record_end(struct task *task, enum task_outcome outcome, int64_t now_ms);

/* What was used for it and is in no record: by the attempt that goes on, or
 * known since the last one ended. */
struct spent perf_record_spent(const struct task *task);

/* The model that has written most; NULL = none has. */
const char *perf_record_model(const struct usage *usage);

/* What an attempt that ended so counts as. reported: the status of its report,
 * NULL = none. */
enum perf_outcome perf_record_outcome(
    enum task_outcome outcome, bool timed_out, const char *reported);

/* --- added up ----------------------------------------------------------- */

/* How often agents, models or kinds of tasks succeed, how long they take, and
 * what they use. */

#define PERF_DAY_MS    (24 * 3600 * (int64_t)1000)
#define PERF_KEEP_DAYS 30

enum perf_by {
	PERF_BY_AGENT,
	PERF_BY_MODEL,
	PERF_BY_TASK_TYPE,
	PERF_BY_COUNT
};

extern const char *const perf_by_words[PERF_BY_COUNT + 1];

/* A sum; valid until the stats change. */
struct perf_group {
	const char *name; /* "" = they have none */
	int64_t runs, outcomes[PERF_OUTCOME_COUNT];
	int64_t passed, failed, unverified; /* verifications */
	int64_t reports, retries;
	double rate; /* of success */
	int64_t tokens_in, tokens_out; /* of those that are known */
	int64_t tokens_all;
	double cost; /* of those that are known, in dollars; NAN = of none */
	int64_t costed, uncosted; /* runs whose cost is known, and others */
	int64_t average_ms, p50_ms, p90_ms;
};

extern const struct schema perf_group_schema;

struct perf_stats *perf_stats_new(enum perf_by by);
void perf_stats_free(struct perf_stats *stats);

void perf_stats_add(struct perf_stats *stats, const struct perf_record *record);

size_t perf_stats_count(const struct perf_stats *stats);
/* By name. */
struct perf_group perf_stats_group(struct perf_stats *stats, size_t index);

/* The groups; the caller owns the array. */
struct json_object *perf_stats_to_json(struct perf_stats *stats);

#endif
