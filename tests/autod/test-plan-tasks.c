/* SPDX-License-Identifier: ISC */

/* Ready nodes of goals are tasks for auto workers, and their outcomes come
 * back, whenever the daemon is killed. */
#include "unit.h"
#include "worker-op.h"
#include "outcome.h"
#include "park.h"
#include "plan-floor.h"
#include "plan-world.h"
#include "task.h"

/* --- the way of a goal ------------------------------------------------ */

TEST(a_goal_is_completed_node_by_node)
{
	const struct plan_node *node;

	plan_world_begin_goal(NULL, 2);
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; T1.2 done; ");
	auto_world_filed("t1 landed; t2 landed; ");
	node = plan_world_node("goal_a", "T1.1");
	ck_assert_ptr_nonnull(node->evidence.commits);
	ck_assert_uint_eq(strlen(node->evidence.commits[0]), 40);
	ck_assert_str_eq(node->evidence.files_touched[0], "w1.txt");
	ck_assert_ptr_null(node->evidence.files_touched[1]);
	ck_assert_int_eq(node->attempts, 1);
	ck_assert_int_eq(node->work.status, ASSIGNMENT_DONE);
	ck_assert_str_eq(node->work.worker, "auto-1");
	ck_assert_str_eq(node->work.run_id, "t1-1");
	ck_assert_int_eq(node->work.dispatches[0].result, DISPATCH_ACCEPTED);
	ck_assert_int_eq(plan_world_events("work.done"), 3);
	ck_assert_int_eq(plan_world_events("goal.completed"), 1);
}

TEST(a_task_runs_with_the_card_that_its_plan_names)
{
	const struct task *t;

	plan_world_begin(
	    "[agents.smith]\nmodel = \"m\"\ndescription = \"d\"\n", NULL);
	plan_world_goal("goal_a", 1);
	xstrset(
	    &plan_world_node("goal_a", "T1.1")->suggested_agent_id, "smith");
	plan_world_live();
	auto_world_turn(1);
	t = auto_world.core->state.tasks[0];
	ck_assert_str_eq(t->launch.agent, "smith");
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
}

static bool
is_parked(void)
{
	const struct state *state = &auto_world.core->state;

	return state->task_count == 1 && state->tasks[0]->step == TASK_PARKED;
}

TEST(a_task_whose_card_lacks_a_tool_waits_for_a_person)
{
	struct plan_node *node;
	struct task *t;

	plan_world_begin(
	    "[agents.smith]\ndescription = \"d\"\ntools = [\"Read\"]\n", NULL);
	plan_world_goal("goal_a", 1);
	node = plan_world_node("goal_a", "T1.1");
	xstrset(&node->suggested_agent_id, "smith");
	strv_add(&node->required_tools, "Read");
	strv_add(&node->required_tools, "pytest"); /* no tool: a program */
	strv_add(&node->required_tools, "WebFetch");
	plan_world_live();
	auto_world_wait_step("t1", TASK_PARKED);
	plan_world_settle();
	t = auto_world.core->state.tasks[0];
	ck_assert_int_eq(t->attempts, 0);
	ck_assert_int_eq(t->ask, ASK_APPROVAL);
	ck_assert_ptr_nonnull(strstr(t->reason,
	    "needs the tool WebFetch, which the agent smith does not have"));
	/* Without the card it has every tool. */
	xstrset(&t->launch.agent, NULL);
	plan_world_must("task.retry", "{\"task\": \"t1\"}");
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
}

TEST(auto_workers_that_are_not_allowed_get_no_node)
{
	plan_world_begin("allow_agents = [\"eve\"]\n", NULL);
	plan_world_live();
	plan_world_goal("goal_a", 1);
	floor_world_settle();
	ck_assert_uint_eq(auto_world.core->state.task_count, 0);
	plan_world_is("goal_a", "active; T1.1 queued; ");
}

/* --- failures ---------------------------------------------------------- */

/* Every turn of the agent ends with an error. */
static void
refuse(void)
{
	struct agent *agent = auto_world_agent();

	if (agent != NULL && agent->op == NULL && agent->worker->session.busy &&
	    agent->worker->status != WORKER_STARTING)
		fake_session_turn_fails(agent->session, "It is refused.");
}

