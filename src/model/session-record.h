/* SPDX-License-Identifier: ISC */

/*
 * What is saved about an agent's session, whoever owns it, so that it can be
 * taken over after a restart. delivery.h handles the prompt in it.
 */
#ifndef SESSION_RECORD_H
#define SESSION_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct json_object;

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
	char *projects; /* the folder of all transcripts: session-start.h */
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

#endif
