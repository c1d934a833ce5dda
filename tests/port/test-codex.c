/* SPDX-License-Identifier: ISC */

/* Codex: how it is launched, what is refused, and what its rollout says. */
#include "claude-world.h"
#include "hook-event.h"
#include "limit.h"
#include "settings-table.h"
#include "transcript-parser.h"

TEST(every_kind_has_its_name_in_the_settings)
{
	size_t i = 0;

	for (; agent_kinds[i] != NULL; i++)
		ck_assert_str_eq(agent_kinds[i]->name, agent_kind_words[i]);
	ck_assert_ptr_null(agent_kind_words[i]);
}

static bool
launcher_has(const char *words)
{
	cleanup_free char *launcher = claude_world_prepare();
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(file_read(launcher, 1 << 20, &text, NULL), 0);
	return strstr(text.data, words) != NULL;
}

TEST(it_is_launched_without_dialogs_and_with_our_hooks)
{
	static const char *const words[] = { "\"my-codex\"", "--no-daemon",
		"--dangerously-bypass-hook-trust",
		"check_for_update_on_startup=false", "trust_level",
		"hooks.Stop=", "hooks.UserPromptSubmit=", "--agent codex",
		"mcp_servers.llmc=", "--ready" };

	claude_world_begin("[defaults]\nagent = \"codex\"\n"
			   "codex_command = \"my-codex\"\n");
	w.launch.tools = true;
	for (size_t i = 0; i < nitems(words); i++)
		ck_assert_msg(launcher_has(words[i]), "%s", words[i]);
	ck_assert(!launcher_has("\"resume\""));
	w.launch.resume = true;
	ck_assert(launcher_has("\"resume\""));
}

TEST(its_keys_reach_no_other_kind)
{
	setenv("OPENAI_API_KEY", "secret-1", 1);
	claude_world_begin("");
	ck_assert(!launcher_has("secret-1"));
	claude_world_begin("[defaults]\nagent = \"codex\"\n");
	ck_assert(launcher_has("secret-1"));
}

