/* SPDX-License-Identifier: ISC */

/* What an agent reports through `llmc hook`: the parameters of the method
 * hook.event, and the format of the spool files. `llmc mcp` reports in the same
 * way that it was asked for its tools. */
#ifndef HOOK_EVENT_H
#define HOOK_EVENT_H

struct err;
struct json_object;
struct schema;

extern const struct schema hook_event_schema; /* the parameters */

enum hook_kind {
	HOOK_SESSION_START,
	HOOK_SESSION_END,
	HOOK_PROMPT, /* UserPromptSubmit */
	HOOK_TOOL_BEGINS,
	HOOK_TOOL_ENDS, /* successfully or not */
	HOOK_NOTIFICATION,
	HOOK_STOP,
	HOOK_STOP_FAILURE,
	HOOK_COMPACT, /* a compaction starts */
	HOOK_TOOLS, /* from llmc mcp: the session has its tools */
	HOOK_READY, /* likewise, of an agent that does not say otherwise when
		     * it can be prompted */
	HOOK_NAMED, /* the id and the file of its conversation */
	HOOK_STATUS, /* what a status line would show: no sign of work */
	HOOK_LIFE, /* only a sign of life */
	HOOK_UNKNOWN,
	HOOK_KIND_COUNT
};

/* Are these parameters only a sign of life? Their sender does not wait for the
 * answer, unless it was configured to (run-dir.h). */
bool hook_event_is_life(struct json_object *params);

#define HOOK_EVENT_ID_MAX 64 /* bytes */
#define HOOK_EVENT_TOOLS  "ToolsListed"
#define HOOK_EVENT_STATUS "StatusLine"
#define HOOK_EVENT_READY  "AgentReady"
#define HOOK_EVENT_NAMED  "ConversationNamed"

/* The error of a StopFailure: a person pressed Escape. Claude Code says that
 * only in its transcript. */
#define HOOK_ERROR_INTERRUPTED "interrupted"

/* Valid as long as the object it was read from. */
struct hook_event {
	enum hook_kind kind;
	const char *event; /* the name that Claude Code uses: "Stop"; other
			    * kinds of agents are translated */
	const char *worker; /* owner of the session */
	uint64_t generation; /* of its launch */
	const char *id; /* to detect duplicates */
	struct json_object *data; /* the input of the hook */
};

/* -EINVAL, with a message, if it does not have that shape. */
int hook_event_read(
    struct json_object *params, struct hook_event *ret_event, struct err *err);

#endif
