/* SPDX-License-Identifier: ISC */

/* Ready nodes of goals are tasks for auto workers, and their outcomes come
 * back, whenever the daemon is killed. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "buf.h"
#include "emit.h"
#include "hold.h"
#include "mem.h"
#include "plan-book.h"
#include "plan-floor.h"
#include "plan-world.h"
#include "task-run.h"
#include "task.h"
#include "unit.h"

/* --- the way of a goal ------------------------------------------------ */

TEST(a_goal_is_completed_node_by_node)
{
	struct plan_world world;
	const struct plan_node *node;
	const struct plan_set *set;

	plan_world_begin(&world, NULL, NULL);
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 2);
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; T1.2 done; ");
	auto_world_filed(&world.world, "t1 landed; t2 landed; ");
	node = plan_world_node(&world, "goal_a", "T1.1");
	ck_assert_ptr_nonnull(node->evidence.commits);
	ck_assert_uint_eq(strlen(node->evidence.commits[0]), 40);
	ck_assert_str_eq(node->evidence.files_touched[0], "w1.txt");
	ck_assert_ptr_null(node->evidence.files_touched[1]);
	ck_assert_int_eq(node->attempts, 1);
	set = plan_floor_set(world.floor);
	ck_assert_uint_eq(set->assignment_count, 2);
	ck_assert_int_eq(set->assignments[0]->status, ASSIGNMENT_DONE);
	ck_assert_str_eq(set->assignments[0]->worker, "auto-1");
	ck_assert_str_eq(set->assignments[0]->run_id, "t1-1");
	ck_assert_int_eq(
	    set->assignments[0]->dispatches[0].result, DISPATCH_ACCEPTED);
	ck_assert_int_eq(plan_world_events(&world, "work.done"), 3);
	ck_assert_int_eq(plan_world_events(&world, "goal.completed"), 1);
	plan_world_end(&world);
}

TEST(a_task_runs_with_the_card_that_its_plan_names)
{
	struct plan_world world;
	const struct task *t;

	plan_world_begin(&world,
	    "[agents.smith]\nmodel = \"m\"\ndescription = \"d\"\n", NULL);
	plan_world_goal(&world, "goal_a", 1);
	xstrset(&plan_world_node(&world, "goal_a", "T1.1")->suggested_agent_id,
	    "smith");
	plan_world_live(&world);
	auto_world_turn(&world.world, 1);
	t = world.world.core->state.tasks[0];
	ck_assert_ptr_nonnull(t->run);
	ck_assert_str_eq(t->run->agent, "smith");
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	plan_world_end(&world);
}

TEST(auto_workers_that_are_not_allowed_get_no_node)
{
	struct plan_world world;

	plan_world_begin(&world, "allow_agents = [\"eve\"]\n", NULL);
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	floor_world_settle(&world.world.floor);
	ck_assert_uint_eq(world.world.core->state.task_count, 0);
	plan_world_is(&world, "goal_a", "active; T1.1 queued; ");
	plan_world_end(&world);
}

/* --- failures ---------------------------------------------------------- */

/* Every turn of the agent ends with an error. */
static void
refuse(struct plan_world *world)
{
	struct agent *agent = auto_world_agent(&world->world);

	if (agent != NULL && agent->op == NULL && agent->worker->session.busy &&
	    agent->worker->status != WORKER_STARTING)
		fake_session_turn_fails(agent->session, "It is refused.");
}

static bool
is_parked(const struct plan_world *world)
{
	const struct state *state = &world->world.core->state;

	return state->task_count == 1 && state->tasks[0]->step == TASK_PARKED;
}

static bool
is_refused(void *arg)
{
	if (is_parked(arg))
		return true;
	refuse(arg);
	return false;
}

/* One task, and its attempts are those of the node. */
static const struct task *
use_up(struct plan_world *world, int attempts)
{
	const struct task *t;

	floor_world_wait(&world->world.floor, is_refused, world);
	plan_world_settle(world);
	plan_world_is(world, "goal_a", "active; T1.1 blocked; ");
	t = world->world.core->state.tasks[0];
	ck_assert_str_eq(t->id, "t1");
	ck_assert_int_eq(t->attempts, attempts);
	ck_assert_int_eq(t->ask, ASK_FAILURE);
	ck_assert_int_eq(
	    plan_world_node(world, "goal_a", "T1.1")->attempts, attempts);
	auto_world_filed(&world->world, "");
	return t;
}

