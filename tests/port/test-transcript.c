/* SPDX-License-Identifier: ISC */

#include "moment.h"
#include "transcript-lines.h"
#include "transcript.h"

static void
take(struct transcript_parser *parser, const char *line)
{
	transcript_parser_line(parser, line, strlen(line));
}

/* Of all models. */
static int64_t
sum(const struct usage *usage, enum usage_kind kind)
{
	int64_t tokens = 0;

	for (size_t i = 0; i < usage->count; i++)
		tokens += usage->models[i].tokens[kind];
	return tokens;
}

/* The totals of these lines alone; the list ends with NULL. */
static struct transcript_totals
totals_of(const char *const *lines)
{
	struct transcript_parser *parser = transcript_parser_new();
	struct transcript_totals totals;

	for (; *lines != NULL; lines++)
		take(parser, *lines);
	totals = *transcript_parser_totals(parser);
	transcript_parser_free(parser);
	return totals;
}

TEST(a_new_parser_knows_nothing)
{
	struct transcript_parser *parser = transcript_parser_new();
	static const struct transcript_totals none;

	ck_assert_mem_eq(transcript_parser_totals(parser), &none, sizeof none);
	ck_assert_str_eq(transcript_parser_last_text(parser), "");
	transcript_parser_free(parser);
	transcript_parser_free(NULL);
}

TEST(the_last_errors_are_kept)
{
	struct transcript_parser *parser = transcript_parser_new();

	take(parser,
	    "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
	    "\"tool_result\",\"is_error\":true,\"content\":\"no file\"},"
	    "{\"type\":\"tool_result\",\"content\":\"fine\"},{\"type\":"
	    "\"tool_result\",\"is_error\":true,\"content\":[{\"type\":"
	    "\"text\",\"text\":\"exit 1\"}]}]}}");
	take(parser,
	    "{\"type\":\"assistant\",\"isApiErrorMessage\":true,"
	    "\"message\":{\"content\":[{\"type\":\"text\",\"text\":"
	    "\"API Error: 500\"}]}}");
	ck_assert_str_eq(transcript_parser_error(parser, 0), "no file");
	ck_assert_str_eq(transcript_parser_error(parser, 1), "exit 1");
	ck_assert_str_eq(transcript_parser_error(parser, 2), "API Error: 500");
	ck_assert_ptr_null(transcript_parser_error(parser, 3));
	ck_assert_ptr_null(transcript_parser_error(parser, -1));
	for (int i = 0; i < TRANSCRIPT_ERRORS; i++)
		take(parser,
		    "{\"type\":\"user\",\"message\":{\"content\":[{"
		    "\"type\":\"tool_result\",\"is_error\":true}]}}");
	ck_assert_ptr_null(transcript_parser_error(parser, 2));
	ck_assert_str_eq(transcript_parser_error(parser, 3), "");
	transcript_parser_free(parser);
}

