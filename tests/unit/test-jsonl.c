/* SPDX-License-Identifier: ISC */

#include "jsonl.h"
#include "unit.h"

static const char *
fresh_path(void)
{
	static int count;
	cleanup_free char *name = xasprintf("log%d.jsonl", count++);

	return unit_path(name);
}

static void
append(const char *path, int n, int64_t max_size, int keep)
{
	cleanup_json struct json_object *record = json_object_new_object();
	struct err err = { 0 };

	json_set_int(record, "n", n);
	ck_assert_msg(jsonl_append(path, record, max_size, keep, &err) == 0,
	    "%s", err.msg);
}

static void
write_text(const char *path, const char *text)
{
	ck_assert_int_eq(file_replace(path, text, strlen(text), 0600, NULL), 0);
}

static void
expect_text(const char *path, const char *text)
{
	cleanup_buf struct buf found = BUF_INIT;

	ck_assert_int_eq(file_read(path, 1 << 20, &found, NULL), 0);
	ck_assert_str_eq(found.data, text);
}

struct seen {
	struct buf text; /* the numbers, a blank after each */
	int most; /* stop after that many, 0 = never */
};

static bool
see(struct json_object *record, void *arg)
{
	struct seen *seen = arg;

	buf_addf(&seen->text, "%lld ", (long long)json_int_or(record, "n", -1));
	return seen->most == 0 || --seen->most > 0;
}

static void
expect_last(const char *path, size_t count, const char *numbers)
{
	struct seen seen = { .text = BUF_INIT };
	struct err err = { 0 };

	ck_assert_msg(
	    jsonl_last(path, count, see, &seen, &err) == 0, "%s", err.msg);
	ck_assert_str_eq(seen.text.data, numbers);
	buf_release(&seen.text);
}

TEST(a_record_is_a_line)
{
	const char *path = fresh_path();
	cleanup_json struct json_object *record = json_object_new_object();
	struct stat st;

	json_set_string(record, "text", "two\nlines / \"quoted\"");
	ck_assert_int_eq(jsonl_append(path, record, 0, 0, NULL), 0);
	ck_assert_int_eq(jsonl_append(path, record, 0, 0, NULL), 0);
	expect_text(path,
	    "{\"text\":\"two\\nlines / \\\"quoted\\\"\"}\n"
	    "{\"text\":\"two\\nlines / \\\"quoted\\\"\"}\n");
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
}

TEST(a_torn_line_is_closed_before_the_next)
{
	const char *path = fresh_path();

	write_text(path, "{\"n\":1}\n{\"n\":");
	append(path, 3, 0, 0);
	expect_text(path, "{\"n\":1}\n{\"n\":\n{\"n\":3}\n");
	expect_last(path, 0, "1 3 ");
}

TEST(no_folder_is_an_error_that_names_the_file)
{
	const char *path = unit_path("none/log.jsonl");
	cleanup_json struct json_object *record = json_object_new_object();
	struct err err = { 0 };

	ck_assert_int_eq(jsonl_append(path, record, 10, 2, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, path));
}

TEST(rotates_above_the_size_and_not_at_it)
{
	const char *path = fresh_path();
	cleanup_free char *one = xasprintf("%s.1", path);

	append(path, 1, 8, 2);
	append(path, 2, 8, 2); /* it has exactly 8 */
	ck_assert(!file_exists(one));
	append(path, 3, 8, 2);
	expect_text(one, "{\"n\":1}\n{\"n\":2}\n");
	expect_text(path, "{\"n\":3}\n");
}

TEST(zero_never_rotates)
{
	const char *path = fresh_path();
	cleanup_free char *one = xasprintf("%s.1", path);

	for (int i = 0; i < 100; i++)
		append(path, i, 0, 3);
	ck_assert(!file_exists(one));
}

TEST(as_many_as_wanted_are_kept)
{
	const char *path = fresh_path();
	cleanup_free char *two = xasprintf("%s.2", path);
	cleanup_free char *three = xasprintf("%s.3", path);

	for (int i = 1; i <= 9; i++)
		append(path, i, 1, 2);
	expect_text(path, "{\"n\":9}\n");
	expect_text(two, "{\"n\":7}\n");
	ck_assert(!file_exists(three));
	expect_last(path, 0, "7 8 9 ");
}

