/* SPDX-License-Identifier: ISC */

/*
 * What Claude Code reports through `llmc hook`. Events of an older launch are
 * ignored; one that came twice counts once. The answer goes out after the state
 * is written, so that an event that was acknowledged is never lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "clock.h"
#include "errtext.h"
#include "json.h"
#include "log.h"
#include "mem.h"
#include "pilot.h"
#include "prompt.h"
#include "server.h"
#include "shape.h"
#include "spool.h"
#include "workspace.h"

#define DRAIN_MAX 16 /* events taken in one turn */
#define SEEN_MAX  512 /* ids remembered against doubles */

static const struct shape event_shape = {
	.fields =
	    (const struct shape_field[]){
		{ .name = "event", .type = SHAPE_STRING },
		{ .name = "worker", .type = SHAPE_STRING },
		{ .name = "generation", .type = SHAPE_INT },
		{ .name = "id", .type = SHAPE_STRING, .min = 1, .max = 64 },
		{ .name = "data", .type = SHAPE_OBJECT },
		{ .name = NULL },
	    },
	.open = true,
};

/* Returns true when the handler answers the call itself. */
typedef bool hook_fn(
    struct agent *agent, struct server_call *call, struct json_object *data);

static bool
on_session_start(
    struct agent *agent, struct server_call *call, struct json_object *data)
{
	(void)call;
	agent_ready(agent, json_string_or(data, "session_id", NULL),
	    json_string_or(data, "transcript_path", NULL),
	    json_string_or(data, "source", "startup"));
	return false;
}

static bool
on_session_end(
    struct agent *agent, struct server_call *call, struct json_object *data)
{
	(void)call;
	/* /clear ends a conversation, not the session. */
	if (strcmp(json_string_or(data, "reason", ""), "clear") == 0)
		return false;
	agent->worker->session.ready = false;
	daemon_changed(agent->daemon);
	return false;
}

static bool
on_prompt(
    struct agent *agent, struct server_call *call, struct json_object *data)
{
	struct worker *w = agent->worker;
	const char *prompt = json_string_or(data, "prompt", "");
	char receipt[PROMPT_RECEIPT_SIZE];

	(void)call;
	/* Its own notes to itself, and receipts of prompts past. */
	if (strncmp(prompt, "<task-notification>", 19) == 0 ||
	    agent_submitted(agent, prompt) || prompt_receipt(prompt, receipt))
		return false;
	/* Somebody typed by hand. */
	w->session.busy = true;
	agent->gates = 0;
	if (w->status == WORKER_IDLE || w->status == WORKER_NO_CHANGES) {
		xstrset(&w->prompt, prompt);
		agent_move(agent, WORKER_WORKING, NULL);
	}
	daemon_changed(agent->daemon);
	return false;
}

static bool
on_tool_begins(
    struct agent *agent, struct server_call *call, struct json_object *data)
{
	(void)call;
	(void)data;
	agent->worker->session.open_tools++;
	return false;
}

static bool
on_tool_ends(
    struct agent *agent, struct server_call *call, struct json_object *data)
{
	(void)call;
	(void)data;
	if (agent->worker->session.open_tools > 0)
		agent->worker->session.open_tools--;
	stalls_sign_of_life(agent);
	return false;
}

static bool
on_notification(
    struct agent *agent, struct server_call *call, struct json_object *data)
{
	const char *type = json_string_or(data, "notification_type", "");

	(void)call;
	if (strcmp(type, "permission_prompt") == 0)
		agent_park(agent, "the agent asks for a permission");
	/* It has been waiting for a while, and we took it for working: the end
	 * of its turn was not heard. */
	if (strcmp(type, "idle_prompt") == 0 && agent->worker->session.busy &&
	    !agent->background && agent->worker->session.step == PROMPT_NONE) {
		log_fields(LOG_LEVEL_INFO, "the end of its turn was not heard",
		    "worker", agent->worker->name, NULL);
		finish_turn(agent, NULL, NULL);
	}
	return false;
}

static bool
on_stop(struct agent *agent, struct server_call *call, struct json_object *data)
{
	stalls_sign_of_life(agent);
	finish_turn(agent, call, data);
	return true;
}