static bool
is_refused(void *arg)
{
	(void)arg;
	if (is_parked())
		return true;
	refuse();
	return false;
}

/* One task, and its attempts are those of the node. */
static const struct task *
use_up(int attempts)
{
	const struct task *t;

	floor_world_wait(is_refused, &plan_world);
	plan_world_settle();
	plan_world_is("goal_a", "active; T1.1 blocked; ");
	t = auto_world.core->state.tasks[0];
	ck_assert_str_eq(t->id, "t1");
	ck_assert_int_eq(t->attempts, attempts);
	ck_assert_int_eq(t->ask, ASK_FAILURE);
	ck_assert_int_eq(plan_world_node("goal_a", "T1.1")->attempts, attempts);
	auto_world_filed("");
	return t;
}

TEST(a_task_whose_attempts_are_used_up_waits_for_a_person)
{
	const struct plan_node *node;

	plan_world_begin_goal("max_attempts = 2\n", 1);
	use_up(2);
	node = plan_world_node("goal_a", "T1.1");
	ck_assert_ptr_nonnull(strstr(node->blocked_reason, "refused"));
	ck_assert_int_eq(node->work.status, ASSIGNMENT_BLOCKED);
	/* The next daemon knows it. */
	plan_world_die();
	floor_world_settle();
	plan_world_is("goal_a", "active; T1.1 blocked; ");
	ck_assert(is_parked());
	plan_world_must("overseer.work.update",
	    "{\"goal\": \"goal_a\", \"node\": \"T1.1\", \"status\": "
	    "\"queued\", \"reason\": \"use tabs\"}");
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
	auto_world_filed("t1 landed; ");
	ck_assert_int_eq(plan_world_events("assignment.escalated"), 0);
}

/* Other agents can read why a node is blocked. */
TEST(a_question_for_a_person_is_not_in_the_reason_of_its_node)
{
	struct agent *agent;

	plan_world_begin_goal(NULL, 1);
	floor_world_until((agent = auto_world_agent()) != NULL &&
	    agent->op == NULL && agent->worker->session.busy);
	op_park_task(auto_world.mode, agent, ASK_QUESTION,
	    "it asks: What is the password?");
	auto_world_wait_step("t1", TASK_PARKED);
	plan_world_settle();
	ck_assert_str_eq(
	    plan_world_node("goal_a", "T1.1")->blocked_reason, TASK_ASKS);
}

TEST(a_resumed_task_unblocks_its_node_and_has_its_attempts_again)
{
	plan_world_begin_goal("max_attempts = 2\n", 1);
	use_up(2);
	plan_world_must("auto.resume", "{\"worker\": \"t1\"}");
	use_up(4);
	plan_world_must("auto.resume", "{\"worker\": \"t1\"}");
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
	auto_world_filed("t1 landed; ");
}

TEST(a_dropped_task_is_not_done_again_while_its_node_is_blocked)
{
	struct json_object *why;

	plan_world_begin_goal("max_attempts = 1\n", 1);
	use_up(1);
	plan_world_must("task.drop", "{\"task\": \"t1\"}");
	plan_world_settle();
	plan_world_is("goal_a", "active; T1.1 blocked; ");
	why = plan_world_must("overseer.why", "{\"subject\": \"goal_a/T1.1\"}");
	ck_assert_ptr_nonnull(strstr(
	    json_object_to_json_string(why), "needed: dropped by a person"));
	plan_world_refused("task.retry", "{\"task\": \"t1\"}", API_STATUS,
	    "type: llmc goal node unblock goal_a/T1.1");
	plan_world_must("overseer.work.update",
	    "{\"goal\": \"goal_a\", \"node\": \"T1.1\", \"status\": "
	    "\"queued\"}");
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
	plan_world_refused(
	    "task.retry", "{\"task\": \"t1\"}", API_STATUS, "its node is done");
	plan_world_must("task.retry", "{\"task\": \"t2\"}");
	plan_world_work_all();
	auto_world_filed("t1 aborted; t2 landed; t3 landed; ");
}

