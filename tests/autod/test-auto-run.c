/* SPDX-License-Identifier: ISC */

/* Runs of auto mode, over daemons that end in any way. */
#include "auto-world.h"
#include "book.h"
#include "persist.h"

/* An overseer runs, with this id of its run. */
static void
oversee(const char *instance)
{
	cleanup_free char *file =
	    workspace_path(&floor_world.workspace, "overseer.json");
	cleanup_free char *text =
	    xasprintf("{\"instance_id\": \"%s\"}", instance);

	ck_assert_int_eq(file_replace(file, text, strlen(text), 0600, NULL), 0);
}

static int
take_lock(void)
{
	cleanup_free char *file =
	    workspace_path(&floor_world.workspace, "overseer.lock");
	int lock = lock_try(file, NULL);

	ck_assert_int_ge(lock, 0);
	return lock;
}

static void
live(const char *run)
{
	auto_world_live();
	floor_world_until(auto_world.mode->begun);
	ck_assert_str_eq(auto_world.core->state.run_id, run);
}

static bool
on_row(struct book_row *row, void *arg)
{
	ck_assert_int_gt(book_int(row, 1), 0);
	buf_addf(arg, "%s begins; ", book_text(row, 0));
	if (book_int(row, 2) > 0)
		buf_addf(arg, "%s ends; ", book_text(row, 0));
	return true;
}

static void
expect_runs(const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(
	    book_query(auto_world.core->book,
		"SELECT r.run_id, r.began_ms, r.ended_ms FROM run r "
		"ORDER BY r.began_ms",
		NULL, 0, on_row, &text, NULL),
	    0);
	ck_assert_str_eq(text.data, want);
}

TEST(a_run_goes_on_as_long_as_its_overseer)
{
	int64_t begun;
	int lock;

	auto_world_begin(NULL);
	lock = take_lock();
	oversee("O1");
	live("r1");
	begun = auto_world.core->state.run_ms;
	floor_world_settle(); /* it is saved */
	auto_world_reopen(); /* killed */
	live("r1");
	auto_world.core->state.errors = 2;
	persist_changed(auto_world.core);
	auto_world_restart();
	live("r1");
	ck_assert_uint_eq(auto_world.core->state.errors, 2);
	ck_assert_int_eq(auto_world.core->state.run_ms, begun);
	expect_runs("r1 begins; r1 begins; r1 ends; r1 begins; ");
	/* A person has started another one. */
	oversee("O2");
	auto_world_restart();
	live("r2");
	ck_assert_uint_eq(auto_world.core->state.errors, 0);
	close(lock);
}

TEST(without_an_overseer_each_daemon_is_a_run)
{
	auto_world_begin(NULL);
	oversee("O1"); /* left by one that has ended */
	live("r1");
	auto_world_restart();
	live("r2");
	floor_world_settle();
	auto_world_reopen();
	live("r3");
	expect_runs("r1 begins; r1 ends; r2 begins; r3 begins; ");
}

TEST(a_file_of_the_overseer_that_is_none_begins_a_run)
{
	cleanup_free char *file = NULL;
	int lock;

	auto_world_begin(NULL);
	lock = take_lock();
	file = workspace_path(&floor_world.workspace, "overseer.json");
	ck_assert_int_eq(file_replace(file, "[1]", 3, 0600, NULL), 0);
	live("r1");
	auto_world_restart();
	live("r2");
	close(lock);
}

TEST(a_task_has_the_run_that_worked_on_it)
{
	struct agent *agent;

	auto_world_begin(NULL);
	auto_world_task("a.md", "Do it\n");
	live("r1");
	agent = auto_world_turn(1);
	ck_assert_str_eq(
	    state_task(&auto_world.core->state, agent->worker->task)->run_id,
	    "r1");
}
