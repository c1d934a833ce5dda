/* SPDX-License-Identifier: ISC */

#include "folder-world.h"
#include "prompt.h"
#include "taskfile.h"

TEST(missing_folders_are_made_and_empty)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("fresh/deep");
	cleanup_free char *todo = folder_world_path(world, "todo");

	folder_world_expect(world, "");
	source_world_expect(world, NULL);
	ck_assert_int_eq(rmdir(todo), 0);
	source_world_expect(world, NULL);
	ck_assert(file_is_dir(todo));
}

TEST(a_task_goes_through_its_folders)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("through");

	folder_world_put(
	    world, "todo/fix.md", "# Fix it\r\n\r\nAll of it.\x1b\n\n");
	source_world_expect(world, "fix.md");
	ck_assert_str_eq(world->text, "# Fix it\n\nAll of it.");
	ck_assert_ptr_null(world->title);
	ck_assert_ptr_null(world->label);
	ck_assert_int_eq(world->priority, PRIORITY_NORMAL);
	folder_world_expect(world, "todo: fix.md");
	source_world_take(world, "fix.md");
	folder_world_expect(world, "doing: fix.md");
	source_world_expect(world, NULL);
	source_world_settle(world, "fix.md", OUTCOME_LANDED, NULL);
	folder_world_expect(world, "done: fix.md");
}

TEST(every_outcome_has_its_folder)
{
	static const struct {
		enum task_outcome outcome;
		const char *folder;
	} rows[] = {
		{ OUTCOME_NONE, "todo: a" },
		{ OUTCOME_LANDED, "done: a" },
		{ OUTCOME_NO_CHANGES, "done: a" },
		{ OUTCOME_FAILED, "failed: a a.why" },
		{ OUTCOME_ABORTED, "failed: a a.why" },
		{ OUTCOME_DEAD_LETTER, "failed: a a.why" },
	};

	_Static_assert(nitems(rows) == OUTCOME_COUNT, "a row each");
	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *name = xasprintf("outcome-%zu", i);
		struct source_world *world = folder_world_open(name);

		folder_world_put(world, "todo/a", "x");
		source_world_take(world, "a");
		source_world_settle(
		    world, "a", rows[i].outcome, "for a reason");
		folder_world_expect(world, rows[i].folder);
		/* The second time changes nothing. */
		source_world_settle(world, "a", rows[i].outcome, "for another");
		folder_world_expect(world, rows[i].folder);
		if (strstr(rows[i].folder, "why") != NULL)
			folder_world_expect_text(
			    world, "failed/a.why", "for a reason\n");
		source_world_free(world);
	}
}

TEST(tasks_come_in_natural_order)
{
	static const char *const order[] = { "01-b", "1-c", "2.md", "002x",
		"9-a", "10-a", "99999999999999999999999", "a1z", "a2", "a10",
		"b", "\xc3\xa4" };
	cleanup_source_world struct source_world *world =
	    folder_world_open("order");

	for (size_t i = nitems(order); i-- > 0;) {
		cleanup_free char *name = xasprintf("todo/%s", order[i]);

		folder_world_put(world, name, order[i]);
	}
	for (size_t i = 0; i < nitems(order); i++) {
		source_world_expect(world, order[i]);
		ck_assert_str_eq(world->text, order[i]);
		source_world_take(world, order[i]);
	}
	source_world_expect(world, NULL);
}

TEST(more_urgent_tasks_come_first)
{
	static const char *const order[] = { "4", "10", "3", "11", "1", "2" };
	cleanup_source_world struct source_world *world =
	    folder_world_open("urgent");
	cleanup_json struct json_object *list = NULL;

	folder_world_put(world, "todo/1", "Priority: low\n\none");
	folder_world_put(world, "todo/2", "Priority: low\n\ntwo");
	folder_world_put(world, "todo/3", "Priority: often\n\nthree");
	folder_world_put(world, "todo/4", "priority: urgent\n\nfour");
	folder_world_put(world, "todo/10",
	    "\xef\xbb\xbf"
	    "Priority: high\nten");
	folder_world_put(world, "todo/11", "eleven");
	list = source_list(SOURCE_FOLDER, world->options.where, 0, NULL);
	for (size_t i = 0; i < nitems(order); i++) {
		ck_assert_str_eq(
		    json_string_or(
			json_object_array_get_idx(list, i), "key", ""),
		    order[i]);
		source_world_expect(world, order[i]);
		source_world_take(world, order[i]);
		if (i == 0) {
			ck_assert_int_eq(world->priority, PRIORITY_URGENT);
			ck_assert_str_eq(world->text, "four");
		}
	}
}

