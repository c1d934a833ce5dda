/* SPDX-License-Identifier: ISC */

/* A transcript that is read as it grows. */
#include "transcript-lines.h"
#include "transcript.h"
#include "watch.h"

static struct follow {
	struct loop *loop;
	struct transcript *transcript;
	int calls;
	int64_t prompts; /* wait for this many */
	int64_t input; /* and this many tokens */
} f;

/* Of all models. */
static int64_t
input_of(const struct transcript_parser *parser)
{
	const struct usage *usage = &transcript_parser_totals(parser)->usage;
	int64_t tokens = 0;

	for (size_t i = 0; i < usage->count; i++)
		tokens += usage->models[i].tokens[USAGE_INPUT];
	return tokens;
}

static void
follow_grew(const struct transcript_parser *parser, void *arg)
{
	(void)arg;
	f.calls++;
	if (transcript_parser_totals(parser)->prompts >= f.prompts &&
	    input_of(parser) >= f.input)
		loop_stop(f.loop, 0);
}

static void
guard_expired(void *arg)
{
	loop_stop(arg, 1);
}

static void
follow_end(void)
{
	transcript_free(f.transcript);
	loop_free(f.loop);
	memset(&f, 0, sizeof f);
}

static void
follow_begin(const char *path)
{
	follow_end();
	f.loop = loop_new();
	f.transcript = transcript_new(f.loop, path, 0, follow_grew, &f);
	unit_at_end(follow_end);
}

static void
follow_until(int64_t prompts)
{
	struct loop_timer *guard =
	    loop_after(f.loop, unit_guard_ms(), guard_expired, f.loop);

	f.prompts = prompts;
	ck_assert_int_eq(loop_run(f.loop), 0);
	loop_timer_free(guard);
}

static const struct transcript_totals *
follow_totals(void)
{
	return transcript_parser_totals(transcript_parser_of(f.transcript));
}

static void
append(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write_all(fd, text, strlen(text)), 0);
	fd_close(fd);
}

TEST(what_is_there_and_what_comes_are_read)
{
	const char *path = unit_path("grows.jsonl");

	append(path, PROMPT "\n" REPLY("a", "1") "\n" PROMPT "\n");
	follow_begin(path);
	follow_until(2);
	ck_assert_int_eq(f.calls, 1);
	append(path, PROMPT);
	append(path, "\n");
	follow_until(3);
	ck_assert_uint_eq(follow_totals()->bytes,
	    strlen(PROMPT REPLY("a", "1") PROMPT PROMPT) + 4);
}

TEST(half_a_line_waits_for_the_other_half)
{
	const char *path = unit_path("half.jsonl");
	const char *line = PROMPT "\n" PROMPT "\n";

	append(path, PROMPT "\n{\"type\":");
	follow_begin(path);
	follow_until(1);
	append(path, line + strlen("{\"type\":"));
	follow_until(3);
	ck_assert_int_eq(follow_totals()->skipped, 0);
}

TEST(a_file_that_comes_later_is_found)
{
	const char *path = unit_path("later.jsonl");

	follow_begin(path);
	append(path, PROMPT "\n");
	follow_until(1);
}

static void
follow_input(int64_t tokens)
{
	f.input = tokens;
	follow_until(0);
	ck_assert_int_eq(input_of(transcript_parser_of(f.transcript)), tokens);
}

TEST(subagents_are_read_as_they_grow)
{
	const char *path = unit_path("parent.jsonl");
	const char *dir = unit_path("parent/subagents");
	cleanup_free char *one = xasprintf("%s/agent-1.jsonl", dir);
	cleanup_free char *two = xasprintf("%s/agent-2.jsonl", dir);
	cleanup_free char *meta = xasprintf("%s/agent-1.meta.json", dir);

	append(path, REPLY("a", "1") "\n");
	follow_begin(path);
	follow_input(10);
	/* The parent does not grow while it waits for them. */
	ck_assert_int_eq(mkdir(unit_path("parent"), 0700), 0);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	append(one, REPLY("s1", "1") "\n" REPLY("s1", "2") "\n{\"type\":");
	append(meta, REPLY("no", "1") "\n");
	follow_input(20);
	append(two, REPLY("s2", "1") "\n");
	append(one, "\"x\"}\n" REPLY("s3", "1") "\n");
	follow_input(40);
	ck_assert_str_eq(
	    transcript_parser_last_text(transcript_parser_of(f.transcript)),
	    "text of a");
	/* And all of it again by the next daemon. */
	follow_begin(path);
	follow_input(40);
}

