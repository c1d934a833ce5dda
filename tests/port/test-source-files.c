/* SPDX-License-Identifier: ISC */

#include "files-world.h"

TEST(a_task_is_offered_taken_and_completed)
{
	cleanup_source_world struct source_world *world =
	    files_world_open("life");
	cleanup_json struct json_object *json = NULL;

	files_world_put(world, "1", "pending",
	    ",\"activeForm\":\"Doing\",\"later\":{\"x\":[1.50]},"
	    "\"metadata\":{\"label\":\"db\",\"priority\":1,\"y\":null}");
	source_world_expect(world, "1");
	ck_assert_str_eq(world->title, "Subject 1");
	ck_assert_str_eq(world->text, "Subject 1\n\nDo it.");
	ck_assert_str_eq(world->label, "db");
	ck_assert_int_eq(world->priority, PRIORITY_HIGH);
	files_world_expect(world, "1", "pending", NULL);
	source_world_take(world, "1");
	files_world_expect(world, "1", "in_progress", "us");
	source_world_expect(world, NULL);
	source_world_settle(world, "1", OUTCOME_LANDED, NULL);
	files_world_expect(world, "1", "completed", NULL);
	source_world_settle(world, "1", OUTCOME_LANDED, NULL);
	source_world_expect(world, NULL);
	json = files_world_load(world, "1");
	ck_assert_str_eq(
	    json_object_get_string(json_object_object_get(json, "later")),
	    "{ \"x\": [ 1.50 ] }");
	ck_assert_str_eq(json_string_or(json, "activeForm", ""), "Doing");
}

TEST(every_outcome_is_written)
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
		struct source_world *world = files_world_open(name);
		cleanup_json struct json_object *json = NULL;
		struct json_object *metadata;

		files_world_put(world, "1", "pending", "");
		source_world_take(world, "1");
		source_world_settle(
		    world, "1", rows[i].outcome, i == 3 ? NULL : "so it is");
		files_world_expect(world, "1", rows[i].status, NULL);
		json = files_world_load(world, "1");
		metadata = json_object_object_get(json, "metadata");
		ck_assert_pstr_eq(json_string_or(metadata, "llmc_failed", NULL),
		    !rows[i].failed ? NULL :
			i == 3      ? "failed" :
				      "so it is");
		/* A task that was given up is not offered again. */
		source_world_expect(world, rows[i].again ? "1" : NULL);
		ck_assert_uint_eq(source_world_quarantine_count(world), 0);
		source_world_free(world);
	}
}

TEST(order_is_by_label_priority_and_id)
{
	static const char *const labels[] = { "db", NULL };
	cleanup_source_world struct source_world *world =
	    files_world_open("order");

	files_world_put(world, "10", "pending", "");
	files_world_put(world, "9", "pending", "");
	files_world_put(world, "20", "pending",
	    ",\"metadata\":{\"label\":\"db\",\"priority\":0}");
	files_world_put(world, "21", "pending",
	    ",\"metadata\":{\"label\":\"ui\",\"priority\":2}");
	source_world_expect(world, "20");
	ck_assert_int_eq(source_world_ask(world, labels, NULL), SOURCE_OFFER);
	ck_assert_str_eq(world->key, "21");
	source_world_take(world, "21");
	ck_assert_int_eq(source_world_ask(world, labels, NULL), SOURCE_OFFER);
	ck_assert_str_eq(world->key, "9");
	source_world_take(world, "9");
	ck_assert_int_eq(source_world_ask(world, labels, NULL), SOURCE_OFFER);
	ck_assert_str_eq(world->key, "10");
	source_world_take(world, "10");
	ck_assert_int_eq(source_world_ask(world, labels, NULL), SOURCE_OFFER);
	ck_assert_str_eq(world->key, "20");
}