TEST(prompts_are_what_somebody_typed)
{
	static const struct {
		const char *line;
		int64_t prompts, interrupted;
	} cases[] = {
		{ PROMPT, 1, 0 },
		{ "{\"type\":\"user\",\"origin\":{\"kind\":\"human\"},"
		  "\"message\":{\"content\":\"<command-x> as text\"}}",
		    1, 0 },
		{ "{\"type\":\"user\",\"origin\":{\"kind\":\"task\"},"
		  "\"message\":{\"content\":\"x\"}}",
		    0, 0 },
		{ "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
		  "\"image\"},{\"type\":\"text\",\"text\":\"see\"}]}}",
		    1, 0 },
		{ "{\"type\":\"user\",\"message\":{\"content\":"
		  "\"[Request interrupted by user]\"}}",
		    0, 1 },
		{ "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
		  "\"text\",\"text\":"
		  "\"[Request interrupted by user for tool use]\"}]}}",
		    0, 1 },
		{ "{\"type\":\"user\",\"isSidechain\":true,\"message\":"
		  "{\"content\":\"[Request interrupted by user]\"}}",
		    0, 0 },
		{ "{\"type\":\"user\",\"isMeta\":true,\"message\":"
		  "{\"content\":\"x\"}}",
		    0, 0 },
		{ "{\"type\":\"user\",\"isSidechain\":true,\"message\":"
		  "{\"content\":\"x\"}}",
		    0, 0 },
		{ "{\"type\":\"user\",\"isCompactSummary\":true,\"message\":"
		  "{\"content\":\"x\"}}",
		    0, 0 },
		{ "{\"type\":\"user\",\"message\":{\"content\":"
		  "\"<command-name>/clear</command-name>\"}}",
		    0, 0 },
		{ "{\"type\":\"user\",\"message\":{\"content\":"
		  "\"<task-notification>x\"}}",
		    0, 0 },
		{ "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
		  "\"tool_result\"},{\"type\":\"text\",\"text\":\"x\"}]}}",
		    0, 0 },
		{ "{\"type\":\"user\",\"message\":{\"content\":\"\"}}", 0, 0 },
		{ "{\"type\":\"user\",\"message\":\"x\"}", 0, 0 },
		{ "{\"type\":\"attachment\",\"attachment\":{\"type\":"
		  "\"queued_command\",\"origin\":{\"kind\":\"human\"}}}",
		    1, 0 },
		{ "{\"type\":\"attachment\",\"attachment\":{\"type\":"
		  "\"queued_command\",\"prompt\":\"<task-notification>\"}}",
		    0, 0 },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		const char *const lines[] = { cases[i].line, NULL };
		struct transcript_totals t = totals_of(lines);

		ck_assert_msg(t.prompts == cases[i].prompts &&
			t.interrupted == cases[i].interrupted,
		    "%s", cases[i].line);
		ck_assert_int_eq(t.skipped, 0);
	}
}

TEST(a_message_on_several_lines_is_counted_once)
{
	static const char *const lines[] = { REPLY("a", "1"), REPLY("b", "5"),
		PROMPT, REPLY("a", "30"), REPLY("a", "2"), NULL };
	struct transcript_totals t = totals_of(lines);

	ck_assert_int_eq(t.prompts, 1);
	ck_assert_int_eq(sum(&t.usage, USAGE_INPUT), 20);
	ck_assert_int_eq(sum(&t.usage, USAGE_OUTPUT), 35);
	ck_assert_int_eq(sum(&t.usage, USAGE_CACHE_READ), 200);
	ck_assert_int_eq(sum(&t.usage, USAGE_CACHE_WRITE_5M), 14);
}

TEST(messages_without_an_id_are_counted_each)
{
	static const char *const lines[] = {
		"{\"type\":\"assistant\",\"message\":{\"usage\":"
		"{\"input_tokens\":3}}}",
		"{\"type\":\"assistant\",\"message\":{\"usage\":"
		"{\"input_tokens\":3}}}",
		NULL
	};
	struct transcript_totals t = totals_of(lines);

	ck_assert_int_eq(sum(&t.usage, USAGE_INPUT), 6);
}

TEST(a_long_session_is_counted_to_its_end)
{
	struct transcript_parser *parser = transcript_parser_new();
	const struct transcript_totals *t = transcript_parser_totals(parser);

	for (int i = 0; i < 1000; i++) {
		cleanup_free char *line =
		    xasprintf("{\"type\":\"assistant\",\"message\":{\"id\":"
			      "\"m%d\",\"usage\":{\"output_tokens\":2}}}",
			i);

		take(parser, line);
		take(parser, line);
	}
	ck_assert_int_eq(sum(&t->usage, USAGE_OUTPUT), 2000);
	transcript_parser_free(parser);
}

