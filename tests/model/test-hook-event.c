/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "hook-event.h"

static struct json_object *
parse(const char *text)
{
	struct json_object *json = NULL;

	ck_assert_int_eq(json_parse(text, strlen(text), 4096, &json, NULL), 0);
	return json;
}

TEST(each_event_has_its_kind)
{
	static const struct {
		const char *event;
		enum hook_kind kind;
	} table[] = {
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
		{ "ToolsListed", HOOK_TOOLS },
		{ "SubagentStop", HOOK_LIFE },
		{ "PermissionRequest", HOOK_UNKNOWN },
		{ "stop", HOOK_UNKNOWN },
		{ "", HOOK_UNKNOWN },
	};

	for (size_t i = 0; i < nitems(table); i++) {
		cleanup_free char *text = xasprintf(
		    "{\"event\":\"%s\",\"worker\":\"adam\",\"generation\":7,"
		    "\"id\":\"x\",\"data\":{\"prompt\":\"p\"},\"more\":1}",
		    table[i].event);
		cleanup_json struct json_object *json = parse(text);
		struct hook_event event;

		ck_assert_int_eq(hook_event_read(json, &event, NULL), 0);
		ck_assert_int_eq(event.kind, table[i].kind);
		ck_assert_str_eq(event.event, table[i].event);
		ck_assert_str_eq(event.worker, "adam");
		ck_assert_uint_eq(event.generation, 7);
		ck_assert_str_eq(event.id, "x");
		ck_assert_str_eq(json_string_or(event.data, "prompt", ""), "p");
	}
}

TEST(what_is_not_of_that_shape_is_refused)
{
	static const char *const texts[] = {
		"[]",
		"{}",
		"{\"event\":\"Stop\",\"worker\":\"a\",\"generation\":1,"
		"\"id\":\"x\"}",
		"{\"event\":\"Stop\",\"worker\":\"a\",\"generation\":1,"
		"\"id\":\"\",\"data\":{}}",
		"{\"event\":\"Stop\",\"worker\":\"a\",\"generation\":\"1\","
		"\"id\":\"x\",\"data\":{}}",
		"{\"event\":1,\"worker\":\"a\",\"generation\":1,"
		"\"id\":\"x\",\"data\":{}}",
		"{\"event\":\"Stop\",\"worker\":\"a\",\"generation\":1,"
		"\"id\":\"x\",\"data\":[]}",
		"{\"event\":\"Stop\",\"worker\":\"a\",\"generation\":1,\"id\":"
		"\"0123456789012345678901234567890123456789"
		"0123456789012345678901234\",\"data\":{}}",
	};

	for (size_t i = 0; i < nitems(texts); i++) {
		cleanup_json struct json_object *json = parse(texts[i]);
		struct hook_event event = { .kind = HOOK_STOP, .id = "same" };
		struct err err = { 0 };

		ck_assert_msg(hook_event_read(json, &event, &err) == -EINVAL,
		    "%s", texts[i]);
		ck_assert_str_ne(err.msg, "");
		ck_assert_str_eq(event.id, "same");
	}
	ck_assert_int_lt(
	    hook_event_read(NULL, &(struct hook_event){ 0 }, NULL), 0);
}
