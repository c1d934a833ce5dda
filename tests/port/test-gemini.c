/* SPDX-License-Identifier: ISC */

/* Gemini CLI: how it is launched, what its hooks and its chat file say. */
#include "claude-world.h"
#include "agent-kind.h"
#include "transcript-parser.h"

static struct json_object *
parsed(const char *text)
{
	struct json_object *value = NULL;

	ck_assert_int_eq(
	    json_parse(text, strlen(text), 1 << 20, &value, NULL), 0);
	return value;
}

TEST(gemini_is_launched_with_settings_of_its_own)
{
	static const char *const words[] = { "\"my-gemini\"", "--skip-trust",
		"yolo", "GEMINI_CLI_HOME=", "stream-json", "--hook" };
	static const char *const set[] = { "\"BeforeAgent\"", "\"AfterAgent\"",
		"--agent gemini", "\"mcpServers\"", "\"ask_user\"",
		"\"llmc-worker.md\"", "\"gemini-api-key\"" };
	cleanup_free char *launcher = NULL, *settings = NULL;
	cleanup_buf struct buf text = BUF_INIT, own = BUF_INIT;

	setenv("GEMINI_API_KEY", "secret-1", 1);
	claude_world_begin("[defaults]\nagent = \"gemini\"\n"
			   "gemini_command = \"my-gemini\"\n"
			   "append_system_prompt = \"Be kind.\"\n");
	w.launch.tools = true;
	launcher = claude_world_prepare();
	ck_assert_int_eq(file_read(launcher, 1 << 20, &text, NULL), 0);
	for (size_t i = 0; i < nitems(words); i++)
		ck_assert_msg(
		    strstr(text.data, words[i]) != NULL, "%s", words[i]);
	settings = xasprintf("%s/box/%s/gemini/.gemini/settings.json",
	    w.workspace.dir, w.launch.worker);
	ck_assert_int_eq(file_read(settings, 1 << 20, &own, NULL), 0);
	for (size_t i = 0; i < nitems(set); i++)
		ck_assert_msg(strstr(own.data, set[i]) != NULL, "%s", set[i]);
	unsetenv("GEMINI_API_KEY");
}

TEST(its_events_are_told_in_our_words)
{
	static const struct {
		const char *event, *data, *ours, *has; /* NULL = ignored */
	} rows[] = {
		{ "Stop", "{\"prompt_response\":\"Done.\"}", "Stop",
		    "\"last_assistant_message\":\"Done.\"" },
		{ "StopFailure",
		    "{\"error\":\"\",\"last_assistant_message\":\"[API "
		    "Error: Your quota will reset after 1h2m3s.]\"}",
		    "StopFailure", " (resets " },
		{ "StopFailure",
		    "{\"last_assistant_message\":\"API key not valid\"}",
		    "StopFailure", "\"authentication_failed\"" },
		{ "StopFailure",
		    "{\"last_assistant_message\":\"retry in 99999999999s\"}",
		    "StopFailure", "\"unknown\"" },
		{ "StopFailure", "{\"error\":\"interrupted\"}", "StopFailure",
		    "\"interrupted\"" },
		{ "PreToolUse",
		    "{\"tool_name\":\"run_shell_command\",\"cwd\":\"/a\","
		    "\"tool_input\":{\"command\":\"ls\",\"dir_path\":\"b\"}}",
		    "PreToolUse", "\"cwd\":\"/a/b\"" },
		{ "PreToolUse", "{\"tool_name\":\"replace\"}", "PreToolUse",
		    "\"Edit\"" },
		{ "PreToolUse", "{\"tool_name\":\"mcp_llmc_x\"}", "PreToolUse",
		    "\"mcp__llmc__x\"" },
		{ "PreToolUse", "7", "PreToolUse", "7" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *data = parsed(rows[i].data);
		cleanup_buf struct buf text = BUF_INIT;
		const char *ours = gemini_kind.event(rows[i].event, data);

		ck_assert_pstr_eq(ours, rows[i].ours);
		json_print(data, false, &text);
		ck_assert_msg(
		    strstr(text.data, rows[i].has) != NULL, "%s", text.data);
	}
}

TEST(it_is_answered_in_its_words)
{
	static const struct {
		const char *event, *answer, *own;
	} rows[] = {
		{ "PreToolUse",
		    "{\"hookSpecificOutput\":{\"permissionDecision\":\"deny\","
		    "\"permissionDecisionReason\":\"no\"}}",
		    "{\"decision\":\"deny\",\"reason\":\"no\"}" },
		{ "Stop", "{\"decision\":\"block\",\"reason\":\"go on\"}",
		    "{\"decision\":\"block\",\"reason\":\"go on\"}" },
		{ "Stop", "{}", "{}" },
		{ "PostToolUse", "{\"a\":1}", "{\"a\":1}" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *answer =
						    parsed(rows[i].answer),
						*own = gemini_kind.answer(
						    rows[i].event, answer);
		cleanup_buf struct buf text = BUF_INIT;

		json_print(own, false, &text);
		ck_assert_str_eq(text.data, rows[i].own);
	}
}

TEST(a_chat_is_counted_like_a_transcript)
{
	static const char *const lines[] = {
		"{\"sessionId\":\"1\",\"projectHash\":\"2\"}",
		"{\"$set\":{\"lastUpdated\":\"x\"}}",
		"{\"id\":\"a\",\"type\":\"user\",\"content\":[{\"text\":\"do\"}]}",
		/* Written again with the calls of its tools. */
		"{\"id\":\"b\",\"type\":\"gemini\",\"content\":\"\",\"model\":"
		"\"g\",\"tokens\":{\"input\":100,\"cached\":40,\"output\":7,"
		"\"thoughts\":3}}",
		"{\"id\":\"b\",\"type\":\"gemini\",\"content\":\"\",\"model\":"
		"\"g\",\"tokens\":{\"input\":100,\"cached\":40,\"output\":7,"
		"\"thoughts\":3},\"toolCalls\":[{\"name\":\"x\"}]}",
		"{\"id\":\"c\",\"type\":\"user\",\"content\":[{"
		"\"functionResponse\":{\"response\":{\"output\":\"y\"}}}]}",
		"{\"id\":\"d\",\"type\":\"gemini\",\"content\":\"Done.\","
		"\"model\":\"g\",\"tokens\":{\"input\":100,\"cached\":40,"
		"\"output\":7,\"thoughts\":3}}",
	};
	struct transcript_parser *parser = transcript_parser_new();
	const struct transcript_totals *t;

	for (size_t i = 0; i < nitems(lines); i++)
		transcript_parser_line(parser, lines[i], strlen(lines[i]));
	t = transcript_parser_totals(parser);
	ck_assert_int_eq(t->prompts, 1);
	ck_assert_int_eq(t->tools, 1);
	ck_assert_int_eq(t->skipped, 0);
	ck_assert_str_eq(t->usage.models[0].name, "g");
	ck_assert_int_eq(t->usage.models[0].tokens[USAGE_INPUT], 120);
	ck_assert_int_eq(t->usage.models[0].tokens[USAGE_CACHE_READ], 80);
	ck_assert_int_eq(t->usage.models[0].tokens[USAGE_OUTPUT], 20);
	transcript_parser_free(parser);
}
