/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "buf.h"
#include "json.h"
#include "schema.h"
#include "why.h"

TEST(a_conversation_and_events_become_one_story)
{
	static const char *const lines[] = {
		"{\"type\":\"user\",\"timestamp\":\"2026-01-01T00:00:01.000Z\","
		"\"message\":{\"content\":\"Fix it\\u001b[1m\\n\"}}",
		"{\"type\":\"user\",\"isMeta\":true,\"message\":{\"content\":"
		"\"not this\"}}",
		"{\"type\":\"user\",\"message\":{\"content\":\"<command-name>"
		"/clear</command-name>\"}}",
		"{\"type\":\"assistant\",\"timestamp\":\"2026-01-01T00:00:03."
		"000Z\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":"
		"\"I look.\"},{\"type\":\"tool_use\",\"name\":\"Bash\","
		"\"input\":{\"command\":\"make\\n  test\"}},{\"type\":"
		"\"tool_use\",\"name\":\"Odd\",\"input\":7}]}}",
		/* without a time: behind the line before it */
		"{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
		"\"tool_result\",\"is_error\":true,\"content\":[{\"type\":"
		"\"text\",\"text\":\"no\\nrule\"}]},{\"type\":\"tool_result\","
		"\"content\":\"fine\"}]}}",
		"{\"type\":\"summary\"}",
		"[]",
	};
	static const struct schema_field whole = { .type = SCHEMA_ROWS,
		.of = &replay_entry_schema };
	cleanup_json struct json_object *list = json_object_new_array();
	cleanup_json struct json_object *note = json_tokener_parse(
	    "{\"at_unix\":1767225602,\"what\":\"assigned\",\"detail\":\"a\"}");
	cleanup_json struct json_object *event = json_tokener_parse(
	    "{\"timestamp\":\"2026-01-01T00:00:00.500Z\",\"event\":{\"type\":"
	    "\"stall\",\"worker_name\":\"a\"}}");
	cleanup_buf struct buf out = BUF_INIT;
	struct err err = { 0 };

	for (size_t i = 0; i < nitems(lines); i++) {
		cleanup_json struct json_object *line =
		    json_tokener_parse(lines[i]);

		replay_add_line(list, line);
	}
	replay_add_note(list, note);
	replay_add_event(list, event);
	replay_sort(list);
	ck_assert_msg(schema_check(&whole, list, "", &err) == 0, "%s", err.msg);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *e = json_object_array_get_idx(list, i);

		buf_addf(&out, "%s: %s|", json_string_or(e, "kind", ""),
		    json_string_or(e, "text", ""));
	}
	ck_assert_str_eq(out.data,
	    "event: a shows no sign of life|asked: Fix it\\x1b[1m|"
	    "event: assigned: a|said: I look.|did: Bash: make test|did: Odd|"
	    "failed: no rule|");
}
