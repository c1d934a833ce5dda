/* SPDX-License-Identifier: ISC */

/* Commands for tasks through the daemon, and a state written by another
 * program. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "auto-world.h"
#include "book.h"
#include "emit.h"
#include "json.h"
#include "landing-item.h"
#include "mem.h"
#include "persist.h"
#include "serve.h"
#include "task-json.h"
#include "unit.h"

static enum priority queued_as; /* the last item of the landing queue */

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

static int
prioritize(struct auto_world *world, const char *task, const char *priority)
{
	cleanup_free char *params =
	    xasprintf("\"task\":\"%s\",\"priority\":\"%s\"", task, priority);
	struct floor_call *made =
	    floor_world_call(&world->floor, "task.priority", NULL, params);

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
	    "check_command = \"test ! -e bad.txt\"\n");
	auto_world_task(&world, "a.md", "Do it\n");
	agent = auto_world_turn(&world, 1);
	auto_world_work(&world, "bad.txt");
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

/* The task of this worker landed before, and the worker knows the commit. */
static void
expect_told_of_commit(struct auto_world *world, struct agent *agent)
{
	const struct task *task =
	    state_task(&world->core->state, agent->worker->task);
	cleanup_json struct json_object *json = task_to_json(task);
	cleanup_free char *told = NULL, *noted = NULL;
	const char *head = floor_world_sh(&world->floor, "git rev-parse HEAD");

	ck_assert_str_eq(task->landed_before, head);
	told = xasprintf("done before, as commit %s,", head);
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), told));
	noted = xasprintf("\"what\":\"did this before as commit\","
			  "\"detail\":\"%s\"",
	    head);
	ck_assert_ptr_nonnull(
	    strstr(json_object_to_json_string_ext(json, 0), noted));
}

static void
note_priority(const struct event *event, void *arg)
{
	struct auto_world *world = arg;
	const struct landing_record *record = &world->core->state.landings;

	if (event->kind == EVENT_LANDING_QUEUED)
		queued_as = record->items[record->count - 1]->priority;
}

START_TEST(work_lands_with_the_priority_of_its_task)
{
	struct auto_world world;
	struct agent *agent;

	begin_idle(&world, NULL);
	emit_subscribe(world.core, note_priority, &world);
	auto_world_task(&world, "a.md",
	    _i == PRIORITY_NORMAL ? "Do it\n" : "Priority: low\n\nDo it\n");
	agent = auto_world_turn(&world, 1);
	auto_world_work(&world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&world);
	ck_assert_int_eq((int)queued_as, _i);
	auto_world_end(&world);
}
END_TEST

START_TEST(a_landed_task_that_is_taken_back_says_so)
{
	struct auto_world world;
	struct agent *agent;
	const char *undone, *last;

	begin_idle(&world, NULL);
	auto_world_task(&world, "a.md", "Do it\n");
	agent = auto_world_turn(&world, 1);
	auto_world_work(&world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&world);
	undone = floor_world_sh(&world.floor, "git rev-parse main");
	ck_assert_int_eq(call(&world, "landing.revert", "commit", undone), 0);
	floor_world_sh(&world.floor, "test ! -e b.txt");
	last = auto_world_record(&world, "t1");
	ck_assert_ptr_nonnull(strstr(last, undone));
	ck_assert_ptr_nonnull(
	    strstr(last, floor_world_sh(&world.floor, "git rev-parse main")));
	/* What was no task is taken back too. */
	ck_assert_int_eq(
	    call(&world, "landing.revert", "commit",
		floor_world_sh(&world.floor, "git rev-parse main")),
	    0);
	floor_world_sh(&world.floor, "test -e b.txt");
	auto_world_filed(&world, "t1 landed; ");
	auto_world_end(&world);
}
END_TEST

START_TEST(a_landed_task_is_done_again)
{
	static const char *const names[] = { "t1", "a.md" };
	struct auto_world world;
	struct agent *agent;

	begin_idle(&world, NULL);
	auto_world_task(&world, "a.md", "Priority: high\n\nDo it\n");
	agent = auto_world_turn(&world, 1);
	auto_world_work(&world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&world);
	auto_world_folder(&world, "done: a.md; ");
	ck_assert_int_eq(call(&world, "task.retry", "task", names[_i]), 0);
	auto_world_turn(&world, 2);
	ck_assert_str_eq(agent->worker->task, "t2");
	expect_told_of_commit(&world, agent);
	ck_assert_int_eq(
	    state_task(&world.core->state, "t2")->priority, PRIORITY_HIGH);
	auto_world_folder(&world, "doing: a.md; ");
	ck_assert_int_eq(
	    call(&world, "task.retry", "task", names[_i]), API_STATUS);
	auto_world_end(&world);
}
END_TEST

