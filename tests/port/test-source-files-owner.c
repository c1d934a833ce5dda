/* SPDX-License-Identifier: ISC */

/* The source of task files: ownership of tasks. */
#include "files-world.h"

TEST(taking_is_repeated_after_a_crash_and_stale_for_others)
{
	struct source_world *world = files_world_open("crash");
	struct source_world *other = files_world_open_other(world);
	struct err err = { 0, "" };

	files_world_put(world, "1", "pending", "");
	files_world_put(world, "2", "completed", "");
	source_world_expect(world, "1");
	source_world_expect(other, "1");
	source_world_reopen(world); /* died before it was taken */
	source_world_take(world, "1");
	source_world_take(world, "1");
	source_world_reopen(world); /* died when it was taken */
	source_world_take(world, "1");
	ck_assert_int_eq(source_take(other->source, "1", "w", &err), -ESTALE);
	ck_assert_ptr_nonnull(strstr(err.msg, "us has it"));
	source_world_settle(other, "1", OUTCOME_LANDED, NULL);
	files_world_expect(world, "1", "in_progress", "us");
	ck_assert_int_eq(source_take(world->source, "2", "w", &err), -ESTALE);
	ck_assert_int_eq(source_take(world->source, "3", "w", &err), -ESTALE);
	ck_assert_int_eq(
	    source_take(world->source, "../crash/1", "w", &err), -EINVAL);
	ck_assert_int_eq(
	    source_settle(world->source, "", OUTCOME_LANDED, NULL, &err),
	    -EINVAL);
	source_world_settle(world, "3", OUTCOME_LANDED, NULL);
	files_world_put_text(world, "1", "{");
	ck_assert_int_eq(source_take(world->source, "1", "w", &err), -ESTALE);
	ck_assert_int_lt(
	    source_settle(world->source, "1", OUTCOME_LANDED, NULL, &err), 0);
	source_world_free(other);
	source_world_free(world);
}

TEST(priorities_are_changed_in_the_file)
{
	struct source_world *world = files_world_open("prioritize");
	struct source_world *other = files_world_open_other(world);
	cleanup_json struct json_object *json = NULL;
	struct err err = { 0, "" };

	files_world_put(world, "1", "pending", "");
	files_world_put(world, "2", "pending",
	    ",\"metadata\":{\"label\":\"db\",\"x\":[1]}");
	files_world_put(world, "3", "completed", "");
	source_world_expect(world, "1");
	ck_assert_int_eq(
	    source_prioritize(world->source, "2", PRIORITY_HIGH, &err), 0);
	source_world_expect(world, "2");
	ck_assert_int_eq(world->priority, PRIORITY_HIGH);
	json = files_world_load(world, "2");
	ck_assert_str_eq(json_object_to_json_string_ext(
			     json_object_object_get(json, "metadata"), 0),
	    "{\"label\":\"db\",\"x\":[1],\"priority\":1}");
	source_world_take(world, "2");
	ck_assert_int_eq(
	    source_prioritize(world->source, "2", PRIORITY_LOW, &err), 0);
	files_world_expect(world, "2", "in_progress", "us");
	source_world_settle(world, "2", OUTCOME_NONE, NULL);
	source_world_expect(world, "1");
	source_world_take(world, "1");
	ck_assert_int_eq(
	    source_prioritize(other->source, "1", PRIORITY_HIGH, &err), -EBUSY);
	ck_assert_ptr_nonnull(strstr(err.msg, "us has it"));
	ck_assert_int_eq(
	    source_prioritize(world->source, "3", PRIORITY_HIGH, &err),
	    -ENOENT);
	ck_assert_int_eq(
	    source_prioritize(world->source, "4", PRIORITY_HIGH, &err),
	    -ENOENT);
	ck_assert_int_eq(
	    source_prioritize(world->source, "../x/1", PRIORITY_HIGH, &err),
	    -EINVAL);
	source_world_free(other);
	source_world_free(world);
}