TEST(a_task_whose_attempts_are_used_up_waits_for_a_person)
{
	struct plan_world world;
	const struct plan_node *node;

	plan_world_begin(&world, NULL, "max_attempts = 2\n");
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	use_up(&world, 2);
	node = plan_world_node(&world, "goal_a", "T1.1");
	ck_assert_ptr_nonnull(strstr(node->blocked_reason, "refused"));
	ck_assert_int_eq(node->assignment->status, ASSIGNMENT_BLOCKED);
	/* The next daemon knows it. */
	plan_world_reopen(&world);
	plan_world_live(&world);
	floor_world_settle(&world.world.floor);
	plan_world_is(&world, "goal_a", "active; T1.1 blocked; ");
	ck_assert(is_parked(&world));
	plan_world_must(&world, "overseer.work.update",
	    "{\"goal\": \"goal_a\", \"node\": \"T1.1\", \"status\": "
	    "\"queued\", \"reason\": \"use tabs\"}");
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	auto_world_filed(&world.world, "t1 landed; ");
	ck_assert_int_eq(plan_world_events(&world, "assignment.escalated"), 0);
	plan_world_end(&world);
}

TEST(a_resumed_task_unblocks_its_node_and_has_its_attempts_again)
{
	struct plan_world world;

	plan_world_begin(&world, NULL, "max_attempts = 2\n");
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	use_up(&world, 2);
	plan_world_must(&world, "auto.resume", "{\"worker\": \"t1\"}");
	use_up(&world, 4);
	plan_world_must(&world, "auto.resume", "{\"worker\": \"t1\"}");
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	auto_world_filed(&world.world, "t1 landed; ");
	plan_world_end(&world);
}

TEST(another_worker_tries_it_once_more_where_the_goal_says_so)
{
	struct plan_world world;
	const struct task *t;

	plan_world_begin(&world, NULL, "max_attempts = 1\n");
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	plan_world_plan(&world, "goal_a")->goal->recovery_policy =
	    RECOVERY_REASSIGN;
	t = use_up(&world, 2);
	ck_assert_str_eq(t->avoid, "auto-1");
	plan_world_end(&world);
}

static bool
is_done(void *arg)
{
	return plan_world_node(arg, "goal_a", "T1.1")->status == NODE_DONE;
}

/* --- without a commit -------------------------------------------------- */

/* The agent says that it is done, in every turn. */
static bool
is_only_said(void *arg)
{
	struct plan_world *world = arg;
	struct agent *agent = auto_world_agent(&world->world);

	if (is_parked(world))
		return true;
	if (agent->op == NULL && agent->worker->session.busy &&
	    agent->worker->status != WORKER_STARTING)
		fake_session_turn_ends(agent->session, "It is done.");
	return false;
}

TEST(a_task_without_a_change_does_not_finish_its_node)
{
	struct plan_world world;
	const struct task *task;

	plan_world_begin(&world, NULL, "require_commit = false\n");
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	auto_world_turn(&world.world, 1);
	floor_world_wait(&world.world.floor, is_only_said, &world);
	plan_world_settle(&world);
	task = world.world.core->state.tasks[0];
	ck_assert_int_eq(task->ask, ASK_FAILURE);
	ck_assert_str_eq(
	    task->reason, "it ended without a change: It is done.");
	plan_world_is(&world, "goal_a", "active; T1.1 blocked; ");
	plan_world_end(&world);
}

TEST(a_task_whose_work_the_branch_has_already_finishes_its_node)
{
	struct plan_world world;
	const struct plan_node *node;
	struct agent *agent;

	plan_world_begin(&world, NULL, NULL);
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	agent = auto_world_turn(&world.world, 1);
	floor_world_wt(&world.world.floor, "auto-1",
	    "echo a >a.txt; git add a.txt; git commit -qm 'add a.txt'");
	floor_world_sh(&world.world.floor,
	    "echo a >a.txt; git add a.txt; git commit -qm 'the same'");
	fake_session_turn_ends(agent->session, "Done.");
	plan_world_work(&world, is_done, &world);
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	auto_world_filed(&world.world, "t1 no_changes; ");
	node = plan_world_node(&world, "goal_a", "T1.1");
	ck_assert_str_eq(
	    floor_world_sh(&world.world.floor, "git rev-parse main"),
	    node->evidence.commits[0]);
	plan_world_end(&world);
}

