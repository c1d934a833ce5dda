/* SPDX-License-Identifier: ISC */

/*
 * A worker with its session, and how its status may change. Only
 * worker_transition() changes a status; everything that a transition clears or
 * timestamps happens there.
 */
#ifndef WORKER_H
#define WORKER_H

struct buf;
struct err;
struct json_object;
struct schema;
struct worker;

/* --- its session --------------------------------------------------------- */

/*
 * What is saved about an agent's session, whatever its owner, so that it can be
 * taken over after a restart.
 */

/* The state of a prompt on its way into the session. */
enum prompt_step {
	PROMPT_NONE, /* no prompt */
	PROMPT_PARKED, /* recorded; the session is not ready for it */
	PROMPT_CLEARING, /* /clear was sent, waiting for SessionStart(clear) */
	PROMPT_PASTED, /* pasted, waiting for UserPromptSubmit */
	PROMPT_STEP_COUNT
};

const char *prompt_step_name(enum prompt_step step);

/* For reading records (json.h), NULL terminated. */
extern const char *const prompt_step_words[PROMPT_STEP_COUNT + 1];

/* All strings are owned, NULL = not set. All zero means a session that was
 * never launched. */
struct session_record {
	uint64_t generation; /* of the launch; older hooks are ignored */
	char *id; /* Claude's session id */
	char *projects; /* the folder of all transcripts */
	char *transcript; /* path */
	int64_t history_ms; /* messages in it from before this moment are a copy
			     * of another conversation; 0 = there are none */
	struct json_object *pane; /* procref of the agent, or NULL */
	bool ready; /* SessionStart has arrived in this generation */
	bool busy; /* a turn is running */
	int open_tools; /* PreToolUse without its PostToolUse */

	/* The pending prompt. */
	enum prompt_step step;
	char *pending; /* its text */
	char *receipt; /* its number, returned by the hook */
	bool pending_clear; /* start a new conversation first */
	int64_t pending_since_ms; /* when the step began, or the last Enter */
	int pending_tries; /* how often Enter was pressed */
	int pending_refused; /* sessions that did not accept it */
};

void session_record_release(struct session_record *record);

/* Clear the pending prompt. */
void session_record_forget_pending(struct session_record *record);

/* What an agent says at the start of its session about its conversation. The
 * daemon reads the file that it names: it must be one that Claude Code would
 * write, and no other. */

/* Is this the id of a conversation (a UUID)? */
bool session_start_id_valid(const char *id);

/* Is this the file of that conversation: <projects>/<folder>/<id>.jsonl,
 or
 * <projects>/<year>/<month>/<day>/rollout-<time>-<id>.jsonl, without
 * "." and ".." in it? projects: absolute; NULL = not known, then any folder
 * will do. */
bool session_start_path_valid(
    const char *projects, const char *id, const char *path);

/*
 * An agent exited by itself: launch it again, when, or give up? Progress of the
 * worker resets the count of crashes (worker.h).
 */

#define CRASH_MAX        6 /* crashes in a row before giving up */
#define CRASH_DRIVEN_MAX 3 /* the same in auto mode */
#define CRASH_ROW_MS     (10 * 60 * 1000) /* longest gap within a row */

struct crash_verdict {
	bool counts; /* false: it waits or is in error; nothing changed */
	bool give_up; /* too many in a row: a person must look at it */
	int64_t pause_ms; /* before the next launch; 0 after the first crash */
};

/* Counts the crash in the worker's record and decides what to do. */
struct crash_verdict
crash_judge(struct worker *worker, bool driven, int64_t now_ms);

/*
 * How a prompt gets into a session: decides what to do next from what is known.
 * Only one prompt at a time is on its way into a session. Neither text nor
 * /clear is ever pasted twice; a pasted prompt counts as delivered only when a
 * hook returns its receipt.
 *
 * The owner of the session asks delivery_next(), records the action with
 * delivery_did(), saves the record, and then acts. If it is killed in between,
 * it presses Enter for nothing and restarts the session, but never enters a
 * prompt twice. Strings given here are copied.
 */

/* In the first session for a prompt; twice as long in each that follows. */
#define DELIVERY_CONFIRM_MS 3000 /* after a paste, then press Enter */
#define DELIVERY_CLEAR_MS   10000 /* after /clear, then press Enter */
#define DELIVERY_TRIES      3 /* presses of Enter, then a new session */
#define DELIVERY_SESSIONS   3 /* sessions for one prompt, then a person */