TEST(another_worker_tries_it_once_more_where_the_goal_says_so)
{
	const struct task *t;

	plan_world_begin_goal("max_attempts = 1\n", 1);
	plan_world_plan("goal_a")->goal->recovery_policy = RECOVERY_REASSIGN;
	t = use_up(2);
	ck_assert_str_eq(t->avoid, "auto-1");
}

static bool
is_done(void *arg)
{
	(void)arg;
	return plan_world_node("goal_a", "T1.1")->status == NODE_DONE;
}

/* --- without a commit -------------------------------------------------- */

/* The agent says that it is done, in every turn. */
static bool
is_only_said(void *arg)
{
	struct agent *agent = auto_world_agent();

	(void)arg;
	if (is_parked())
		return true;
	if (agent->op == NULL && agent->worker->session.busy &&
	    agent->worker->status != WORKER_STARTING)
		fake_session_turn_ends(agent->session, "It is done.");
	return false;
}

TEST(a_task_without_a_change_does_not_finish_its_node)
{
	const struct task *task;

	plan_world_begin_goal("require_commit = false\n", 1);
	auto_world_turn(1);
	floor_world_wait(is_only_said, &plan_world);
	plan_world_settle();
	task = auto_world.core->state.tasks[0];
	ck_assert_int_eq(task->ask, ASK_FAILURE);
	ck_assert_str_eq(
	    task->reason, "it ended without a change: It is done.");
	plan_world_is("goal_a", "active; T1.1 blocked; ");
}

TEST(a_task_whose_result_is_a_report_is_done_with_it)
{
	const struct plan_node *node;

	plan_world_begin(NULL, NULL);
	plan_world_goal("goal_a", 1);
	plan_world_node("goal_a", "T1.1")->result = NODE_RESULT_REPORT;
	plan_world_live();
	fake_session_turn_ends(
	    auto_world_turn(1)->session, "The parser is sound.");
	floor_world_wait(is_done, NULL);
	plan_world_settle();
	plan_world_is("goal_a", "completed; T1.1 done; ");
	auto_world_filed("t1 no_changes; ");
	node = plan_world_node("goal_a", "T1.1");
	ck_assert_str_eq(node->evidence.external_refs[0],
	    "task t1: its agent has reported that it is complete");
}

TEST(a_task_whose_work_the_branch_has_already_finishes_its_node)
{
	const struct plan_node *node;
	struct agent *agent;

	plan_world_begin_goal(NULL, 1);
	agent = auto_world_turn(1);
	floor_world_wt("auto-1",
	    "echo a >a.txt; git add a.txt; git commit -qm 'add a.txt'");
	floor_world_sh(
	    "echo a >a.txt; git add a.txt; git commit -qm 'the same'");
	fake_session_turn_ends(agent->session, "Done.");
	plan_world_work(is_done, &plan_world);
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
	auto_world_filed("t1 no_changes; ");
	node = plan_world_node("goal_a", "T1.1");
	ck_assert_str_eq(
	    floor_world_sh("git rev-parse main"), node->evidence.commits[0]);
}

TEST(an_empty_commit_is_no_change)
{
	struct agent *agent;

	plan_world_begin_goal("max_attempts = 1\n", 1);
	agent = auto_world_turn(1);
	floor_world_wt("auto-1", "git commit -q --allow-empty -m 'nothing'");
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait(is_refused, &plan_world);
	plan_world_settle();
	plan_world_is("goal_a", "active; T1.1 blocked; ");
}

/* --- reverts ----------------------------------------------------------- */

static bool
is_reopened(void *arg)
{
	const struct plan *plan = plan_world_plan("goal_a");

	(void)arg;
	return plan != NULL && plan->goal->status == GOAL_ACTIVE;
}

static void
revert(const char *commit)
{
	cleanup_free char *params = xasprintf("{\"commit\": \"%s\"}", commit);

	ck_assert_ptr_null(
	    floor_world_answer(floor_world_ask("landing.revert", params)));
}