TEST(ended_tasks_wait_again)
{
	cleanup_source_world struct source_world *world =
	    files_world_open("again");
	struct source *source = world->source;
	struct err err = { 0, "" };

	files_world_put(world, "1", "pending", "");
	files_world_put(world, "2", "pending", "");
	source_world_take(world, "1");
	source_world_take(world, "2");
	ck_assert_int_eq(source_retry(source, "1", NULL, &err), -EBUSY);
	source_world_settle(world, "1", OUTCOME_FAILED, "no luck");
	source_world_settle(world, "2", OUTCOME_LANDED, NULL);
	source_world_expect(world, NULL);
	ck_assert_int_eq(source_retry(source, "1", NULL, &err), 0);
	source_world_expect(world, "1");
	ck_assert_ptr_null(world->landed_before);
	ck_assert_int_eq(source_retry(source, "1", NULL, &err), -EALREADY);
	source_world_take(world, "1");
	ck_assert_int_eq(source_retry(source, "2", "3f2a91c", &err), 0);
	files_world_expect(world, "2", "pending", NULL);
	source_world_expect(world, "2");
	ck_assert_str_eq(world->landed_before, "3f2a91c");
	/* The commit stays with it. */
	source_world_take(world, "2");
	source_world_settle(world, "2", OUTCOME_FAILED, "no luck");
	ck_assert_int_eq(source_retry(source, "2", NULL, &err), 0);
	source_world_expect(world, "2");
	ck_assert_str_eq(world->landed_before, "3f2a91c");
	ck_assert_int_eq(source_retry(source, "3", NULL, &err), -ENOENT);
	ck_assert_int_eq(source_retry(source, "../x/1", NULL, &err), -EINVAL);
}

TEST(a_held_lock_is_tried_again_later)
{
	cleanup_source_world struct source_world *world =
	    files_world_open("held");
	cleanup_free char *path = file_join(world->options.where, ".llmc.lock");
	int fd;

	files_world_put(world, "1", "pending", "");
	files_world_put(world, "2", "in_progress", ",\"owner\":\"us\"");
	fd = lock_try(path, NULL);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(source_take(world->source, "1", "w", NULL), -EAGAIN);
	ck_assert_int_eq(
	    source_settle(world->source, "2", OUTCOME_LANDED, NULL, NULL),
	    -EAGAIN);
	ck_assert_int_eq(source_recover(world->source, NULL, NULL), -EAGAIN);
	files_world_expect(world, "1", "pending", NULL);
	files_world_expect(world, "2", "in_progress", "us");
	fd_close(fd);
	source_world_take(world, "1");
}

TEST(orphans_are_given_back)
{
	static const char *const keys[] = { "3", NULL };
	cleanup_source_world struct source_world *world =
	    files_world_open("orphans");

	files_world_put(world, "1", "in_progress", "");
	files_world_put(
	    world, "2", "in_progress", ",\"owner\":\"us\",\"more\":[1]");
	files_world_put(world, "3", "in_progress", ",\"owner\":\"us\"");
	files_world_put(world, "4", "in_progress", ",\"owner\":\"them\"");
	files_world_put(world, "5", "completed", ",\"owner\":\"us\"");
	files_world_put(world, "6", "pending", ",\"owner\":\"us\"");
	files_world_put_text(world, "7", "{\"id\":");
	ck_assert_int_eq(source_recover(world->source, keys, NULL), 3);
	files_world_expect(world, "1", "pending", NULL);
	files_world_expect(world, "2", "pending", NULL);
	files_world_expect(world, "3", "in_progress", "us");
	files_world_expect(world, "4", "in_progress", "them");
	files_world_expect(world, "5", "completed", "us");
	files_world_expect(world, "6", "pending", NULL);
	ck_assert_int_eq(source_recover(world->source, keys, NULL), 0);
}

TEST(a_daemon_that_is_killed_goes_on_with_its_task)
{
	enum {
		KILLS = 25
	};
	cleanup_source_world struct source_world *world =
	    files_world_open("killed");

	files_world_put(world, "1", "pending", ",\"keep\":true");
	for (int i = 0; i < KILLS; i++) {
		cleanup_json struct json_object *json = NULL;

		source_world_kill_rival(world, "1", (int64_t)i * 900);
		source_world_take(world, "1");
		files_world_expect(world, "1", "in_progress", "us");
		source_world_settle(world, "1", OUTCOME_NONE, NULL);
		json = files_world_load(world, "1");
		ck_assert(json_bool_or(json, "keep", false));
	}
	source_world_expect(world, "1");
}
