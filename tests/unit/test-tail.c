/* SPDX-License-Identifier: ISC */

/*
 * Most tests run twice: _i is 0 with inotify and 1 without. Time is virtual:
 * settle() lets three seconds pass at once, enough for polling too.
 */

#include "dir-world.h"
#include "watch.h"

#define FLOOD 40000 /* lines, more than a chunk */

static struct loop *loop;
static struct tail *tail;
static struct buf got = BUF_INIT; /* "line|cut line~|", since settle() */
static uint64_t pass, pass_bytes, pass_bytes_most;
static int lines;

static void
collect(const char *line, size_t len, bool cut, void *arg)
{
	(void)arg;
	ck_assert_int_eq(line[len], '\0');
	lines++;
	buf_add(&got, line, len);
	buf_adds(&got, cut ? "~|" : "|");
	if (pass != loop_passes(loop))
		pass_bytes = 0;
	pass = loop_passes(loop);
	pass_bytes += len + 1;
	if (pass_bytes > pass_bytes_most)
		pass_bytes_most = pass_bytes;
}

static void
stop(void *arg)
{
	loop_stop(arg, 0);
}

static const char *
settle(void)
{
	struct loop_timer *timer = loop_after(loop, 3000, stop, loop);

	buf_clear(&got);
	loop_run(loop);
	loop_timer_free(timer);
	return got.data;
}

static void
setup(int without)
{
	clock_virtual_begin(1000000, 1000000);
	watch_disable_inotify(without == 1);
	loop = loop_new();
	lines = 0;
	pass_bytes_most = 0;
}

static void
teardown(void)
{
	tail_free(tail);
	tail = NULL;
	loop_free(loop);
	buf_release(&got);
	watch_disable_inotify(false);
	clock_virtual_end();
}

static void
add_bytes(const char *path, const char *bytes, size_t len)
{
	FILE *f = fopen(path, "a");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
}

static void
add(const char *path, const char *text)
{
	add_bytes(path, text, strlen(text));
}

static void
start(const char *path, bool from_start)
{
	ck_assert_int_eq(
	    tail_new(loop, path, from_start, collect, NULL, &tail, NULL), 0);
}

/* 64 GiB would take a minute, and most of the loop's time. */
TEST_ROWS(holes_are_not_read, 2)
{
	const char *path = in(fresh_dir(), "f");
	const off_t end = (off_t)64 << 30;
	uint64_t passes;

	setup(_i);
	add(path, "one\ntwo");
	ck_assert_int_eq(truncate(path, end), 0);
	add(path, "\nthree\n");
	start(path, true);
	passes = loop_passes(loop);
	settle();
	ck_assert_uint_lt(loop_passes(loop) - passes, 50);
	ck_assert_int_eq(lines, 3);
	ck_assert_int_eq(memcmp(got.data, "one|two", strlen("one|two")), 0);
	ck_assert_int_eq(
	    memcmp(got.data + got.len - 8, "~|three|", strlen("~|three|")), 0);
	ck_assert_uint_eq(tail_offset(tail), (uint64_t)end + 7);
	/* Also where nothing follows. */
	ck_assert_int_eq(truncate(path, 2 * end), 0);
	ck_assert_str_eq(settle(), "");
	add(path, "\n");
	ck_assert_int_eq(strcmp(settle() + got.len - 2, "~|"), 0);
	teardown();
}

TEST_ROWS(each_line_comes_once, 2)
{
	const char *path = in(fresh_dir(), "f");

	setup(_i);
	add(path, "one\ntwo\n");
	start(path, true);
	ck_assert_str_eq(settle(), "one|two|");
	ck_assert_uint_eq(tail_offset(tail), 8);
	ck_assert_str_eq(settle(), "");
	add(path, "three\n\nfive\n");
	ck_assert_str_eq(settle(), "three||five|");
	ck_assert_uint_eq(tail_offset(tail), 20);
	teardown();
}

TEST_ROWS(start_at_the_end_skips_what_is_there, 2)
{
	const char *path = in(fresh_dir(), "f");

	setup(_i);
	add(path, "old\nolder\n");
	start(path, false);
	add(path, "new\n");
	ck_assert_str_eq(settle(), "new|");
	ck_assert_uint_eq(tail_offset(tail), 14);
	teardown();
}

TEST_ROWS(start_at_the_end_keeps_an_unfinished_line, 2)
{
	const char *dir = fresh_dir();

	setup(_i);
	add(in(dir, "f"), "old\n{\"begun\"");
	start(in(dir, "f"), false);
	ck_assert_str_eq(settle(), "");
	ck_assert_uint_eq(tail_offset(tail), 4);
	add(in(dir, "f"), ":1}\nnext\n");
	ck_assert_str_eq(settle(), "{\"begun\":1}|next|");
	tail_free(tail);
	add(in(dir, "g"), "only begun");
	start(in(dir, "g"), false);
	add(in(dir, "g"), ", now done\n");
	ck_assert_str_eq(settle(), "only begun, now done|");
	teardown();
}