TEST(keeping_none_begins_anew)
{
	const char *path = fresh_path();
	cleanup_free char *one = xasprintf("%s.1", path);

	append(path, 1, 1, 0);
	append(path, 2, 1, 0);
	expect_text(path, "{\"n\":2}\n");
	ck_assert(!file_exists(one));
}

TEST(a_rotation_that_cannot_be_done_is_told)
{
	const char *path = fresh_path();
	cleanup_free char *one = xasprintf("%s.1", path);
	cleanup_json struct json_object *record = json_object_new_object();
	struct err err = { 0 };

	append(path, 1, 1, 1);
	ck_assert_int_eq(mkdir(one, 0700), 0);
	ck_assert_int_eq(jsonl_append(path, record, 1, 1, &err), -EISDIR);
	ck_assert_ptr_nonnull(strstr(err.msg, "cannot rotate"));
	expect_text(path, "{\"n\":1}\n");
}

/* path.1 was renamed, then the process died. */
TEST(a_rotation_that_died_half_way_loses_nothing)
{
	const char *path = fresh_path();
	cleanup_free char *one = xasprintf("%s.1", path);
	cleanup_free char *two = xasprintf("%s.2", path);
	cleanup_free char *three = xasprintf("%s.3", path);

	write_text(path, "{\"n\":3}\n");
	write_text(two, "{\"n\":2}\n");
	write_text(three, "{\"n\":1}\n");
	expect_last(path, 0, "1 2 3 ");
	append(path, 4, 1, 3);
	expect_text(one, "{\"n\":3}\n");
	expect_last(path, 0, "1 2 3 4 ");
	ck_assert_int_eq(unlink(path), 0); /* renamed, and no new one yet */
	expect_last(path, 0, "1 2 3 ");
	expect_last(path, 2, "2 3 ");
}

TEST(no_file_is_no_record)
{
	const char *path = fresh_path();

	expect_last(path, 0, "");
	expect_last(path, 5, "");
	write_text(path, "");
	expect_last(path, 0, "");
	expect_last(path, 5, "");
}

TEST(the_last_ones_come_oldest_first)
{
	const char *path = fresh_path();

	for (int i = 1; i <= 5; i++)
		append(path, i, 0, 0);
	expect_last(path, 1, "5 ");
	expect_last(path, 3, "3 4 5 ");
	expect_last(path, 5, "1 2 3 4 5 ");
	expect_last(path, 6, "1 2 3 4 5 ");
	expect_last(path, 0, "1 2 3 4 5 ");
}

TEST(older_files_fill_up_the_count)
{
	const char *path = fresh_path();

	for (int i = 1; i <= 8; i++)
		append(path, i, 12, 5); /* two per file */
	expect_last(path, 2, "7 8 ");
	expect_last(path, 3, "6 7 8 ");
	expect_last(path, 7, "2 3 4 5 6 7 8 ");
	expect_last(path, 100, "1 2 3 4 5 6 7 8 ");
}

TEST(what_is_no_record_is_left_out_and_not_counted)
{
	const char *path = fresh_path();

	write_text(path,
	    "{\"n\":1}\n\nnot json\n[1]\n17\n\"n\"\nnull\n{\"n\":2}x\n"
	    "{\"n\":2}\n\xff\xfe\n{\"n\":\n{\"n\":3}\r\n{\"n\":4}");
	expect_last(path, 0, "1 2 3 ");
	expect_last(path, 2, "2 3 ");
	expect_last(path, 3, "1 2 3 ");
}

TEST(a_file_of_one_torn_line_has_none)
{
	const char *path = fresh_path();

	write_text(path, "{\"n\":1}");
	expect_last(path, 0, "");
	write_text(path, "\n");
	expect_last(path, 0, "");
	expect_last(path, 1, "");
}

/* {"n":N,"x":"...\"} of that many bytes, and a newline. */
static void
add_line(struct buf *text, int n, size_t len)
{
	size_t before = text->len;

	buf_addf(text, "{\"n\":%d,\"x\":\"", n);
	while (text->len - before < len - 2)
		buf_addc(text, 'x');
	buf_adds(text, "\"}\n");
}