TEST(dependents_wait_for_completion)
{
	cleanup_source_world struct source_world *world =
	    files_world_open("blocked");

	files_world_put(world, "1", "pending", "");
	files_world_put(world, "2", "pending", ",\"blockedBy\":[\"1\"]");
	source_world_expect(world, "1");
	source_world_take(world, "1");
	source_world_expect(world, NULL);
	source_world_settle(world, "1", OUTCOME_NO_CHANGES, NULL);
	source_world_expect(world, "2");
}

TEST(keys_of_ours_are_not_offered_and_still_block)
{
	static const char *const keys[] = { "1", NULL };
	cleanup_source_world struct source_world *world =
	    files_world_open("keys");

	files_world_put(world, "1", "pending", "");
	files_world_put(world, "2", "pending", ",\"blockedBy\":[\"1\"]");
	files_world_put(world, "3", "pending", "");
	ck_assert_int_eq(source_world_ask(world, NULL, keys), SOURCE_OFFER);
	ck_assert_str_eq(world->key, "3");
	source_world_take(world, "3");
	ck_assert_int_eq(source_world_ask(world, NULL, keys), SOURCE_EMPTY);
	ck_assert_uint_eq(source_world_quarantine_count(world), 0);
}

TEST(a_missing_folder_has_no_tasks)
{
	struct source_world *world =
	    source_world_new(SOURCE_FILES, unit_path("not/yet/there"), "us");

	source_world_reopen(world);
	source_world_expect(world, NULL);
	ck_assert_int_eq(source_recover(world->source, NULL, NULL), 0);
	ck_assert_int_eq(source_take(world->source, "1", "w", NULL), -ESTALE);
	source_world_settle(world, "1", OUTCOME_LANDED, NULL);
	ck_assert(!file_exists(unit_path("not")));
	/* The watch waits for it. */
	source_world_watch(world);
	ck_assert_int_eq(file_mkdirs(world->options.where, 0700, NULL), 0);
	files_world_put(world, "1", "pending", "");
	source_world_wait_watch(world, 1);
	source_world_expect(world, "1");
	source_world_free(world);
}

