/* SPDX-License-Identifier: ISC */

/* The folder source: ownership of tasks. */
#include "folder-world.h"

TEST(keys_of_ours_are_not_offered)
{
	static const char *const keys[] = { "c", "a", NULL };
	cleanup_source_world struct source_world *world =
	    folder_world_open("keys");

	folder_world_put(world, "todo/a", "1");
	folder_world_put(world, "todo/b", "2");
	folder_world_put(world, "todo/c", "3");
	ck_assert_int_eq(source_world_ask(world, NULL, keys), SOURCE_OFFER);
	ck_assert_str_eq(world->key, "b");
	source_world_take(world, "b");
	ck_assert_int_eq(source_world_ask(world, NULL, keys), SOURCE_EMPTY);
}

TEST(taking_is_repeated_after_a_crash_and_stale_for_others)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("crash");
	struct source_world *other =
	    source_world_new(SOURCE_FOLDER, world->options.where, "them");
	struct err err = { 0, "" };

	source_world_reopen(other);
	folder_world_put(world, "todo/a", "1");
	source_world_expect(world, "a");
	source_world_expect(other, "a");
	source_world_reopen(world); /* died before it was taken */
	source_world_take(world, "a");
	source_world_take(world, "a");
	source_world_reopen(world); /* died when it was taken */
	source_world_take(world, "a");
	ck_assert_int_eq(source_take(other->source, "a", "w", &err), -ESTALE);
	ck_assert_int_eq(err.code, -ESTALE);
	/* Nor can the other settle it. */
	source_world_settle(other, "a", OUTCOME_LANDED, NULL);
	folder_world_expect(world, "doing: a");
	source_world_settle(world, "a", OUTCOME_LANDED, NULL);
	ck_assert_int_eq(source_take(world->source, "a", NULL, &err), -ESTALE);
	ck_assert_int_eq(
	    source_take(world->source, "nothing", NULL, &err), -ESTALE);
	ck_assert_int_eq(
	    source_take(world->source, "../done/a", NULL, &err), -EINVAL);
	ck_assert_int_eq(
	    source_settle(world->source, "../done/a", OUTCOME_NONE, NULL, &err),
	    -EINVAL);
	source_world_settle(world, "nothing", OUTCOME_FAILED, "why");
	folder_world_expect(world, "done: a");
	source_world_free(other);
}

TEST(a_note_of_one_who_died_before_the_move_binds_nobody)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("noted");
	struct source_world *other =
	    source_world_new(SOURCE_FOLDER, world->options.where, "them");
	cleanup_free char *doing = folder_world_path(world, "doing/a");
	cleanup_free char *todo = folder_world_path(world, "todo/a");

	source_world_reopen(other);
	folder_world_put(world, "todo/a", "1");
	source_world_take(other, "a");
	/* The note was written, but the file was not moved. */
	ck_assert_int_eq(rename(doing, todo), 0);
	source_world_take(world, "a");
	ck_assert_int_eq(source_take(other->source, "a", "w", NULL), -ESTALE);
	source_world_free(other);
}

TEST(a_held_lock_is_tried_again_later)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("held");
	cleanup_free char *lock = folder_world_path(world, ".llmc.lock");
	int fd;

	folder_world_put(world, "todo/a", "1");
	fd = lock_try(lock, NULL);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(source_take(world->source, "a", "w", NULL), -EAGAIN);
	folder_world_expect(world, "todo: a");
	fd_close(fd);
	source_world_take(world, "a");
}

TEST(what_nobody_works_at_is_given_back)
{
	static const char *const names[] = { "todo/ours", "todo/kept",
		"todo/theirs" };
	static const char *const keys[] = { "kept", NULL };
	cleanup_source_world struct source_world *world =
	    folder_world_open("recover");
	struct source_world *other =
	    source_world_new(SOURCE_FOLDER, world->options.where, "them");
	struct err err = { 0, "" };

	source_world_reopen(other);
	for (size_t i = 0; i < nitems(names); i++)
		folder_world_put(world, names[i], "x");
	source_world_take(world, "ours");
	source_world_take(world, "kept");
	source_world_take(other, "theirs");
	folder_world_put(world, "doing/by-hand", "x");
	source_world_reopen(world);
	ck_assert_int_eq(source_recover(world->source, keys, &err), 2);
	folder_world_expect(world, "todo: by-hand ours; doing: kept theirs");
	ck_assert_int_eq(source_recover(world->source, keys, &err), 0);
	ck_assert_int_eq(source_recover(other->source, NULL, &err), 1);
	folder_world_expect(world, "todo: by-hand ours theirs; doing: kept");
	ck_assert_int_eq(source_recover(world->source, NULL, &err), 1);
	source_world_free(other);
}