TEST(a_line_above_the_bound_is_left_out)
{
	const char *path = fresh_path();
	cleanup_buf struct buf text = BUF_INIT;

	add_line(&text, 1, JSONL_LINE_MAX);
	add_line(&text, 2, JSONL_LINE_MAX + 1);
	add_line(&text, 3, 100);
	ck_assert_int_eq(
	    file_replace(path, text.data, text.len, 0600, NULL), 0);
	expect_last(path, 0, "1 3 ");
	expect_last(path, 2, "1 3 ");
}

TEST(only_the_end_of_a_long_file_is_looked_at)
{
	const char *path = fresh_path();
	cleanup_buf struct buf text = BUF_INIT;
	size_t len = JSONL_LINE_MAX - 1; /* eight with newline are the limit */

	for (int i = 1; i <= 10; i++)
		add_line(&text, i, len);
	ck_assert_int_eq(
	    file_replace(path, text.data, text.len, 0600, NULL), 0);
	/* Where the first one begins is not known without reading more. */
	expect_last(path, 0, "4 5 6 7 8 9 10 ");
	append(path, 11, 0, 0);
	expect_last(path, 0, "4 5 6 7 8 9 10 11 ");
	expect_last(path, 2, "10 11 ");
	expect_last(path, 20, "4 5 6 7 8 9 10 11 ");
}

TEST(all_of_a_long_file_is_read_when_all_is_wanted)
{
	const char *path = fresh_path();
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *older = xasprintf("%s.1", path);
	struct seen seen = { .text = BUF_INIT };

	buf_adds(&text, "{\"n\":2}\nno record\n{\"n\":3,\"fill\":\"");
	while (text.len < JSONL_LINE_MAX / 2)
		buf_adds(&text, "0123456789abcdef");
	buf_adds(&text, "\"}\n");
	while (text.len <= JSONL_LOOK_MAX)
		buf_adds(&text,
		    "                                                 \n");
	buf_adds(&text, "{\"n\":4}\n{\"n\":5");
	write_text(path, text.data);
	write_text(older, "{\"n\":1}\n");
	ck_assert_int_eq(jsonl_since(path, 0, see, &seen, NULL), 0);
	ck_assert_str_eq(seen.text.data, "1 2 3 4 ");
	buf_release(&seen.text);
}

TEST(files_from_before_a_moment_are_left_out)
{
	const char *path = fresh_path();
	cleanup_free char *older = xasprintf("%s.1", path);
	struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct seen seen = { .text = BUF_INIT };

	write_text(path, "{\"n\":2}\n");
	write_text(older, "{\"n\":1}\n");
	ck_assert_int_eq(utimensat(AT_FDCWD, older, times, 0), 0);
	ck_assert_int_eq(jsonl_since(path, 1000001, see, &seen, NULL), 0);
	ck_assert_str_eq(seen.text.data, "2 ");
	ck_assert_int_eq(jsonl_since(path, 1000000, see, &seen, NULL), 0);
	ck_assert_str_eq(seen.text.data, "2 1 2 ");
	buf_release(&seen.text);
}

TEST(the_reader_can_stop)
{
	const char *path = fresh_path();
	struct seen seen = { .text = BUF_INIT, .most = 3 };

	for (int i = 1; i <= 6; i++)
		append(path, i, 12, 5);
	ck_assert_int_eq(jsonl_last(path, 0, see, &seen, NULL), 0);
	ck_assert_str_eq(seen.text.data, "1 2 3 ");
	buf_release(&seen.text);
}

TEST(a_file_rotated_under_the_reader_comes_once)
{
	const char *path = fresh_path();
	cleanup_free char *one = xasprintf("%s.1", path);
	cleanup_free char *two = xasprintf("%s.2", path);

	/* As if it had been renamed after it was read. */
	write_text(path, "{\"n\":2}\n");
	ck_assert_int_eq(link(path, one), 0);
	write_text(two, "{\"n\":1}\n");
	expect_last(path, 0, "1 2 ");
	expect_last(path, 2, "1 2 ");
}

TEST(what_is_no_file_is_an_error)
{
	const char *fifo = fresh_path(), *dir = fresh_path();
	struct seen seen = { .text = BUF_INIT };
	struct err err = { 0 };

	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(jsonl_last(fifo, 0, see, &seen, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, fifo));
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	ck_assert_int_eq(jsonl_last(dir, 0, see, &seen, NULL), -EISDIR);
	ck_assert_str_eq(seen.text.data, "");
}