TEST(a_revert_opens_a_node_again_also_of_a_goal_that_was_completed)
{
	cleanup_free char *commit = NULL;

	plan_world_begin_goal(NULL, 1);
	plan_world_work_all();
	commit =
	    xstrdup(plan_world_node("goal_a", "T1.1")->evidence.commits[0]);
	plan_world_die();
	ck_assert_ptr_null(plan_world_plan("goal_a"));
	revert(commit);
	floor_world_wait(is_reopened, &plan_world);
	ck_assert_int_eq(plan_world_events("goal.active"), 1);
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
	auto_world_filed("t1 landed; t2 landed; ");
	ck_assert_str_ne(
	    plan_world_node("goal_a", "T1.1")->evidence.commits[0], commit);
}

/* --- pause and cancel -------------------------------------------------- */

static void
move_goal(enum goal_status to)
{
	struct plan *plan = plan_world_plan("goal_a");

	ck_assert_int_eq(
	    plan_goal_move(plan->goal, to, NULL, NULL, 1, NULL), 0);
	plan_book_record(plan_world.floor, BOOK_GOAL, "goal_a", "goal_a");
	plan_floor_changed(plan_world.floor);
}

TEST(while_a_goal_is_paused_turns_finish_and_nothing_begins)
{
	plan_world_begin_goal(NULL, 2);
	auto_world_turn(1);
	move_goal(GOAL_PAUSED);
	plan_world_work_all();
	plan_world_is("goal_a", "paused; T1.1 done; T1.2 todo; ");
	move_goal(GOAL_ACTIVE);
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; T1.2 done; ");
}

/* A task is bound to its node before a worker gets it. */
static void
hold_when_bound(const struct event *event, void *arg)
{
	(void)arg;
	if (event->kind == EVENT_ASSIGNMENT_DISPATCHED)
		hold_begin(auto_world_agent(), false);
}

static bool
is_waiting(void *arg)
{
	const struct state *state = &auto_world.core->state;

	(void)arg;
	return state->task_count > 0 && state->tasks[0]->step == TASK_WAITING;
}

/* Unless it has work, or the answer of a person, that would be lost. */
TEST_ROWS(a_task_of_a_paused_goal_that_waits_is_taken_back, 3)
{
	struct hold_change change;
	struct task *t;

	plan_world_begin(NULL, NULL);
	plan_world_live();
	emit_subscribe(auto_world.core, hold_when_bound, &plan_world);
	plan_world_goal("goal_a", 1);
	floor_world_wait(is_waiting, &plan_world);
	emit_unsubscribe(auto_world.core, hold_when_bound, &plan_world);
	t = auto_world.core->state.tasks[0];
	xstrset(&t->from, _i == 1 ? "its work" : NULL);
	xstrset(&t->advice, _i == 2 ? "Use the blue one." : NULL);
	move_goal(GOAL_PAUSED);
	ck_assert_uint_eq(auto_world.core->state.task_count, _i > 0);
	if (_i > 0)
		return;
	plan_world_is("goal_a", "paused; T1.1 queued; ");
	ck_assert_int_eq(plan_world_node("goal_a", "T1.1")->attempts, 0);
	plan_world_settle();
	hold_resume(auto_world_agent(), HOLD_ANY, NULL, &change);
	move_goal(GOAL_ACTIVE);
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
}

static bool
is_given_back(void *arg)
{
	if (is_waiting(arg))
		return true;
	refuse();
	return false;
}

TEST(a_task_of_a_paused_goal_that_failed_is_tried_again_when_it_goes_on)
{
	plan_world_begin_goal("max_attempts = 2\n", 1);
	auto_world_turn(1);
	move_goal(GOAL_PAUSED);
	floor_world_wait_closely(is_given_back, &plan_world);
	floor_world_settle();
	ck_assert(is_waiting(&plan_world));
	ck_assert_int_eq(auto_world.core->state.tasks[0]->attempts, 1);
	move_goal(GOAL_ACTIVE);
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
	auto_world_filed("t1 landed; ");
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
	cleanup_buf struct buf said = BUF_INIT;

	plan_world_begin(NULL, "max_attempts = 2\n");
	auto_world.mode->until_empty = true;
	emit_subscribe(auto_world.core, on_last_line, &said);
	plan_world_goal("goal_a", 1);
	plan_world_live();
	auto_world_turn(1);
	move_goal(GOAL_PAUSED);
	floor_world_wait_closely(is_given_back, &plan_world);
	floor_world_wait_stopped();
	/* A task is left: not everything has landed. */
	ck_assert_int_eq(auto_world.core->exit_status, 1);
	ck_assert(is_waiting(&plan_world));
	ck_assert_str_eq(said.data, ", 1 of paused goals: llmc goal list");
}

