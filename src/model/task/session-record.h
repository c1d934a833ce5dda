/* SPDX-License-Identifier: ISC */

/*
 * What is saved about an agent's session, whatever its owner, so that it can be
 * taken over after a restart.
 */
#ifndef SESSION_RECORD_H
#define SESSION_RECORD_H

struct json_object;
struct worker;

/* The state of a prompt on its way into the session. */
enum prompt_step {
	PROMPT_NONE, /* no prompt */
	PROMPT_PARKED, /* recorded; the session is not ready for it */
	PROMPT_CLEARING, /* /clear was sent, waiting for SessionStart(clear) */
	PROMPT_PASTED, /* pasted, waiting for UserPromptSubmit */
	PROMPT_STEP_COUNT
};

const char *prompt_step_name(enum prompt_step step);

/* For reading records (word.h), NULL terminated. */
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
	bool own_spool; /* its hooks have a socket and a spool of their own;
			 * false: launched by an older version */
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

#endif