TEST(nonsense_numbers_do_not_count)
{
	static const char *const lines[] = { REPLY("a", "-5"),
		REPLY("b", "\"many\""), REPLY("c", "1.5"),
		REPLY("d", "9223372036854775807"),
		"{\"type\":\"assistant\",\"message\":{\"usage\":[]}}",
		"{\"type\":\"cost-state\",\"totalCostUSD\":0.25}",
		"{\"type\":\"cost-state\",\"totalCostUSD\":1.5}",
		"{\"type\":\"cost-state\",\"totalCostUSD\":-1}",
		"{\"type\":\"cost-state\",\"totalCostUSD\":\"x\"}",
		"{\"type\":\"cost-state\",\"totalCostUSD\":1e999}",
		"{\"type\":\"cost-state\"}", NULL };
	struct transcript_totals t = totals_of(lines);

	ck_assert_int_eq(sum(&t.usage, USAGE_OUTPUT), 0);
	ck_assert_int_eq(t.report.cost, 1500000);
}

#define PRICED(id, model, more)                                               \
	"{\"type\":\"assistant\",\"timestamp\":\"2026-11-15T20:00:00.000Z\"," \
	"\"message\":{\"id\":\"" id "\",\"model\":\"" model                   \
	"\",\"usage\":{\"input_tokens\":1000,\"output_tokens\":200,"          \
	"\"cache_read_input_tokens\":5000,"                                   \
	"\"cache_creation_input_tokens\":3000" more "}}}"

/* Lines of a message may be far apart, but not so far. */
TEST(the_last_messages_are_known_again)
{
	struct transcript_parser *parser = transcript_parser_new();
	const struct transcript_totals *t = transcript_parser_totals(parser);

	for (int i = 0; i < 4 * 64; i++) {
		/* 64 of them twice, then others, then the first ones again. */
		cleanup_free char *line = xasprintf(
		    "{\"type\":\"assistant\",\"message\":{\"id\":\"m%d\","
		    "\"model\":\"x\",\"usage\":{\"input_tokens\":1}}}",
		    i < 2 * 64     ? i % 64 :
			i < 3 * 64 ? i :
				     i - 3 * 64);

		transcript_parser_line(parser, line, strlen(line));
		if (i == 2 * 64 - 1)
			ck_assert_int_eq(sum(&t->usage, USAGE_INPUT), 64);
	}
	ck_assert_int_eq(sum(&t->usage, USAGE_INPUT), 3 * 64);
	transcript_parser_free(parser);
}

TEST(tokens_are_counted_by_model_and_kind)
{
	static const char *const lines[] = {
		PRICED("a", "claude-x",
		    ",\"cache_creation\":{\"ephemeral_5m_input_tokens\":1000,"
		    "\"ephemeral_1h_input_tokens\":2000}"),
		PRICED("b", "claude-y", ""),
		/* More than there is in all: invalid. */
		PRICED("c", "claude-y",
		    ",\"cache_creation\":{"
		    "\"ephemeral_1h_input_tokens\":3001}"),
		NULL
	};
	struct transcript_totals t = totals_of(lines);

	ck_assert_uint_eq(t.usage.count, 2);
	ck_assert_str_eq(t.usage.models[0].name, "claude-x");
	ck_assert_int_eq(t.usage.models[0].tokens[USAGE_INPUT], 1000);
	ck_assert_int_eq(t.usage.models[0].tokens[USAGE_OUTPUT], 200);
	ck_assert_int_eq(t.usage.models[0].tokens[USAGE_CACHE_READ], 5000);
	ck_assert_int_eq(t.usage.models[0].tokens[USAGE_CACHE_WRITE_5M], 1000);
	ck_assert_int_eq(t.usage.models[0].tokens[USAGE_CACHE_WRITE_1H], 2000);
	ck_assert_int_eq(t.usage.models[1].tokens[USAGE_CACHE_WRITE_5M], 6000);
	ck_assert_int_eq(t.usage.models[1].tokens[USAGE_CACHE_WRITE_1H], 0);
}

