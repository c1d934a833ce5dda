/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "lock.h"
#include "loop.h"
#include "mem.h"
#include "prompt.h"
#include "source-world.h"
#include "unit.h"

#define OLD_MS 60000

static struct source_world *
open_world(const char *name)
{
	struct source_world *world =
	    source_world_new(SOURCE_FOLDER, unit_path(name), "us");

	source_world_reopen(world);
	return world;
}

static char *
path_of(struct source_world *world, const char *name)
{
	return file_join(world->options.where, name);
}

static void
put(struct source_world *world, const char *name, const char *text)
{
	cleanup_free char *path = path_of(world, name);

	source_world_put(path, text, OLD_MS);
}

/* "todo: a b; done: c", the empty ones left out. */
static void
expect_folder(struct source_world *world, const char *wanted)
{
	static const char *const places[] = { "todo", "doing", "done", "failed",
		"trash" };
	cleanup_buf struct buf found = BUF_INIT;

	for (size_t i = 0; i < nitems(places); i++) {
		cleanup_free char *path = path_of(world, places[i]);
		cleanup_free char *names = source_world_names(path);

		if (*names != '\0')
			buf_addf(&found, "%s%s: %s", found.len > 0 ? "; " : "",
			    places[i], names);
	}
	ck_assert_str_eq(found.data, wanted);
}

static void
expect_text(struct source_world *world, const char *name, const char *wanted)
{
	cleanup_free char *path = path_of(world, name);
	cleanup_free char *text = source_world_read(path);

	ck_assert_str_eq(text, wanted);
}

static void
take(struct source_world *world, const char *key)
{
	struct err err = { 0, "" };

	ck_assert_msg(source_take(world->source, key, "auto-1", &err) == 0,
	    "%s", err.msg);
}

static void
settle(struct source_world *world, const char *key, enum task_outcome outcome,
    const char *note)
{
	struct err err = { 0, "" };

	ck_assert_msg(
	    source_settle(world->source, key, outcome, note, &err) == 0, "%s",
	    err.msg);
}

START_TEST(missing_folders_are_made_and_empty)
{
	struct source_world *world = open_world("fresh/deep");
	cleanup_free char *todo = path_of(world, "todo");

	expect_folder(world, "");
	source_world_expect(world, NULL);
	ck_assert_int_eq(rmdir(todo), 0);
	source_world_expect(world, NULL);
	ck_assert(file_is_dir(todo));
	source_world_free(world);
}
END_TEST

START_TEST(a_task_goes_through_its_folders)
{
	struct source_world *world = open_world("through");

	put(world, "todo/fix.md", "# Fix it\r\n\r\nAll of it.\x1b\n\n");
	source_world_expect(world, "fix.md");
	ck_assert_str_eq(world->text, "# Fix it\n\nAll of it.");
	ck_assert_ptr_null(world->title);
	ck_assert_ptr_null(world->label);
	ck_assert_int_eq(world->priority, 3);
	expect_folder(world, "todo: fix.md");
	take(world, "fix.md");
	expect_folder(world, "doing: fix.md");
	source_world_expect(world, NULL);
	settle(world, "fix.md", OUTCOME_LANDED, NULL);
	expect_folder(world, "done: fix.md");
	source_world_free(world);
}
END_TEST

START_TEST(every_outcome_has_its_folder)
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
		struct source_world *world = open_world(name);

		put(world, "todo/a", "x");
		take(world, "a");
		settle(world, "a", rows[i].outcome, "for a reason");
		expect_folder(world, rows[i].folder);
		/* Twice does nothing more. */
		settle(world, "a", rows[i].outcome, "for another");
		expect_folder(world, rows[i].folder);
		if (strstr(rows[i].folder, "why") != NULL)
			expect_text(world, "failed/a.why", "for a reason\n");
		source_world_free(world);
	}
}
END_TEST

