/* SPDX-License-Identifier: ISC */

/*
 * The statuses of goals, plan nodes and assignments: their words, and tables of
 * which may follow which. Pure. A move that a table forbids is refused with
 * API_E_TRANSITION (api.h).
 */
#ifndef PLAN_STATUS_H
#define PLAN_STATUS_H

struct err;

enum goal_status {
	GOAL_ACTIVE,
	GOAL_PAUSED, /* running turns finish, nothing new begins */
	GOAL_COMPLETED, /* every phase is done; a revert opens it again */
	GOAL_CANCELLED,
	GOAL_ARCHIVED, /* no longer listed; final */
	GOAL_STATUS_COUNT
};

enum node_status {
	NODE_TODO, /* not ready: something it depends on is not done */
	NODE_QUEUED, /* ready, waits for a worker */
	NODE_IN_PROGRESS,
	NODE_BLOCKED, /* waits for a person or something outside */
	NODE_DONE, /* completed and accepted; a revert opens it again */
	NODE_CANCELLED, /* final */
	NODE_STATUS_COUNT
};

enum assignment_status {
	ASSIGNMENT_QUEUED, /* nothing has been dispatched */
	ASSIGNMENT_DISPATCHED, /* sent; perhaps not received */
	ASSIGNMENT_ACTIVE, /* progress was seen since the last dispatch */
	ASSIGNMENT_STALLED, /* no progress for too long */
	ASSIGNMENT_BLOCKED, /* waits for a person or something outside */
	ASSIGNMENT_DONE, /* final */
	ASSIGNMENT_CANCELLED, /* final */
	ASSIGNMENT_STATUS_COUNT
};

/* What is done about work whose attempts have all failed, or, of a worker that
 * a person drives, that has stalled and does not answer. */
enum recovery_policy {
	RECOVERY_RESEND_LAST, /* a person is asked; messages to a worker are
			       * the instruction again */
	RECOVERY_NUDGE, /* the same; messages ask how far it is */
	RECOVERY_REPLAN, /* the planner plans it anew */
	RECOVERY_REASSIGN, /* another worker tries it */
	RECOVERY_ESCALATE, /* a person is asked */
	RECOVERY_RETRY, /* the same */
	RECOVERY_UNSET, /* the same */
};

/* For reading records (word.h), NULL terminated. */
extern const char *const goal_status_words[GOAL_STATUS_COUNT + 1];
extern const char *const node_status_words[NODE_STATUS_COUNT + 1];
extern const char *const assignment_status_words[ASSIGNMENT_STATUS_COUNT + 1];
extern const char *const recovery_policy_words[RECOVERY_UNSET + 1];

const char *goal_status_name(enum goal_status status); /* "active" */
const char *node_status_name(enum node_status status);
const char *assignment_status_name(enum assignment_status status);

/* Nothing follows by itself: neither done (completed), cancelled nor
 * archived. */
bool goal_status_open(enum goal_status status);
bool node_status_open(enum node_status status);
bool assignment_status_open(enum assignment_status status);

/* May the second follow the first? A status does not follow itself. False for
 * invalid ones. */
bool goal_status_may(enum goal_status from, enum goal_status to);
bool node_status_may(enum node_status from, enum node_status to);
bool
assignment_status_may(enum assignment_status from, enum assignment_status to);

/* 0, or API_E_TRANSITION with a message that names the object and what may
 * follow instead. */
int goal_status_check(const char *id, enum goal_status from,
    enum goal_status to, struct err *err);
int node_status_check(const char *id, enum node_status from,
    enum node_status to, struct err *err);
int assignment_status_check(const char *id, enum assignment_status from,
    enum assignment_status to, struct err *err);

#endif
