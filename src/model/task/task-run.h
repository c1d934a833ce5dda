/* SPDX-License-Identifier: ISC */

/*
 * What delegation knows about a task: who asked for it and below whom it
 * stands, how its agent is launched, what must be there when it ends, and what
 * it has reported. A part of the task's record. Pure; all strings, lists and
 * objects are owned, NULL = not set; times are wall clock milliseconds, 0 =
 * never.
 *
 * A run is one attempt at a task; its id is made of both (task_run_id()).
 */
#ifndef TASK_RUN_H
#define TASK_RUN_H

#include "plan-status.h"
#include "schema.h"
#include "task.h"
#include "worker.h"

struct err;
struct json_object;
struct plan_node;

/* The identity of the daemon itself, in mail and in plans. */
#define ACTOR_OVERSEER "actor:system:overseer"
/* A person at the command line. */
#define ACTOR_PERSON "actor:system:person"

enum verification_state {
	VERIFICATION_NONE, /* there is no contract */
	VERIFICATION_PENDING, /* it has not ended yet */
	VERIFICATION_RUNNING, /* written before the checks begin */
	VERIFICATION_PASSED,
	VERIFICATION_FAILED,
	VERIFICATION_STATE_COUNT
};

extern const char *const verification_state_words[VERIFICATION_STATE_COUNT + 1];

struct task_run {
	/* Its place in the tree. */
	char *actor; /* NULL: that of task_run_actor() */
	char *parent; /* task id of whoever spawned it; NULL = nobody did */
	char *parent_actor;
	int depth, max_depth, local_max_depth; /* 0 = nobody asked for it */
	char *goal; /* of its children, if it is no node of a goal */

	/* How it is launched; NULL and 0 = as its agent or worker is set. */
	char *role, *label;
	char *agent; /* the name of a card, [agents.<name>] */
	char *model, *thinking;
	int timeout_s; /* of an attempt */
	char **tools_allow, **tools_deny;
	bool tools_scoped; /* tools_allow counts, even if it is empty */
	char **required_tools; /* it waits for a person if one is missing */
	char **confined_by; /* workers of the agents above it, whose settings
			     * limit it too */
	char **scope_paths; /* that it may write to; NULL = everywhere */
	bool progress_reporting; /* its prompt asks for it */
	bool report_only; /* its result is what it says at the end, and no
			   * commit: that was asked for, or it has no tool
			   * that changes files */

	char *recovery; /* of a task without a plan: "reassign", ...; NULL = it
			 * has failed with its last attempt */

	/* The contract. */
	struct json_object *contract;
	char *base; /* the commit where the attempt began; NULL = not known */
	enum verification_state verification;
	struct json_object *verified; /* the result */
	char *retry_of; /* the run that failed: retry_once was used */

	/* What this run has reported. */
	char *last_tool; /* that its own conversation used; those of llmc
			  * without their prefix */
	struct json_object *report; /* of its end: agent-report.h */
	bool report_by_tool; /* and not from its last message */
	struct json_object *progress; /* the latest: agent-report.h */
	int progress_count;
	int64_t progress_ms;
	char *progress_call; /* the id of that call */

	/* The attempt that goes on; its record is perf-record.h. */
	int64_t started_ms; /* 0 = none does */
	bool timed_out; /* it was ended because it took too long */
	bool by_mail; /* the turn that goes on began with mail for it */
	int mail_turns; /* ended ones that did */
	int64_t waiting_ms; /* since when it waits for those that it has asked
			     * for; 0 = it does not */
	int64_t waited_ms; /* did so before, since it was assigned */
	struct json_object *spent_before; /* by attempts that are recorded */
	struct json_object *ended; /* records of runs, by id, that are not yet
				    * in their file */

	char *scope_checked; /* the commit that is within scope_paths */
	int violations; /* of its scope, and of what others had reserved */
	bool announced; /* its parent was told how it ended */
	bool has_spawned; /* agents, or was handed some */
	char **lost; /* those of them that will not begin: keys of nodes */
	char **untold; /* what its next prompt says of them: sentences */
	bool rebase_due; /* work of its children landed since its own was
			  * last rebased */
	bool children_landed; /* in any attempt */
};

extern const struct schema task_run_schema;

struct task_run *task_run_new(void);
void task_run_free(struct task_run *run);

/* Was it asked for by the agent of another task, which may have ended? */
bool task_run_is_spawned(const struct task *task);
/* And is that, or the one above it, still there? */
bool task_run_is_child(const struct task *task);
/* Has work of this task, or of those that it has asked for, landed? */
bool task_run_has_landed(const struct task *task);
/* "t17-2", the second attempt; the caller frees it. The id that assignments
 * have. */
char *task_run_id(const struct task *task);
/* Who works on the task: "actor:task:t17", or the name it was given; the caller
 * frees it. */
char *task_run_actor(const struct task *task);
/* An attempt begins: nothing of the last one counts for it. */
void task_run_begin(struct task *task, int64_t now_ms);
/* What was spent on it so far belongs to attempts that are recorded: the rest
 * is the next one's, also what an attempt used that was taken back. */
void task_run_spent(struct task *task);
/* Its worker waits for those that it has asked for, or does not any more. True:
 * that is new. */
bool task_run_waits(struct task *task, bool waits, int64_t now_ms);
/* How long its worker has worked on it. */
int64_t task_run_time(const struct task *task, int64_t now_ms);
/* A turn on it has ended. */
void task_run_turn_ended(struct task *task);
/* The turns of this attempt that count: those that began with mail do not, nor
 * those before a person let it go on. */
int task_run_turns(const struct task *task);
/* The record of the task, made if it has none. */
struct task_run *task_run_of(struct task *task);

/* --- of nodes -------------------------------------------------------- */

/* What a node of a plan says about the run of its task: who asked for it, how
 * its agent is launched, its contract, where it may write. Pure. */

/* For the task of the node; the caller frees it. NULL = nothing. */
struct task_run *node_run(const struct plan_node *node);

/* The task whose agent asked for the node; NULL = none did; borrowed. */
const char *node_run_parent(const struct plan_node *node);
/* Did one, even if nobody is left above it? */
bool node_run_is_spawned(const struct plan_node *node);

/* --- the status ------------------------------------------------------ */

/*
 * How an agent is doing, in one word: runStatus. Pure.
 *
 *   queued     no worker has its task yet
 *   running    it works
 *   waiting    it waits for agents that it asked for
 *   blocked    it waits for an answer, a person or a limit; why is known
 *   verifying  its contract is being checked
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
 * facts; NULL = nobody said. */
enum run_status
run_status(const struct run_facts *facts, const char **ret_reason);

#endif