TEST_ROWS(start_at_the_end_of_a_huge_unfinished_line, 2)
{
	const char *path = in(fresh_dir(), "f");
	cleanup_free char *text = xcalloc(1, TAIL_CHUNK + 11);

	setup(_i);
	memset(text, 'x', TAIL_CHUNK + 10);
	add(path, text);
	start(path, false);
	add(path, "y\nnext\n");
	settle();
	ck_assert_uint_eq(got.len, TAIL_CHUNK + strlen("y~|next|"));
	ck_assert_str_eq(got.data + TAIL_CHUNK, "y~|next|");
	teardown();
}

TEST_ROWS(unfinished_line_waits_for_its_newline, 2)
{
	const char *path = in(fresh_dir(), "f");

	setup(_i);
	add(path, "who");
	start(path, true);
	ck_assert_str_eq(settle(), "");
	ck_assert_uint_eq(tail_offset(tail), 0);
	add(path, "le\npa");
	ck_assert_str_eq(settle(), "whole|");
	ck_assert_uint_eq(tail_offset(tail), 6);
	add(path, "r");
	ck_assert_str_eq(settle(), "");
	add(path, "t\n");
	ck_assert_str_eq(settle(), "part|");
	teardown();
}

TEST_ROWS(file_may_come_later, 2)
{
	const char *path = in(fresh_dir(), "f");

	setup(_i);
	start(path, false);
	ck_assert_str_eq(settle(), "");
	add(path, "first\n");
	ck_assert_str_eq(settle(), "first|");
	add(path, "second\n");
	ck_assert_str_eq(settle(), "second|");
	teardown();
}

TEST_ROWS(rotation_loses_nothing, 2)
{
	const char *dir = fresh_dir(), *path = in(dir, "f");

	setup(_i);
	add(path, "1\n");
	start(path, true);
	ck_assert_str_eq(settle(), "1|");
	/* All between two polls. */
	add(path, "2\n");
	ck_assert_int_eq(rename(path, in(dir, "f.1")), 0);
	add(in(dir, "f.1"), "3\n");
	add(path, "4\n");
	ck_assert_str_eq(settle(), "2|3|4|");
	ck_assert_uint_eq(tail_offset(tail), 2);
	/* With a pause while there is no file. */
	ck_assert_int_eq(rename(path, in(dir, "f.1")), 0);
	ck_assert_str_eq(settle(), "");
	add(in(dir, "f.1"), "5\n");
	settle();
	add(path, "6\n");
	settle();
	ck_assert_int_eq(lines, 6);
	ck_assert_ptr_nonnull(strstr(got.data, "6|"));
	teardown();
}

TEST_ROWS(unfinished_line_of_a_replaced_file_is_dropped, 2)
{
	const char *dir = fresh_dir(), *path = in(dir, "f");

	setup(_i);
	add(path, "1\nto");
	start(path, true);
	ck_assert_str_eq(settle(), "1|");
	ck_assert_int_eq(file_replace(path, "rn\n2\n", 5, 0600, NULL), 0);
	ck_assert_str_eq(settle(), "rn|2|");
	ck_assert_uint_eq(tail_offset(tail), 5);
	teardown();
}

TEST_ROWS(truncated_file_is_read_again, 2)
{
	const char *path = in(fresh_dir(), "f");

	setup(_i);
	add(path, "a long first line\nunfin");
	start(path, true);
	ck_assert_str_eq(settle(), "a long first line|");
	ck_assert_int_eq(truncate(path, 0), 0);
	add(path, "new\n");
	ck_assert_str_eq(settle(), "new|");
	ck_assert_uint_eq(tail_offset(tail), 4);
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert_str_eq(settle(), "");
	ck_assert_uint_eq(tail_offset(tail), 0);
	add(path, "and\nmore\n");
	ck_assert_str_eq(settle(), "and|more|");
	teardown();
}

TEST_ROWS(deleted_file_may_come_back, 2)
{
	const char *path = in(fresh_dir(), "f");

	setup(_i);
	add(path, "1\n");
	start(path, true);
	ck_assert_str_eq(settle(), "1|");
	add(path, "2\n");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_str_eq(settle(), "2|");
	add(path, "3\n");
	ck_assert_str_eq(settle(), "3|");
	teardown();
}

TEST_ROWS(bytes_come_as_they_are, 2)
{
	const char *path = in(fresh_dir(), "f");

	setup(_i);
	add_bytes(path, "a\r\n\0b\0\n\xff\xfe\n", 10);
	start(path, true);
	settle();
	ck_assert_int_eq(lines, 3);
	ck_assert_uint_eq(got.len, 10);
	ck_assert_mem_eq(got.data, "a\r|\0b\0|\xff\xfe|", 10);
	teardown();
}

