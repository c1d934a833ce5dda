/* SPDX-License-Identifier: ISC */

#include "jsonl.h"
#include "unit.h"

/* A file of numbered records and a cursor on it. */
static struct world {
	struct jsonl_cursor cursor;
	const char *path;
	int written;
} w;

static void
world_begin(void)
{
	static int count;
	cleanup_free char *name = xasprintf("log%d", count++);

	w.path = unit_path(name);
	w.written = 0;
	jsonl_cursor_init(&w.cursor, w.path);
}

static void
append_text(const char *text)
{
	cleanup_fd int fd =
	    open(w.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write_all(fd, text, strlen(text)), 0);
}

/* Append this many; a file holds four of them. */
static void
append(int count, int keep)
{
	for (int i = 0; i < count; i++) {
		cleanup_json struct json_object *record =
		    json_object_new_object();

		json_set_int(record, "n", ++w.written);
		ck_assert_int_eq(
		    jsonl_append(w.path, record, 4 * 8 - 1, keep, NULL), 0);
	}
}

static void
expect_of(struct jsonl_cursor *cursor, const char *want)
{
	cleanup_buf struct buf seen = BUF_INIT;
	struct json_object *record;

	while ((record = jsonl_cursor_next(cursor)) != NULL) {
		buf_addf(
		    &seen, "%lld ", (long long)json_int_or(record, "n", -1));
		json_object_put(record);
	}
	ck_assert_str_eq(seen.data, want);
}

static void
expect(const char *want)
{
	expect_of(&w.cursor, want);
}

TEST(records_come_as_they_are_written)
{
	world_begin();
	expect("");
	append(2, 9);
	expect("1 2 ");
	append(1, 9);
	expect("3 ");
	expect("");
	jsonl_cursor_release(&w.cursor);
}

TEST(a_line_comes_when_it_is_whole)
{
	world_begin();
	append_text("{\"n\":");
	expect("");
	append_text("1}");
	expect("");
	append_text("\n{\"n\":2}\n{\"n");
	expect("1 2 ");
	append_text("\":3}\n");
	expect("3 ");
	jsonl_cursor_release(&w.cursor);
}

TEST(what_is_no_record_is_left_out)
{
	world_begin();
	append_text("\nrubbish\n[1]\n3\nnull\n{\"n\":1}\n{}}\n{\"n\":2}\n");
	expect("1 2 ");
	jsonl_cursor_release(&w.cursor);
}

TEST(a_line_too_long_is_left_out)
{
	cleanup_buf struct buf text = BUF_INIT;

	world_begin();
	buf_adds(&text, "{\"n\":1}\n{\"n\":2,\"text\":\"");
	while (text.len < 3 * JSONL_LINE_MAX)
		buf_adds(&text, "xxxxxxxxxxxxxxxx");
	append_text(text.data);
	expect("1 ");
	append_text("\"}\n{\"n\":3}\n");
	expect("3 ");
	ck_assert_uint_lt(w.cursor.data.len, JSONL_LINE_MAX);
	jsonl_cursor_release(&w.cursor);
}

TEST(every_rotation_is_followed)
{
	world_begin();
	append(2, 9);
	expect("1 2 ");
	append(20, 9);
	expect("3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 ");
	append(1, 9);
	expect("23 ");
	ck_assert(jsonl_cursor_is_current(&w.cursor));
	jsonl_cursor_release(&w.cursor);
}

TEST(files_that_were_deleted_are_passed_over)
{
	world_begin();
	append(2, 1);
	expect("1 2 ");
	/* The current file and one more are kept, and the one that is open
	 * here. */
	append(20, 1);
	expect("3 4 17 18 19 20 21 22 ");
	jsonl_cursor_release(&w.cursor);
}

TEST(a_rotation_half_done_is_waited_for)
{
	cleanup_free char *older = NULL;

	world_begin();
	append(2, 9);
	expect("1 2 ");
	append_text("{\"n\":3}\n{\"torn");
	older = xasprintf("%s.1", w.path);
	ck_assert_int_eq(rename(w.path, older), 0);
	expect("3 ");
	expect("");
	append_text("{\"n\":4}\n");
	expect("4 ");
	jsonl_cursor_release(&w.cursor);
}

TEST(a_file_that_shrank_is_read_again)
{
	world_begin();
	append(4, 9);
	expect("1 2 3 4 ");
	ck_assert_int_eq(truncate(w.path, 0), 0);
	append_text("{\"n\":9}\n");
	expect("9 ");
	jsonl_cursor_release(&w.cursor);
}

TEST(it_can_be_put_at_a_byte_and_at_the_end)
{
	world_begin();
	ck_assert_int_eq(jsonl_cursor_seek(&w.cursor, 0), 0);
	ck_assert_int_eq(jsonl_cursor_seek(&w.cursor, 1), -ESTALE);
	jsonl_cursor_seek_end(&w.cursor);
	append(3, 9);
	ck_assert_int_eq(jsonl_cursor_seek(&w.cursor, 8), 0);
	expect("2 3 ");
	ck_assert_int_eq(jsonl_cursor_seek(&w.cursor, 25), -ESTALE);
	ck_assert_int_eq(jsonl_cursor_seek(&w.cursor, 24), 0);
	expect("");
	append_text("{\"n\":4");
	jsonl_cursor_seek_end(&w.cursor);
	expect("");
	append_text("}\n");
	expect("4 ");
	ck_assert_int_eq(unlink(w.path), 0);
	jsonl_cursor_seek_end(&w.cursor);
	append_text("{\"n\":5}\n");
	expect("5 ");
	jsonl_cursor_release(&w.cursor);
}

TEST(the_end_may_be_far_from_the_last_newline)
{
	cleanup_buf struct buf text = BUF_INIT;

	world_begin();
	append_text("{\"n\":1}\n");
	buf_adds(&text, "{\"n\":2,\"text\":\"");
	while (text.len < 200000)
		buf_adds(&text, "xxxxxxxxxxxxxxxx");
	append_text(text.data);
	jsonl_cursor_seek_end(&w.cursor);
	ck_assert_uint_eq(w.cursor.offset, 8);
	append_text("\"}\n");
	expect("2 ");
	jsonl_cursor_release(&w.cursor);
}

TEST(a_file_is_held_through_rotations)
{
	world_begin();
	append(1, 9);
	jsonl_cursor_hold(&w.cursor);
	append(8, 9);
	expect("1 2 3 4 5 6 7 8 9 ");
	jsonl_cursor_release(&w.cursor);
}

TEST(two_places_can_be_compared)
{
	struct jsonl_cursor goal, copy;

	world_begin();
	jsonl_cursor_init(&goal, w.path);
	jsonl_cursor_init(&copy, w.path);
	ck_assert(jsonl_cursor_reached(&w.cursor, &goal));
	append(3, 9);
	ck_assert_int_eq(jsonl_cursor_seek(&w.cursor, 8), 0);
	append(3, 9);
	ck_assert_int_eq(jsonl_cursor_seek(&goal, 8), 0);
	/* 5 is the first of the next file, and the goal is after it. */
	for (int n = 2; n <= 5; n++) {
		ck_assert(!jsonl_cursor_reached(&w.cursor, &goal));
		json_object_put(jsonl_cursor_next(&w.cursor));
		if (n == 3)
			jsonl_cursor_copy(&copy, &w.cursor);
	}
	ck_assert(jsonl_cursor_reached(&w.cursor, &goal));
	expect("6 ");
	expect_of(&copy, "4 5 6 ");
	jsonl_cursor_release(&copy);
	jsonl_cursor_release(&goal);
	jsonl_cursor_release(&w.cursor);
}