START_TEST(a_landed_task_without_its_file_is_added_again)
{
	struct auto_world world;
	struct agent *agent;

	begin_idle(&world, NULL);
	auto_world_task(&world, "a.md", "Do it\n");
	agent = auto_world_turn(&world, 1);
	auto_world_work(&world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&world);
	floor_world_sh(&world.floor, "rm .llmc/tasks/done/a.md");
	ck_assert_int_eq(call(&world, "task.retry", "task", "t1"), 0);
	auto_world_turn(&world, 2);
	expect_told_of_commit(&world, agent);
	auto_world_folder(&world, "doing: 1-do-it.md; ");
	auto_world_end(&world);
}
END_TEST

/* The file itself waits again, so that its end is written there too. */
START_TEST(a_task_file_that_landed_is_done_again)
{
	struct auto_world world;
	struct agent *agent;

	auto_world_begin(&world, "task_list = \".llmc/list\"\n");
	floor_world_sh(&world.floor,
	    "mkdir .llmc/list; echo '{\"id\":\"7\",\"subject\":\"Do it\","
	    "\"description\":\"\",\"status\":\"pending\"}' "
	    ">.llmc/list/7.json");
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	auto_world_work(&world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&world);
	ck_assert_int_eq(call(&world, "task.retry", "task", "t1"), 0);
	auto_world_turn(&world, 2);
	expect_told_of_commit(&world, agent);
	ck_assert_str_eq(floor_world_sh(&world.floor,
			     "grep -c in_progress .llmc/list/7.json"),
	    "1");
	auto_world_work(&world, "c.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&world);
	/* Without its file, from its record. */
	floor_world_sh(&world.floor, "rm .llmc/list/7.json");
	ck_assert_int_eq(call(&world, "task.retry", "task", "7"), 0);
	auto_world_turn(&world, 3);
	expect_told_of_commit(&world, agent);
	auto_world_end(&world);
}
END_TEST

/* This source does not keep finished tasks: the record is all there is. */
START_TEST(a_task_of_a_command_is_tried_again_from_its_record)
{
	struct auto_world world;
	struct agent *agent;

	auto_world_begin(&world,
	    "max_attempts = 1\nmax_turns = 1\n"
	    "check_command = \"test ! -e bad.txt\"\n"
	    "task_pool_command = \"test -e .llmc/given && exit 4; "
	    "touch .llmc/given; echo do it\"\n");
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	auto_world_work(&world, "bad.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&world);
	ck_assert_int_eq(call(&world, "task.add", "text", "More"), API_FAILED);
	ck_assert_int_eq(prioritize(&world, "t1", "high"), API_FAILED);
	ck_assert_int_eq(call(&world, "task.retry", "task", "t1"), 0);
	auto_world_turn(&world, 2);
	ck_assert_str_eq(agent->worker->task, "t2");
	auto_world_work(&world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&world);
	/* What has landed is done again too. */
	ck_assert_int_eq(call(&world, "task.retry", "task", "t2"), 0);
	auto_world_turn(&world, 3);
	expect_told_of_commit(&world, agent);
	auto_world_end(&world);
}
END_TEST

START_TEST(a_task_is_added_with_its_priority)
{
	struct auto_world world;
	struct floor_call *made;

	begin_idle(&world, NULL);
	xstrset(&world.core->state.paused, "wait");
	made = floor_world_call(&world.floor, "task.add", NULL,
	    "\"text\":\"Priority: low\\nDo it\",\"priority\":\"high\"");
	floor_world_answer(&world.floor, made);
	ck_assert_int_eq(floor_call_code(made), 0);
	ck_assert_int_eq(
	    call(&world, "task.add", "text", "Priority: low\\nThen this"), 0);
	ck_assert_str_eq(floor_world_sh(&world.floor, "cat .llmc/tasks/todo/*"),
	    "Priority: high\n\nDo it\nPriority: low\n\nThen this");
	auto_world_end(&world);
}
END_TEST

START_TEST(priorities_are_changed_at_the_source_and_in_the_state)
{
	struct auto_world world;
	const struct task *task;
	struct agent *agent;

	begin_idle(&world, NULL);
	xstrset(&world.core->state.paused, "wait");
	auto_world_task(&world, "a.md", "One\n");
	auto_world_task(&world, "b.md", "Two\n");
	ck_assert_int_eq(prioritize(&world, "c.md", "high"), API_UNKNOWN);
	ck_assert_int_eq(prioritize(&world, "b.md", "high"), 0);
	free(take_ptr(&world.core->state.paused));
	ck_assert_int_eq(call(&world, "task.add", "text", "Three"), 0);
	agent = auto_world_turn(&world, 1);
	task = state_task(&world.core->state, agent->worker->task);
	ck_assert_str_eq(task->key, "b.md");
	ck_assert_int_eq(task->priority, PRIORITY_HIGH);
	/* In progress: by its id or its name. */
	ck_assert_int_eq(prioritize(&world, task->id, "urgent"), 0);
	ck_assert_int_eq(task->priority, PRIORITY_URGENT);
	ck_assert_int_eq(prioritize(&world, "b.md", "low"), 0);
	ck_assert_int_eq(task->priority, PRIORITY_LOW);
	ck_assert_str_eq(
	    floor_world_sh(&world.floor, "cat .llmc/tasks/doing/b.md"),
	    "Priority: low\n\nTwo");
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

START_TEST(what_has_landed_is_not_dropped_or_changed)
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
	ck_assert_int_eq(prioritize(&world, "t1", "high"), API_STATUS);
	floor_world_sh(&world.floor, "touch .llmc/go");
	auto_world_wait(&world, "task_finished t1 landed; ");
	auto_world_end(&world);
}
END_TEST

/* --- a book that another program replaced ------------------------------ */

static const char *const replaced[] = { "rm llmc.db",
	"cp llmc.db b; mv b llmc.db", "echo x >b; mv b llmc.db",
	"rm llmc.db; mkdir llmc.db" };

START_TEST(a_book_that_is_gone_is_a_failure)
{
	cleanup_free char *script = xasprintf("cd .llmc; %s", replaced[_i]);
	struct auto_world world;
	uint64_t receipts;

	begin_idle(&world, NULL);
	floor_world_settle(&world.floor);
	floor_world_sh(&world.floor, script);
	receipts = ++world.core->state.receipts;
	persist_changed(world.core);
	auto_world_fails(&world, "state_overwritten");
	/* What it knew is put back. */
	auto_world_reopen(&world);
	ck_assert_ptr_nonnull(state_find(&world.core->state, "auto-1"));
	ck_assert_uint_ge(world.core->state.receipts, receipts);
	ck_assert_int_eq(book_commit(world.core->book, NULL), 0);
	auto_world_end(&world);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("auto-commands");
	TCase *gone = tcase_create("gone");
	TCase *landed = tcase_create("landed");

	unit_case(suite, "tasks",
	    (const TTest *const[]){ a_task_that_is_added_is_begun,
		a_task_that_failed_is_tried_again,
		a_landed_task_that_is_taken_back_says_so,
		a_landed_task_without_its_file_is_added_again,
		a_task_file_that_landed_is_done_again,
		a_task_of_a_command_is_tried_again_from_its_record,
		tasks_are_dropped, what_has_landed_is_not_dropped_or_changed,
		a_task_is_added_with_its_priority,
		priorities_are_changed_at_the_source_and_in_the_state, NULL });
	tcase_set_timeout(landed, 60);
	tcase_add_loop_test(landed, a_landed_task_is_done_again, 0, 2);
	tcase_add_loop_test(landed, work_lands_with_the_priority_of_its_task,
	    PRIORITY_NORMAL, PRIORITY_LOW + 1);
	suite_add_tcase(suite, landed);
	tcase_set_timeout(gone, 60);
	tcase_add_loop_test(
	    gone, a_book_that_is_gone_is_a_failure, 0, nitems(replaced));
	suite_add_tcase(suite, gone);
	return suite;
}