static bool
on_stop_failure(
    struct agent *agent, struct server_call *call, struct json_object *data)
{
	(void)call;
	finish_failed(agent, json_string_or(data, "error", ""),
	    json_string_or(data, "last_assistant_message", ""));
	return false;
}

static bool
on_compact(
    struct agent *agent, struct server_call *call, struct json_object *data)
{
	(void)call;
	(void)data;
	agent->compacting = true;
	return false;
}

static bool
on_life(struct agent *agent, struct server_call *call, struct json_object *data)
{
	(void)agent;
	(void)call;
	(void)data;
	return false;
}

static const struct {
	const char *event;
	hook_fn *fn;
} hook_table[] = {
	{ "SessionStart", on_session_start },
	{ "SessionEnd", on_session_end },
	{ "UserPromptSubmit", on_prompt },
	{ "PreToolUse", on_tool_begins },
	{ "PostToolUse", on_tool_ends },
	{ "PostToolUseFailure", on_tool_ends },
	{ "Notification", on_notification },
	{ "Stop", on_stop },
	{ "StopFailure", on_stop_failure },
	{ "SubagentStop", on_life },
	{ "PreCompact", on_compact },
};

static hook_fn *
find_hook(const char *event)
{
	for (size_t i = 0; i < nitems(hook_table); i++)
		if (strcmp(hook_table[i].event, event) == 0)
			return hook_table[i].fn;
	return NULL;
}

/* A ring of ids: the hook that spooled an event may also have been heard. */
static bool
seen_before(const char *id)
{
	static char seen[SEEN_MAX][65];
	static size_t next;

	for (size_t i = 0; i < SEEN_MAX; i++)
		if (strcmp(seen[i], id) == 0)
			return true;
	snprintf(seen[next], sizeof seen[next], "%s", id);
	next = (next + 1) % SEEN_MAX;
	return false;
}

static void
answer_nothing(void *call)
{
	if (call != NULL)
		server_reply(call, NULL);
}

void
hooks_event(
    struct daemon *d, struct server_call *call, struct json_object *params)
{
	const struct shape_field whole = { .type = SHAPE_OBJECT,
		.of = &event_shape };
	struct json_object *data;
	struct agent *agent;
	struct err err = { 0 };
	const char *event;
	hook_fn *fn;

	/* What was said before this comes before this. */
	if (call != NULL)
		hooks_drain_all(d);
	if (shape_check(&whole, params, "params", &err) < 0) {
		if (call != NULL)
			server_fail(call, -32602, err.msg, NULL);
		return;
	}
	event = json_string_or(params, "event", "");
	data = json_object_object_get(params, "data");
	agent = agent_find(d, json_string_or(params, "worker", ""));
	fn = find_hook(event);
	if (agent == NULL || fn == NULL ||
	    (uint64_t)json_int_or(params, "generation", 0) !=
		agent->worker->session.generation ||
	    seen_before(json_string_or(params, "id", ""))) {
		log_debug("hook %s of %s is not for us", event,
		    json_string_or(params, "worker", "?"));
		answer_nothing(call);
		return;
	}
	agent->hook_ms = clock_mono_ms();
	agent->stirred = true;
	agent->worker->activity_ms = clock_wall_ms();
	log_debug("hook %s of %s", event, agent->worker->name);
	if (!fn(agent, call, data))
		daemon_then(d, NULL, answer_nothing, call);
}

/* The file goes when this returns, so what it changed is written first. */
static int
drain_one(const char *id, struct json_object *event, void *arg)
{
	struct daemon *d = arg;

	(void)id;
	hooks_event(d, NULL, event);
	return d->dirty && daemon_save(d, NULL) < 0 ? -EIO : 0;
}

static void
drain_more(void *arg)
{
	hooks_drain(arg);
}

static int
drain(struct daemon *d, int max)
{
	cleanup_free char *dir = workspace_path(d->workspace, "spool");
	struct err err = { 0 };
	int r = spool_drain(dir, max, drain_one, d, &err);

	if (r < 0)
		log_debug("spool: %s", err.msg);
	return r;
}

/* A few at a time: each costs a write, and the loop has others to serve. */
void
hooks_drain(struct daemon *d)
{
	if (drain(d, DRAIN_MAX) == DRAIN_MAX)
		daemon_then(d, d, drain_more, d);
}

void
hooks_drain_all(struct daemon *d)
{
	drain(d, 0);
}