START_TEST(tasks_come_in_natural_order)
{
	static const char *const order[] = { "01-b", "1-c", "2.md", "002x",
		"9-a", "10-a", "99999999999999999999999", "a1z", "a2", "a10",
		"b", "\xc3\xa4" };
	struct source_world *world = open_world("order");

	for (size_t i = nitems(order); i-- > 0;) {
		cleanup_free char *name = xasprintf("todo/%s", order[i]);

		put(world, name, order[i]);
	}
	for (size_t i = 0; i < nitems(order); i++) {
		source_world_expect(world, order[i]);
		ck_assert_str_eq(world->text, order[i]);
		take(world, order[i]);
	}
	source_world_expect(world, NULL);
	source_world_free(world);
}
END_TEST

START_TEST(what_is_no_task_is_left_alone)
{
	static const char *const names[] = { "todo/.hidden", "todo/a~",
		"todo/a.tmp", "todo/a.swp", "todo/a.why" };
	struct source_world *world = open_world("others");

	for (size_t i = 0; i < nitems(names); i++)
		put(world, names[i], "x");
	source_world_expect(world, NULL);
	ck_assert_uint_eq(source_world_quarantine_count(world), 0);
	source_world_free(world);
}
END_TEST

START_TEST(what_cannot_be_used_is_told_and_stops_nobody)
{
	static const char utf16[] = "\xff\xfeh\0i\0";
	struct source_world *world = open_world("unusable");
	cleanup_buf struct buf large = BUF_INIT;
	cleanup_free char *path = NULL;

	put(world, "todo/1-empty", "");
	put(world, "todo/2-blank", " \n\t\r\n");
	path = path_of(world, "todo/3-utf16");
	source_world_put_bytes(path, utf16, sizeof utf16, OLD_MS);
	put(world, "todo/4-latin", "caf\xe9");
	free(path);
	path = path_of(world, "todo/5-folder");
	ck_assert_int_eq(mkdir(path, 0755), 0);
	free(path);
	path = path_of(world, "todo/6-link");
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	put(world, "todo/7-bad\xff", "x");
	while (large.len <= PROMPT_MAX)
		buf_adds(&large, "0123456789abcdef");
	put(world, "todo/8-large", large.data);
	while (large.len <= (size_t)4 * PROMPT_MAX)
		buf_adds(&large, "0123456789abcdef");
	put(world, "todo/9-huge", large.data);
	free(path);
	path = path_of(world, "todo/91-fifo");
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	buf_truncate(&large, PROMPT_MAX);
	put(world, "todo/92-most", large.data);
	put(world, "todo/93-bom", "\xef\xbb\xbfyes");
	source_world_expect(world, "92-most");
	ck_assert_uint_eq(strlen(world->text), PROMPT_MAX);
	ck_assert_uint_eq(source_world_quarantine_count(world), 10);
	ck_assert(source_world_quarantined(world, "todo/1-empty: it is empty"));
	ck_assert(source_world_quarantined(world, "todo/2-blank: it is empty"));
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
	take(world, "92-most");
	source_world_expect(world, "93-bom");
	ck_assert_str_eq(world->text, "yes");
	/* What was mended is offered. */
	put(world, "todo/1-empty", "now");
	source_world_expect(world, "1-empty");
	ck_assert_uint_eq(source_world_quarantine_count(world), 0);
	source_world_free(world);
}
END_TEST

START_TEST(a_folder_that_cannot_be_read_is_a_failure)
{
	struct source_world *world = open_world("broken");
	cleanup_free char *todo = path_of(world, "todo");

	ck_assert_int_eq(rmdir(todo), 0);
	source_world_put(todo, "a file", OLD_MS);
	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_FAILED);
	ck_assert_str_eq(world->class, "task_source");
	ck_assert_int_eq(world->status, -1);
	ck_assert_ptr_nonnull(strstr(world->words, "todo"));
	source_world_free(world);
}
END_TEST

