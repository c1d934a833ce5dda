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
		{ "PermissionDenied", HOOK_TOOL_ENDS },
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

/* --- the update in a reply ------------------------------------------- */

#define FENCED(json) "```json\n{\"overseerUpdate\":" json "}\n```\n"

static struct update *
found(const char *text)
{
	struct update *update = NULL;
	struct err err = { 0 };

	ck_assert_msg(
	    update_find(text, strlen(text), &update, &err) == 0, "%s", err.msg);
	return update;
}

static void
assert_refused(const char *text, int code, const char *words)
{
	struct update *update = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(update_find(text, strlen(text), &update, &err), code);
	ck_assert_ptr_null(update);
	ck_assert_msg(strstr(err.msg, words) != NULL, "%s", err.msg);
}

TEST(all_members_are_read_and_written_back)
{
	static const char text[] =
	    "Hello.\n" FENCED("{\"goalId\":\"g\",\"workNodeId\":\"S1\","
			      "\"status\":\"in_progress\",\"summary\":\"a\","
			      "\"next\":\"b\",\"blockers\":[\"c\"],"
			      "\"openQuestions\":[\"d\"],"
			      "\"evidence\":{\"filesTouched\":[\"e\"],"
			      "\"testsRun\":[\"f\"],\"commits\":[\"0a\"]},"
			      "\"decisions\":[{\"decision\":\"h\","
			      "\"rationale\":\"i\"},{\"decision\":\"j\"}]}");
	cleanup_update struct update *update = found(text);
	cleanup_json struct json_object *json = update_to_json(update);
	cleanup_json struct json_object *wanted = NULL;
	const char *start = strstr(text, ":{") + 1;

	ck_assert_int_eq(update->status, UPDATE_IN_PROGRESS);
	ck_assert_str_eq(update->decisions[0].rationale, "i");
	ck_assert_ptr_null(update->decisions[1].rationale);
	ck_assert_int_eq(json_parse(start, strlen(start) - strlen("}\n```\n"),
			     4096, &wanted, NULL),
	    0);
	ck_assert(json_object_equal(json, wanted));
}

TEST(the_last_block_with_the_key_counts)
{
	static const struct {
		const char *text;
		enum update_status status;
	} cases[] = {
		{ FENCED("{\"status\":\"blocked\"}")
			FENCED("{\"status\":\"done\"}"),
		    UPDATE_DONE },
		{ FENCED("{\"status\":\"done\"}") "```json\n{\"other\":1}\n```",
		    UPDATE_DONE },
		{ FENCED("{\"status\":\"done\"}") "```c\noverseerUpdate\n```",
		    UPDATE_DONE },
		{ "  ```JSON \r\n{\"overseerUpdate\":{\"status\":\"done\"}}\r\n"
		  "  ```\r\n",
		    UPDATE_DONE },
		{ "````json\n{\"overseerUpdate\":{\"status\":\"done\","
		  "\"summary\":\"x\"}}\n```\n````\n",
		    UPDATE_NONE },
		{ "~~~json\n{\"overseerUpdate\":{\"status\":\"done\"}}\n~~~~",
		    UPDATE_DONE },
		/* Cut off by the end of the reply. */
		{ "```json\n{\"overseerUpdate\":{\"status\":\"done\"}}\n",
		    UPDATE_DONE },
		/* An example inside another block. */
		{ "```text\n```json\n{\"overseerUpdate\":{\"status\":\"done\"}"
		  "}\n```\n",
		    UPDATE_NONE },
		{ "{\"overseerUpdate\":{\"status\":\"done\"}}", UPDATE_NONE },
		{ "```\n{\"overseerUpdate\":{\"status\":\"done\"}}\n```",
		    UPDATE_NONE },
		{ "```json```\n{\"overseerUpdate\":{\"status\":\"done\"}}",
		    UPDATE_NONE },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_update struct update *update = NULL;
		int r = update_find(
		    cases[i].text, strlen(cases[i].text), &update, NULL);

		if (cases[i].status == UPDATE_NONE) {
			ck_assert_msg(r < 0, "%zu", i);
			continue;
		}
		ck_assert_msg(r == 0, "%zu", i);
		ck_assert_int_eq(update->status, cases[i].status);
	}
}

