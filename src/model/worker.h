/* SPDX-License-Identifier: ISC */

/*
 * A worker, and how its status may change. Only worker_transition() changes a
 * status; everything that a transition clears or timestamps happens there.
 */
#ifndef WORKER_H
#define WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session-record.h"

struct err;
struct json_object;

enum worker_status {
	WORKER_IDLE, /* session ready, no task */
	WORKER_STARTING, /* a prompt is being delivered */
	WORKER_WORKING, /* a turn is running on its task */
	WORKER_NEEDS_REVIEW, /* finished, waits for a decision */
	WORKER_REVIEWING, /* reviews its own work */
	WORKER_REJECTED, /* reworks after feedback */
	WORKER_REBASING, /* resolves conflicts with the default branch */
	WORKER_NO_CHANGES, /* finished without a change */
	WORKER_ACCEPTING, /* its work is being landed */
	WORKER_PAUSED, /* waits for a person */
	WORKER_LIMITED, /* waits for a usage limit or outage to end */
	WORKER_ERROR, /* needs repair; reason says why */
	WORKER_OFFLINE, /* no session that is ready */
	WORKER_STATUS_COUNT
};

const char *worker_status_name(enum worker_status status); /* "needs_review" */
bool worker_status_parse(const char *name, enum worker_status *ret_status);

/* May a worker go from one to the other? According to the table alone; from
 * limited and paused worker_transition() checks more. False for invalid
 * statuses. */
bool worker_may(enum worker_status from, enum worker_status to);

/* The state of a landing (accept journal). */
enum accept_step {
	ACCEPT_NONE,
	ACCEPT_PREPARE, /* leftovers are amended, the work is rebased, and one
			 * commit is made on a private ref */
	ACCEPT_PUBLISH, /* the default branch is being moved to that commit */
	ACCEPT_CLEANUP, /* landed; the worktree is being reset */
	ACCEPT_STEP_COUNT
};

/* One worker, as in state.json. All strings are owned, NULL = not set. Times
 * are wall clock milliseconds, 0 = never. */
struct worker {
	char *name;
	char *branch;
	char *worktree; /* absolute */
	enum worker_status status;
	int64_t since_ms; /* when it got this status */
	int64_t activity_ms; /* last sign of life or change */
	int64_t created_ms;

	/* The task. */
	char *prompt; /* what it works on */
	char *prompt_command; /* where the prompt came from, for people */
	char *task; /* id of the task in auto mode, NULL = by hand */
	int stalls; /* attempts to revive it since its last sign of life */
	bool over_budget; /* paused for that; llmc resume continues */
	char *usage_transcript; /* conversation whose usage is counted so
				 * far: */
	int64_t usage_tokens, usage_cost; /* cost in millionths of a dollar */
	char *commit; /* HEAD when it finished */
	bool self_review; /* it reviews its work before a person does */
	bool self_reviewed;

	/* The session. */
	struct session_record session;
	enum worker_status after; /* status once its prompt is submitted */
	int crashes; /* in a row */
	int64_t crashed_ms;

	/* Waiting and errors. */
	char *reason; /* of error, paused, limited; for people */
	enum worker_status before; /* the status to return to from limited and
				    * paused */
	int64_t until_ms; /* limited: when to check again */
	int limit_tries;

	/* Landing. */
	enum accept_step accept;
	char *accept_onto; /* commit of the default branch it was rebased on */
	char *accept_commit; /* the squashed commit */
	char *accept_message;
	int conflicts; /* times it was sent back to resolve one */
};

/* A new worker, offline; everything else is unset. */
struct worker *worker_new(const char *name, int64_t now_ms);
void worker_free(struct worker *worker);

/* Change the status. -EINVAL, and no change, if the table forbids it. From
 * limited and paused only to the status before, to starting, or to where the
 * status before could go itself. Effects:
 *
 * - every move sets activity; a move to another status sets since;
 * - to idle: clears prompt, task (with its stalls), commit, self-review, the
 *   pending prompt and the landing with its conflicts, but keeps the usage. A
 *   worker that should continue something goes to starting instead;
 * - to idle, needs_review and no_changes: resets crashes and limit tries;
 * - to those, to working, and from limited and paused: clears the reason;
 * - to error, paused and limited: sets the reason (NULL: none, or the old one
 * if the status stays the same);
 * - to limited and paused: remembers the status before, unless it is one of
 *   these two;
 * - from limited: clears until; from paused and to idle: clears over_budget;
 * - to offline: the session is neither ready nor busy, and no tool is open.
 *
 * A worker that waits for a decision needs no session: it keeps its status when
 * the session ends (offline may not become needs_review). */
int worker_transition(struct worker *worker, enum worker_status to,
    const char *reason, int64_t now_ms, struct err *err);

/* What a worker is doing. */

/* Is it a status that waits, for a limit to end or for a person (limited,
 * paused)? */
bool worker_waits(enum worker_status status);

/* Is it a status with a running turn, which is judged at its end? */
bool worker_in_turn(enum worker_status status);

/* May it get a task: is it idle, with no turn running and no prompt on its
 * way? */
bool worker_is_free(const struct worker *worker);

/* It must not be typed to: it is accepting, paused, limited, in error or
 * offline. */
bool worker_is_held(const struct worker *worker);

/* Nothing is in progress: no turn, no prompt, no landing. */
bool worker_is_at_rest(const struct worker *worker);

/* A turn is running, so there must be signs of life. Not while it waits. */
bool worker_expects_life(const struct worker *worker);

/* The record of a worker in state.json, owned by the caller; it shares
 * `session.pane`. Reading: the name is required and must be valid; other
 * members may be missing or null and then are as in worker_new(). Unknown
 * members are ignored; a wrong type, an unknown word or a negative count is
 * -EINVAL. Times before 1970 become 0, and all but until are at most now.
 * Combinations that do not fit together are repaired: an impossible `before`
 * becomes offline, and a step without text and receipt becomes none. */
struct json_object *worker_to_json(const struct worker *worker);
int worker_from_json(struct json_object *json, const char *at, int64_t now_ms,
    struct worker **ret_worker, struct err *err);

/* "auto-1" and similar. */
bool worker_is_auto(const char *name);

#endif