TEST(what_it_cannot_do_is_refused_with_words)
{
	static const struct {
		const char *kind, *config, *words;
	} rows[] = {
		{ "codex", "permission_mode = \"plan\"",
		    "permission_mode \"plan\"" },
		{ "codex", "isolate = true", "isolate" },
		{ "codex", "disallowed_tools = [\"Bash\"]",
		    "disallowed_tools" },
		{ "opencode", "isolate = true", "isolate" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *launcher = NULL,
				  *config = xasprintf(
				      "[defaults]\nagent = \"%s\"\n%s\n",
				      rows[i].kind, rows[i].config);
		struct err err = { 0 };

		claude_world_begin(config);
		w.launch.sandboxed = true;
		ck_assert_int_eq(
		    agent_prepare(&w.launch, &launcher, &err), -ENOTSUP);
		ck_assert_msg(
		    strstr(err.msg, rows[i].words) != NULL, "%s", err.msg);
	}
}

/* A conversation that begins has only a name: it may not be ready. */
TEST(the_start_of_a_conversation_is_its_name)
{
	static const char *const sources[] = { "startup", "resume", "compact" };

	for (size_t i = 0; i < nitems(sources); i++) {
		cleanup_json struct json_object *data =
		    json_object_new_object();

		json_set_string(data, "source", sources[i]);
		ck_assert_str_eq(
		    agent_kind_find("codex")->event("SessionStart", data),
		    i < 2 ? HOOK_EVENT_NAMED : "SessionStart");
	}
}

static struct transcript_parser *
read_lines(const char *const *lines)
{
	struct transcript_parser *parser = transcript_parser_new();

	for (; *lines != NULL; lines++)
		transcript_parser_line(parser, *lines, strlen(*lines));
	return parser;
}

#define LINE(type, payload)                                            \
	"{\"timestamp\":\"2026-11-18T09:15:02.807Z\",\"type\":\"" type \
	"\",\"payload\":" payload "}"
#define EVENT(payload) LINE("event_msg", payload)
#define ITEM(payload)  LINE("response_item", payload)

TEST(a_rollout_is_counted_like_a_transcript)
{
	static const char *const lines[] = { LINE("session_meta", "{\"id\":1}"),
		LINE("turn_context", "{\"model\":\"gpt-9\"}"),
		EVENT("{\"type\":\"item_completed\",\"item\":{\"type\":"
		      "\"UserMessage\",\"content\":[{\"text\":\"do it\"}]}}"),
		ITEM("{\"type\":\"message\",\"role\":\"user\",\"content\":[]}"),
		ITEM("{\"type\":\"custom_tool_call\",\"name\":\"exec\","
		     "\"input\":\"x\"}"),
		LINE("token_usage_record",
		    "{\"response_id\":\"r1\",\"usage\":{\"input_tokens\":100,"
		    "\"cached_input_tokens\":40,\"output_tokens\":20}}"),
		ITEM("{\"type\":\"custom_tool_call_output\",\"output\":\"y\"}"),
		ITEM("{\"type\":\"message\",\"role\":\"assistant\","
		     "\"content\":[{\"text\":\"Done.\"}]}"),
		LINE("token_usage_record",
		    "{\"response_id\":\"r2\",\"usage\":{\"input_tokens\":100,"
		    "\"cached_input_tokens\":40,\"output_tokens\":20}}"),
		EVENT("{\"type\":\"task_complete\"}"), NULL };
	struct transcript_parser *parser = read_lines(lines);
	const struct transcript_totals *t = transcript_parser_totals(parser);

	ck_assert_int_eq(t->prompts, 1);
	ck_assert_int_eq(t->tools, 1);
	ck_assert_int_eq(t->usage.tool_calls, 1);
	ck_assert_int_eq(t->failed, 0);
	ck_assert_str_eq(transcript_parser_last_text(parser), "Done.");
	ck_assert_uint_eq(t->usage.count, 1);
	ck_assert_str_eq(t->usage.models[0].name, "gpt-9");
	ck_assert_int_eq(t->usage.models[0].tokens[USAGE_INPUT], 120);
	ck_assert_int_eq(t->usage.models[0].tokens[USAGE_CACHE_READ], 80);
	ck_assert_int_eq(t->usage.models[0].tokens[USAGE_OUTPUT], 40);
	transcript_parser_free(parser);
}

TEST(a_turn_that_failed_says_why)
{
	static const struct {
		const char *info;
		enum limit_class class;
	} rows[] = {
		{ "\"usage_limit_exceeded\"", LIMIT_USAGE },
		{ "\"server_overloaded\"", LIMIT_OUTAGE },
		{ "{\"http_connection_failed\":{}}", LIMIT_OUTAGE },
		{ "\"unauthorized\"", LIMIT_AUTH },
		{ "{\"http_connection_failed\":{\"http_status_code\":403}}",
		    LIMIT_AUTH },
		{ "\"other\"", LIMIT_NONE },
		{ "7", LIMIT_NONE },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *line = xasprintf(
		    EVENT("{\"type\":\"task_complete\",\"error\":{\"message\":"
			  "\"No. Try again at 11:06 AM.\","
			  "\"codex_error_info\":%s}}"),
		    rows[i].info);
		const char *const lines[] = { line, NULL };
		struct transcript_parser *parser = read_lines(lines);
		struct limit_reset reset = { 0 };
		const char *text, *word;

		ck_assert_int_eq(transcript_parser_totals(parser)->failed, 1);
		word = transcript_parser_failure(parser, &text);
		ck_assert_int_eq(limit_classify(word, text), rows[i].class);
		ck_assert(limit_reset_parse(text, &reset));
		ck_assert_int_eq(reset.hour * 60 + reset.minute, 11 * 60 + 6);
		transcript_parser_free(parser);
	}
}