TEST(notes_do_not_pile_up)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("notes");
	cleanup_free char *doing = folder_world_path(world, "doing");
	cleanup_free char *moved = folder_world_path(world, "doing/b");
	cleanup_free char *away = folder_world_path(world, "done/b");
	struct stat st;

	folder_world_put(world, "todo/a", "x");
	folder_world_put(world, "todo/b", "x");
	source_world_take(world, "a");
	source_world_take(world, "b");
	source_world_settle(world, "a", OUTCOME_LANDED, NULL);
	ck_assert_int_eq(rename(moved, away), 0); /* by a person */
	ck_assert_int_eq(source_recover(world->source, NULL, NULL), 0);
	ck_assert_int_eq(rmdir(doing), 0);
	ck_assert_int_eq(stat(doing, &st), -1);
}

TEST(nothing_is_overwritten)
{
	cleanup_source_world struct source_world *world =
	    folder_world_open("overwrite");
	struct buf name = BUF_INIT;
	cleanup_free char *path = NULL, *longest = NULL;

	folder_world_put(world, "done/a.md", "old");
	folder_world_put(world, "done/a-2.md", "older");
	folder_world_put(world, "todo/a.md", "new");
	source_world_take(world, "a.md");
	source_world_settle(world, "a.md", OUTCOME_LANDED, NULL);
	folder_world_expect_text(world, "done/a.md", "old");
	folder_world_expect_text(world, "done/a-3.md", "new");
	folder_world_put(world, "todo/a.md", "second");
	source_world_take(world, "a.md");
	folder_world_put(world, "todo/a.md", "third");
	/* Only one of that name at a time. */
	source_world_expect(world, NULL);
	source_world_settle(world, "a.md", OUTCOME_NONE, NULL);
	folder_world_expect_text(world, "todo/a.md", "third");
	folder_world_expect_text(world, "todo/a-2.md", "second");
	folder_world_put(world, "failed/b", "old");
	folder_world_put(world, "failed/b.why", "old reason");
	folder_world_put(world, "todo/b", "new");
	source_world_take(world, "b");
	source_world_settle(world, "b", OUTCOME_FAILED, "new reason");
	folder_world_expect_text(world, "failed/b.why", "old reason");
	folder_world_expect_text(world, "failed/b-2.why", "new reason\n");
	/* A name that leaves no room for a suffix. */
	while (name.len < 255)
		buf_addc(&name, 'n');
	longest = buf_take(&name);
	path = xasprintf("done/%s", longest);
	folder_world_put(world, path, "old");
	free(path);
	path = xasprintf("todo/%s", longest);
	folder_world_put(world, path, "x");
	source_world_take(world, longest);
	source_world_settle(world, longest, OUTCOME_LANDED, NULL);
	folder_world_put(world, path, "x");
	source_world_take(world, longest);
	source_world_settle(
	    world, longest, OUTCOME_FAILED, "no room for a reason");
	free(path);
	path = xasprintf("failed/%s", longest);
	folder_world_expect_text(world, path, "x");
}

/* Killed at any moment between asking and settling: the task is in exactly one
 * place, and the same daemon continues it. */
TEST(a_daemon_that_is_killed_goes_on_with_its_task)
{
	enum {
		KILLS = 25
	};
	cleanup_source_world struct source_world *world =
	    folder_world_open("killed");

	folder_world_put(world, "todo/a", "x");
	for (int i = 0; i < KILLS; i++) {
		source_world_kill_rival(world, "a", (int64_t)i * 1300);
		source_world_take(world, "a");
		folder_world_expect(world, "doing: a");
		source_world_settle(world, "a", OUTCOME_NONE, NULL);
		folder_world_expect(world, "todo: a");
	}
}
