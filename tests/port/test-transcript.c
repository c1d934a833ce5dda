/* SPDX-License-Identifier: ISC */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "file.h"
#include "loop.h"
#include "mem.h"
#include "tail.h"
#include "transcript.h"
#include "unit.h"

#define GUARD_MS 20000

#define PROMPT "{\"type\":\"user\",\"message\":{\"content\":\"do it\"}}"
#define REPLY(id, out)                                                 \
	"{\"type\":\"assistant\",\"message\":{\"id\":\"" id            \
	"\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":" \
	"\"text of " id "\"}],\"usage\":{\"input_tokens\":10,"         \
	"\"output_tokens\":" out ",\"cache_read_input_tokens\":100,"   \
	"\"cache_creation_input_tokens\":7}}}"

static void
take(struct transcript_parser *parser, const char *line)
{
	transcript_parser_line(parser, line, strlen(line));
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

START_TEST(a_new_parser_knows_nothing)
{
	struct transcript_parser *parser = transcript_parser_new();
	static const struct transcript_totals none;

	ck_assert_mem_eq(transcript_parser_totals(parser), &none, sizeof none);
	ck_assert_str_eq(transcript_parser_last_text(parser), "");
	transcript_parser_free(parser);
	transcript_parser_free(NULL);
}
END_TEST

START_TEST(prompts_are_what_somebody_typed)
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
END_TEST

START_TEST(a_message_on_several_lines_is_counted_once)
{
	static const char *const lines[] = { REPLY("a", "1"), REPLY("b", "5"),
		PROMPT, REPLY("a", "30"), REPLY("a", "2"), NULL };
	struct transcript_totals t = totals_of(lines);

	ck_assert_int_eq(t.replies, 2);
	ck_assert_int_eq(t.prompts, 1);
	ck_assert_int_eq(t.input_tokens, 20);
	ck_assert_int_eq(t.output_tokens, 35);
	ck_assert_int_eq(t.cache_read_tokens, 200);
	ck_assert_int_eq(t.cache_write_tokens, 14);
}
END_TEST

START_TEST(messages_without_an_id_are_counted_each)
{
	static const char *const lines[] = {
		"{\"type\":\"assistant\",\"message\":{\"usage\":"
		"{\"input_tokens\":3}}}",
		"{\"type\":\"assistant\",\"message\":{\"usage\":"
		"{\"input_tokens\":3}}}",
		NULL
	};
	struct transcript_totals t = totals_of(lines);

	ck_assert_int_eq(t.replies, 2);
	ck_assert_int_eq(t.input_tokens, 6);
}
END_TEST

START_TEST(a_long_session_is_counted_to_its_end)
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
	ck_assert_int_eq(t->replies, 1000);
	ck_assert_int_eq(t->output_tokens, 2000);
	transcript_parser_free(parser);
}
END_TEST

START_TEST(nonsense_numbers_do_not_count)
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

	ck_assert_int_eq(t.replies, 5);
	ck_assert_int_eq(t.output_tokens, 0);
	ck_assert_double_eq(t.cost_usd, 1.5);
}
END_TEST

START_TEST(tool_calls_and_their_errors_are_counted)
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

	ck_assert_int_eq(t.tool_calls, 2);
	ck_assert_int_eq(t.tool_errors, 2);
}
END_TEST

START_TEST(api_errors_are_told_apart_from_replies)
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
	ck_assert_int_eq(t->replies, 1);
	ck_assert_int_eq(t->input_tokens, 10);
	ck_assert_str_eq(transcript_parser_last_text(parser), "text of a");
	transcript_parser_free(parser);
}
END_TEST

START_TEST(a_model_may_speak_of_api_errors)
{
	static const char *const lines[] = {
		"{\"type\":\"assistant\",\"message\":{\"id\":\"a\",\"model\":"
		"\"m\",\"content\":[{\"type\":\"text\",\"text\":"
		"\"API Error: is what the log says\"}]}}",
		NULL
	};
	struct transcript_totals t = totals_of(lines);

	ck_assert_int_eq(t.api_errors, 0);
	ck_assert_int_eq(t.replies, 1);
}
END_TEST

START_TEST(the_last_text_is_the_newest_of_the_main_conversation)
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
END_TEST

START_TEST(a_very_long_text_is_cut_between_characters)
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
END_TEST

START_TEST(broken_lines_are_skipped_and_unknown_kinds_are_not)
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
END_TEST

