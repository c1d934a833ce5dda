/* SPDX-License-Identifier: ISC */

/* The folder source: how people see and change it. */
#include "folder-world.h"
#include "prompt.h"
#include "taskfile.h"

/* As the daemon does: the text may have a head. */
static int
add(struct source *source, const char *text, char **ret_key, char **ret_path,
    struct err *err)
{
	struct task_head head;
	const char *prompt = task_head_read(text, &head);

	return source_add(source, &head, prompt, ret_key, ret_path, err);
}

static void
expect_added(struct source *source, const char *text, const char *wanted)
{
	cleanup_free char *key = NULL;
	struct err err = { 0, "" };

	ck_assert_msg(add(source, text, &key, NULL, &err) == 0, "%s", err.msg);
	ck_assert_str_eq(key, wanted);
}

TEST(added_tasks_are_named_after_their_first_line)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("add");
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
	ck_assert_int_eq(add(source, "one", NULL, NULL, &err), 0);
	ck_assert_int_eq(add(source, " \n", NULL, NULL, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "empty"));
	ck_assert_int_eq(add(source, "caf\xe9", NULL, NULL, &err), -EINVAL);
	while (large.len <= PROMPT_MAX)
		buf_adds(&large, "0123456789abcdef");
	ck_assert_int_eq(add(source, large.data, NULL, NULL, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "1 MiB"));
	source_world_expect(world, "1-fix-the-log-in-please.md");
}

TEST(retry_and_drop_move_files)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("moves");
	struct source *source = world->source;
	struct err err = { 0, "" };

	folder_world_put(world, "todo/a", "1");
	folder_world_put(world, "todo/b", "2");
	folder_world_put(world, "todo/c", "3");
	source_world_take(world, "a");
	source_world_take(world, "b");
	ck_assert_int_eq(source_drop(source, "a", &err), -EBUSY);
	ck_assert_int_eq(source_retry(source, "a", NULL, &err), -EBUSY);
	source_world_settle(world, "a", OUTCOME_FAILED, "why");
	source_world_settle(world, "b", OUTCOME_DEAD_LETTER, "why");
	ck_assert_int_eq(source_retry(source, "a", NULL, &err), 0);
	folder_world_expect(world, "todo: a c; failed: b b.why");
	ck_assert_int_eq(source_retry(source, "c", NULL, &err), -EALREADY);
	ck_assert_int_eq(source_drop(source, "b", &err), 0);
	ck_assert_int_eq(source_drop(source, "c", &err), 0);
	folder_world_expect(world, "todo: a; trash: b b.why c");
	folder_world_put(world, "todo/c", "4");
	ck_assert_int_eq(source_drop(source, "c", &err), 0);
	folder_world_expect(world, "todo: a; trash: b b.why c c-2");
	ck_assert_int_eq(source_drop(source, "c", &err), -ENOENT);
	ck_assert_int_eq(source_drop(source, "../todo/a", &err), -ENOENT);
	ck_assert_int_eq(source_retry(source, ".x", NULL, &err), -ENOENT);
	ck_assert_int_eq(source_retry(source, "", NULL, &err), -ENOENT);
}

TEST(a_priority_is_a_line_of_the_file)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("head");
	struct source *source = world->source;
	struct task_head head = { .priority = PRIORITY_URGENT };
	cleanup_free char *key = NULL, *text = NULL;
	struct err err = { 0, "" };

	ck_assert_int_eq(
	    source_add(source, &head, "Do it", &key, NULL, &err), 0);
	ck_assert_str_eq(key, "1-do-it.md");
	folder_world_expect_text(
	    world, "todo/1-do-it.md", "Priority: urgent\n\nDo it\n");
	expect_added(source, "priority: low\nThen this", "2-then-this.md");
	folder_world_expect_text(
	    world, "todo/2-then-this.md", "Priority: low\n\nThen this\n");
	ck_assert_int_eq(
	    add(source, "Priority: low\n\n", NULL, NULL, &err), -EINVAL);
	ck_assert_str_eq(err.msg, "the task is empty");
	text = source_text(SOURCE_FOLDER, world->options.where, key, "todo");
	ck_assert_str_eq(text, "Do it\n");
}

