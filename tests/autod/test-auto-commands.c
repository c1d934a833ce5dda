/* SPDX-License-Identifier: ISC */

/* Commands for tasks through the daemon, and a state written by another
 * program. */
#include <check.h>
#include <stdlib.h>

#include "agent.h"
#include "auto-world.h"
#include "auto.h"
#include "mem.h"
#include "persist.h"
#include "serve.h"
#include "unit.h"

static void
begin_idle(struct auto_world *world, const char *settings)
{
	auto_world_begin(world, settings);
	auto_world_live(world);
	auto_world_wait(world, "exhausted; ");
	floor_world_settle(&world->floor);
	auto_world_told(world, "exhausted; ");
}

/* The code of the error, 0 = none. */
static int
call(struct auto_world *world, const char *method, const char *key,
    const char *value)
{
	cleanup_free char *params = xasprintf("\"%s\":\"%s\"", key, value);
	struct floor_call *made =
	    floor_world_call(&world->floor, method, NULL, params);

	floor_world_answer(&world->floor, made);
	return floor_call_code(made);
}

static bool
has_a_task(void *arg)
{
	return ((struct auto_world *)arg)->core->state.task_count > 0;
}

/* --- tasks ----------------------------------------------------------- */

START_TEST(a_task_that_is_added_is_begun)
{
	struct auto_world world;

	begin_idle(&world, NULL);
	ck_assert_int_eq(call(&world, "task.add", "text", "Do it"), 0);
	auto_world_turn(&world, 1);
	auto_world_told(&world, "task_assigned t1; ");
	ck_assert_int_eq(call(&world, "task.add", "text", ""), API_FAILED);
	auto_world_end(&world);
}
END_TEST

START_TEST(a_task_that_failed_is_tried_again)
{
	struct auto_world world;
	struct agent *agent;

	begin_idle(&world,
	    "max_attempts = 1\nmax_turns = 1\n"
	    "require_commit = true\n");
	auto_world_task(&world, "a.md", "Do it\n");
	agent = auto_world_turn(&world, 1);
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&world);
	auto_world_folder(&world, "failed: a.md; failed: a.md.why; ");
	ck_assert_int_eq(call(&world, "task.retry", "task", "t9"), API_UNKNOWN);
	ck_assert_int_eq(call(&world, "task.retry", "task", "t1"), 0);
	auto_world_turn(&world, 2);
	ck_assert_str_eq(agent->worker->task, "t2");
	auto_world_end(&world);
}
END_TEST

/* This source does not keep finished tasks: the record is all there is. */
START_TEST(a_task_of_a_command_is_tried_again_from_its_record)
{
	struct auto_world world;
	struct agent *agent;

	auto_world_begin(&world,
	    "max_attempts = 1\nmax_turns = 1\nrequire_commit = true\n"
	    "task_pool_command = \"test -e .llmc/given && exit 4; "
	    "touch .llmc/given; echo do it\"\n");
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&world);
	ck_assert_int_eq(call(&world, "task.add", "text", "More"), API_FAILED);
	ck_assert_int_eq(call(&world, "task.retry", "task", "t1"), 0);
	auto_world_turn(&world, 2);
	ck_assert_str_eq(agent->worker->task, "t2");
	auto_world_work(&world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&world);
	ck_assert_int_eq(call(&world, "task.retry", "task", "t2"), API_STATUS);
	auto_world_end(&world);
}
END_TEST

START_TEST(tasks_are_dropped)
{
	struct auto_world world;

	begin_idle(&world, NULL);
	/* So that no worker gets a task. */
	xstrset(&world.core->state.paused, "wait");
	auto_world_task(&world, "a.md", "Do it\n");
	ck_assert_int_eq(
	    call(&world, "task.drop", "task", "b.md"), API_UNKNOWN);
	ck_assert_int_eq(call(&world, "task.drop", "task", "a.md"), 0);
	auto_world_folder(&world, "");
	/* A task that is already in the state. */
	world.floor.store_fails = true;
	free(take_ptr(&world.core->state.paused));
	auto_world_task(&world, "c.md", "Do it\n");
	floor_world_wait(&world.floor, has_a_task, &world);
	xstrset(&world.core->state.paused, "wait");
	world.floor.store_fails = false;
	ck_assert_int_eq(call(&world, "task.drop", "task", "t1"), 0);
	auto_world_wait_done(&world);
	auto_world_filed(&world, "t1 aborted; ");
	auto_world_end(&world);
}
END_TEST