START_TEST(escaped_nuls_and_invalid_utf8_do_not_lose_a_line)
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
	ck_assert_int_eq(t->replies, 1);
	ck_assert_int_eq(t->tool_errors, 1);
	ck_assert_int_eq(t->skipped, 0);
	transcript_parser_line(parser, "{\"a\":\0}", 7);
	ck_assert_int_eq(t->skipped, 1);
	transcript_parser_free(parser);
}
END_TEST

START_TEST(too_deep_a_line_is_skipped)
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
END_TEST

/* --- a file that grows ------------------------------------------------ */

struct follow {
	struct loop *loop;
	struct transcript *transcript;
	int calls;
	int64_t prompts; /* wait for so many */
};

static void
follow_grew(const struct transcript_parser *parser, void *arg)
{
	struct follow *f = arg;

	f->calls++;
	if (transcript_parser_totals(parser)->prompts >= f->prompts)
		loop_stop(f->loop, 0);
}

static void
guard_expired(void *arg)
{
	loop_stop(arg, 1);
}

static void
follow_begin(struct follow *f, const char *path)
{
	memset(f, 0, sizeof *f);
	f->loop = loop_new();
	f->transcript = transcript_new(f->loop, path, follow_grew, f);
}

static void
follow_end(struct follow *f)
{
	transcript_free(f->transcript);
	loop_free(f->loop);
}

static void
follow_until(struct follow *f, int64_t prompts)
{
	struct loop_timer *guard =
	    loop_after(f->loop, GUARD_MS, guard_expired, f->loop);

	f->prompts = prompts;
	ck_assert_int_eq(loop_run(f->loop), 0);
	loop_timer_free(guard);
}

static const struct transcript_totals *
follow_totals(const struct follow *f)
{
	return transcript_parser_totals(transcript_parser_of(f->transcript));
}

static void
append(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write_all(fd, text, strlen(text)), 0);
	fd_close(fd);
}

START_TEST(what_is_there_and_what_comes_are_read)
{
	const char *path = unit_path("grows.jsonl");
	struct follow f;

	append(path, PROMPT "\n" REPLY("a", "1") "\n" PROMPT "\n");
	follow_begin(&f, path);
	follow_until(&f, 2);
	ck_assert_int_eq(f.calls, 1);
	ck_assert_int_eq(follow_totals(&f)->replies, 1);
	append(path, PROMPT);
	append(path, "\n");
	follow_until(&f, 3);
	ck_assert_uint_eq(follow_totals(&f)->bytes,
	    strlen(PROMPT REPLY("a", "1") PROMPT PROMPT) + 4);
	follow_end(&f);
}
END_TEST

START_TEST(half_a_line_waits_for_the_other_half)
{
	const char *path = unit_path("half.jsonl");
	const char *line = PROMPT "\n" PROMPT "\n";
	struct follow f;

	append(path, PROMPT "\n{\"type\":");
	follow_begin(&f, path);
	follow_until(&f, 1);
	append(path, line + strlen("{\"type\":"));
	follow_until(&f, 3);
	ck_assert_int_eq(follow_totals(&f)->skipped, 0);
	follow_end(&f);
}
END_TEST

START_TEST(a_file_that_comes_later_is_found)
{
	const char *path = unit_path("later.jsonl");
	struct follow f;

	follow_begin(&f, path);
	append(path, PROMPT "\n");
	follow_until(&f, 1);
	follow_end(&f);
}
END_TEST

struct maker {
	const char *dir, *path;
};

static void
make_later(void *arg)
{
	const struct maker *maker = arg;

	ck_assert_int_eq(file_mkdirs(maker->dir, 0700, NULL), 0);
	append(maker->path, PROMPT "\n");
}

START_TEST(a_directory_that_comes_later_is_found)
{
	struct maker maker = { unit_path("p/q"), unit_path("p/q/x.jsonl") };
	struct loop_timer *timer;
	struct follow f;

	/* The loop is really asleep until the retry; no time passes. */
	clock_virtual_begin(1000, 1000);
	follow_begin(&f, maker.path);
	timer = loop_after(f.loop, 10000, make_later, &maker);
	follow_until(&f, 1);
	ck_assert_int_ge(clock_mono_ms(), 11000);
	ck_assert_int_le(clock_mono_ms(), 14000);
	loop_timer_free(timer);
	follow_end(&f);
	clock_virtual_end();
}
END_TEST