START_TEST(wrong_options_are_refused)
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
	source_world_put(file, "", OLD_MS);
	world->options.where = below;
	ck_assert_int_eq(
	    source_new(&world->options, &world->source, &err), -ENOTDIR);
	ck_assert_ptr_null(world->source);
	source_world_free(world);
}
END_TEST

/* --- files that are being written ------------------------------------- */

START_TEST(a_fresh_file_is_waited_for)
{
	struct source_world *world = open_world("young");
	cleanup_free char *path = path_of(world, "todo/a");
	int64_t start;

	source_world_put(path, "x", 0);
	start = clock_mono_ms();
	source_world_expect(world, "a");
	ck_assert_int_ge(clock_mono_ms() - start, 190);
	source_world_free(world);
}
END_TEST

START_TEST(an_older_one_goes_before_a_fresh_one)
{
	struct source_world *world = open_world("younger");
	cleanup_free char *path = path_of(world, "todo/a");
	int64_t start = clock_mono_ms();

	put(world, "todo/b", "x");
	/* Of the time to come: another clock's, nobody writes it now. */
	source_world_put(path, "x", -OLD_MS);
	source_world_expect(world, "a");
	take(world, "a");
	source_world_put(path, "another", 0);
	source_world_expect(world, "b");
	ck_assert_int_lt(clock_mono_ms() - start, 5000);
	source_world_free(world);
}
END_TEST

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
	/* Its age alone would let it pass. */
	ck_assert_int_eq(futimens(writer->fd, times), 0);
	fd_close(writer->fd);
	writer->closed = true;
}

START_TEST(a_file_that_is_open_for_writing_is_not_offered)
{
	struct source_world *world = open_world("open");
	struct writer writer = { .world = world };
	struct loop_timer *timer;
	cleanup_free char *path = path_of(world, "todo/a");

	put(world, "todo/a", "the");
	writer.fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	timer = loop_after(world->loop, 500, write_rest, &writer);
	source_world_expect(world, "a");
	ck_assert(writer.closed);
	ck_assert_str_eq(world->text, "the whole");
	loop_timer_free(timer);
	source_world_free(world);
}
END_TEST

START_TEST(a_question_that_waits_can_be_cancelled)
{
	struct source_world *world = open_world("cancel");
	cleanup_free char *path = path_of(world, "todo/a");
	int fd;

	put(world, "todo/a", "x");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	source_cancel(world->source); /* nobody asks */
	source_world_begin(world);
	source_cancel(world->source);
	source_cancel(world->source);
	source_world_wait_answer(world);
	ck_assert_int_eq(world->answer, SOURCE_EMPTY);
	ck_assert_int_eq(world->answers, 1);
	fd_close(fd);
	source_world_expect(world, "a");
	/* And it may be freed with a question open. */
	source_world_begin(world);
	source_world_free(world);
}
END_TEST

START_TEST(the_watch_tells_of_new_files)
{
	struct source_world *world = open_world("watch");

	source_world_watch(world);
	put(world, "todo/a", "x");
	source_world_wait_watch(world, 1);
	source_world_expect(world, "a");
	source_world_free(world);
}
END_TEST

/* --- whose it is ------------------------------------------------------ */

START_TEST(keys_of_ours_are_not_offered)
{
	static const char *const keys[] = { "c", "a", NULL };
	struct source_world *world = open_world("keys");

	put(world, "todo/a", "1");
	put(world, "todo/b", "2");
	put(world, "todo/c", "3");
	ck_assert_int_eq(source_world_ask(world, NULL, keys), SOURCE_OFFER);
	ck_assert_str_eq(world->key, "b");
	take(world, "b");
	ck_assert_int_eq(source_world_ask(world, NULL, keys), SOURCE_EMPTY);
	source_world_free(world);
}
END_TEST