TEST(wrong_updates_are_refused_with_their_path)
{
	cleanup_buf struct buf huge = BUF_INIT;

	assert_refused("", -ENOENT, "no block");
	assert_refused("```json\n{ \"overseerUpdate\" }\n```", -EINVAL, "");
	assert_refused(FENCED("3"), -EINVAL, "overseerUpdate: expected");
	assert_refused(FENCED("{}"), -EINVAL, "says nothing");
	assert_refused(FENCED("{\"goalId\":\"g\"}"), -EINVAL, "says nothing");
	assert_refused(FENCED("{\"status\":\"cancelled\"}"), -EINVAL,
	    "overseerUpdate.status");
	assert_refused(
	    FENCED("{\"Status\":\"done\"}"), -EINVAL, "overseerUpdate");
	assert_refused(FENCED("{\"status\":\"done\",\"blockers\":[1]}"),
	    -EINVAL, "overseerUpdate.blockers[0]");
	assert_refused(
	    FENCED("{\"status\":\"done\",\"evidence\":{\"proof\":[]}}"),
	    -EINVAL, "overseerUpdate.evidence");
	assert_refused(FENCED("{\"status\":\"done\",\"decisions\":[{}]}"),
	    -EINVAL, "overseerUpdate.decisions[0]");
	assert_refused("```json\n{\"overseerUpdate\":{\"status\":\"done\"},"
		       "\"more\":1}\n```",
	    -EINVAL, "more");
	/* A wrong last one does not bring an older one back. */
	assert_refused(FENCED("{\"status\":\"done\"}") FENCED("{\"status\":1}"),
	    -EINVAL, "overseerUpdate.status");

	buf_adds(&huge, "```json\n{\"overseerUpdate\":{\"summary\":\"");
	for (int i = 0; i <= UPDATE_SUMMARY_MAX; i++)
		buf_addc(&huge, 'x');
	buf_adds(&huge, "\"}}\n```");
	assert_refused(huge.data, -EINVAL, "overseerUpdate.summary");
	buf_clear(&huge);
	buf_adds(&huge, "```json\n{\"overseerUpdate\":{\"blockers\":[\"\"");
	for (int i = 0; i < UPDATE_ITEMS_MAX; i++)
		buf_adds(&huge, ",\"\"");
	buf_adds(&huge, "]}}\n```");
	assert_refused(huge.data, -EINVAL, "overseerUpdate.blockers");
	buf_clear(&huge);
	buf_adds(&huge, "```json\n{\"overseerUpdate\":");
	for (int i = 0; i < UPDATE_BLOCK_MAX; i++)
		buf_addc(&huge, ' ');
	buf_adds(&huge, "{}}\n```");
	assert_refused(huge.data, -E2BIG, "");
}

TEST(null_and_empty_are_the_same_as_missing)
{
	cleanup_update struct update *update = found(
	    FENCED("{\"goalId\":null,\"status\":\"done\",\"summary\":\"\","
		   "\"blockers\":null,\"evidence\":null,\"decisions\":null}"));

	ck_assert_ptr_null(update->goal_id);
	ck_assert_ptr_null(update->summary);
	ck_assert_uint_eq(strv_count(update->blockers), 0);
}

TEST(ids_come_from_the_assignment_only)
{
	cleanup_update struct update *none =
	    found(FENCED("{\"status\":\"done\"}"));
	cleanup_update struct update *same =
	    found(FENCED("{\"status\":\"done\",\"goalId\":\"g\","
			 "\"workNodeId\":\"S1\"}"));
	cleanup_update struct update *other =
	    found(FENCED("{\"status\":\"done\",\"workNodeId\":\"S2\"}"));
	struct err err = { 0 };

	ck_assert_int_eq(update_bind(none, "g", "S1", NULL), 0);
	ck_assert_str_eq(none->goal_id, "g");
	ck_assert_str_eq(none->node_id, "S1");
	ck_assert_int_eq(update_bind(same, "g", "S1", NULL), 0);
	ck_assert_int_eq(update_bind(other, "g", "S1", &err), -EINVAL);
	ck_assert_str_eq(err.msg,
	    "overseerUpdate.workNodeId: \"S2\" is not what this session works "
	    "on; write \"S1\", or leave it out");
}

static size_t
texts_of(struct json_object *row, const char **texts, size_t max)
{
	struct json_object *list = NULL, *one = NULL;
	size_t count;

	if (json_object_object_get_ex(row, "text", &one)) {
		texts[0] = one != NULL ? json_object_get_string(one) : NULL;
		return 1;
	}
	json_object_object_get_ex(row, "texts", &list);
	count = json_object_array_length(list);
	ck_assert_uint_le(count, max);
	for (size_t i = 0; i < count; i++)
		texts[i] =
		    json_object_get_string(json_object_array_get_idx(list, i));
	return count;
}

TEST(the_vectors_hold)
{
	cleanup_free char *path = NULL;
	cleanup_json struct json_object *root = NULL;
	struct json_object *rows;
	struct err err = { 0 };

	path = xasprintf("%s/openclaw_structured_update.json", unit_vectors());
	ck_assert_msg(
	    json_load(path, 1048576, &root, &err) == 0, "%s", err.msg);
	rows = json_object_object_get(root, "vectors");
	ck_assert_uint_ge(json_object_array_length(rows), 13);
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		struct json_object *expect =
		    json_object_object_get(row, "expect");
		cleanup_update struct update *update = NULL;
		cleanup_json struct json_object *json = NULL;
		const char *texts[8];
		size_t count = texts_of(row, texts, nitems(texts));
		int r = -ENOENT;

		for (size_t k = 0; k < count && r != 0; k++)
			r = texts[k] == NULL ?
			    -ENOENT :
			    update_find(
				texts[k], strlen(texts[k]), &update, NULL);

		if (json_object_object_get_ex(row, "divergence", NULL)) {
			/* The last block that carries the key. */
			ck_assert_int_eq(r, 0);
			ck_assert_int_eq(update->status, UPDATE_DONE);
			continue;
		}
		ck_assert_msg((r == 0) == (expect != NULL), "row %zu", i);
		if (expect == NULL)
			continue;
		json = update_to_json(update);
		ck_assert_msg(json_object_equal(json, expect), "row %zu: %s", i,
		    json_object_to_json_string(json));
	}
}
