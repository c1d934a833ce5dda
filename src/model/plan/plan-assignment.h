/* SPDX-License-Identifier: ISC */

/*
 * An assignment: a node of a plan bound to somebody who works on it, with every
 * dispatch that was sent for it. Pure. All strings and objects are owned, NULL
 * = not set; times are wall clock milliseconds, 0 = never.
 */
#ifndef PLAN_ASSIGNMENT_H
#define PLAN_ASSIGNMENT_H

#include "plan-status.h"
#include "plan-text.h"

struct err;
struct json_object;

#define AGENT_MAIN "main" /* all auto workers */

#define PLAN_DISPATCHES_MAX                         \
	64 /* the newest; events are told of all of \
	    * them */

enum dispatch_mode {
	DISPATCH_SEND, /* prompt a session that exists */
	DISPATCH_SPAWN, /* a fresh worker */
	DISPATCH_ESCALATE, /* a person */
	DISPATCH_MODE_COUNT
};

enum dispatch_result {
	DISPATCH_ACCEPTED, /* received */
	DISPATCH_OK, /* received, and its turn ended well */
	DISPATCH_TIMEOUT,
	DISPATCH_ERROR,
	DISPATCH_PENDING, /* stored, not yet carried out; not in the record */
};

extern const char *const dispatch_mode_words[DISPATCH_MODE_COUNT + 1];
extern const char *const dispatch_result_words[DISPATCH_PENDING + 1];

struct plan_dispatch {
	char *id; /* "D_...": idempotency key and receipt */
	int64_t ts_ms;
	enum dispatch_mode mode;
	char *action; /* "nudge", "resend", "assign", ...: the decision */
	enum dispatch_result result;
	char *notes;
};

extern const struct schema plan_assignment_schema;

struct plan_assignment {
	/* Identity */
	char *id; /* "A_..." */
	char *goal_id;
	char *node_id;

	/* Target */
	char *worker; /* its name; NULL = none has it yet */
	char *task; /* the task of auto mode, "t17"; NULL: a person drives the
		     * worker, if there is one */

	/* Dispatch state */
	enum assignment_status status;
	char *blocked_reason;
	struct plan_override override; /* done without evidence */
	char *instruction; /* the last one, at most PLAN_INSTRUCTION_MAX */
	struct plan_dispatch *dispatches; /* oldest first */
	size_t dispatch_count;

	/* Run */
	char *run_id; /* one per attempt */

	/* Liveness and recovery */
	int64_t created_ms, updated_ms;
	int64_t last_dispatch_ms;
	int64_t last_activity_ms; /* observed */
	int64_t expected_update_ms;
	int64_t idle_after_ms; /* 0 = as configured */
	int retry_count;
	int64_t backoff_until_ms;
	enum recovery_policy recovery_policy; /* RECOVERY_UNSET = its node's */
	bool follow_up; /* it was asked for the update that a reply lacked */
	bool escalated; /* a person was told, and nothing moved since */
};

struct plan_assignment *plan_assignment_new(
    const char *id, const char *goal_id, const char *node_id, int64_t now_ms);
void plan_assignment_free(struct plan_assignment *assignment);

/* The worker that a person drives; NULL = it is a worker of auto mode, or
 * none. */
const char *plan_assignment_driven(const struct plan_assignment *assignment);
/* Where its worker is spoken to; the caller frees it. NULL = there is none. */
char *plan_assignment_session(const struct plan_assignment *assignment);

/* Remember what is sent: cut to its bound between characters. */
void
plan_assignment_instruct(struct plan_assignment *assignment, const char *text);

/* Append to the history a dispatch that is pending; id and action are copied.
 * Returns the entry, which the next call may move. */
struct plan_dispatch *
plan_assignment_dispatch(struct plan_assignment *assignment, const char *id,
    enum dispatch_mode mode, const char *action, int64_t now_ms);

/* NULL = none. */
struct plan_dispatch *
plan_assignment_last(const struct plan_assignment *assignment);
struct plan_dispatch *plan_assignment_find(
    const struct plan_assignment *assignment, const char *dispatch_id);

/* Change the status by the table of plan-status. */
struct plan_assignment_move {
	enum assignment_status to;
	const char *reason; /* blocked: why */
	const char *crystal_id; /* done: its evidence */
	const char *actor; /* an override: who, and why; instead of evidence */
	const char *override_reason;
};

/* 0, or API_E_TRANSITION, API_E_EVIDENCE, API_E_REASON. */
int plan_assignment_move(struct plan_assignment *assignment,
    const struct plan_assignment_move *move, int64_t now_ms, struct err *err);

/* As plan_node_to_json() and plan_node_from_json(); agentId and sessionKey are
 * made of worker and task. */
struct json_object *
plan_assignment_to_json(const struct plan_assignment *assignment);
int plan_assignment_from_json(struct json_object *json, const char *at,
    struct plan_assignment **ret_assignment, struct err *err);

#endif
