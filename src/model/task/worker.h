/* SPDX-License-Identifier: ISC */

/*
 * A worker, and how its status may change. Only worker_transition() changes a
 * status; everything that a transition clears or timestamps happens there.
 */
#ifndef WORKER_H
#define WORKER_H

#include "session-record.h"

struct buf;
struct err;
struct json_object;
struct schema;

/* The statuses of a worker and the steps of its landing, with their names, and
 * the table of which status may follow which. */

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
	WORKER_WAITING, /* its turn ended; waits for agents it asked for */
	WORKER_STATUS_COUNT
};

const char *worker_status_name(enum worker_status status); /* "needs_review" */
bool worker_status_parse(const char *name, enum worker_status *ret_status);

/* May a worker go from one to the other? According to the table alone; from
 * limited and paused worker_transition() checks more. False for invalid
 * statuses. */
bool worker_status_may(enum worker_status from, enum worker_status to);

/* For reading records (word.h), NULL terminated. */
extern const char *const worker_status_words[WORKER_STATUS_COUNT + 1];

/* Why a worker does not go on: a set, and any of them may come at any time. */
enum worker_hold {
	WORKER_HOLD_PERSON = 1, /* llmc pause, llmc stop */
	WORKER_HOLD_BUDGET = 2,
	WORKER_HOLD_TRUST = 4, /* its agent cannot be launched yet */
	WORKER_HOLD_HOURS = 8, /* it is outside of auto.hours */
};
#define WORKER_HOLDS 4

extern const char *const worker_hold_words[WORKER_HOLDS + 1];

/* One worker. All strings are owned, NULL = not set. Times
 * are wall clock milliseconds, 0 = never. */
struct worker {
	char *name;
	char *branch;
	char *worktree; /* absolute */
	int index; /* of its place (place.h), as long as it exists; 0 = of an
		    * older version */
	bool detached; /* HEAD there is on no branch: its branch follows */
	bool clone; /* it is, or is about to be, a repository of its own */
	enum worker_status status;
	int64_t since_ms; /* when it got this status */
	int64_t activity_ms; /* last sign of life or change */
	int64_t created_ms;

	/* The task. */
	char *prompt; /* what it works on */
	char *prompt_command; /* where the prompt came from, for people */
	char *task; /* id of the task in auto mode, NULL = by hand */
	bool on_hold; /* a person paused it: no new task until llmc resume */
	char *work_of; /* task whose work lies in the worktree, which may be one
			* that the worker has lost; NULL = none, or by hand */
	char *dispatch; /* the last message of the tick that it was given */
	int stalls; /* attempts to revive it since its last sign of life */
	bool over_budget; /* paused for that; llmc resume continues */
	bool off_hours; /* paused at the end of a turn, until auto.hours */
	char *health; /* oversight's last word on its task; NULL = none */
	bool blocked; /* paused: its agent cannot be launched yet */
	char *asks_id; /* the question that it waits with; NULL = none */
	char *asks; /* its text */
	bool asks_person; /* not another agent */
	int64_t asks_ms; /* since then */
	char *base; /* the commit of the landing branch on which the work in its
		     * worktree began: what HEAD has beyond it is its own, even
		     * if the branch has lost that commit; NULL = not known */
	char *commit; /* HEAD when it finished */
	char *reviewed; /* the commit that a person was shown last */
	bool self_review; /* it reviews its work before a person does */
	bool self_reviewed;

	/* The session. */
	struct session_record session;
	enum worker_status after; /* status once its prompt is submitted */
	int crashes; /* in a row */
	int64_t crashed_ms;

	/* Waiting and errors. */
	char *reason; /* of error, paused, limited, waiting; for people */
	enum worker_status before; /* the status to return to from limited and
				    * paused */
	int64_t until_ms; /* limited: when to check again */
	int limit_tries;

