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
#include "source-world.h"
#include "unit.h"

#define OLD_MS 60000

/* A world whose folder exists. */
static struct source_world *
open_world(const char *name)
{
	struct source_world *world =
	    source_world_new(SOURCE_FILES, unit_path(name), "us");

	ck_assert_int_eq(file_mkdirs(world->options.where, 0700, NULL), 0);
	source_world_reopen(world);
	return world;
}

static struct source_world *
open_other(struct source_world *world)
{
	struct source_world *other =
	    source_world_new(SOURCE_FILES, world->options.where, "them");

	source_world_reopen(other);
	return other;
}

static void
put_text(struct source_world *world, const char *id, const char *text)
{
	cleanup_free char *path =
	    xasprintf("%s/%s.json", world->options.where, id);

	source_world_put(path, text, OLD_MS);
}

static void
put(struct source_world *world, const char *id, const char *status,
    const char *more)
{
	cleanup_free char *text = xasprintf(
	    "{\"id\":\"%s\",\"subject\":\"Subject %s\",\"description\":\"Do "
	    "it.\",\"status\":\"%s\",\"blocks\":[]%s}",
	    id, id, status, more);

	put_text(world, id, text);
}

static struct json_object *
load(struct source_world *world, const char *id)
{
	cleanup_free char *path =
	    xasprintf("%s/%s.json", world->options.where, id);
	struct json_object *json = NULL;
	struct err err = { 0, "" };

	ck_assert_msg(json_load(path, 65536, &json, &err) == 0, "%s", err.msg);
	return json;
}

static void
expect_file(struct source_world *world, const char *id, const char *status,
    const char *owner)
{
	cleanup_json struct json_object *json = load(world, id);

	ck_assert_str_eq(json_string_or(json, "status", ""), status);
	ck_assert_pstr_eq(json_string_or(json, "owner", NULL), owner);
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

START_TEST(a_task_is_offered_taken_and_completed)
{
	struct source_world *world = open_world("life");
	cleanup_json struct json_object *json = NULL;

	put(world, "1", "pending",
	    ",\"activeForm\":\"Doing\",\"later\":{\"x\":[1.50]},"
	    "\"metadata\":{\"label\":\"db\",\"priority\":1,\"y\":null}");
	source_world_expect(world, "1");
	ck_assert_str_eq(world->title, "Subject 1");
	ck_assert_str_eq(world->text, "Subject 1\n\nDo it.");
	ck_assert_str_eq(world->label, "db");
	ck_assert_int_eq(world->priority, 1);
	expect_file(world, "1", "pending", NULL);
	take(world, "1");
	expect_file(world, "1", "in_progress", "us");
	source_world_expect(world, NULL);
	settle(world, "1", OUTCOME_LANDED, NULL);
	expect_file(world, "1", "completed", NULL);
	settle(world, "1", OUTCOME_LANDED, NULL);
	source_world_expect(world, NULL);
	json = load(world, "1");
	ck_assert_str_eq(
	    json_object_get_string(json_object_object_get(json, "later")),
	    "{ \"x\": [ 1.50 ] }");
	ck_assert_str_eq(json_string_or(json, "activeForm", ""), "Doing");
	source_world_free(world);
}
END_TEST

START_TEST(every_outcome_is_written)
{
	static const struct {
		enum task_outcome outcome;
		const char *status;
		bool again, failed;
	} rows[] = {
		{ OUTCOME_NONE, "pending", true, false },
		{ OUTCOME_LANDED, "completed", false, false },
		{ OUTCOME_NO_CHANGES, "completed", false, false },
		{ OUTCOME_FAILED, "pending", false, true },
		{ OUTCOME_ABORTED, "pending", false, true },
		{ OUTCOME_DEAD_LETTER, "pending", false, true },
	};

	_Static_assert(nitems(rows) == OUTCOME_COUNT, "a row each");
	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *name = xasprintf("outcome-%zu", i);
		struct source_world *world = open_world(name);
		cleanup_json struct json_object *json = NULL;
		struct json_object *metadata;

		put(world, "1", "pending", "");
		take(world, "1");
		settle(world, "1", rows[i].outcome, i == 3 ? NULL : "so it is");
		expect_file(world, "1", rows[i].status, NULL);
		json = load(world, "1");
		metadata = json_object_object_get(json, "metadata");
		ck_assert_pstr_eq(json_string_or(metadata, "llmc_failed", NULL),
		    !rows[i].failed ? NULL :
			i == 3      ? "failed" :
				      "so it is");
		/* A poison task does not come again. */
		source_world_expect(world, rows[i].again ? "1" : NULL);
		ck_assert_uint_eq(source_world_quarantine_count(world), 0);
		source_world_free(world);
	}
}
END_TEST