START_TEST(taking_is_repeated_after_a_crash_and_stale_for_others)
{
	struct source_world *world = open_world("crash");
	struct source_world *other =
	    source_world_new(SOURCE_FOLDER, world->options.where, "them");
	struct err err = { 0, "" };

	source_world_reopen(other);
	put(world, "todo/a", "1");
	source_world_expect(world, "a");
	source_world_expect(other, "a");
	source_world_reopen(world); /* died before it was taken */
	take(world, "a");
	take(world, "a");
	source_world_reopen(world); /* died when it was taken */
	take(world, "a");
	ck_assert_int_eq(source_take(other->source, "a", "w", &err), -ESTALE);
	ck_assert_int_eq(err.code, -ESTALE);
	/* Nor can they settle it. */
	settle(other, "a", OUTCOME_LANDED, NULL);
	expect_folder(world, "doing: a");
	settle(world, "a", OUTCOME_LANDED, NULL);
	ck_assert_int_eq(source_take(world->source, "a", NULL, &err), -ESTALE);
	ck_assert_int_eq(
	    source_take(world->source, "nothing", NULL, &err), -ESTALE);
	ck_assert_int_eq(
	    source_take(world->source, "../done/a", NULL, &err), -EINVAL);
	ck_assert_int_eq(
	    source_settle(world->source, "../done/a", OUTCOME_NONE, NULL, &err),
	    -EINVAL);
	settle(world, "nothing", OUTCOME_FAILED, "why");
	expect_folder(world, "done: a");
	source_world_free(other);
	source_world_free(world);
}
END_TEST

START_TEST(a_note_of_one_who_died_before_the_move_binds_nobody)
{
	struct source_world *world = open_world("noted");
	struct source_world *other =
	    source_world_new(SOURCE_FOLDER, world->options.where, "them");
	cleanup_free char *doing = path_of(world, "doing/a");
	cleanup_free char *todo = path_of(world, "todo/a");

	source_world_reopen(other);
	put(world, "todo/a", "1");
	take(other, "a");
	/* The note is written; the move did not happen. */
	ck_assert_int_eq(rename(doing, todo), 0);
	take(world, "a");
	ck_assert_int_eq(source_take(other->source, "a", "w", NULL), -ESTALE);
	source_world_free(other);
	source_world_free(world);
}
END_TEST

START_TEST(a_held_lock_is_tried_again_later)
{
	struct source_world *world = open_world("held");
	cleanup_free char *lock = path_of(world, ".llmc.lock");
	int fd;

	put(world, "todo/a", "1");
	fd = lock_try(lock, NULL);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(source_take(world->source, "a", "w", NULL), -EAGAIN);
	expect_folder(world, "todo: a");
	fd_close(fd);
	take(world, "a");
	source_world_free(world);
}
END_TEST

START_TEST(what_nobody_works_at_is_given_back)
{
	static const char *const names[] = { "todo/ours", "todo/kept",
		"todo/theirs" };
	static const char *const keys[] = { "kept", NULL };
	struct source_world *world = open_world("recover");
	struct source_world *other =
	    source_world_new(SOURCE_FOLDER, world->options.where, "them");
	struct err err = { 0, "" };

	source_world_reopen(other);
	for (size_t i = 0; i < nitems(names); i++)
		put(world, names[i], "x");
	take(world, "ours");
	take(world, "kept");
	take(other, "theirs");
	put(world, "doing/by-hand", "x");
	source_world_reopen(world);
	ck_assert_int_eq(source_recover(world->source, keys, &err), 2);
	expect_folder(world, "todo: by-hand ours; doing: kept theirs");
	ck_assert_int_eq(source_recover(world->source, keys, &err), 0);
	ck_assert_int_eq(source_recover(other->source, NULL, &err), 1);
	expect_folder(world, "todo: by-hand ours theirs; doing: kept");
	ck_assert_int_eq(source_recover(world->source, NULL, &err), 1);
	source_world_free(other);
	source_world_free(world);
}
END_TEST

