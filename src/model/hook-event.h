/* SPDX-License-Identifier: ISC */

/* What Claude Code reports through `llmc hook`: the parameters of the method
 * hook.event, and what lies in the spool. */
#ifndef HOOK_EVENT_H
#define HOOK_EVENT_H

#include <stdint.h>

struct err;
struct json_object;
struct shape;

enum hook_kind {
	HOOK_SESSION_START,
	HOOK_SESSION_END,
	HOOK_PROMPT, /* UserPromptSubmit */
	HOOK_TOOL_BEGINS,
	HOOK_TOOL_ENDS, /* well or not */
	HOOK_NOTIFICATION,
	HOOK_STOP,
	HOOK_STOP_FAILURE,
	HOOK_COMPACT, /* a compaction begins */
	HOOK_LIFE, /* no more than a sign of life */
	HOOK_UNKNOWN,
	HOOK_KIND_COUNT
};

#define HOOK_EVENT_ID_MAX 64 /* bytes */

extern const struct shape hook_event_shape;

/* Lives as long as the object it was read from. */
struct hook_event {
	enum hook_kind kind;
	const char *event; /* Claude Code's name for it: "Stop" */
	const char *worker; /* whose session */
	uint64_t generation; /* of its launch */
	const char *id; /* to tell a double */
	struct json_object *data; /* what the hook was given */
};

/* -EINVAL, with words, when it is not of that shape. */
int hook_event_read(
    struct json_object *params, struct hook_event *ret_event, struct err *err);

#endif
