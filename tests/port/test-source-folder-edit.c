/* SPDX-License-Identifier: ISC */

/* The folder source: how people see and change it. */
#include <errno.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "folder-world.h"
#include "json.h"
#include "mem.h"
#include "prompt.h"
#include "source-world.h"
#include "unit.h"

static void
expect_added(struct source *source, const char *text, const char *wanted)
{
	cleanup_free char *key = NULL;
	struct err err = { 0, "" };

	ck_assert_msg(
	    source_add(source, text, &key, NULL, &err) == 0, "%s", err.msg);
	ck_assert_str_eq(key, wanted);
}

START_TEST(added_tasks_are_named_after_their_first_line)
{
	struct source_world *world = folder_world_open("add");
	struct source *source = world->source;
	struct err err = { 0, "" };
	cleanup_buf struct buf large = BUF_INIT;

	expect_added(source, "Fix the log-in, please!\nNow.",
	    "1-fix-the-log-in-please.md");
	expect_added(
	    source, "Fix the log-in, please!", "2-fix-the-log-in-please.md");
	expect_added(
	    source, "\n\n# \xc3\x84ndere `x/../y`\n", "3-\xc3\x84ndere-x-y.md");
	expect_added(source, "...", "4-task.md");
	expect_added(source,
	    "a very long first line that goes on and on and on and on and on",
	    "5-a-very-long-first-line-that-goes-on-and-on-and-on-and-on-and.md");
	folder_world_expect_text(world, "todo/1-fix-the-log-in-please.md",
	    "Fix the log-in, please!\nNow.\n");
	ck_assert_int_eq(source_add(source, "one", NULL, NULL, &err), 0);
	ck_assert_int_eq(source_add(source, " \n", NULL, NULL, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "empty"));
	ck_assert_int_eq(
	    source_add(source, "caf\xe9", NULL, NULL, &err), -EINVAL);
	while (large.len <= PROMPT_MAX)
		buf_adds(&large, "0123456789abcdef");
	ck_assert_int_eq(
	    source_add(source, large.data, NULL, NULL, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "1 MiB"));
	source_world_expect(world, "1-fix-the-log-in-please.md");
	source_world_free(world);
}
END_TEST

START_TEST(retry_and_drop_move_files)
{
	struct source_world *world = folder_world_open("moves");
	struct source *source = world->source;
	struct err err = { 0, "" };

	folder_world_put(world, "todo/a", "1");
	folder_world_put(world, "todo/b", "2");
	folder_world_put(world, "todo/c", "3");
	source_world_take(world, "a");
	source_world_take(world, "b");
	ck_assert_int_eq(source_drop(source, "a", &err), -EBUSY);
	ck_assert_int_eq(source_retry(source, "a", &err), -EBUSY);
	source_world_settle(world, "a", OUTCOME_FAILED, "why");
	source_world_settle(world, "b", OUTCOME_DEAD_LETTER, "why");
	ck_assert_int_eq(source_retry(source, "a", &err), 0);
	folder_world_expect(world, "todo: a c; failed: b b.why");
	ck_assert_int_eq(source_retry(source, "c", &err), -ENOENT);
	ck_assert_int_eq(source_drop(source, "b", &err), 0);
	ck_assert_int_eq(source_drop(source, "c", &err), 0);
	folder_world_expect(world, "todo: a; trash: b b.why c");
	folder_world_put(world, "todo/c", "4");
	ck_assert_int_eq(source_drop(source, "c", &err), 0);
	folder_world_expect(world, "todo: a; trash: b b.why c c-2");
	ck_assert_int_eq(source_drop(source, "c", &err), -ENOENT);
	ck_assert_int_eq(source_drop(source, "../todo/a", &err), -ENOENT);
	ck_assert_int_eq(source_retry(source, ".x", &err), -ENOENT);
	ck_assert_int_eq(source_retry(source, "", &err), -ENOENT);
	source_world_free(world);
}
END_TEST

START_TEST(the_list_has_every_task)
{
	struct source_world *world = folder_world_open("list");
	cleanup_json struct json_object *list = NULL;
	struct err err = { 0, "" };

	folder_world_put(world, "todo/10", "# Ten\nx");
	folder_world_put(world, "todo/2", "");
	folder_world_put(world, "todo/c", "Cee");
	folder_world_put(world, "todo/d", "Dee");
	folder_world_put(world, "todo/e", "Ee");
	source_world_take(world, "c");
	source_world_take(world, "d");
	source_world_take(world, "e");
	source_world_settle(world, "d", OUTCOME_FAILED, "It broke.\n");
	source_world_settle(world, "e", OUTCOME_LANDED, NULL);
	list = source_list(SOURCE_FOLDER, world->options.where, 0, &err);
	ck_assert_uint_eq(json_object_array_length(list), 5);
	source_world_expect_row(list, 0,
	    "{\"key\":\"2\",\"title\":\"2\",\"status\":\"todo\","
	    "\"problem\":\"it is empty\"}");
	source_world_expect_row(
	    list, 1, "{\"key\":\"10\",\"title\":\"Ten\",\"status\":\"todo\"}");
	source_world_expect_row(list, 2,
	    "{\"key\":\"c\",\"title\":\"Cee\",\"status\":\"doing\","
	    "\"owner\":\"us\",\"worker\":\"auto-1\"}");
	source_world_expect_row(
	    list, 3, "{\"key\":\"e\",\"title\":\"Ee\",\"status\":\"done\"}");
	source_world_expect_row(list, 4,
	    "{\"key\":\"d\",\"title\":\"Dee\",\"status\":\"failed\","
	    "\"problem\":\"It broke.\"}");
	source_world_free(world);
}
END_TEST

START_TEST(the_list_can_be_limited_to_the_newest)
{
	struct source_world *world = folder_world_open("newest");
	cleanup_json struct json_object *list = NULL, *none = NULL;
	struct err err = { 0, "" };

	for (int i = 0; i < 6; i++) {
		cleanup_free char *name = xasprintf("done/%d", i);

		folder_world_put(world, name, "x");
	}
	folder_world_put(world, "todo/a", "x");
	folder_world_put(world, "todo/b", "x");
	source_world_take(world, "a");
	source_world_settle(world, "a", OUTCOME_LANDED, NULL);
	list = source_list(SOURCE_FOLDER, world->options.where, 1, &err);
	ck_assert_uint_eq(json_object_array_length(list), 2);
	source_world_expect_row(
	    list, 1, "{\"key\":\"a\",\"title\":\"x\",\"status\":\"done\"}");
	/* Read-only: nothing is created. */
	none = source_list(SOURCE_FOLDER, unit_path("nowhere"), 0, &err);
	ck_assert_uint_eq(json_object_array_length(none), 0);
	ck_assert(!file_exists(unit_path("nowhere")));
	source_world_free(world);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("source-folder-edit");

	unit_case(suite, "people",
	    (const TTest *[]){ added_tasks_are_named_after_their_first_line,
		retry_and_drop_move_files, the_list_has_every_task,
		the_list_can_be_limited_to_the_newest, NULL });
	return suite;
}