START_TEST(a_file_that_begins_anew_is_counted_anew)
{
	const char *path = unit_path("anew.jsonl");
	const char *text = REPLY("z", "3") "\n" PROMPT "\n";
	struct follow f;

	append(path, PROMPT "\n");
	follow_begin(&f, path);
	follow_until(&f, 1);
	/* Longer than the old one. */
	ck_assert_int_eq(file_replace(path, text, strlen(text), 0600, NULL), 0);
	follow_until(&f, 1);
	ck_assert_int_eq(follow_totals(&f)->prompts, 1);
	ck_assert_int_eq(follow_totals(&f)->replies, 1);
	ck_assert_int_eq(truncate(path, 0), 0);
	append(path, PROMPT "\n");
	follow_until(&f, 1);
	ck_assert_int_eq(follow_totals(&f)->prompts, 1);
	ck_assert_int_eq(follow_totals(&f)->replies, 0);
	follow_end(&f);
}
END_TEST

START_TEST(a_line_over_the_bound_is_skipped_and_the_next_read)
{
	const char *path = unit_path("long.jsonl");
	cleanup_buf struct buf text = BUF_INIT;
	struct follow f;

	buf_adds(&text, "{\"type\":\"api-request\",\"x\":\"");
	while (text.len < TAIL_LINE_MAX + 10)
		buf_adds(&text, "0123456789abcdef");
	buf_adds(&text, "\"}\n" PROMPT "\n");
	append(path, text.data);
	follow_begin(&f, path);
	follow_until(&f, 1);
	ck_assert_int_eq(follow_totals(&f)->skipped, 1);
	ck_assert_uint_eq(follow_totals(&f)->bytes, text.len);
	follow_end(&f);
}
END_TEST

static void
free_inside(const struct transcript_parser *parser, void *arg)
{
	struct follow *f = arg;

	(void)parser;
	transcript_free(take_ptr(&f->transcript));
	loop_stop(f->loop, 0);
}

START_TEST(free_from_inside_the_callback_is_fine)
{
	const char *path = unit_path("freed.jsonl");
	struct follow f = { .loop = loop_new() };

	append(path, PROMPT "\n" PROMPT "\n");
	f.transcript = transcript_new(f.loop, path, free_inside, &f);
	ck_assert_int_eq(loop_run(f.loop), 0);
	ck_assert_ptr_null(f.transcript);
	transcript_free(NULL);
	loop_free(f.loop);
}
END_TEST

START_TEST(words_are_found_in_the_tail_only)
{
	const char *path = unit_path("mentions.jsonl");
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert(!transcript_mentions(path, "[llmc 7]"));
	buf_adds(&text, "early words\n");
	ck_assert_int_eq(
	    file_replace(path, text.data, text.len, 0600, NULL), 0);
	ck_assert(transcript_mentions(path, "early words"));
	ck_assert(!transcript_mentions(path, "[llmc 7]"));
	while (text.len < TRANSCRIPT_TAIL)
		buf_adds(&text, "filling filling filling filling filling\n");
	buf_adds(&text, "{\"prompt\":\"[llmc 7] do it\"}\n");
	ck_assert_int_eq(
	    file_replace(path, text.data, text.len, 0600, NULL), 0);
	ck_assert(transcript_mentions(path, "[llmc 7]"));
	ck_assert(!transcript_mentions(path, "early words"));
	ck_assert(!transcript_mentions(unit_scratch(), "x"));
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("transcript");

	unit_case(s, "lines",
	    (const TTest *const[]){ words_are_found_in_the_tail_only,
		a_new_parser_knows_nothing, prompts_are_what_somebody_typed,
		a_message_on_several_lines_is_counted_once,
		messages_without_an_id_are_counted_each,
		a_long_session_is_counted_to_its_end,
		nonsense_numbers_do_not_count,
		tool_calls_and_their_errors_are_counted,

		api_errors_are_told_apart_from_replies,
		a_model_may_speak_of_api_errors,
		the_last_text_is_the_newest_of_the_main_conversation,
		a_very_long_text_is_cut_between_characters,
		broken_lines_are_skipped_and_unknown_kinds_are_not,
		escaped_nuls_and_invalid_utf8_do_not_lose_a_line,
		too_deep_a_line_is_skipped, NULL });
	unit_case(s, "file",
	    (const TTest *const[]){ what_is_there_and_what_comes_are_read,
		half_a_line_waits_for_the_other_half,
		a_file_that_comes_later_is_found,
		a_directory_that_comes_later_is_found,
		a_file_that_begins_anew_is_counted_anew,
		a_line_over_the_bound_is_skipped_and_the_next_read,
		free_from_inside_the_callback_is_fine, NULL });
	return s;
}