TEST(an_empty_commit_is_no_change)
{
	struct plan_world world;
	struct agent *agent;

	plan_world_begin(&world, NULL, "max_attempts = 1\n");
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	agent = auto_world_turn(&world.world, 1);
	floor_world_wt(&world.world.floor, "auto-1",
	    "git commit -q --allow-empty -m 'nothing'");
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait(&world.world.floor, is_refused, &world);
	plan_world_settle(&world);
	plan_world_is(&world, "goal_a", "active; T1.1 blocked; ");
	plan_world_end(&world);
}

/* --- reverts ----------------------------------------------------------- */

static bool
is_reopened(void *arg)
{
	struct plan_world *world = arg;
	const struct plan *plan = plan_world_plan(world, "goal_a");

	return plan != NULL && plan->goal->status == GOAL_ACTIVE;
}

static void
revert(struct plan_world *world, const char *commit)
{
	cleanup_free char *params = xasprintf("{\"commit\": \"%s\"}", commit);

	ck_assert_ptr_null(floor_world_answer(&world->world.floor,
	    floor_world_ask(&world->world.floor, "landing.revert", params)));
}

TEST(a_revert_opens_a_node_again_also_of_a_goal_that_was_completed)
{
	struct plan_world world;
	cleanup_free char *commit = NULL;

	plan_world_begin(&world, NULL, NULL);
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	plan_world_work_all(&world);
	commit = xstrdup(
	    plan_world_node(&world, "goal_a", "T1.1")->evidence.commits[0]);
	plan_world_reopen(&world);
	plan_world_live(&world);
	ck_assert_ptr_null(plan_world_plan(&world, "goal_a"));
	revert(&world, commit);
	floor_world_wait(&world.world.floor, is_reopened, &world);
	ck_assert_int_eq(plan_world_events(&world, "goal.active"), 1);
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	auto_world_filed(&world.world, "t1 landed; t2 landed; ");
	ck_assert_str_ne(
	    plan_world_node(&world, "goal_a", "T1.1")->evidence.commits[0],
	    commit);
	plan_world_end(&world);
}

/* --- pause and cancel -------------------------------------------------- */

static void
move_goal(struct plan_world *world, enum goal_status to)
{
	struct plan *plan = plan_world_plan(world, "goal_a");

	ck_assert_int_eq(
	    plan_goal_move(plan->goal, to, NULL, NULL, 1, NULL), 0);
	plan_book_record(world->floor, BOOK_GOAL, "goal_a", "goal_a");
	plan_floor_changed(world->floor);
}

TEST(while_a_goal_is_paused_turns_finish_and_nothing_begins)
{
	struct plan_world world;

	plan_world_begin(&world, NULL, NULL);
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 2);
	auto_world_turn(&world.world, 1);
	move_goal(&world, GOAL_PAUSED);
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "paused; T1.1 done; T1.2 todo; ");
	move_goal(&world, GOAL_ACTIVE);
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; T1.2 done; ");
	plan_world_end(&world);
}

/* A task is bound to its node before a worker gets it. */
static void
hold_when_bound(const struct event *event, void *arg)
{
	struct plan_world *world = arg;

	if (event->kind == EVENT_ASSIGNMENT_DISPATCHED)
		hold_begin(auto_world_agent(&world->world), false);
}

static bool
is_waiting(void *arg)
{
	const struct plan_world *world = arg;
	const struct state *state = &world->world.core->state;

	return state->task_count > 0 && state->tasks[0]->step == TASK_WAITING;
}

TEST(a_task_of_a_paused_goal_that_waits_is_taken_back)
{
	struct plan_world world;
	struct hold_change change;

	plan_world_begin(&world, NULL, NULL);
	plan_world_live(&world);
	emit_subscribe(world.world.core, hold_when_bound, &world);
	plan_world_goal(&world, "goal_a", 1);
	floor_world_wait(&world.world.floor, is_waiting, &world);
	emit_unsubscribe(world.world.core, hold_when_bound, &world);
	move_goal(&world, GOAL_PAUSED);
	ck_assert_uint_eq(world.world.core->state.task_count, 0);
	plan_world_is(&world, "goal_a", "paused; T1.1 queued; ");
	ck_assert_int_eq(
	    plan_world_node(&world, "goal_a", "T1.1")->attempts, 0);
	plan_world_settle(&world);
	hold_resume(auto_world_agent(&world.world), HOLD_ANY, NULL, &change);
	move_goal(&world, GOAL_ACTIVE);
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	plan_world_end(&world);
}

