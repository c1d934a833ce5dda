/* SPDX-License-Identifier: ISC */

/*
 * What is kept of one session of an agent, whoever owns it, so that it can be
 * taken over after a restart. delivery.h decides about the prompt in it.
 */
#ifndef SESSION_RECORD_H
#define SESSION_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct json_object;

/* How far a prompt has come on its way into the session. */
enum prompt_step {
	PROMPT_NONE, /* nothing on its way */
	PROMPT_PARKED, /* written down; the session is not ready for it */
	PROMPT_CLEARING, /* /clear is sent, SessionStart(clear) awaited */
	PROMPT_PASTED, /* pasted, UserPromptSubmit awaited */
	PROMPT_STEP_COUNT
};

const char *prompt_step_name(enum prompt_step step);

/* For readers of records (word.h), ended by NULL. */
extern const char *const prompt_step_words[PROMPT_STEP_COUNT + 1];

/* All strings are owned, NULL = not set. All zero is a session that was never
 * launched. */
struct session_record {
	uint64_t generation; /* of the launch; older hooks are ignored */
	char *id; /* Claude's session id */
	char *transcript; /* path */
	struct json_object *pane; /* procref of the agent, or NULL */
	bool ready; /* SessionStart has come in this generation */
	bool busy; /* a turn runs */
	int open_tools; /* PreToolUse without its PostToolUse */

	/* The prompt that is on its way. */
	enum prompt_step step;
	char *pending; /* its text */
	char *receipt; /* its number, brought back by the hook */
	bool pending_clear; /* a fresh conversation first */
	int64_t pending_since_ms; /* of the step, or the last Enter */
	int pending_tries; /* times that Enter was sent alone */
};

void session_record_release(struct session_record *record);

/* No prompt is on its way any more. */
void session_record_forget_pending(struct session_record *record);

#endif
