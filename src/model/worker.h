/* SPDX-License-Identifier: ISC */

/*
 * What a worker is and how its status may change. Only worker_transition()
 * changes a status; everything a transition clears or stamps is done there.
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
	WORKER_IDLE, /* session ready, nothing to do */
	WORKER_STARTING, /* a prompt is on its way into the session */
	WORKER_WORKING, /* a turn runs on its task */
	WORKER_NEEDS_REVIEW, /* finished, waits for a verdict */
	WORKER_REVIEWING, /* looks over its own work */
	WORKER_REJECTED, /* reworks after feedback */
	WORKER_REBASING, /* resolves conflicts with the default branch */
	WORKER_NO_CHANGES, /* finished without a change */
	WORKER_ACCEPTING, /* its work is being landed */
	WORKER_PAUSED, /* waits for a person */
	WORKER_LIMITED, /* waits for a usage limit or outage to end */
	WORKER_ERROR, /* needs repair; reason says why */
	WORKER_OFFLINE, /* no ready session */
	WORKER_STATUS_COUNT
};

const char *worker_status_name(enum worker_status status); /* "needs_review" */
bool worker_status_parse(const char *name, enum worker_status *ret_status);

/* May a worker go from one to the other? The table alone; from limited and
 * paused worker_transition() asks for more. False for what is no status. */
bool worker_may(enum worker_status from, enum worker_status to);

/* How far a landing has come (accept journal). */
enum accept_step {
	ACCEPT_NONE,
	ACCEPT_PREPARE, /* leftovers are amended, rebase runs, one commit is
			 * made on a private ref */
	ACCEPT_PUBLISH, /* the default branch is being moved to it */
	ACCEPT_CLEANUP, /* landed; the worktree is set back */
	ACCEPT_STEP_COUNT
};

const char *accept_step_name(enum accept_step step);

/* One worker, as state.json has it. All strings are owned, NULL = not set.
 * Times are wall clock milliseconds, 0 = never. */
struct worker {
	char *name;
	char *branch;
	char *worktree; /* absolute */
	enum worker_status status;
	int64_t since_ms; /* in this status */
	int64_t activity_ms; /* last sign of life or change */
	int64_t created_ms;

	/* The task. */
	char *prompt; /* what it works on */
	char *prompt_command; /* where that came from, for people */
	char *task; /* id of the task in auto mode, NULL = by hand */
	int stalls; /* things tried since its last sign of life */
	bool over_budget; /* paused for that; llmc resume goes on */
	char *usage_transcript; /* conversation whose use is counted so far: */
	int64_t usage_tokens, usage_cost; /* cost in millionths of a dollar */
	char *commit; /* HEAD when it finished */
	bool self_review; /* look over the work before a person does */
	bool self_reviewed;

	/* The session. */
	struct session_record session;
	enum worker_status after; /* status once its prompt is submitted */
	int crashes; /* in a row */
	int64_t crashed_ms;

	/* Waiting and trouble. */
	char *reason; /* of error, paused, limited; words */
	enum worker_status before; /* to go back to from limited and paused */
	int64_t until_ms; /* limited: look again then */
	int limit_tries;

	/* Landing. */
	enum accept_step accept;
	char *accept_onto; /* commit of the default branch it was rebased on */
	char *accept_commit; /* the squashed commit */
	char *accept_message;
	int conflicts; /* times sent back to resolve one */
};

/* Offline, made now; everything else is unset. */
struct worker *worker_new(const char *name, int64_t now_ms);
void worker_free(struct worker *worker);

/* Change the status. -EINVAL (unchanged) when the table forbids it; from
 * limited and paused only to the status before, to starting, or to where the
 * status before could go itself. Effects:
 *
 * any move stamps activity; one to another status stamps since;
 * to idle forgets prompt, task (with its stalls), commit, self-review, the
 *   prompt on its way and the landing with its conflicts: a worker that shall
 *   go on with something goes to starting instead; what was used stays;
 * to idle, needs_review and no_changes zeroes crashes and limit tries;
 * to those, to working, and out of limited and paused forgets the reason;
 * to error, paused and limited takes the reason (NULL: none; for a move within
 *   the same status: the old one);
 * to limited and paused remembers the status before, but not of one another;
 * out of limited forgets until, out of paused and to idle over_budget;
 * to offline the session is neither ready nor busy, and no tool is open.
 *
 * A worker that waits for a verdict needs no session: it keeps its status when
 * that ends (offline may not become needs_review). */
int worker_transition(struct worker *worker, enum worker_status to,
    const char *reason, int64_t now_ms, struct err *err);

/* What a worker is at a moment. */

/* Of a status: for a limit to end or for a person (limited, paused). */
bool worker_waits(enum worker_status status);

/* Of a status: a turn runs in it, and is judged at its end. */
bool worker_in_turn(enum worker_status status);

/* May be given a task: idle, no turn runs, and no prompt is on its way. */
bool worker_is_free(const struct worker *worker);

/* Nothing may be typed into its session now: it is accepting, paused, limited,
 * in error or offline. */
bool worker_is_held(const struct worker *worker);

/* Nothing goes on: no turn, no prompt on its way, no landing. */
bool worker_is_at_rest(const struct worker *worker);

/* A turn runs, so there must be signs of life. Not while it waits. */
bool worker_expects_life(const struct worker *worker);

/* state.json's record of a worker, owned by the caller; it shares
 * `session.pane`. Reading: the name must be there and be one; other members may
 * be missing or null and then are as in worker_new(), unknown ones are ignored,
 * a wrong type, an unknown word or a negative count is -EINVAL. Times before
 * 1970 become 0, and those that have been (all but until) end at now. What
 * makes no sense together is mended: an impossible `before` becomes offline,
 * and a step without its text and receipt none. */
struct json_object *worker_to_json(const struct worker *worker);
int worker_from_json(struct json_object *json, const char *at, int64_t now_ms,
    struct worker **ret_worker, struct err *err);

/* "auto-1" and the like. */
bool worker_is_auto(const char *name);

#endif