TEST_ROWS(over_long_line_comes_cut_once, 2)
{
	const char *path = in(fresh_dir(), "f");
	cleanup_buf struct buf text = BUF_INIT;

	setup(_i);
	while (text.len < TAIL_LINE_MAX)
		buf_addc(&text, 'x');
	add(path, text.data);
	start(path, true);
	settle();
	ck_assert_int_eq(lines, 0);
	add(path, "\n"); /* just fits */
	settle();
	ck_assert_uint_eq(got.len, TAIL_LINE_MAX + 1);
	add(path, text.data);
	add(path, "y\nnext\n"); /* one too many */
	settle();
	ck_assert_uint_eq(got.len, TAIL_LINE_MAX + strlen("~|next|"));
	ck_assert_str_eq(got.data + TAIL_LINE_MAX, "~|next|");
	add(path, text.data);
	settle();
	add(path, text.data);
	add(path, text.data);
	add(path, "\nlast\n"); /* much too long, and in pieces */
	settle();
	ck_assert_str_eq(got.data + TAIL_LINE_MAX, "~|last|");
	ck_assert_uint_eq(tail_offset(tail),
	    5 * TAIL_LINE_MAX + strlen("\ny\nnext\n\nlast\n"));
	teardown();
}

TEST_ROWS(cut_falls_between_characters, 2)
{
	const char *path = in(fresh_dir(), "f");
	cleanup_buf struct buf text = BUF_INIT;

	setup(_i);
	while (text.len < TAIL_LINE_MAX - 1)
		buf_addc(&text, 'x');
	buf_adds(&text, "\xe2\x82\xac and more\n");
	add(path, text.data);
	start(path, true);
	settle();
	ck_assert_uint_eq(got.len, TAIL_LINE_MAX - 1 + strlen("~|"));
	teardown();
}

TEST_ROWS(flood_is_read_in_chunks, 2)
{
	const char *path = in(fresh_dir(), "f");
	cleanup_buf struct buf text = BUF_INIT;

	setup(_i);
	for (int i = 0; i < FLOOD; i++)
		buf_addf(&text, "line %d\n", i);
	add(path, text.data);
	start(path, true);
	settle();
	ck_assert_int_eq(lines, FLOOD);
	ck_assert_uint_gt(text.len, TAIL_CHUNK);
	ck_assert_uint_eq(tail_offset(tail), text.len);
	/* A line begun in one pass may end in the next. */
	ck_assert_uint_le(pass_bytes_most, TAIL_CHUNK + 20);
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] == '\n')
			text.data[i] = '|';
	ck_assert(strcmp(got.data, text.data) == 0);
	teardown();
}

static void
free_at_two(const char *line, size_t len, bool cut, void *arg)
{
	collect(line, len, cut, arg);
	if (lines == 2)
		tail_free(take_ptr(&tail));
}

TEST_ROWS(may_be_freed_from_its_call, 2)
{
	const char *path = in(fresh_dir(), "f");

	setup(_i);
	add(path, "1\n2\n3\n4\n");
	ck_assert_int_eq(
	    tail_new(loop, path, true, free_at_two, NULL, &tail, NULL), 0);
	ck_assert_str_eq(settle(), "1|2|");
	ck_assert_ptr_null(tail);
	add(path, "5\n");
	ck_assert_str_eq(settle(), "");
	teardown();
}

TEST_ROWS(may_be_freed_with_lines_due, 2)
{
	const char *path = in(fresh_dir(), "f");

	setup(_i);
	add(path, "1\n");
	start(path, true);
	tail_free(take_ptr(&tail));
	tail_free(NULL);
	ck_assert_str_eq(settle(), "");
	teardown();
}

static void
note_offset(const char *line, size_t len, bool cut, void *arg)
{
	uint64_t *offset = arg;

	collect(line, len, cut, NULL);
	*offset = tail_offset(tail);
}

TEST_ROWS(offset_counts_the_line_being_reported, 2)
{
	const char *path = in(fresh_dir(), "f");
	uint64_t offset = 0;

	setup(_i);
	add(path, "four\n");
	ck_assert_int_eq(
	    tail_new(loop, path, true, note_offset, &offset, &tail, NULL), 0);
	ck_assert_str_eq(settle(), "four|");
	ck_assert_uint_eq(offset, 5);
	teardown();
}

TEST_ROWS(only_regular_files_have_lines, 2)
{
	const char *dir = fresh_dir(), *path = in(dir, "f");

	setup(_i);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	start(path, true);
	ck_assert_str_eq(settle(), "");
	add(in(dir, "real"), "1\n");
	ck_assert_int_eq(rename(in(dir, "real"), path), 0);
	ck_assert_str_eq(settle(), "1|");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_str_eq(settle(), "");
	ck_assert_int_eq(rmdir(path), 0);
	add(path, "2\n");
	ck_assert_str_eq(settle(), "2|");
	teardown();
}

TEST_ROWS(missing_directory_is_an_error, 2)
{
	const char *dir = fresh_dir();
	struct err err = { 0 };

	setup(_i);
	ck_assert_int_eq(
	    tail_new(loop, in(dir, "none/f"), true, collect, NULL, &tail, &err),
	    -ENOENT);
	ck_assert_int_eq(err.code, -ENOENT);
	ck_assert_ptr_null(tail);
	teardown();
}