TEST(the_cost_of_the_agent_says_what_it_covers)
{
	static const char *const lines[] = {
		"{\"type\":\"cost-state\",\"totalCostUSD\":0.060000000000000005,"
		"\"modelUsage\":{\"claude-x\":{\"inputTokens\":2000,"
		"\"outputTokens\":400,\"cacheReadInputTokens\":10000,"
		"\"cacheCreationInputTokens\":6000,"
		"\"cacheCreationEphemeral1hInputTokens\":4000}},"
		"\"hasUnknownModelCost\":true}",
		NULL
	};
	struct transcript_totals t = totals_of(lines);

	ck_assert(t.report.given);
	ck_assert(t.report.incomplete);
	ck_assert_int_eq(t.report.cost, 60000);
	ck_assert_uint_eq(t.report.usage.count, 1);
	ck_assert_str_eq(t.report.usage.models[0].name, "claude-x");
	ck_assert_int_eq(sum(&t.report.usage, USAGE_INPUT), 2000);
	ck_assert_int_eq(sum(&t.report.usage, USAGE_OUTPUT), 400);
	ck_assert_int_eq(sum(&t.report.usage, USAGE_CACHE_READ), 10000);
	ck_assert_int_eq(sum(&t.report.usage, USAGE_CACHE_WRITE_5M), 2000);
	ck_assert_int_eq(sum(&t.report.usage, USAGE_CACHE_WRITE_1H), 4000);
	ck_assert(usage_is_empty(&t.usage));
}

/* 2026-11-15T20:00:00.001Z */
#define JUST_AFTER INT64_C(1794772800001)

TEST(a_copied_history_is_not_counted)
{
	struct transcript_parser *parser = transcript_parser_new();
	const struct transcript_totals *t = transcript_parser_totals(parser);

	transcript_parser_since(parser, JUST_AFTER);
	take(parser, PRICED("a", "claude-x", ""));
	ck_assert(usage_is_empty(&t->usage));
	transcript_parser_since(parser, JUST_AFTER - 1);
	take(parser, PRICED("b", "claude-x", ""));
	ck_assert_int_eq(sum(&t->usage, USAGE_INPUT), 1000);
	transcript_parser_free(parser);
}

TEST(what_subagents_use_is_part_of_it_and_stays)
{
	struct transcript_parser *parser = transcript_parser_new();
	const struct transcript_totals *t = transcript_parser_totals(parser);
	const char *side = PRICED("s", "claude-y", "");

	take(parser, REPLY("a", "1"));
	transcript_parser_side_line(parser, side, strlen(side));
	ck_assert_int_eq(sum(&t->usage, USAGE_INPUT), 1010);
	ck_assert_str_eq(transcript_parser_last_text(parser), "text of a");
	transcript_parser_reset(parser);
	ck_assert_int_eq(sum(&t->usage, USAGE_INPUT), 1000);
	take(parser, REPLY("a", "1"));
	ck_assert_int_eq(sum(&t->usage, USAGE_INPUT), 1010);
	transcript_parser_free(parser);
}

/* Its file says isSidechain on each line, or, in older versions, on none. */
TEST(a_subagent_that_is_stopped_is_no_interruption)
{
	static const char side[] = "{\"type\":\"user\",\"message\":{"
				   "\"content\":\"[Request interrupted by "
				   "user]\"}}";
	struct transcript_parser *parser = transcript_parser_new();

	transcript_parser_side_line(parser, side, strlen(side));
	ck_assert_int_eq(transcript_parser_totals(parser)->interrupted, 0);
	take(parser, side);
	ck_assert_int_eq(transcript_parser_totals(parser)->interrupted, 1);
	transcript_parser_free(parser);
}

TEST(tool_calls_and_their_errors_are_counted)
{
	static const char *const lines[] = {
		"{\"type\":\"assistant\",\"message\":{\"id\":\"a\","
		"\"content\":[{\"type\":\"tool_use\",\"id\":\"1\"},"
		"{\"type\":\"tool_use\",\"id\":\"2\"}]}}",
		"{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
		"\"tool_result\",\"is_error\":true,\"content\":\"no\"}]}}",
		"{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
		"\"tool_result\",\"is_error\":false},{\"type\":"
		"\"tool_result\"},{\"type\":\"tool_result\","
		"\"is_error\":true}]}}",
		NULL
	};
	struct transcript_totals t = totals_of(lines);

	ck_assert_int_eq(t.usage.tool_calls, 2);
	ck_assert_int_eq(t.tool_errors, 2);
}