TEST(a_folder_that_cannot_be_read_is_a_failure)
{
	struct source_world *world =
	    source_world_new(SOURCE_FILES, unit_path("a-file"), "us");

	source_world_put(world->options.where, "x", SOURCE_WORLD_OLD_MS);
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

/* --- broken files ----------------------------------------------------- */

TEST(a_broken_file_is_quarantined_and_the_rest_goes_on)
{
	cleanup_source_world struct source_world *world =
	    files_world_open("broken");
	int64_t start = clock_mono_ms();

	files_world_put_text(world, "1", "{\"id\":\"1\",\"subj");
	files_world_put(world, "2", "deleted", "");
	files_world_put_text(world, "3",
	    "{\"id\":\"33\",\"subject\":\"s\",\"description\":\"\","
	    "\"status\":\"pending\"}");
	files_world_put_text(world, "4",
	    "{\"id\":\"4\",\"subject\":\" \",\"description\":\"\\n\","
	    "\"status\":\"pending\"}");
	files_world_put(world, "5", "pending", ",\"blockedBy\":[\"99\"]");
	files_world_put(world, "6", "pending", ",\"blockedBy\":[\"7\"]");
	files_world_put(world, "7", "pending", ",\"blockedBy\":[\"6\"]");
	files_world_put(world, "8", "pending", ",\"blockedBy\":[\"1\"]");
	files_world_put(world, "9", "pending", "");
	source_world_expect(world, "9");
	source_world_take(world, "9");
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
	/* Once repaired, it is offered. */
	files_world_put(world, "1", "completed", "");
	source_world_expect(world, "8");
	ck_assert_uint_eq(source_world_quarantine_count(world), 6);
}

static void
write_whole(void *arg)
{
	struct source_world *world = arg;

	ck_assert_int_eq(world->answers, 0);
	files_world_put(world, "1", "pending", "");
}

TEST(a_half_written_file_is_read_again)
{
	cleanup_source_world struct source_world *world =
	    files_world_open("half");
	struct loop_timer *timer;

	files_world_put_text(world, "1", "{\"id\":\"1\",\"subj");
	timer = loop_after(world->loop, 50, write_whole, world);
	source_world_expect(world, "1");
	ck_assert_uint_eq(source_world_quarantine_count(world), 0);
	loop_timer_free(timer);
}

TEST(other_files_are_left_alone)
{
	cleanup_source_world struct source_world *world =
	    files_world_open("others");
	cleanup_free char *folder = file_join(world->options.where, "7.json");

	files_world_put_text(world, ".hidden", "{");
	files_world_put_text(
	    world, "1.json.tmp", "{"); /* but 1.json.tmp.json is one */
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	source_world_expect(world, NULL);
	ck_assert_uint_eq(source_world_quarantine_count(world), 1);
}

static void
set_stamp(struct source_world *world, const char *id)
{
	cleanup_free char *path =
	    xasprintf("%s/%s.json", world->options.where, id);
	struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

TEST(a_change_is_seen_though_size_and_stamp_stay)
{
	cleanup_source_world struct source_world *world =
	    files_world_open("stamps");

	files_world_put(world, "1", "completed", ",\"x\":  \"ab\"");
	set_stamp(world, "1");
	files_world_put(world, "2", "pending", ",\"blockedBy\":[\"1\"]");
	source_world_expect(world, "2");
	files_world_put(world, "1", "pending", ",\"x\":\"abcdef\"");
	set_stamp(world, "1");
	source_world_expect(world, "1");
}

/* --- listing ---------------------------------------------------------- */

TEST(the_list_has_every_task)
{
	cleanup_source_world struct source_world *world =
	    files_world_open("list");
	cleanup_json struct json_object *list = NULL, *few = NULL, *none = NULL;
	const char *where = world->options.where;

	files_world_put(world, "1", "completed", "");
	files_world_put(world, "2", "completed", "");
	files_world_put(world, "10", "pending", ",\"blockedBy\":[\"10\"]");
	files_world_put(world, "9", "pending",
	    ",\"metadata\":{\"label\":\"db\",\"priority\":0}");
	files_world_put(world, "8", "in_progress", ",\"owner\":\"us\"");
	files_world_put(
	    world, "7", "pending", ",\"metadata\":{\"llmc_failed\":\"why\"}");
	files_world_put_text(world, "6", "[]");
	list = source_list(SOURCE_FILES, where, 0, NULL);
	ck_assert_uint_eq(json_object_array_length(list), 7);
	source_world_expect_row(list, 0,
	    "{\"key\":\"6\",\"title\":\"6\",\"status\":\"todo\","
	    "\"problem\":\"expected an object, found an array\"}");
	source_world_expect_row(list, 1,
	    "{\"key\":\"9\",\"title\":\"Subject 9\",\"status\":\"todo\","
	    "\"label\":\"db\",\"priority\":\"urgent\"}");
	source_world_expect_row(list, 2,
	    "{\"key\":\"10\",\"title\":\"Subject 10\",\"status\":\"todo\","
	    "\"priority\":\"normal\",\"problem\":\"waits for itself: 10 -> 10\"}");
	source_world_expect_row(list, 3,
	    "{\"key\":\"8\",\"title\":\"Subject 8\",\"status\":\"doing\","
	    "\"owner\":\"us\",\"priority\":\"normal\"}");
	source_world_expect_row(list, 6,
	    "{\"key\":\"7\",\"title\":\"Subject 7\",\"status\":\"failed\","
	    "\"priority\":\"normal\",\"problem\":\"why\"}");
	few = source_list(SOURCE_FILES, where, 1, NULL);
	ck_assert_uint_eq(json_object_array_length(few), 6);
	none = source_list(SOURCE_FILES, unit_path("nowhere"), 0, NULL);
	ck_assert_uint_eq(json_object_array_length(none), 0);
}