START_TEST(notes_do_not_pile_up)
{
	struct source_world *world = open_world("notes");
	cleanup_free char *doing = path_of(world, "doing");
	cleanup_free char *moved = path_of(world, "doing/b");
	cleanup_free char *away = path_of(world, "done/b");
	struct stat st;

	put(world, "todo/a", "x");
	put(world, "todo/b", "x");
	take(world, "a");
	take(world, "b");
	settle(world, "a", OUTCOME_LANDED, NULL);
	ck_assert_int_eq(rename(moved, away), 0); /* by a person */
	ck_assert_int_eq(source_recover(world->source, NULL, NULL), 0);
	ck_assert_int_eq(rmdir(doing), 0);
	ck_assert_int_eq(stat(doing, &st), -1);
	source_world_free(world);
}
END_TEST

START_TEST(nothing_is_overwritten)
{
	struct source_world *world = open_world("overwrite");
	struct buf name = BUF_INIT;
	cleanup_free char *path = NULL, *longest = NULL;

	put(world, "done/a.md", "old");
	put(world, "done/a-2.md", "older");
	put(world, "todo/a.md", "new");
	take(world, "a.md");
	settle(world, "a.md", OUTCOME_LANDED, NULL);
	expect_text(world, "done/a.md", "old");
	expect_text(world, "done/a-3.md", "new");
	put(world, "todo/a.md", "second");
	take(world, "a.md");
	put(world, "todo/a.md", "third");
	/* One of that name at a time. */
	source_world_expect(world, NULL);
	settle(world, "a.md", OUTCOME_NONE, NULL);
	expect_text(world, "todo/a.md", "third");
	expect_text(world, "todo/a-2.md", "second");
	put(world, "failed/b", "old");
	put(world, "failed/b.why", "old reason");
	put(world, "todo/b", "new");
	take(world, "b");
	settle(world, "b", OUTCOME_FAILED, "new reason");
	expect_text(world, "failed/b.why", "old reason");
	expect_text(world, "failed/b-2.why", "new reason\n");
	/* A name that leaves no room for a suffix. */
	while (name.len < 255)
		buf_addc(&name, 'n');
	longest = buf_take(&name);
	path = xasprintf("done/%s", longest);
	put(world, path, "old");
	free(path);
	path = xasprintf("todo/%s", longest);
	put(world, path, "x");
	take(world, longest);
	settle(world, longest, OUTCOME_LANDED, NULL);
	put(world, path, "x");
	take(world, longest);
	settle(world, longest, OUTCOME_FAILED, "no room for a reason");
	free(path);
	path = xasprintf("failed/%s", longest);
	expect_text(world, path, "x");
	source_world_free(world);
}
END_TEST

/* One of three processes: takes what it is offered until there is nothing, and
 * writes down what it got. Never returns. */
static void
compete(const char *where, const char *owner, const char *notes)
{
	struct source_world *world =
	    source_world_new(SOURCE_FOLDER, where, owner);
	int r;

	source_world_reopen(world);
	while (source_world_ask(world, NULL, NULL) == SOURCE_OFFER) {
		while ((r = source_take(
			    world->source, world->key, owner, NULL)) == -EAGAIN)
			;
		if (r == -ESTALE)
			continue;
		if (r < 0)
			_exit(1);
		file_append(
		    notes, world->key, strlen(world->key), 0600, false, NULL);
		file_append(notes, "\n", 1, 0600, false, NULL);
	}
	_exit(0);
}

