/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "hook-event.h"
#include "schema.h"

const struct schema hook_event_schema = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("event", STRING, "name of the hook in Claude Code"),
	    SCHEMA_IS("worker", STRING, "name of a worker"),
	    SCHEMA_IS("generation", INT,
		"number of the session's launch; events of older launches "
		"are ignored"),
	    SCHEMA_IS("id", STRING,
		"unique; an event that arrives twice counts once", .min = 1,
		.max = HOOK_EVENT_ID_MAX),
	    SCHEMA_IS("data", OBJECT, "what Claude Code gave the hook"),
	    SCHEMA_END,
	},
	.open = true,
};

static const struct {
	const char *event;
	enum hook_kind kind;
} kinds[] = {
	{ "SessionStart", HOOK_SESSION_START },
	{ "SessionEnd", HOOK_SESSION_END },
	{ "UserPromptSubmit", HOOK_PROMPT },
	{ "PreToolUse", HOOK_TOOL_BEGINS },
	{ "PostToolUse", HOOK_TOOL_ENDS },
	{ "PostToolUseFailure", HOOK_TOOL_ENDS },
	{ "Notification", HOOK_NOTIFICATION },
	{ "Stop", HOOK_STOP },
	{ "StopFailure", HOOK_STOP_FAILURE },
	{ "PreCompact", HOOK_COMPACT },
	{ HOOK_EVENT_TOOLS, HOOK_TOOLS },
	{ HOOK_EVENT_STATUS, HOOK_STATUS },
	{ HOOK_EVENT_READY, HOOK_READY },
	{ HOOK_EVENT_NAMED, HOOK_NAMED },
	{ "SubagentStop", HOOK_LIFE },
};

static enum hook_kind
kind_of(const char *event)
{
	for (size_t i = 0; i < nitems(kinds); i++)
		if (strcmp(kinds[i].event, event) == 0)
			return kinds[i].kind;
	return HOOK_UNKNOWN;
}

bool
hook_event_is_life(struct json_object *params)
{
	enum hook_kind kind = kind_of(json_string_or(params, "event", ""));

	return kind == HOOK_TOOL_BEGINS || kind == HOOK_TOOL_ENDS ||
	    kind == HOOK_STATUS || kind == HOOK_LIFE;
}

int
hook_event_read(
    struct json_object *params, struct hook_event *ret_event, struct err *err)
{
	const struct schema_field whole = { .type = SCHEMA_OBJECT,
		.of = &hook_event_schema };
	int r = schema_check(&whole, params, "params", err);

	if (r < 0)
		return r;
	*ret_event = (struct hook_event){
		.event = json_string_or(params, "event", ""),
		.worker = json_string_or(params, "worker", ""),
		.generation = (uint64_t)json_int_or(params, "generation", 0),
		.id = json_string_or(params, "id", ""),
		.data = json_member(params, "data"),
	};
	ret_event->kind = kind_of(ret_event->event);
	return 0;
}