TEST(api_errors_are_told_apart_from_replies)
{
	struct transcript_parser *parser = transcript_parser_new();
	const struct transcript_totals *t = transcript_parser_totals(parser);

	take(parser, REPLY("a", "1"));
	take(parser,
	    "{\"type\":\"assistant\",\"message\":{\"id\":\"e\",\"model\":"
	    "\"<synthetic>\",\"content\":[{\"type\":\"text\",\"text\":"
	    "\"API Error: 529 Overloaded\"}],\"usage\":"
	    "{\"input_tokens\":99}}}");
	take(parser,
	    "{\"type\":\"assistant\",\"isApiErrorMessage\":true,\"message\":"
	    "{\"model\":\"<synthetic>\",\"content\":[{\"type\":\"text\","
	    "\"text\":\"You've hit your limit\"}]}}");
	take(parser,
	    "{\"type\":\"assistant\",\"error\":\"rate_limit\",\"message\":"
	    "{\"model\":\"<synthetic>\",\"content\":[]}}");
	take(parser,
	    "{\"type\":\"assistant\",\"message\":{\"model\":\"<synthetic>\","
	    "\"content\":[{\"type\":\"text\",\"text\":"
	    "\"No response requested.\"}]}}");
	ck_assert_int_eq(t->api_errors, 3);
	ck_assert_int_eq(sum(&t->usage, USAGE_INPUT), 10);
	ck_assert_str_eq(transcript_parser_last_text(parser), "text of a");
	transcript_parser_free(parser);
}

#define REQUEST(time, digest)                                        \
	"{\"type\":\"api-request\",\"timestamp\":\"2026-11-20T" time \
	"Z\",\"requestDigest\":\"" digest "\"}"

/* As Claude Code 2.1.328 writes them: until an answer, a prompt or Escape. */
TEST(a_request_that_is_tried_again_says_since_when)
{
	static const char answer[] =
	    "{\"type\":\"assistant\",\"timestamp\":\"2026-11-20T14:09:00Z\","
	    "\"message\":{\"id\":\"a\",\"model\":\"m\",\"content\":[]}}";
	static const char escape[] =
	    "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"text\","
	    "\"text\":\"[Request interrupted by user]\"}]}}";
	struct transcript_parser *parser = transcript_parser_new();
	const struct transcript_totals *t = transcript_parser_totals(parser);
	int64_t since, answered;

	moment_parse("2026-11-20T14:02:07Z", &since);
	moment_parse("2026-11-20T14:09:00Z", &answered);
	take(parser, REQUEST("14:01:00", "aa"));
	take(parser, REQUEST("14:02:07", "bb"));
	ck_assert_int_eq(t->deaf_ms, 0);
	take(parser, REQUEST("14:02:09", "bb"));
	take(parser, REQUEST("14:02:30", "bb"));
	ck_assert_int_eq(t->deaf_ms, since);
	ck_assert_int_eq(t->answered_ms, 0);
	take(parser, answer);
	ck_assert_int_eq(t->deaf_ms, 0);
	ck_assert_int_eq(t->answered_ms, answered);
	take(parser, REQUEST("14:02:07", "bb"));
	ck_assert_int_eq(t->deaf_ms, 0);
	take(parser, REQUEST("14:10:07", "bb"));
	ck_assert_int_eq(t->deaf_ms, since);
	take(parser, escape);
	ck_assert_int_eq(t->deaf_ms, 0);
	transcript_parser_free(parser);
}