/* However long the rest of its head is. */
TEST(what_an_agent_added_comes_after_the_tasks_of_people)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("agents");
	cleanup_free struct task_head *head = xcalloc(1, sizeof *head);
	cleanup_buf struct buf text = BUF_INIT;

	*head = (struct task_head){ .priority = PRIORITY_URGENT };
	strlcpy(head->maker, "auto-1", sizeof head->maker);
	memset(head->contract, 'x', 4000);
	task_head_write(head, "agent's", &text);
	folder_world_put(world, "todo/1", text.data);
	folder_world_put(world, "todo/2",
	    "Added by: auto-1 (off)\nPriority: high\n\nagent's, too");
	folder_world_put(world, "todo/3", "Priority: low\n\na person's");
	source_world_expect(world, "3");
	source_world_take(world, "3");
	source_world_expect(world, "1");
	ck_assert_uint_eq(source_made(world->source, "auto-1"), 2);
	ck_assert_uint_eq(source_made(world->source, "auto-2"), 0);
}

TEST(a_priority_that_changes_is_noticed)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("changes");

	folder_world_put(world, "todo/1", "one");
	folder_world_put(world, "todo/2", "Priority: high\n\ntwo");
	folder_world_put(world, "todo/3", "three");
	source_world_expect(world, "2");
	/* By hand. */
	folder_world_put(world, "todo/2", "Priority: low\n\ntwo");
	source_world_expect(world, "1");
	folder_world_put(world, "todo/3", "Priority: high\n\nthree");
	source_world_expect(world, "3");
	folder_world_put(world, "todo/0", "Priority: urgent\nzero");
	source_world_expect(world, "0");
}

TEST(what_is_no_task_is_left_alone)
{
	static const char *const names[] = { "todo/.hidden", "todo/a~",
		"todo/a.tmp", "todo/a.swp", "todo/a.why" };
	cleanup_source_world struct source_world *world =
	    folder_world_open("others");

	for (size_t i = 0; i < nitems(names); i++)
		folder_world_put(world, names[i], "x");
	source_world_expect(world, NULL);
	ck_assert_uint_eq(source_world_quarantine_count(world), 0);
}

TEST(what_cannot_be_used_is_told_and_stops_nobody)
{
	static const char utf16[] = "\xff\xfeh\0i\0";
	cleanup_source_world struct source_world *world =
	    folder_world_open("unusable");
	cleanup_buf struct buf large = BUF_INIT;
	cleanup_free char *path = NULL;

	folder_world_put(world, "todo/1-empty", "");
	folder_world_put(world, "todo/2-blank", " \n\t\r\n");
	folder_world_put(world, "todo/2-head", "Priority: normal\n");
	path = folder_world_path(world, "todo/3-utf16");
	source_world_put_bytes(path, utf16, sizeof utf16, SOURCE_WORLD_OLD_MS);
	folder_world_put(world, "todo/4-latin", "caf\xe9");
	free(path);
	path = folder_world_path(world, "todo/5-folder");
	ck_assert_int_eq(mkdir(path, 0755), 0);
	free(path);
	path = folder_world_path(world, "todo/6-link");
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	folder_world_put(world, "todo/7-bad\xff", "x");
	while (large.len <= PROMPT_MAX)
		buf_adds(&large, "0123456789abcdef");
	folder_world_put(world, "todo/8-large", large.data);
	while (large.len <= (size_t)4 * PROMPT_MAX)
		buf_adds(&large, "0123456789abcdef");
	folder_world_put(world, "todo/9-huge", large.data);
	free(path);
	path = folder_world_path(world, "todo/91-fifo");
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	buf_truncate(&large, PROMPT_MAX);
	folder_world_put(world, "todo/92-most", large.data);
	folder_world_put(world, "todo/93-bom", "\xef\xbb\xbfyes");
	source_world_expect(world, "92-most");
	ck_assert_uint_eq(strlen(world->text), PROMPT_MAX);
	ck_assert_uint_eq(source_world_quarantine_count(world), 11);
	ck_assert(source_world_quarantined(world, "todo/1-empty: it is empty"));
	ck_assert(source_world_quarantined(world, "todo/2-blank: it is empty"));
	ck_assert(source_world_quarantined(world, "todo/2-head: it is empty"));
	ck_assert(
	    source_world_quarantined(world, "todo/3-utf16: it is not valid"));
	ck_assert(
	    source_world_quarantined(world, "todo/4-latin: it is not valid"));
	ck_assert(source_world_quarantined(
	    world, "todo/5-folder: it is not a regular"));
	ck_assert(source_world_quarantined(
	    world, "todo/6-link: it is not a regular"));
	ck_assert(source_world_quarantined(
	    world, "todo/7-bad\\xff: its name is not UTF-8"));
	ck_assert(source_world_quarantined(
	    world, "todo/8-large: it is longer than 1 MiB"));
	ck_assert(source_world_quarantined(
	    world, "todo/9-huge: it is longer than 1 MiB"));
	ck_assert(source_world_quarantined(
	    world, "todo/91-fifo: it is not a regular"));
	source_world_take(world, "92-most");
	source_world_expect(world, "93-bom");
	ck_assert_str_eq(world->text, "yes");
	/* A repaired file is offered. */
	folder_world_put(world, "todo/1-empty", "now");
	source_world_expect(world, "1-empty");
	ck_assert_uint_eq(source_world_quarantine_count(world), 0);
}