START_TEST(order_is_by_label_priority_and_id)
{
	static const char *const labels[] = { "db", NULL };
	struct source_world *world = open_world("order");

	put(world, "10", "pending", "");
	put(world, "9", "pending", "");
	put(world, "20", "pending",
	    ",\"metadata\":{\"label\":\"db\",\"priority\":0}");
	put(world, "21", "pending",
	    ",\"metadata\":{\"label\":\"ui\",\"priority\":2}");
	source_world_expect(world, "20");
	ck_assert_int_eq(source_world_ask(world, labels, NULL), SOURCE_OFFER);
	ck_assert_str_eq(world->key, "21");
	take(world, "21");
	ck_assert_int_eq(source_world_ask(world, labels, NULL), SOURCE_OFFER);
	ck_assert_str_eq(world->key, "9");
	take(world, "9");
	ck_assert_int_eq(source_world_ask(world, labels, NULL), SOURCE_OFFER);
	ck_assert_str_eq(world->key, "10");
	take(world, "10");
	ck_assert_int_eq(source_world_ask(world, labels, NULL), SOURCE_OFFER);
	ck_assert_str_eq(world->key, "20");
	source_world_free(world);
}
END_TEST

START_TEST(dependents_wait_for_completion)
{
	struct source_world *world = open_world("blocked");

	put(world, "1", "pending", "");
	put(world, "2", "pending", ",\"blockedBy\":[\"1\"]");
	source_world_expect(world, "1");
	take(world, "1");
	source_world_expect(world, NULL);
	settle(world, "1", OUTCOME_NO_CHANGES, NULL);
	source_world_expect(world, "2");
	source_world_free(world);
}
END_TEST

START_TEST(keys_of_ours_are_not_offered_and_still_block)
{
	static const char *const keys[] = { "1", NULL };
	struct source_world *world = open_world("keys");

	put(world, "1", "pending", "");
	put(world, "2", "pending", ",\"blockedBy\":[\"1\"]");
	put(world, "3", "pending", "");
	ck_assert_int_eq(source_world_ask(world, NULL, keys), SOURCE_OFFER);
	ck_assert_str_eq(world->key, "3");
	take(world, "3");
	ck_assert_int_eq(source_world_ask(world, NULL, keys), SOURCE_EMPTY);
	ck_assert_uint_eq(source_world_quarantine_count(world), 0);
	source_world_free(world);
}
END_TEST

START_TEST(a_missing_folder_has_no_tasks)
{
	struct source_world *world =
	    source_world_new(SOURCE_FILES, unit_path("not/yet/there"), "us");

	source_world_reopen(world);
	source_world_expect(world, NULL);
	ck_assert_int_eq(source_recover(world->source, NULL, NULL), 0);
	ck_assert_int_eq(source_take(world->source, "1", "w", NULL), -ESTALE);
	settle(world, "1", OUTCOME_LANDED, NULL);
	ck_assert(!file_exists(unit_path("not")));
	/* The watch waits for it. */
	source_world_watch(world);
	ck_assert_int_eq(file_mkdirs(world->options.where, 0700, NULL), 0);
	put(world, "1", "pending", "");
	source_world_wait_watch(world, 1);
	source_world_expect(world, "1");
	source_world_free(world);
}
END_TEST

START_TEST(the_watch_tells_of_new_files)
{
	struct source_world *world = open_world("watch");

	source_world_watch(world);
	put(world, "1", "pending", "");
	source_world_wait_watch(world, 1);
	source_world_expect(world, "1");
	source_world_free(world);
}
END_TEST

START_TEST(a_folder_that_cannot_be_read_is_a_failure)
{
	struct source_world *world =
	    source_world_new(SOURCE_FILES, unit_path("a-file"), "us");

	source_world_put(world->options.where, "x", OLD_MS);
	source_world_reopen(world);
	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_FAILED);
	ck_assert_str_eq(world->class, "task_source");
	ck_assert_ptr_nonnull(strstr(world->words, "a-file"));
	ck_assert_ptr_null(
	    source_list(SOURCE_FILES, world->options.where, 0, NULL));
	source_free(world->source);
	world->source = NULL;
	world->options.owner = NULL;
	ck_assert_int_eq(
	    source_new(&world->options, &world->source, NULL), -EINVAL);
	source_world_free(world);
}
END_TEST