TEST(priorities_are_changed_in_the_file)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("prioritize");
	struct source *source = world->source;
	struct err err = { 0, "" };

	folder_world_put(world, "todo/a", "One\r\n\r\nmore\r\n");
	folder_world_put(world, "todo/b", "Two\n");
	folder_world_put(world, "todo/c", "Three\n");
	ck_assert_int_eq(
	    source_prioritize(source, "a", PRIORITY_NORMAL, &err), 0);
	folder_world_expect_text(world, "todo/a", "One\r\n\r\nmore\r\n");
	ck_assert_int_eq(
	    source_prioritize(source, "a", PRIORITY_HIGH, &err), 0);
	folder_world_expect_text(
	    world, "todo/a", "Priority: high\n\nOne\n\nmore\n");
	ck_assert_int_eq(
	    source_prioritize(source, "a", PRIORITY_NORMAL, &err), 0);
	folder_world_expect_text(world, "todo/a", "One\n\nmore\n");
	/* It stays with the task wherever that goes. */
	source_world_take(world, "b");
	ck_assert_int_eq(source_prioritize(source, "b", PRIORITY_LOW, &err), 0);
	source_world_settle(world, "b", OUTCOME_FAILED, "why");
	folder_world_expect_text(world, "failed/b", "Priority: low\n\nTwo\n");
	ck_assert_int_eq(
	    source_prioritize(source, "b", PRIORITY_URGENT, &err), 0);
	ck_assert_int_eq(source_retry(source, "b", NULL, &err), 0);
	folder_world_expect_text(world, "todo/b", "Priority: urgent\n\nTwo\n");
	ck_assert_int_eq(source_drop(source, "b", &err), 0);
	folder_world_expect_text(world, "trash/b", "Priority: urgent\n\nTwo\n");
}

TEST(only_tasks_that_can_still_be_done_get_a_priority)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("prioritize-not");
	struct source *source = world->source;
	struct err err = { 0, "" };

	folder_world_put(world, "done/a", "One\n");
	folder_world_put(world, "todo/empty", " \n");
	folder_world_put(world, "todo/b", "Two\n");
	ck_assert_int_eq(
	    source_prioritize(source, "a", PRIORITY_HIGH, &err), -ENOENT);
	ck_assert_int_eq(
	    source_prioritize(source, "../todo/b", PRIORITY_HIGH, &err),
	    -EINVAL);
	ck_assert_int_eq(
	    source_prioritize(source, "empty", PRIORITY_HIGH, &err), -EBADMSG);
	source_world_take(world, "b");
	world->options.owner = "others";
	source_world_reopen(world);
	ck_assert_int_eq(
	    source_prioritize(world->source, "b", PRIORITY_HIGH, &err), -EBUSY);
	folder_world_expect_text(world, "doing/b", "Two\n");
}

TEST(a_done_task_is_done_again_with_its_commit)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("again");
	struct source *source = world->source;
	struct err err = { 0, "" };

	folder_world_put(world, "done/a", "Priority: low\n\nOne\n");
	folder_world_put(world, "done/b", "Two\n");
	folder_world_put(world, "failed/b", "Other two\n");
	folder_world_put(world, "done/c", "Three\n");
	ck_assert_int_eq(source_retry(source, "a", "3f2a91c", &err), 0);
	ck_assert_int_eq(source_retry(source, "b", "3f2a91c", &err), 0);
	ck_assert_int_eq(source_retry(source, "c", NULL, &err), 0);
	folder_world_expect(world, "todo: a b c; failed: b");
	folder_world_expect_text(
	    world, "todo/a", "Priority: low\nLanded before: 3f2a91c\n\nOne\n");
	folder_world_expect_text(
	    world, "todo/b", "Landed before: 3f2a91c\n\nTwo\n");
	folder_world_expect_text(world, "todo/c", "Three\n");
	ck_assert_int_eq(source_retry(source, "a", "3f2a91c", &err), -EALREADY);
	source_world_expect(world, "c");
	ck_assert_ptr_null(world->landed_before);
	source_world_take(world, "c");
	source_world_expect(world, "b");
	ck_assert_str_eq(world->text, "Two");
	ck_assert_str_eq(world->landed_before, "3f2a91c");
	/* The next time, the newer commit counts. */
	source_world_take(world, "b");
	source_world_settle(world, "b", OUTCOME_LANDED, NULL);
	ck_assert_int_eq(source_retry(source, "b", "4444444", &err), 0);
	folder_world_expect_text(
	    world, "todo/b", "Landed before: 4444444\n\nTwo\n");
}

TEST(the_list_has_every_task)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("list");
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
	source_world_expect_row(list, 1,
	    "{\"key\":\"10\",\"title\":\"Ten\",\"status\":\"todo\",\"priority\":\"normal\"}");
	source_world_expect_row(list, 2,
	    "{\"key\":\"c\",\"title\":\"Cee\",\"status\":\"doing\","
	    "\"priority\":\"normal\",\"owner\":\"us\",\"worker\":\"auto-1\"}");
	source_world_expect_row(list, 3,
	    "{\"key\":\"e\",\"title\":\"Ee\",\"status\":\"done\",\"priority\":\"normal\"}");
	source_world_expect_row(list, 4,
	    "{\"key\":\"d\",\"title\":\"Dee\",\"status\":\"failed\","
	    "\"priority\":\"normal\",\"problem\":\"It broke.\"}");
}

TEST(the_list_can_be_limited_to_the_newest)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("newest");
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
	source_world_expect_row(list, 1,
	    "{\"key\":\"a\",\"title\":\"x\",\"status\":\"done\",\"priority\":\"normal\"}");
	/* Read-only: nothing is created. */
	none = source_list(SOURCE_FOLDER, unit_path("nowhere"), 0, &err);
	ck_assert_uint_eq(json_object_array_length(none), 0);
	ck_assert(!file_exists(unit_path("nowhere")));
}