TEST(a_run_until_empty_ends_although_a_paused_goal_has_a_question)
{
	struct agent *agent;

	plan_world_begin_goal(NULL, 1);
	agent = auto_world_turn(1);
	fake_session_turn_ends(agent->session, "Tabs or spaces?");
	auto_world_wait_step("t1", TASK_PARKED);
	auto_world.mode->until_empty = true;
	move_goal(GOAL_PAUSED);
	floor_world_wait_stopped();
	/* A task is left: not everything has landed. */
	ck_assert_int_eq(auto_world.core->exit_status, 1);
}

TEST(the_work_of_a_cancelled_goal_is_salvaged)
{
	plan_world_begin_goal(NULL, 1);
	auto_world_turn(1);
	auto_world_work("saved.txt");
	move_goal(GOAL_CANCELLED);
	plan_world_work_all();
	auto_world_filed("t1 aborted; ");
	ck_assert_int_eq(plan_world_events("assignment.cancelled"), 1);
	ck_assert_str_ne(
	    floor_world_sh("git log --all --format=%H --grep 'add saved.txt'"),
	    "");
}

/* Its node was given to another, who gave it back before it has ended: whatever
 * its outcome is, the node waits for the next one. */
TEST(a_task_whose_node_went_to_another_does_not_come_back_to_it)
{
	const struct plan_work_move move = { .to = ASSIGNMENT_CANCELLED };
	struct plan_node *node;

	plan_world_begin_goal(NULL, 1);
	auto_world_turn(1);
	node = plan_world_node("goal_a", "T1.1");
	plan_node_assign(node, "A_other", clock_wall_ms() + 1);
	ck_assert_int_eq(plan_node_move_work(node, &move, clock_wall_ms()), 0);
	plan_apply_work(plan_world.floor, node);
	plan_bind_move_node(plan_world.floor, plan_world_plan("goal_a"), node,
	    NODE_QUEUED, NULL);
	plan_tasks_changed(plan_world.floor->tasks);
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
	auto_world_filed("t1 aborted; t2 landed; ");
	ck_assert_int_eq(plan_world_events("work.blocked"), 0);
}

/* Whether it is still wanted is known when the other one has ended. */
TEST(a_task_waits_while_another_one_on_its_node_ends)
{
	static const struct {
		enum task_step step;
		int want;
	} rows[] = {
		{ TASK_ASSIGNED, -ESTALE },
		{ TASK_QUEUED, -ESTALE },
		{ TASK_LANDED, -EINPROGRESS },
		{ TASK_SETTLING, -EINPROGRESS },
	};
	struct task *has_it, *next;
	enum task_step step;

	plan_world_begin_goal(NULL, 1);
	auto_world_turn(1);
	has_it = auto_world_of("t1");
	step = has_it->step;
	next = task_new_retry("t2", has_it, clock_wall_ms());
	for (size_t i = 0; i < nitems(rows); i++) {
		struct err err = { 0 };

		has_it->step = rows[i].step;
		ck_assert_int_eq(plan_bind(plan_world.floor, next, false, &err),
		    rows[i].want);
	}
	has_it->step = step;
	task_free(next);
}

/* --- the store --------------------------------------------------------- */

/* A damaged store has lost the assignment. */
TEST(a_node_in_progress_that_nobody_works_on_is_begun_again)
{
	struct plan_node *node;

	plan_world_begin(NULL, NULL);
	plan_world_goal("goal_a", 1);
	node = plan_world_node("goal_a", "T1.1");
	ck_assert_int_eq(plan_node_move(node,
			     &(struct plan_node_move){ .to = NODE_IN_PROGRESS },
			     node->updated_ms, NULL),
	    0);
	plan_world_live();
	plan_world_work(is_done, &plan_world);
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
	auto_world_filed("t1 landed; ");
	ck_assert_int_eq(plan_world_node("goal_a", "T1.1")->attempts, 1);
}