/* --- broken files ----------------------------------------------------- */

START_TEST(a_broken_file_is_quarantined_and_the_rest_goes_on)
{
	struct source_world *world = open_world("broken");
	int64_t start = clock_mono_ms();

	put_text(world, "1", "{\"id\":\"1\",\"subj");
	put(world, "2", "deleted", "");
	put_text(world, "3",
	    "{\"id\":\"33\",\"subject\":\"s\",\"description\":\"\","
	    "\"status\":\"pending\"}");
	put_text(world, "4",
	    "{\"id\":\"4\",\"subject\":\" \",\"description\":\"\\n\","
	    "\"status\":\"pending\"}");
	put(world, "5", "pending", ",\"blockedBy\":[\"99\"]");
	put(world, "6", "pending", ",\"blockedBy\":[\"7\"]");
	put(world, "7", "pending", ",\"blockedBy\":[\"6\"]");
	put(world, "8", "pending", ",\"blockedBy\":[\"1\"]");
	put(world, "9", "pending", "");
	source_world_expect(world, "9");
	take(world, "9");
	source_world_expect(world, NULL);
	ck_assert_int_ge(clock_mono_ms() - start, 200);
	ck_assert_uint_eq(source_world_quarantine_count(world), 7);
	ck_assert(source_world_quarantined(world, "1.json: "));
	ck_assert(source_world_quarantined(world, "2.json: status"));
	ck_assert(source_world_quarantined(world, "3.json: id: 33 does not"));
	ck_assert(source_world_quarantined(world, "4.json: it has no text"));
	ck_assert(source_world_quarantined(
	    world, "5.json: waits for 99, which does not exist"));
	ck_assert(source_world_quarantined(
	    world, "6.json: waits for itself: 6 -> 7 -> 6"));
	ck_assert(source_world_quarantined(
	    world, "7.json: waits for itself: 7 -> 6 -> 7"));
	/* Mended, it is offered. */
	put(world, "1", "completed", "");
	source_world_expect(world, "8");
	ck_assert_uint_eq(source_world_quarantine_count(world), 6);
	source_world_free(world);
}
END_TEST

static void
write_whole(void *arg)
{
	struct source_world *world = arg;

	ck_assert_int_eq(world->answers, 0);
	put(world, "1", "pending", "");
}

START_TEST(a_half_written_file_is_read_again)
{
	struct source_world *world = open_world("half");
	struct loop_timer *timer;

	put_text(world, "1", "{\"id\":\"1\",\"subj");
	timer = loop_after(world->loop, 50, write_whole, world);
	source_world_expect(world, "1");
	ck_assert_uint_eq(source_world_quarantine_count(world), 0);
	loop_timer_free(timer);
	source_world_free(world);
}
END_TEST

START_TEST(other_files_are_left_alone)
{
	struct source_world *world = open_world("others");
	cleanup_free char *folder = file_join(world->options.where, "7.json");

	put_text(world, ".hidden", "{");
	put_text(world, "1.json.tmp", "{"); /* 1.json.tmp.json is one, though */
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	source_world_expect(world, NULL);
	ck_assert_uint_eq(source_world_quarantine_count(world), 1);
	source_world_free(world);
}
END_TEST

