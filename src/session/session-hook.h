/* SPDX-License-Identifier: ISC */

/* Events that Claude Code reports for a session through its hooks. */
#ifndef SESSION_HOOK_H
#define SESSION_HOOK_H

struct hook_event;
struct json_object;
struct server_call;
struct session;

/* A hook event for this session (the owner found it by name). Old generations,
 * duplicates and unknown events are ignored. call NULL: from the spool. Returns
 * true if call has been or will be answered (turn_ended); false: the caller
 * answers it with nothing. */
bool session_hook(struct session *session, struct server_call *call,
    const struct hook_event *event);

/* The result that answers a Stop: a reason sends the agent back, NULL (returns
 * NULL) lets the turn end. Owned by the caller. */
struct json_object *session_hook_stop_answer(const char *reason);

/* The result that answers the end of a tool or of a compaction, by the name of
 * the event ("PostToolUse"): the agent reads the text next. Owned by the
 * caller. */
struct json_object *
session_hook_tool_answer(const char *event, const char *text);

#endif