enum delivery_action {
	DELIVERY_WAIT, /* until *ret_wait_ms from now, or the next event */
	DELIVERY_CLEAR, /* paste /clear; step becomes CLEARING */
	DELIVERY_PASTE, /* paste the prompt; step becomes PASTED */
	DELIVERY_ENTER, /* press Enter: harmless if the input box is empty */
	DELIVERY_RESTART, /* end the session and resume it; the prompt is parked
			   * again, unless its receipt arrives first; see
			   * delivery_refused() */
	DELIVERY_ACTION_COUNT
};

/* Record a prompt to be entered into the session (after /clear, if requested).
 * Replaces a prompt that is on its way. */
void delivery_park(struct session_record *record, const char *text,
    const char *receipt, bool clear, int64_t now_ms);

/* Returns WAIT with *ret_wait_ms = -1 if nothing can be done before the next
 * event: no prompt is pending, nothing may be typed (open is false), the
 * session is not ready (launching has its own deadline), or a turn runs and
 * /clear must come first. */
enum delivery_action delivery_next(const struct session_record *record,
    bool open, int64_t now_ms, int64_t *ret_wait_ms);

/* After a restart of the owner: the recorded action may or may not have been
 * carried out. Wait for the confirmation (DELIVERY_CONFIRM_MS) and, for a
 * prompt, press Enter once more; then start a new session. */
void delivery_recovered(struct session_record *record, int64_t now_ms);

/* Update the record as if the action had been carried out. */
void delivery_did(
    struct session_record *record, enum delivery_action action, int64_t now_ms);

/* After DELIVERY_RESTART: may another session be started for the prompt, and
 * after which pause? False after DELIVERY_SESSIONS of them, in a row or not: a
 * person must look at it. The prompt stays parked; releasing it allows as many
 * sessions again. */
bool delivery_refused(struct session_record *record, int64_t *ret_pause_ms);

/* SessionStart has arrived in the session's generation. After our /clear
 * (source "clear") the prompt is pasted next. */
void delivery_session_started(
    struct session_record *record, bool cleared, int64_t now_ms);

/* UserPromptSubmit has arrived with this text. Returns true if it carries the
 * receipt of the pending prompt, which is then no longer pending. */
bool delivery_submitted(struct session_record *record, const char *submitted);

const char *delivery_action_name(enum delivery_action action);

/* --- the worker -------------------------------------------------------- */

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

/* For reading records (json.h), NULL terminated. */
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
	int index; /* of its place (place.h), as long as it exists */
	bool detached; /* HEAD there is on no branch: its branch follows */
	bool clone; /* it is, or is about to be, a repository of its own */
	enum worker_status status;
	int64_t since_ms; /* when it got this status */
	int64_t activity_ms; /* last sign of life or change */
	int64_t created_ms;

	/* The task. */
	char *prompt; /* what it works on */
	char *prompt_command; /* where the prompt came from, for people */
	char *given_by; /* the worker whose agent gave it that; NULL = a person
			 * or auto mode */
	char *task; /* id of the task in auto mode, NULL = by hand */
	bool on_hold; /* a person paused it: no new task until llmc resume */
	char *work_of; /* task whose work lies in the worktree, which may be one
			* that the worker has lost; NULL = none, or by hand */
	char *dispatch; /* the last message of the tick that it was given */
	int stalls; /* attempts to revive it since its last sign of life */
	bool over_budget; /* paused for that; llmc resume continues */
	bool off_hours; /* paused at the end of a turn, until auto.hours */
	char *health; /* oversight's last word on its task; NULL = none */
	char *finding; /* what it saw; NULL = nothing */
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

/* Does it wait until its login is taken again, and nothing else holds it? */
bool worker_waits_for_login(const struct worker *worker);

/* A new worker, offline; everything else is unset. */
struct worker *worker_new(const char *name, int64_t now_ms);

/* Change the status. -EINVAL, and no change, if the table forbids it. From
 * limited and paused only to the status before, to starting, or to where the
 * status before could go itself. Effects:
 *
 * - every move sets activity; a move to another status sets since;
 * - to idle: clears prompt, who gave it, task (with its stalls), commit,
 * reviewed, self-review, the pending prompt and the landing with its conflicts,
 * but keeps the usage. A worker that should continue something goes to starting
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