START_TEST(of_three_daemons_each_task_goes_to_one)
{
	enum {
		TASKS = 60,
		DAEMONS = 3
	};
	struct source_world *world = open_world("daemons");
	cleanup_free char *notes = xstrdup(unit_path("daemons.notes"));
	cleanup_free char *text = NULL;
	int status;

	for (int i = 0; i < TASKS; i++) {
		cleanup_free char *name = xasprintf("todo/task %d", i);

		put(world, name, "x");
	}
	for (int i = 0; i < DAEMONS; i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			compete(world->options.where,
			    i == 0     ? "one" :
				i == 1 ? "two" :
					 "three",
			    notes);
	}
	for (int i = 0; i < DAEMONS; i++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	text = source_world_read(notes);
	for (int i = 0; i < TASKS; i++) {
		cleanup_free char *line = xasprintf("task %d\n", i);
		const char *first = strstr(text, line);

		ck_assert_msg(first != NULL, "task %d", i);
		ck_assert_msg(strstr(first + 1, line) == NULL, "task %d", i);
	}
	source_world_expect(world, NULL);
	source_world_free(world);
}
END_TEST

/* Killed at any moment between asking and settling: the task is in exactly one
 * place, and the same daemon goes on with it. */
START_TEST(a_daemon_that_is_killed_goes_on_with_its_task)
{
	enum {
		KILLS = 25
	};
	struct source_world *world = open_world("killed");
	struct err err = { 0, "" };
	int64_t until;
	int status, r;

	put(world, "todo/a", "x");
	for (int i = 0; i < KILLS; i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			for (;;) {
				source_take(world->source, "a", "w", NULL);
				source_settle(world->source, "a", OUTCOME_NONE,
				    NULL, NULL);
			}
		}
		until = clock_mono_us() + (int64_t)i * 1300;
		while (clock_mono_us() < until)
			sched_yield();
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		r = source_take(world->source, "a", "w", &err);
		ck_assert_msg(r == 0, "%s", err.msg);
		expect_folder(world, "doing: a");
		settle(world, "a", OUTCOME_NONE, NULL);
		expect_folder(world, "todo: a");
	}
	source_world_free(world);
}
END_TEST

/* --- for people ------------------------------------------------------- */

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
	struct source_world *world = open_world("add");
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
	expect_text(world, "todo/1-fix-the-log-in-please.md",
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
	struct source_world *world = open_world("moves");
	struct source *source = world->source;
	struct err err = { 0, "" };

	put(world, "todo/a", "1");
	put(world, "todo/b", "2");
	put(world, "todo/c", "3");
	take(world, "a");
	take(world, "b");
	ck_assert_int_eq(source_drop(source, "a", &err), -EBUSY);
	ck_assert_int_eq(source_retry(source, "a", &err), -EBUSY);
	settle(world, "a", OUTCOME_FAILED, "why");
	settle(world, "b", OUTCOME_DEAD_LETTER, "why");
	ck_assert_int_eq(source_retry(source, "a", &err), 0);
	expect_folder(world, "todo: a c; failed: b b.why");
	ck_assert_int_eq(source_retry(source, "c", &err), -ENOENT);
	ck_assert_int_eq(source_drop(source, "b", &err), 0);
	ck_assert_int_eq(source_drop(source, "c", &err), 0);
	expect_folder(world, "todo: a; trash: b b.why c");
	put(world, "todo/c", "4");
	ck_assert_int_eq(source_drop(source, "c", &err), 0);
	expect_folder(world, "todo: a; trash: b b.why c c-2");
	ck_assert_int_eq(source_drop(source, "c", &err), -ENOENT);
	ck_assert_int_eq(source_drop(source, "../todo/a", &err), -ENOENT);
	ck_assert_int_eq(source_retry(source, ".x", &err), -ENOENT);
	ck_assert_int_eq(source_retry(source, "", &err), -ENOENT);
	source_world_free(world);
}
END_TEST

static void
expect_row(struct json_object *list, size_t at, const char *wanted)
{
	struct json_object *row = json_object_array_get_idx(list, at);
	cleanup_buf struct buf text = BUF_INIT;

	json_print(row, false, &text);
	ck_assert_str_eq(text.data, wanted);
}