START_TEST(what_has_landed_is_not_dropped)
{
	struct auto_world world;
	struct agent *agent;

	auto_world_begin(&world,
	    "post_accept_command = \"until test -e .llmc/go; do sleep 0.05; "
	    "done\"\n");
	auto_world_task(&world, "a.md", "Do it\n");
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	auto_world_work(&world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_post(&world, "run");
	ck_assert_int_eq(call(&world, "task.drop", "task", "t1"), API_STATUS);
	floor_world_sh(&world.floor, "touch .llmc/go");
	auto_world_wait(&world, "task_finished t1 landed; ");
	auto_world_end(&world);
}
END_TEST

/* --- a state written by another program ------------------------------ */

static void
overwrite(struct auto_world *world, const char *script)
{
	floor_world_sh(&world->floor, script);
	persist_changed(world->core);
}

START_TEST(the_same_state_is_written_back)
{
	struct auto_world world;

	begin_idle(&world, NULL);
	overwrite(&world, "cd .llmc; cp state.json s; mv s state.json");
	auto_world_wait(&world, "foreign; ");
	floor_world_settle(&world.floor);
	auto_world_told(&world, "foreign; ");
	auto_world_end(&world);
}
END_TEST

START_TEST(a_state_that_lacks_a_worker_is_told)
{
	struct auto_world world;

	begin_idle(&world, "concurrency = 2\n");
	overwrite(&world,
	    "cd .llmc; sed s/auto-2/adam/g state.json >s; mv s state.json");
	auto_world_wait(&world, "foreign_lacks; ");
	floor_world_settle(&world.floor);
	ck_assert_int_eq(world.core->exit_status, 0);
	ck_assert_str_eq(
	    floor_world_sh(&world.floor, "grep -c adam .llmc/state.json || :"),
	    "0");
	auto_world_end(&world);
}
END_TEST

static const struct foreign_row {
	const char *script, *class;
} foreign_rows[] = {
	{ "sed s/auto-1/adam/g state.json >s; mv s state.json",
	    "state_overwritten" },
	{ "sed 's/\"root_id\": \"..../\"root_id\": \"ffff/' state.json >s; "
	  "mv s state.json",
	    "state_overwritten" },
	{ "echo '{' >s; mv s state.json", "state_corrupt" },
};

START_TEST(a_state_of_somebody_else_is_a_failure)
{
	const struct foreign_row *row = &foreign_rows[_i];
	cleanup_free char *script = xasprintf("cd .llmc; %s", row->script);
	struct auto_world world;

	begin_idle(&world, NULL);
	overwrite(&world, script);
	auto_world_fails(&world, row->class);
	/* The state in memory wins. */
	auto_world_reopen(&world);
	ck_assert_ptr_nonnull(state_find(&world.core->state, "auto-1"));
	auto_world_end(&world);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("auto-commands");
	TCase *foreign = tcase_create("foreign-failure");

	unit_case(suite, "tasks",
	    (const TTest *const[]){ a_task_that_is_added_is_begun,
		a_task_that_failed_is_tried_again,
		a_task_of_a_command_is_tried_again_from_its_record,
		tasks_are_dropped, what_has_landed_is_not_dropped, NULL });
	unit_case(suite, "foreign",
	    (const TTest *const[]){ the_same_state_is_written_back,
		a_state_that_lacks_a_worker_is_told, NULL });
	tcase_set_timeout(foreign, 60);
	tcase_add_loop_test(foreign, a_state_of_somebody_else_is_a_failure, 0,
	    nitems(foreign_rows));
	suite_add_tcase(suite, foreign);
	return suite;
}
