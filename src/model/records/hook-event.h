/* SPDX-License-Identifier: ISC */

/* What an agent reports: the events of its hooks, and the structured update in
 * its reply. `llmc hook` sends an event as the parameters of the method
 * hook.event, or keeps it in a spool file of the same format; `llmc mcp`
 * reports in the same way that it was asked for its tools. */
#ifndef HOOK_EVENT_H
#define HOOK_EVENT_H

#include "work-record.h"

struct err;
struct json_object;
struct schema;

extern const struct schema hook_event_schema; /* the parameters */

enum hook_kind {
	HOOK_SESSION_START,
	HOOK_SESSION_END,
	HOOK_PROMPT, /* UserPromptSubmit */
	HOOK_TOOL_BEGINS,
	HOOK_TOOL_ENDS, /* successfully or not, or it was denied */
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
 * answer, unless it was configured to (workspace.h). */
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

/* --- the update in a reply ------------------------------------------- */

/*
 * The structured update in an agent's reply: the last fenced block marked json
 * that has the key "overseerUpdate". Nothing is guessed from other text.
 *
 * Every member is optional, unknown ones are refused, strings and lists are
 * bounded. What it says is the agent's word: it never closes a node by itself
 * (reconcile.h).
 */

#define UPDATE_KEY         "overseerUpdate"
#define UPDATE_BLOCK_MAX   65536 /* bytes of the block */
#define UPDATE_SUMMARY_MAX 8192
#define UPDATE_TEXT_MAX    4096 /* of any other string */
#define UPDATE_ITEMS_MAX   200

enum update_status {
	UPDATE_IN_PROGRESS,
	UPDATE_BLOCKED,
	UPDATE_DONE,
	UPDATE_NONE, /* it does not say */
	UPDATE_STATUS_COUNT
};

struct update_decision {
	char *decision;
	char *rationale; /* NULL = not given */
};

struct update {
	char *goal_id, *node_id; /* NULL = not given */
	enum update_status status;
	char *summary, *next; /* NULL = not given */
	char **blockers;
	struct plan_evidence evidence;
	struct update_decision *decisions;
	size_t decision_count;
	char **open_questions;
};

/* "in_progress"; "" for UPDATE_NONE. */
const char *update_status_name(enum update_status status);

/* The update of one reply. *ret_update is owned by the caller. -ENOENT if no
 * block has the key; -EINVAL or -E2BIG if the last one that has it is wrong,
 * with a message that names the path. */
int update_find(
    const char *text, size_t len, struct update **ret_update, struct err *err);

/* From the value of the key, at path `at`. */
int update_from_json(struct json_object *json, const char *at,
    struct update **ret_update, struct err *err);
/* Only the members that it has; owned by the caller. */
struct json_object *update_to_json(const struct update *update);

/* Set the ids that the update does not give to those of its assignment. -EINVAL
 * if it gives others: the update belongs to something else. */
int update_bind(struct update *update, const char *goal_id, const char *node_id,
    struct err *err);

void update_free(struct update *update);
void update_cleanup(struct update **update);
#define cleanup_update __attribute__((cleanup(update_cleanup)))

#endif