START_TEST(the_list_has_every_task)
{
	struct source_world *world = open_world("list");
	cleanup_json struct json_object *list = NULL;
	struct err err = { 0, "" };

	put(world, "todo/10", "# Ten\nx");
	put(world, "todo/2", "");
	put(world, "todo/c", "Cee");
	put(world, "todo/d", "Dee");
	put(world, "todo/e", "Ee");
	take(world, "c");
	take(world, "d");
	take(world, "e");
	settle(world, "d", OUTCOME_FAILED, "It broke.\n");
	settle(world, "e", OUTCOME_LANDED, NULL);
	list = source_list(SOURCE_FOLDER, world->options.where, 0, &err);
	ck_assert_uint_eq(json_object_array_length(list), 5);
	expect_row(list, 0,
	    "{\"key\":\"2\",\"title\":\"2\",\"status\":\"todo\","
	    "\"problem\":\"it is empty\"}");
	expect_row(
	    list, 1, "{\"key\":\"10\",\"title\":\"Ten\",\"status\":\"todo\"}");
	expect_row(list, 2,
	    "{\"key\":\"c\",\"title\":\"Cee\",\"status\":\"doing\","
	    "\"owner\":\"us\",\"worker\":\"auto-1\"}");
	expect_row(
	    list, 3, "{\"key\":\"e\",\"title\":\"Ee\",\"status\":\"done\"}");
	expect_row(list, 4,
	    "{\"key\":\"d\",\"title\":\"Dee\",\"status\":\"failed\","
	    "\"problem\":\"It broke.\"}");
	source_world_free(world);
}
END_TEST

START_TEST(the_list_can_be_limited_to_the_newest)
{
	struct source_world *world = open_world("newest");
	cleanup_json struct json_object *list = NULL, *none = NULL;
	struct err err = { 0, "" };

	for (int i = 0; i < 6; i++) {
		cleanup_free char *name = xasprintf("done/%d", i);

		put(world, name, "x");
	}
	put(world, "todo/a", "x");
	put(world, "todo/b", "x");
	take(world, "a");
	settle(world, "a", OUTCOME_LANDED, NULL);
	list = source_list(SOURCE_FOLDER, world->options.where, 1, &err);
	ck_assert_uint_eq(json_object_array_length(list), 2);
	expect_row(
	    list, 1, "{\"key\":\"a\",\"title\":\"x\",\"status\":\"done\"}");
	/* Reading only: nothing is made. */
	none = source_list(SOURCE_FOLDER, unit_path("nowhere"), 0, &err);
	ck_assert_uint_eq(json_object_array_length(none), 0);
	ck_assert(!file_exists(unit_path("nowhere")));
	source_world_free(world);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("source-folder");

	unit_case(suite, "offers",
	    (const TTest *[]){ missing_folders_are_made_and_empty,
		a_task_goes_through_its_folders, every_outcome_has_its_folder,
		tasks_come_in_natural_order, what_is_no_task_is_left_alone,
		what_cannot_be_used_is_told_and_stops_nobody,
		a_folder_that_cannot_be_read_is_a_failure,
		wrong_options_are_refused, NULL });
	unit_case(suite, "writing",
	    (const TTest *[]){ a_fresh_file_is_waited_for,
		an_older_one_goes_before_a_fresh_one,
		a_file_that_is_open_for_writing_is_not_offered,
		a_question_that_waits_can_be_cancelled,
		the_watch_tells_of_new_files, NULL });
	unit_case(suite, "owners",
	    (const TTest *[]){ keys_of_ours_are_not_offered,
		taking_is_repeated_after_a_crash_and_stale_for_others,
		a_note_of_one_who_died_before_the_move_binds_nobody,
		a_held_lock_is_tried_again_later,
		what_nobody_works_at_is_given_back, notes_do_not_pile_up,
		nothing_is_overwritten, of_three_daemons_each_task_goes_to_one,
		a_daemon_that_is_killed_goes_on_with_its_task, NULL });
	unit_case(suite, "people",
	    (const TTest *[]){ added_tasks_are_named_after_their_first_line,
		retry_and_drop_move_files, the_list_has_every_task,
		the_list_can_be_limited_to_the_newest, NULL });
	return suite;
}