TEST(a_long_line_of_a_subagent_is_left_out)
{
	const char *path = unit_path("long.jsonl");
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *one = NULL;

	ck_assert_int_eq(mkdir(unit_path("long"), 0700), 0);
	ck_assert_int_eq(mkdir(unit_path("long/subagents"), 0700), 0);
	one = xasprintf("%s/agent-1.jsonl", unit_path("long/subagents"));
	for (int i = 0; i < 3 * 1024 * 1024; i++)
		buf_addc(&text, 'x');
	buf_adds(&text, "\n" REPLY("s1", "1") "\n");
	append(one, text.data);
	append(path, REPLY("a", "1") "\n");
	follow_begin(path);
	follow_input(20);
}

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

TEST(a_directory_that_comes_later_is_found)
{
	struct maker maker = { unit_path("p/q"), unit_path("p/q/x.jsonl") };
	struct loop_timer *timer;

	/* The loop really sleeps until the retry; no time passes. */
	clock_virtual_begin(1000, 1000);
	follow_begin(maker.path);
	timer = loop_after(f.loop, 10000, make_later, &maker);
	follow_until(1);
	ck_assert_int_ge(clock_mono_ms(), 11000);
	ck_assert_int_le(clock_mono_ms(), 14000);
	loop_timer_free(timer);
	follow_end();
	clock_virtual_end();
}

TEST(a_file_that_begins_anew_is_counted_anew)
{
	const char *path = unit_path("anew.jsonl");
	const char *text = REPLY("z", "3") "\n" PROMPT "\n";

	append(path, PROMPT "\n");
	follow_begin(path);
	follow_until(1);
	/* Longer than the old one. */
	ck_assert_int_eq(file_replace(path, text, strlen(text), 0600, NULL), 0);
	follow_until(1);
	ck_assert_int_eq(follow_totals()->prompts, 1);
	ck_assert_int_eq(truncate(path, 0), 0);
	append(path, PROMPT "\n");
	follow_until(1);
	ck_assert_int_eq(follow_totals()->prompts, 1);
}

TEST(a_line_over_the_bound_is_skipped_and_the_next_read)
{
	const char *path = unit_path("long.jsonl");
	cleanup_buf struct buf text = BUF_INIT;

	buf_adds(&text, "{\"type\":\"api-request\",\"x\":\"");
	while (text.len < TAIL_LINE_MAX + 10)
		buf_adds(&text, "0123456789abcdef");
	buf_adds(&text, "\"}\n" PROMPT "\n");
	append(path, text.data);
	follow_begin(path);
	follow_until(1);
	ck_assert_int_eq(follow_totals()->skipped, 1);
	ck_assert_uint_eq(follow_totals()->bytes, text.len);
}

static void
free_inside(const struct transcript_parser *parser, void *arg)
{
	(void)arg;
	(void)parser;
	transcript_free(take_ptr(&f.transcript));
	loop_stop(f.loop, 0);
}

TEST(free_from_inside_the_callback_is_fine)
{
	const char *path = unit_path("freed.jsonl");

	f = (struct follow){ .loop = loop_new() };
	append(path, PROMPT "\n" PROMPT "\n");
	f.transcript = transcript_new(f.loop, path, 0, free_inside, &f);
	ck_assert_int_eq(loop_run(f.loop), 0);
	ck_assert_ptr_null(f.transcript);
	transcript_free(NULL);
	loop_free(f.loop);
}

TEST(words_are_found_in_the_tail_only)
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