static void
set_stamp(struct source_world *world, const char *id)
{
	cleanup_free char *path =
	    xasprintf("%s/%s.json", world->options.where, id);
	struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

START_TEST(a_change_is_seen_though_size_and_stamp_stay)
{
	struct source_world *world = open_world("stamps");

	put(world, "1", "completed", ",\"x\":  \"ab\"");
	set_stamp(world, "1");
	put(world, "2", "pending", ",\"blockedBy\":[\"1\"]");
	source_world_expect(world, "2");
	put(world, "1", "pending", ",\"x\":\"abcdef\"");
	set_stamp(world, "1");
	source_world_expect(world, "1");
	source_world_free(world);
}
END_TEST

/* --- whose it is ------------------------------------------------------ */

START_TEST(taking_is_repeated_after_a_crash_and_stale_for_others)
{
	struct source_world *world = open_world("crash");
	struct source_world *other = open_other(world);
	struct err err = { 0, "" };

	put(world, "1", "pending", "");
	put(world, "2", "completed", "");
	source_world_expect(world, "1");
	source_world_expect(other, "1");
	source_world_reopen(world); /* died before it was taken */
	take(world, "1");
	take(world, "1");
	source_world_reopen(world); /* died when it was taken */
	take(world, "1");
	ck_assert_int_eq(source_take(other->source, "1", "w", &err), -ESTALE);
	ck_assert_ptr_nonnull(strstr(err.msg, "us has it"));
	settle(other, "1", OUTCOME_LANDED, NULL);
	expect_file(world, "1", "in_progress", "us");
	ck_assert_int_eq(source_take(world->source, "2", "w", &err), -ESTALE);
	ck_assert_int_eq(source_take(world->source, "3", "w", &err), -ESTALE);
	ck_assert_int_eq(
	    source_take(world->source, "../crash/1", "w", &err), -EINVAL);
	ck_assert_int_eq(
	    source_settle(world->source, "", OUTCOME_LANDED, NULL, &err),
	    -EINVAL);
	settle(world, "3", OUTCOME_LANDED, NULL);
	put_text(world, "1", "{");
	ck_assert_int_eq(source_take(world->source, "1", "w", &err), -ESTALE);
	ck_assert_int_lt(
	    source_settle(world->source, "1", OUTCOME_LANDED, NULL, &err), 0);
	source_world_free(other);
	source_world_free(world);
}
END_TEST

START_TEST(a_held_lock_is_tried_again_later)
{
	struct source_world *world = open_world("held");
	cleanup_free char *path = file_join(world->options.where, ".llmc.lock");
	int fd;

	put(world, "1", "pending", "");
	put(world, "2", "in_progress", ",\"owner\":\"us\"");
	fd = lock_try(path, NULL);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(source_take(world->source, "1", "w", NULL), -EAGAIN);
	ck_assert_int_eq(
	    source_settle(world->source, "2", OUTCOME_LANDED, NULL, NULL),
	    -EAGAIN);
	ck_assert_int_eq(source_recover(world->source, NULL, NULL), -EAGAIN);
	expect_file(world, "1", "pending", NULL);
	expect_file(world, "2", "in_progress", "us");
	fd_close(fd);
	take(world, "1");
	source_world_free(world);
}
END_TEST

START_TEST(orphans_are_given_back)
{
	static const char *const keys[] = { "3", NULL };
	struct source_world *world = open_world("orphans");

	put(world, "1", "in_progress", "");
	put(world, "2", "in_progress", ",\"owner\":\"us\",\"more\":[1]");
	put(world, "3", "in_progress", ",\"owner\":\"us\"");
	put(world, "4", "in_progress", ",\"owner\":\"them\"");
	put(world, "5", "completed", ",\"owner\":\"us\"");
	put(world, "6", "pending", ",\"owner\":\"us\"");
	put_text(world, "7", "{\"id\":");
	ck_assert_int_eq(source_recover(world->source, keys, NULL), 3);
	expect_file(world, "1", "pending", NULL);
	expect_file(world, "2", "pending", NULL);
	expect_file(world, "3", "in_progress", "us");
	expect_file(world, "4", "in_progress", "them");
	expect_file(world, "5", "completed", "us");
	expect_file(world, "6", "pending", NULL);
	ck_assert_int_eq(source_recover(world->source, keys, NULL), 0);
	source_world_free(world);
}
END_TEST

/* One of several processes: takes what it is offered until there is nothing,
 * and writes down what it got. Never returns. */
static void
compete(const char *where, const char *owner, const char *notes)
{
	struct source_world *world =
	    source_world_new(SOURCE_FILES, where, owner);
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
	static const char *const owners[DAEMONS] = { "one", "two", "three" };
	struct source_world *world = open_world("daemons");
	cleanup_free char *notes = xstrdup(unit_path("daemons.notes"));
	cleanup_free char *text = NULL;
	int status;

	for (int i = 0; i < TASKS; i++) {
		cleanup_free char *id = xasprintf("t%02d", i);

		put(world, id, "pending", "");
	}
	for (int i = 0; i < DAEMONS; i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			compete(world->options.where, owners[i], notes);
	}
	for (int i = 0; i < DAEMONS; i++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	text = source_world_read(notes);
	for (int i = 0; i < TASKS; i++) {
		cleanup_free char *id = xasprintf("t%02d\n", i);
		const char *first = strstr(text, id);

		ck_assert_msg(first != NULL, "%s", id);
		ck_assert_msg(strstr(first + 1, id) == NULL, "%s", id);
	}
	source_world_expect(world, NULL);
	source_world_free(world);
}
END_TEST

START_TEST(a_daemon_that_is_killed_goes_on_with_its_task)
{
	enum {
		KILLS = 25
	};
	struct source_world *world = open_world("killed");
	struct err err = { 0, "" };
	int64_t until;
	int status, r;

	put(world, "1", "pending", ",\"keep\":true");
	for (int i = 0; i < KILLS; i++) {
		cleanup_json struct json_object *json = NULL;
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			for (;;) {
				source_take(world->source, "1", "w", NULL);
				source_settle(world->source, "1", OUTCOME_NONE,
				    NULL, NULL);
			}
		}
		until = clock_mono_us() + (int64_t)i * 900;
		while (clock_mono_us() < until)
			sched_yield();
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		r = source_take(world->source, "1", "w", &err);
		ck_assert_msg(r == 0, "%s", err.msg);
		expect_file(world, "1", "in_progress", "us");
		settle(world, "1", OUTCOME_NONE, NULL);
		json = load(world, "1");
		ck_assert(json_bool_or(json, "keep", false));
	}
	source_world_expect(world, "1");
	source_world_free(world);
}
END_TEST

/* --- for people ------------------------------------------------------- */

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
	cleanup_json struct json_object *list = NULL, *few = NULL, *none = NULL;
	const char *where = world->options.where;

	put(world, "1", "completed", "");
	put(world, "2", "completed", "");
	put(world, "10", "pending", ",\"blockedBy\":[\"10\"]");
	put(world, "9", "pending",
	    ",\"metadata\":{\"label\":\"db\",\"priority\":0}");
	put(world, "8", "in_progress", ",\"owner\":\"us\"");
	put(world, "7", "pending", ",\"metadata\":{\"llmc_failed\":\"why\"}");
	put_text(world, "6", "[]");
	list = source_list(SOURCE_FILES, where, 0, NULL);
	ck_assert_uint_eq(json_object_array_length(list), 7);
	expect_row(list, 0,
	    "{\"key\":\"6\",\"title\":\"6\",\"status\":\"todo\","
	    "\"problem\":\"expected an object, found an array\"}");
	expect_row(list, 1,
	    "{\"key\":\"9\",\"title\":\"Subject 9\",\"status\":\"todo\","
	    "\"label\":\"db\",\"priority\":0}");
	expect_row(list, 2,
	    "{\"key\":\"10\",\"title\":\"Subject 10\",\"status\":\"todo\","
	    "\"priority\":3,\"problem\":\"waits for itself: 10 -> 10\"}");
	expect_row(list, 3,
	    "{\"key\":\"8\",\"title\":\"Subject 8\",\"status\":\"doing\","
	    "\"owner\":\"us\",\"priority\":3}");
	expect_row(list, 6,
	    "{\"key\":\"7\",\"title\":\"Subject 7\",\"status\":\"failed\","
	    "\"priority\":3,\"problem\":\"why\"}");
	few = source_list(SOURCE_FILES, where, 1, NULL);
	ck_assert_uint_eq(json_object_array_length(few), 6);
	none = source_list(SOURCE_FILES, unit_path("nowhere"), 0, NULL);
	ck_assert_uint_eq(json_object_array_length(none), 0);
	source_world_free(world);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("source-files");

	unit_case(suite, "offers",
	    (const TTest *[]){ a_task_is_offered_taken_and_completed,
		every_outcome_is_written, order_is_by_label_priority_and_id,
		dependents_wait_for_completion,
		keys_of_ours_are_not_offered_and_still_block,
		a_missing_folder_has_no_tasks, the_watch_tells_of_new_files,
		a_folder_that_cannot_be_read_is_a_failure, NULL });
	unit_case(suite, "broken",
	    (const TTest *[]){
		a_broken_file_is_quarantined_and_the_rest_goes_on,
		a_half_written_file_is_read_again, other_files_are_left_alone,
		a_change_is_seen_though_size_and_stamp_stay, NULL });
	unit_case(suite, "owners",
	    (const TTest *[]){
		taking_is_repeated_after_a_crash_and_stale_for_others,
		a_held_lock_is_tried_again_later, orphans_are_given_back,
		of_three_daemons_each_task_goes_to_one,
		a_daemon_that_is_killed_goes_on_with_its_task, NULL });
	unit_case(suite, "people",
	    (const TTest *[]){ the_list_has_every_task, NULL });
	return suite;
}
