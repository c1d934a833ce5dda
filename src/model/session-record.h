/* SPDX-License-Identifier: ISC */

/*
 * What is saved about an agent's session, whoever owns it, so that it can be
 * taken over after a restart. delivery.h handles the prompt in it.
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
 * without
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

#endif
