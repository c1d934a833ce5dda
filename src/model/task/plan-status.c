/* SPDX-License-Identifier: ISC */

/* The words and the tables. */

#include "base.h"
#include "api-error.h"
#include "plan-status.h"

const char *const goal_status_words[] = {
	[GOAL_ACTIVE] = "active",
	[GOAL_PAUSED] = "paused",
	[GOAL_COMPLETED] = "completed",
	[GOAL_CANCELLED] = "cancelled",
	[GOAL_ARCHIVED] = "archived",
	[GOAL_STATUS_COUNT] = NULL,
};

const char *const node_status_words[] = {
	[NODE_TODO] = "todo",
	[NODE_QUEUED] = "queued",
	[NODE_IN_PROGRESS] = "in_progress",
	[NODE_BLOCKED] = "blocked",
	[NODE_DONE] = "done",
	[NODE_CANCELLED] = "cancelled",
	[NODE_STATUS_COUNT] = NULL,
};

const char *const assignment_status_words[] = {
	[ASSIGNMENT_QUEUED] = "queued",
	[ASSIGNMENT_DISPATCHED] = "dispatched",
	[ASSIGNMENT_ACTIVE] = "active",
	[ASSIGNMENT_STALLED] = "stalled",
	[ASSIGNMENT_BLOCKED] = "blocked",
	[ASSIGNMENT_DONE] = "done",
	[ASSIGNMENT_CANCELLED] = "cancelled",
	[ASSIGNMENT_STATUS_COUNT] = NULL,
};

/* [from][to]. Everything else is refused. */
static const bool goal_moves[GOAL_STATUS_COUNT][GOAL_STATUS_COUNT] = {
	[GOAL_ACTIVE] = {
		[GOAL_PAUSED] = true,
		[GOAL_COMPLETED] = true,
		[GOAL_CANCELLED] = true,
	},
	[GOAL_PAUSED] = {
		[GOAL_ACTIVE] = true,
		[GOAL_COMPLETED] = true, /* its last turn finished */
		[GOAL_CANCELLED] = true,
	},
	[GOAL_COMPLETED] = {
		[GOAL_ACTIVE] = true, /* reverted, or work was added */
		[GOAL_ARCHIVED] = true,
	},
	[GOAL_CANCELLED] = {
		[GOAL_ARCHIVED] = true,
	},
};

static const bool node_moves[NODE_STATUS_COUNT][NODE_STATUS_COUNT] = {
	[NODE_TODO] = {
		[NODE_QUEUED] = true, /* what it depends on is done */
		[NODE_CANCELLED] = true,
	},
	[NODE_QUEUED] = {
		[NODE_IN_PROGRESS] = true,
		[NODE_BLOCKED] = true,
		[NODE_CANCELLED] = true,
	},
	[NODE_IN_PROGRESS] = {
		[NODE_QUEUED] = true, /* the attempt failed */
		[NODE_BLOCKED] = true,
		[NODE_DONE] = true,
		[NODE_CANCELLED] = true,
	},
	[NODE_BLOCKED] = {
		[NODE_QUEUED] = true, /* unblocked */
		[NODE_CANCELLED] = true,
	},
	[NODE_DONE] = {
		[NODE_QUEUED] = true, /* reverted */
	},
};

static const bool
    assignment_moves[ASSIGNMENT_STATUS_COUNT][ASSIGNMENT_STATUS_COUNT] = {
	[ASSIGNMENT_QUEUED] = {
		[ASSIGNMENT_DISPATCHED] = true,
		[ASSIGNMENT_CANCELLED] = true,
	},
	[ASSIGNMENT_DISPATCHED] = {
		[ASSIGNMENT_ACTIVE] = true,
		[ASSIGNMENT_STALLED] = true, /* never any progress */
		[ASSIGNMENT_BLOCKED] = true, /* the first reply says so */
		[ASSIGNMENT_DONE] = true,
		[ASSIGNMENT_CANCELLED] = true,
	},
	[ASSIGNMENT_ACTIVE] = {
		[ASSIGNMENT_STALLED] = true,
		[ASSIGNMENT_BLOCKED] = true,
		[ASSIGNMENT_DONE] = true,
		[ASSIGNMENT_CANCELLED] = true,
	},
	[ASSIGNMENT_STALLED] = {
		[ASSIGNMENT_ACTIVE] = true, /* progress again */
		[ASSIGNMENT_BLOCKED] = true, /* it waits for a person */
		[ASSIGNMENT_DONE] = true,
		[ASSIGNMENT_CANCELLED] = true,
	},
	[ASSIGNMENT_BLOCKED] = {
		[ASSIGNMENT_QUEUED] = true, /* unblocked: dispatched again */
		[ASSIGNMENT_ACTIVE] = true, /* goes on by itself */
		[ASSIGNMENT_DONE] = true,
		[ASSIGNMENT_CANCELLED] = true,
	},
};