	/* Landing. */
	bool accepted; /* its work lands as soon as it can */
	bool approved; /* accepted: by a person, who may change protected
			* paths */
	char *accepted_head; /* accepted: only if HEAD is this commit, as it was
			      * shown; NULL = any */
	bool for_person; /* only a person may accept its work */
	char *checked; /* commit that passed check_command in its worktree,
			* without a sandbox */
	char *checked_key; /* of that command (check_book_key()) */
	int64_t checked_ms; /* how long that took */
	int64_t checked_tests; /* that ran in it; 0 = not known */
	int conflicts; /* times it was sent back to resolve one */
};

/* How the reason of a worker begins whose setup has failed. */
#define WORKER_SETUP_FAILED "repo.setup_command"
/* In the reason of one that is paused because its agent lacks its login; a
 * command of the agent follows. */
#define WORKER_LOGIN_LOST "; log in with: "

/* A new worker, offline; everything else is unset. */
struct worker *worker_new(const char *name, int64_t now_ms);

/* Change the status. -EINVAL, and no change, if the table forbids it. From
 * limited and paused only to the status before, to starting, or to where the
 * status before could go itself. Effects:
 *
 * - every move sets activity; a move to another status sets since;
 * - to idle: clears prompt, task (with its stalls), commit, reviewed,
 *   self-review, the pending prompt and the landing with its conflicts, but
 * keeps the usage. A worker that should continue something goes to starting
 * instead;
 * - to idle, needs_review, no_changes and waiting: resets crashes and limit
 * tries;
 * - to those, to working, and from limited, paused and waiting: clears the
 * reason;
 * - to error, paused, limited and waiting: sets the reason (NULL: none, or the
 * old one if the status stays the same);
 * - to limited and paused: remembers the status before, unless it is one of
 *   these two;
 * - from limited: clears until; from paused and to idle: clears over_budget and
 *   blocked;
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

/* Why it does not go on, or will not when its turn ends: a set of enum
 * worker_hold. Its names, with commas, appended. */
unsigned worker_holds(const struct worker *worker);
void worker_add_holds(unsigned holds, struct buf *out);

/* Is no turn running, and no prompt on its way? */
bool worker_is_quiet(const struct worker *worker);

/* May it get a task: is it idle, quiet and not on hold? */
bool worker_is_free(const struct worker *worker);

/* Will it be idle as soon as its session is ready: offline, with nothing to
 * continue, and not on hold? */
bool worker_is_coming(const struct worker *worker);

/* It must not be typed to: it is accepting, paused, limited, in error or
 * offline. */
bool worker_is_held(const struct worker *worker);

/* Nothing is in progress: no turn, no prompt, no landing. */
bool worker_is_at_rest(const struct worker *worker);

/* A turn is running, so there must be signs of life. Not while it waits. */
bool worker_expects_life(const struct worker *worker);

/* What a person can do with a worker that waits for one: a sentence with what
 * to type, appended; nothing for other statuses. */
void worker_add_advice(const struct worker *worker, struct buf *out);

/* Its status as a person sees it: one that waits for an answer in the middle of
 * a turn is waiting. And the word for it. */
const char *worker_shown_status(const struct worker *worker);
#define WORKER_WAITS_FOR_YOU "waiting for you"
/* The same in words for people: who it waits for. */
const char *worker_shown_words(const struct worker *worker);

/* One that auto mode drives: "auto-1", "team-1" and similar. */
bool worker_is_auto(const char *name);
/* One for tasks that agents have asked for: "team-1" and similar. */
bool worker_is_team(const char *name);

/* The record of a worker. */

/* The record of a worker, owned by the caller; it shares
 * `session.pane`. Reading: the name is required and must be valid; other
 * members may be missing or null and then are as in worker_new(). Unknown
 * members are ignored; a wrong type, an unknown word or a negative count is
 * -EINVAL. Times before 1970 become 0, and all but until are at most now.
 * Combinations that do not fit together are repaired: an impossible `before`
 * becomes offline, and a step without text and receipt becomes none. */
int worker_from_json(struct json_object *json, const char *at, int64_t now_ms,
    struct worker **ret_worker, struct err *err);

/* The names of a set of enum worker_hold, in an array. */
struct json_object *worker_holds_to_json(unsigned holds);

extern const struct schema worker_table; /* the columns of its row */

#endif
