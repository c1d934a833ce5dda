/* SPDX-License-Identifier: ISC */

/*
 * The tick: compares what should happen (plans and assignments) with what does
 * happen (telemetry) and decides what to do about the difference.
 *
 * Pure: the same set, telemetry, configuration and time give the same next
 * state, decisions and events. A second run at the same time, with the same
 * telemetry, decides nothing. The caller stores the changed records and the
 * events in one transaction, and then carries out the decisions; each has a
 * dispatch id, which is its idempotency key.
 *
 * A worker inside a turn that is silent belongs to auto mode (silence.h). The
 * tick acts between turns, and on nodes without a worker.
 */
#ifndef RECONCILE_H
#define RECONCILE_H

#include "buf.h"
#include "limit.h"
#include "plan-node.h"
#include "plan.h"
#include "prompt.h"

struct buf;
struct json_object;
struct reconcile_facts;
struct reconcile_result;
struct reconcile_telemetry;
struct settings;
struct update;

#define RECONCILE_AGENT_ANY "*"

struct reconcile_config {
	bool enabled;
	int64_t tick_every_ms; /* 0 = never */
	int64_t idle_after_ms;
	int max_retries;
	int64_t min_resend_ms;
	int64_t backoff_base_ms, backoff_max_ms;
	const char *const *allow_agents; /* NULL terminated; borrowed */
	bool allow_cross_agent;
};

/* The lists are those of the settings. */
void reconcile_config_read(
    const struct settings *settings, struct reconcile_config *ret_config);

/* How long to wait after a retry; `retries` counts it already. */
int64_t
reconcile_backoff_ms(const struct reconcile_config *config, int retries);

/* May work go to workers of auto mode (driven NULL; worker: which one, NULL =
 * not known), or to this one, which a person drives? */
bool reconcile_allows(const struct reconcile_config *config, const char *driven,
    const char *worker);

/* How many messages an assignment gets before a person is notified: work
 * between them begins the retries anew, but not for ever. */
int reconcile_messages_max(const struct reconcile_config *config);

enum reconcile_kind {
	RECONCILE_ASSIGN, /* the first dispatch */
	RECONCILE_NUDGE, /* ask for the status */
	RECONCILE_FOLLOW_UP, /* ask for the update that a reply lacked */
	RECONCILE_RESEND, /* the last instruction again */
	RECONCILE_REPLAN, /* ask the planner for smaller nodes */
	RECONCILE_REASSIGN, /* another, fresh worker */
	RECONCILE_ESCALATE, /* tell a person */
	RECONCILE_RELEASE, /* the node goes back to the queue */
	RECONCILE_CANCEL, /* the assignment is over; salvage its work */
	RECONCILE_KIND_COUNT
};

#define RECONCILE_DECISIONS_MAX 256 /* of one tick; the others come next */

/*
 * What is known about one assignment. These are states, not changes: the same
 * reply is repeated until the next one. Times are wall clock milliseconds, 0 =
 * never; strings are borrowed, NULL = unknown.
 */
struct reconcile_facts {
	const char *assignment_id;

	/* Liveness */
	bool in_turn; /* its run has not ended */
	int64_t turn_ms; /* when its last turn began */
	int64_t activity_ms; /* newest hook, or growth of the transcript */
	bool talk; /* of that, all since the last message is an answer to it in
		    * words: it is alive, but that is no progress */
	bool lost; /* it has no worker any more, and gets none */
	bool busy; /* an operation, a landing or a write is pending */
	bool waiting; /* it has no worker, and that is right: it waits for one,
		       * or for its landing */
	enum stall_class sample; /* of a stale one (reconcile_is_stale()) */
	const char *sample_why;

	/* The last reply */
	int64_t reply_ms;
	const struct update *update; /* NULL = none; its ids are bound */
	const char *update_fault; /* what is wrong with it */
	bool asked; /* its last turn ended with a question */
	const char *question;
	const char *session_id, *message_id, *run_id;

	/* The result: landed, or accepted by a person */
	bool accepted;
	const struct plan_evidence *evidence; /* NULL = that of the update */
	const char *accepted_by; /* "landing", "person", "report" */
	bool failed; /* its task has ended without a result */
	bool dropped; /* on purpose: nothing else is tried */
	const char *failed_why;
};

struct reconcile_telemetry {
	bool busy; /* record, and decide nothing */
	const struct reconcile_facts *facts;
	size_t count;
};

extern const char *const reconcile_kind_words[RECONCILE_KIND_COUNT + 1];

/* All strings are owned. */
struct reconcile_decision {
	enum reconcile_kind kind;
	enum dispatch_mode mode; /* of those with a dispatch_id */
	char *dispatch_id; /* NULL for REPLAN, RELEASE and CANCEL. The same
			    * as before for a resend because the delivery is
			    * uncertain, a new one for a re-run */
	char *assignment_id, *goal_id, *node_id;
	char *worker; /* NULL = none */
	const char *code; /* why, in one word: "idle", "question", ... */
	char *reason; /* why, in a sentence */
	char *text; /* what to send; NULL for REPLAN, RELEASE, CANCEL */
};

struct reconcile_event {
	const char *type; /* "assignment.stalled" */
	char *goal_id, *assignment_id, *node_id, *worker, *task;
	struct json_object *data;
};

/* Nodes and goal of one plan that were changed. */
struct reconcile_plan {
	struct plan *plan;
	struct plan_changes changes;
};

enum reconcile_gate {
	RECONCILE_OPEN,
	RECONCILE_DISABLED, /* nothing was looked at */
	RECONCILE_BUSY, /* recorded, nothing decided */
};

/* Records are borrowed from the set. */
struct reconcile_result {
	enum reconcile_gate gate;
	struct reconcile_decision *decisions;
	size_t decision_count;
	struct reconcile_event *events;
	size_t event_count;
	struct plan_node **worked; /* whose work was changed, each once */
	size_t worked_count;
	struct plan_crystal **crystals; /* new */
	size_t crystal_count;
	struct reconcile_plan **plans; /* changed */
	size_t plan_count;
	struct strmap plans_by_goal; /* of the above */
};

/* "disabled", "requests-in-flight"; NULL if it is open. */
const char *reconcile_gate_reason(enum reconcile_gate gate);

/* One tick. The set becomes the next state. */
void
reconcile(struct plan_set *set, const struct reconcile_telemetry *telemetry,
    const struct reconcile_config *config, int64_t now_ms,
    struct reconcile_result *ret_result);

/* The same for one node that is assigned, whatever else there is, whether or
 * not the tick is enabled and its goal paused: one that is to be dispatched for
 * the first time, or whose attempt has ended. */
void reconcile_now(struct plan_set *set, struct plan_node *node,
    const struct reconcile_facts *facts, const struct reconcile_config *config,
    int64_t now_ms, struct reconcile_result *ret_result);
void reconcile_result_release(struct reconcile_result *result);

/* Append what a dispatch of the node says, from its records: for one that was
 * stored and, after a crash, is to be carried out. */
void reconcile_dispatch_text(const struct plan_set *set,
    const struct plan_node *node, const struct plan_dispatch *dispatch,
    struct buf *out);

/* Would the work on it be stale at this time if nothing new is known about it?
 * The messages of those are worth reading (limit.h). */
bool reconcile_is_stale(const struct plan_work *work,
    const struct reconcile_config *config, int64_t now_ms);

#endif