/* A new status needs a word, a row, and a check of every other row. */
_Static_assert(GOAL_STATUS_COUNT == 5 && NODE_STATUS_COUNT == 6 &&
	ASSIGNMENT_STATUS_COUNT == 7,
    "the tables know these statuses");

const char *const recovery_policy_words[] = {
	[RECOVERY_RESEND_LAST] = "resend_last",
	[RECOVERY_NUDGE] = "nudge",
	[RECOVERY_REPLAN] = "replan",
	[RECOVERY_REASSIGN] = "reassign",
	[RECOVERY_ESCALATE] = "escalate",
	[RECOVERY_RETRY] = "retry",
	[RECOVERY_UNSET] = NULL,
};

const char *
goal_status_name(enum goal_status status)
{
	return goal_status_words[status];
}

const char *
node_status_name(enum node_status status)
{
	return node_status_words[status];
}

const char *
assignment_status_name(enum assignment_status status)
{
	return assignment_status_words[status];
}

bool
goal_status_open(enum goal_status status)
{
	return status == GOAL_ACTIVE || status == GOAL_PAUSED;
}

bool
node_status_open(enum node_status status)
{
	return status < NODE_DONE;
}

bool
assignment_status_open(enum assignment_status status)
{
	return status < ASSIGNMENT_DONE;
}

bool
goal_status_may(enum goal_status from, enum goal_status to)
{
	return (unsigned)from < GOAL_STATUS_COUNT &&
	    (unsigned)to < GOAL_STATUS_COUNT && goal_moves[from][to];
}

bool
node_status_may(enum node_status from, enum node_status to)
{
	return (unsigned)from < NODE_STATUS_COUNT &&
	    (unsigned)to < NODE_STATUS_COUNT && node_moves[from][to];
}

bool
assignment_status_may(enum assignment_status from, enum assignment_status to)
{
	return (unsigned)from < ASSIGNMENT_STATUS_COUNT &&
	    (unsigned)to < ASSIGNMENT_STATUS_COUNT &&
	    assignment_moves[from][to];
}

static int
refuse(const char *id, const char *const *words, const bool *row, unsigned from,
    unsigned to, struct err *err)
{
	cleanup_buf struct buf may = BUF_INIT;

	for (unsigned i = 0; words[i] != NULL; i++)
		if (row[i])
			buf_addf(
			    &may, "%s%s", may.len == 0 ? "" : ", ", words[i]);
	if (from == to)
		return err_set(
		    err, API_E_TRANSITION, "%s is %s already", id, words[from]);
	return err_set(err, API_E_TRANSITION,
	    "%s is %s and cannot become %s; it can become: %s", id, words[from],
	    words[to], may.len == 0 ? "nothing else" : may.data);
}

int
goal_status_check(
    const char *id, enum goal_status from, enum goal_status to, struct err *err)
{
	if (goal_status_may(from, to))
		return 0;
	return refuse(id, goal_status_words, goal_moves[from], from, to, err);
}

int
node_status_check(
    const char *id, enum node_status from, enum node_status to, struct err *err)
{
	if (node_status_may(from, to))
		return 0;
	return refuse(id, node_status_words, node_moves[from], from, to, err);
}

int
assignment_status_check(const char *id, enum assignment_status from,
    enum assignment_status to, struct err *err)
{
	if (assignment_status_may(from, to))
		return 0;
	return refuse(
	    id, assignment_status_words, assignment_moves[from], from, to, err);
}