TEST(a_model_may_speak_of_api_errors)
{
	static const char *const lines[] = {
		"{\"type\":\"assistant\",\"message\":{\"id\":\"a\",\"model\":"
		"\"m\",\"content\":[{\"type\":\"text\",\"text\":"
		"\"API Error: is what the log says\"}]}}",
		NULL
	};
	struct transcript_totals t = totals_of(lines);

	ck_assert_int_eq(t.api_errors, 0);
}

TEST(the_last_text_is_the_newest_of_the_main_conversation)
{
	struct transcript_parser *parser = transcript_parser_new();

	take(parser, REPLY("a", "1"));
	take(parser,
	    "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":"
	    "\"text\",\"text\":\"one\"},{\"type\":\"tool_use\"},{\"type\":"
	    "\"text\",\"text\":\"two\"}]}}");
	take(parser,
	    "{\"type\":\"assistant\",\"isSidechain\":true,\"message\":"
	    "{\"content\":[{\"type\":\"text\",\"text\":\"other\"}]}}");
	take(parser,
	    "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":"
	    "\"tool_use\"}]}}");
	ck_assert_str_eq(transcript_parser_last_text(parser), "one\ntwo");
	transcript_parser_free(parser);
}

TEST(a_very_long_text_is_cut_between_characters)
{
	struct transcript_parser *parser = transcript_parser_new();
	cleanup_buf struct buf line = BUF_INIT;

	buf_adds(&line,
	    "{\"type\":\"assistant\",\"message\":{\"content\":"
	    "\"x");
	for (int i = 0; i < 40000; i++)
		buf_adds(&line, "\xc3\xa9");
	buf_adds(&line, "\"}}");
	transcript_parser_line(parser, line.data, line.len);
	ck_assert_uint_eq(strlen(transcript_parser_last_text(parser)), 65535);
	transcript_parser_free(parser);
}

TEST(broken_lines_are_skipped_and_unknown_kinds_are_not)
{
	static const char *const lines[] = { "{", "x", "[]", "null", "7", "{}",
		"{\"type\":5}", "{\"type\":\"user\"", PROMPT " " PROMPT,
		"{\"type\":\"api-request-blob\",\"message\":"
		"{\"content\":\"x\"}}",
		"{\"type\":\"\"}", "", "\r", PROMPT "\r", NULL };
	struct transcript_totals t = totals_of(lines);

	ck_assert_int_eq(t.skipped, 9);
	ck_assert_int_eq(t.prompts, 1);
}

TEST(escaped_nuls_and_invalid_utf8_do_not_lose_a_line)
{
	struct transcript_parser *parser = transcript_parser_new();
	const struct transcript_totals *t = transcript_parser_totals(parser);

	take(parser,
	    "{\"type\":\"assistant\",\"message\":{\"id\":\"a\",\"content\":"
	    "\"a\\u0000b\\\\u0000c\\\\\\u0000\\u0000\"}}");
	ck_assert_str_eq(transcript_parser_last_text(parser),
	    "a\xef\xbf\xbd"
	    "b\\u0000c\\\xef\xbf\xbd\xef\xbf\xbd");
	take(parser,
	    "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
	    "\"tool_result\",\"is_error\":true,\"content\":"
	    "\"\\u0000\xff\xfe\"}]}}");
	ck_assert_int_eq(t->tool_errors, 1);
	ck_assert_int_eq(t->skipped, 0);
	transcript_parser_line(parser, "{\"a\":\0}", 7);
	ck_assert_int_eq(t->skipped, 1);
	transcript_parser_free(parser);
}

TEST(too_deep_a_line_is_skipped)
{
	struct transcript_parser *parser = transcript_parser_new();
	cleanup_buf struct buf line = BUF_INIT;

	buf_adds(&line, "{\"type\":\"user\",\"x\":");
	for (int i = 0; i < 5000; i++)
		buf_addc(&line, '[');
	for (int i = 0; i < 5000; i++)
		buf_addc(&line, ']');
	buf_addc(&line, '}');
	transcript_parser_line(parser, line.data, line.len);
	ck_assert_int_eq(transcript_parser_totals(parser)->skipped, 1);
	transcript_parser_free(parser);
}