static bool
is_given_back(void *arg)
{
	if (is_waiting(arg))
		return true;
	refuse(arg);
	return false;
}

TEST(a_task_of_a_paused_goal_that_failed_is_tried_again_when_it_goes_on)
{
	struct plan_world world;

	plan_world_begin(&world, NULL, "max_attempts = 2\n");
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	auto_world_turn(&world.world, 1);
	move_goal(&world, GOAL_PAUSED);
	floor_world_wait_closely(&world.world.floor, is_given_back, &world);
	floor_world_settle(&world.world.floor);
	ck_assert(is_waiting(&world));
	ck_assert_int_eq(world.world.core->state.tasks[0]->attempts, 1);
	move_goal(&world, GOAL_ACTIVE);
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	auto_world_filed(&world.world, "t1 landed; ");
	plan_world_end(&world);
}

/* --- the end of a run -------------------------------------------------- */

static void
on_last_line(const struct event *event, void *arg)
{
	if (event->kind == EVENT_TASKS_EXHAUSTED)
		buf_adds(arg, event->text);
}

TEST(a_run_until_empty_ends_although_a_paused_goal_has_a_begun_task)
{
	struct plan_world world;
	cleanup_buf struct buf said = BUF_INIT;

	plan_world_begin(&world, NULL, "max_attempts = 2\n");
	world.world.mode->until_empty = true;
	emit_subscribe(world.world.core, on_last_line, &said);
	plan_world_goal(&world, "goal_a", 1);
	plan_world_live(&world);
	auto_world_turn(&world.world, 1);
	move_goal(&world, GOAL_PAUSED);
	floor_world_wait_closely(&world.world.floor, is_given_back, &world);
	floor_world_wait_stopped(&world.world.floor);
	/* A task is left: not everything has landed. */
	ck_assert_int_eq(world.world.core->exit_status, 1);
	ck_assert(is_waiting(&world));
	ck_assert_str_eq(said.data, ", 1 of paused goals: llmc goal list");
	plan_world_end(&world);
}

static bool
is_asking(void *arg)
{
	return is_parked(arg);
}

TEST(a_run_until_empty_ends_although_a_paused_goal_has_a_question)
{
	struct plan_world world;
	struct agent *agent;

	plan_world_begin(&world, NULL, NULL);
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	agent = auto_world_turn(&world.world, 1);
	fake_session_turn_ends(agent->session, "Tabs or spaces?");
	floor_world_wait(&world.world.floor, is_asking, &world);
	world.world.mode->until_empty = true;
	move_goal(&world, GOAL_PAUSED);
	floor_world_wait_stopped(&world.world.floor);
	/* A task is left: not everything has landed. */
	ck_assert_int_eq(world.world.core->exit_status, 1);
	plan_world_end(&world);
}

TEST(the_work_of_a_cancelled_goal_is_salvaged)
{
	struct plan_world world;

	plan_world_begin(&world, NULL, NULL);
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	auto_world_turn(&world.world, 1);
	auto_world_work(&world.world, "saved.txt");
	move_goal(&world, GOAL_CANCELLED);
	plan_world_work_all(&world);
	auto_world_filed(&world.world, "t1 aborted; ");
	ck_assert_int_eq(plan_world_events(&world, "assignment.cancelled"), 1);
	ck_assert_str_ne(
	    floor_world_sh(&world.world.floor,
		"git log --all --format=%H --grep 'add saved.txt'"),
	    "");
	plan_world_end(&world);
}

/* --- the store --------------------------------------------------------- */

/* A damaged store has lost the assignment. */
TEST(a_node_in_progress_that_nobody_works_on_is_begun_again)
{
	struct plan_world world;
	struct plan_node *node;

	plan_world_begin(&world, NULL, NULL);
	plan_world_goal(&world, "goal_a", 1);
	node = plan_world_node(&world, "goal_a", "T1.1");
	ck_assert_int_eq(plan_node_move(node,
			     &(struct plan_node_move){ .to = NODE_IN_PROGRESS },
			     node->updated_ms, NULL),
	    0);
	plan_world_live(&world);
	plan_world_work(&world, is_done, &world);
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	auto_world_filed(&world.world, "t1 landed; ");
	ck_assert_int_eq(
	    plan_world_node(&world, "goal_a", "T1.1")->attempts, 1);
	plan_world_end(&world);
}