TEST(a_folder_that_cannot_be_read_is_a_failure)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("broken");
	cleanup_free char *todo = folder_world_path(world, "todo");

	ck_assert_int_eq(rmdir(todo), 0);
	source_world_put(todo, "a file", SOURCE_WORLD_OLD_MS);
	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_FAILED);
	ck_assert_str_eq(world->class, "task_source");
	ck_assert_int_eq(world->status, -1);
	ck_assert_ptr_nonnull(strstr(world->words, "todo"));
}

TEST(wrong_options_are_refused)
{
	struct source_world *world =
	    source_world_new(SOURCE_FOLDER, unit_path("options"), NULL);
	struct err err = { 0, "" };
	cleanup_free char *file = xstrdup(unit_path("a-file"));
	cleanup_free char *below = xasprintf("%s/x", file);

	ck_assert_int_eq(
	    source_new(&world->options, &world->source, &err), -EINVAL);
	ck_assert_ptr_null(world->source);
	world->options.owner = "us";
	source_world_put(file, "", SOURCE_WORLD_OLD_MS);
	world->options.where = below;
	ck_assert_int_eq(
	    source_new(&world->options, &world->source, &err), -ENOTDIR);
	ck_assert_ptr_null(world->source);
	source_world_free(world);
}

/* --- files that are being written ------------------------------------ */

TEST(a_fresh_file_is_waited_for)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("young");
	cleanup_free char *path = folder_world_path(world, "todo/a");
	int64_t start;

	source_world_put(path, "x", 0);
	start = clock_mono_ms();
	source_world_expect(world, "a");
	ck_assert_int_ge(clock_mono_ms() - start, 190);
}

TEST(an_older_one_goes_before_a_fresh_one)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("younger");
	cleanup_free char *path = folder_world_path(world, "todo/a");
	int64_t start = clock_mono_ms();

	folder_world_put(world, "todo/b", "x");
	/* A date in the future: from another clock, so nobody is writing it
	 * now. */
	source_world_put(path, "x", -SOURCE_WORLD_OLD_MS);
	source_world_expect(world, "a");
	source_world_take(world, "a");
	source_world_put(path, "another", 0);
	source_world_expect(world, "b");
	ck_assert_int_lt(clock_mono_ms() - start, 5000);
}

struct writer {
	struct source_world *world;
	int fd;
	bool closed;
};

static void
write_rest(void *arg)
{
	struct writer *writer = arg;
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = 1 } };

	ck_assert_int_eq(writer->world->answers, 0);
	ck_assert_int_eq(file_write_all(writer->fd, " whole", 6), 0);
	/* Its age alone would be fine. */
	ck_assert_int_eq(futimens(writer->fd, times), 0);
	fd_close(writer->fd);
	writer->closed = true;
}

TEST(a_file_that_is_open_for_writing_is_not_offered)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("open");
	struct writer writer = { .world = world };
	struct loop_timer *timer;
	cleanup_free char *path = folder_world_path(world, "todo/a");

	folder_world_put(world, "todo/a", "the");
	writer.fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	timer = loop_after(world->loop, 500, write_rest, &writer);
	source_world_expect(world, "a");
	ck_assert(writer.closed);
	ck_assert_str_eq(world->text, "the whole");
	loop_timer_free(timer);
}

TEST(it_may_be_freed_while_it_is_asked)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("asked");

	folder_world_put(world, "todo/a", "x");
	source_world_begin(world);
}
