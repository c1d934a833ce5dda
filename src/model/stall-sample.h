/* SPDX-License-Identifier: ISC */

/*
 * Why an assignment has stalled, from the last messages of its transcript: does
 * it wait for a person, is it slow, or has it failed? Looked at before anything
 * is done about it.
 */
#ifndef STALL_SAMPLE_H
#define STALL_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

#define STALL_SAMPLE_MESSAGES 20 /* older ones do not count */
#define STALL_SAMPLE_ERRORS   3 /* failed tool calls in a row */

enum stall_class {
	STALL_UNKNOWN, /* no messages */
	STALL_SLOW, /* nothing says that it cannot go on */
	STALL_WAITING, /* for a person */
	STALL_FAILED,
	STALL_CLASS_COUNT
};

enum stall_role {
	STALL_USER,
	STALL_ASSISTANT,
	STALL_TOOL_CALL,
	STALL_TOOL_RESULT,
};

/* Strings may be NULL. */
struct stall_message {
	enum stall_role role;
	const char *text; /* of USER, ASSISTANT; of a TOOL_RESULT if known */
	const char *tool; /* TOOL_CALL: its name */
	bool is_error; /* TOOL_RESULT: it failed; ASSISTANT: an API error */
};

const char *stall_class_name(enum stall_class class); /* "waiting" */

/* Oldest message first. Appends the reason, a sentence, to why (may be NULL) */
enum stall_class stall_sample_classify(
    const struct stall_message *messages, size_t count, struct buf *why);

#endif
