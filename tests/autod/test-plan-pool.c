/* SPDX-License-Identifier: ISC */

/* Tasks of a folder are recorded as implicit goals: these are in no list,
 * and the folder leads. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "buf.h"
#include "json.h"
#include "mem.h"
#include "outcome.h"
#include "persist.h"
#include "plan-floor.h"
#include "plan-implicit.h"
#include "plan-ready.h"
#include "plan-tick.h"
#include "plan-world.h"
#include "planbook.h"
#include "reconcile.h"
#include "store.h"
#include "task.h"
#include "unit.h"

static void
begin(struct plan_world *world, const char *more)
{
	plan_world_begin(world, NULL, more);
	auto_world_task(&world->world, "a.md", "Add a file\n\nAny file.\n");
	plan_world_live(world);
}

static struct json_object *
ask(struct plan_world *world, const char *method, const char *params)
{
	struct floor_call *call =
	    floor_world_ask(&world->world.floor, method, params);

	ck_assert_pstr_eq(floor_world_answer(&world->world.floor, call), NULL);
	return floor_call_result(call);
}

static const char *
refused(struct plan_world *world, const char *method, const char *format,
    const char *goal)
{
	cleanup_buf struct buf params = BUF_INIT;
	const char *words;

	buf_addf(&params, "{\"goal\": \"%s\"%s}", goal, format);
	words = floor_world_answer(&world->world.floor,
	    floor_world_ask(&world->world.floor, method, params.data));
	ck_assert_ptr_nonnull(words);
	return words;
}

/* All goals of the store, oldest first: those of single tasks are not listed.
 */
struct stored {
	struct json_object *goals;
	bool read;
};

static void
on_goals(const struct store_part *part, void *arg)
{
	struct stored *stored = arg;
	struct json_object *goal = NULL;

	ck_assert_ptr_null(part->err);
	for (size_t i = 0; i < part->record_count; i++) {
		const char *body = part->records[i].body;

		ck_assert_int_eq(
		    json_parse(body, strlen(body), STORE_GOAL_MAX, &goal, NULL),
		    0);
		json_object_array_add(stored->goals, goal);
	}
	stored->read = part->last;
}

static bool
is_read(void *arg)
{
	const struct stored *stored = arg;

	return stored->read;
}

/* The caller owns them. */
static struct json_object *
stored_goals(struct plan_world *world)
{
	struct stored stored = { .goals = json_object_new_array() };

	store_read(planbook_store(world->floor->book), STORE_GOAL, NULL, NULL,
	    on_goals, &stored);
	floor_world_wait(&world->world.floor, is_read, &stored);
	return stored.goals;
}

/* The n-th of them. */
static char *
stored_goal(struct plan_world *world, size_t n)
{
	cleanup_json struct json_object *goals = stored_goals(world);

	ck_assert_uint_gt(json_object_array_length(goals), n);
	return xstrdup(json_string_or(
	    json_object_array_get_idx(goals, n), "goalId", NULL));
}

static void
is_stored(struct plan_world *world, const char *want)
{
	cleanup_json struct json_object *goals = stored_goals(world);
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < json_object_array_length(goals); i++)
		buf_addf(&text, "%s; ",
		    json_string_or(
			json_object_array_get_idx(goals, i), "status", ""));
	ck_assert_str_eq(text.data, want);
}

static size_t
count_listed(struct plan_world *world, const char *params)
{
	return json_object_array_length(json_object_object_get(
	    ask(world, "overseer.goal.list", params), "goals"));
}

/* The only implicit plan in memory; NULL = none. */
static struct plan *
in_memory(struct plan_world *world)
{
	const struct plan_set *set = plan_floor_set(world->floor);
	struct plan *found = NULL;

	for (size_t i = 0; i < set->plan_count; i++)
		if (set->plans[i]->goal->implicit) {
			ck_assert_ptr_null(found);
			found = set->plans[i];
		}
	return found;
}

static bool
is_bound(void *arg)
{
	struct plan_world *world = arg;
	const struct plan *plan =
	    world->floor->state == PLAN_OPEN ? in_memory(world) : NULL;

	return plan != NULL && plan_implicit_node(plan)->assignment != NULL &&
	    plan_implicit_node(plan)->assignment->run_id != NULL;
}

/* Until its worker is in a turn, and all of it is stored. */
static struct plan_assignment *
wait_bound(struct plan_world *world)
{
	floor_world_wait(&world->world.floor, is_bound, world);
	auto_world_turn(&world->world, 1);
	plan_world_settle(world);
	return plan_implicit_node(in_memory(world))->assignment;
}

/* --- the way of a task ------------------------------------------------- */

START_TEST(a_task_that_a_worker_gets_is_an_implicit_goal)
{
	struct plan_world world;
	const struct plan_assignment *a;
	const struct plan_node *node;
	const struct plan *plan;

	begin(&world, NULL);
	a = wait_bound(&world);
	plan = in_memory(&world);
	node = plan_implicit_node(plan);
	ck_assert_str_eq(plan->goal->title, "Add a file");
	ck_assert_str_eq(
	    plan->goal->id, world.world.core->state.tasks[0]->goal);
	ck_assert_str_eq(
	    node->objective, world.world.core->state.tasks[0]->text);
	ck_assert_int_eq(node->status, NODE_IN_PROGRESS);
	ck_assert_int_eq(a->status, ASSIGNMENT_DISPATCHED);
	ck_assert_str_eq(a->task, "t1");
	ck_assert_str_eq(a->worker, "auto-1");
	ck_assert_str_eq(a->run_id, "t1-1");
	ck_assert_uint_eq(a->dispatch_count, 1);
	ck_assert_int_eq(a->dispatches[0].result, DISPATCH_ACCEPTED);
	/* It is told nothing that the folder does not say. */
	ck_assert_ptr_null(
	    strstr(fake_session_prompt(auto_world_agent(&world.world)->session),
		"overseerUpdate"));
	plan_world_end(&world);
}
END_TEST

START_TEST(a_goal_whose_task_has_landed_is_completed_and_leaves_the_memory)
{
	struct plan_world world;
	cleanup_free char *params = NULL, *goal = NULL;
	struct json_object *record, *node;

	begin(&world, NULL);
	plan_world_work_all(&world);
	auto_world_folder(&world.world, "done: a.md; ");
	ck_assert_uint_eq(plan_floor_set(world.floor)->plan_count, 0);
	ck_assert_uint_eq(plan_floor_set(world.floor)->assignment_count, 0);
	ck_assert_uint_eq(plan_floor_set(world.floor)->crystal_count, 0);
	ck_assert_uint_eq(count_listed(&world, "{}"), 0);
	ck_assert_uint_eq(count_listed(&world, "{\"all\": true}"), 0);
	is_stored(&world, "completed; ");
	goal = stored_goal(&world, 0);
	params = xasprintf("{\"goal\": \"%s\"}", goal);
	record = json_object_object_get(
	    ask(&world, "overseer.goal.show", params), "record");
	node = json_object_array_get_idx(
	    json_object_object_get(record, "nodes"), 1);
	ck_assert_str_eq(json_string_or(node, "status", ""), "done");
	ck_assert_ptr_nonnull(
	    strstr(json_object_to_json_string(node), "w1.txt"));
	ck_assert_int_eq(plan_world_events(&world, "goal.created"), 1);
	ck_assert_int_eq(plan_world_events(&world, "assignment.done"), 1);
	ck_assert_int_eq(plan_world_events(&world, "goal.completed"), 1);
	/* What was read for somebody goes again. */
	ck_assert_uint_eq(plan_floor_set(world.floor)->plan_count, 1);
	plan_floor_changed(world.floor);
	ck_assert_uint_eq(plan_floor_set(world.floor)->plan_count, 0);
	/* Nobody is told of it beside the store. */
	ck_assert_str_eq(floor_world_sh(&world.world.floor,
			     "grep -c 'goal\\.' .llmc/logs/auto.log || true"),
	    "0");
	plan_world_end(&world);
}
END_TEST

static bool
is_filed(void *arg)
{
	struct plan_world *world = arg;
	struct agent *agent = auto_world_agent(&world->world);

	if (world->world.core->state.task_count == 0)
		return true;
	if (agent->op == NULL && agent->worker->session.busy &&
	    agent->worker->status != WORKER_STARTING)
		fake_session_turn_ends(
		    agent->session, "I cannot do that. I refuse.");
	return false;
}

START_TEST(a_goal_whose_task_has_failed_is_cancelled_and_says_why)
{
	struct plan_world world;
	cleanup_free char *params = NULL, *goal = NULL;

	begin(&world, "max_attempts = 2\n");
	wait_bound(&world);
	floor_world_wait(&world.world.floor, is_filed, &world);
	auto_world_filed(&world.world, "t1 dead-letter; ");
	ck_assert_ptr_null(in_memory(&world));
	is_stored(&world, "cancelled; ");
	goal = stored_goal(&world, 0);
	params = xasprintf("{\"goal\": \"%s\"}", goal);
	ck_assert_ptr_nonnull(strstr(json_object_to_json_string(ask(
					 &world, "overseer.goal.show", params)),
	    "refused"));
	ck_assert_int_eq(plan_world_events(&world, "goal.created"), 1);
	ck_assert_int_eq(plan_world_events(&world, "assignment.cancelled"), 1);
	/* Auto mode tells a person about the task; that is enough. */
	ck_assert_int_eq(plan_world_events(&world, "assignment.escalated"), 0);
	plan_world_end(&world);
}
END_TEST

static bool
is_second_run(void *arg)
{
	const struct plan_assignment *a =
	    plan_implicit_node(in_memory(arg))->assignment;
	struct plan_world *world = arg;

	if (strcmp(a->run_id, "t1-2") == 0)
		return true;
	ck_assert(!is_filed(world));
	return false;
}

START_TEST(a_goal_whose_task_needed_no_change_is_completed)
{
	struct plan_world world;
	const struct agent *agent;

	begin(&world, "require_commit = false\n");
	wait_bound(&world);
	agent = auto_world_agent(&world.world);
	fake_session_turn_ends(agent->session, "It is there already.");
	plan_world_work_all(&world);
	auto_world_filed(&world.world, "t1 no_changes; ");
	is_stored(&world, "completed; ");
	plan_world_end(&world);
}
END_TEST

START_TEST(every_attempt_is_a_run_of_the_same_assignment)
{
	struct plan_world world;
	const struct plan_assignment *a;

	begin(&world, "max_attempts = 2\n");
	a = wait_bound(&world);
	floor_world_wait(&world.world.floor, is_second_run, &world);
	ck_assert_ptr_eq(plan_implicit_node(in_memory(&world))->assignment, a);
	plan_world_work_all(&world);
	is_stored(&world, "completed; ");
	plan_world_end(&world);
}
END_TEST

/* --- reverts ------------------------------------------------------------ */

static bool
is_reopened(void *arg)
{
	const struct plan *plan = in_memory(arg);

	return plan != NULL && plan->goal->status == GOAL_ACTIVE;
}

START_TEST(a_revert_opens_the_goal_and_the_folder_says_when_it_is_done_again)
{
	struct plan_world world;
	cleanup_free struct plan_ready *ready = NULL;
	cleanup_free char *params = NULL;

	begin(&world, NULL);
	plan_world_work_all(&world);
	plan_world_reopen(&world);
	plan_world_live(&world);
	plan_world_wait_open(&world);
	params = xasprintf("{\"commit\": \"%s\"}",
	    floor_world_sh(&world.world.floor, "git rev-parse main"));
	ask(&world, "landing.revert", params);
	floor_world_wait(&world.world.floor, is_reopened, &world);
	ck_assert_uint_eq(
	    plan_ready_list(plan_floor_set(world.floor), &ready), 0);
	plan_world_work_all(&world);
	ck_assert_uint_eq(world.world.core->state.task_count, 0);
	is_stored(&world, "active; ");
	ask(&world, "task.retry", "{\"task\": \"t1\"}");
	plan_world_work_all(&world);
	auto_world_filed(&world.world, "t1 landed; t1 landed; t2 landed; ");
	is_stored(&world, "completed; ");
	ck_assert_ptr_null(in_memory(&world));
	ck_assert_int_eq(plan_world_events(&world, "goal.created"), 1);
	ck_assert_int_eq(plan_world_events(&world, "goal.completed"), 2);
	plan_world_end(&world);
}
END_TEST

START_TEST(a_failed_task_that_is_done_again_has_another_goal)
{
	struct plan_world world;

	begin(&world, "max_attempts = 1\n");
	wait_bound(&world);
	floor_world_wait(&world.world.floor, is_filed, &world);
	ask(&world, "task.retry", "{\"task\": \"t1\"}");
	plan_world_work_all(&world);
	is_stored(&world, "cancelled; completed; ");
	plan_world_end(&world);
}
END_TEST

static bool
is_offered(void *arg)
{
	const struct plan_world *world = arg;

	return world->world.core->state.task_count > 0;
}

START_TEST(a_task_whose_goal_is_over_for_good_gets_another_one)
{
	struct plan_world world;
	cleanup_free char *goal = NULL;

	begin(&world, "max_attempts = 1\n");
	wait_bound(&world);
	floor_world_wait(&world.world.floor, is_filed, &world);
	goal = stored_goal(&world, 0);
	auto_world_task(&world.world, "b.md", "Add another file\n");
	floor_world_wait_closely(&world.world.floor, is_offered, &world);
	xstrset(&world.world.core->state.tasks[0]->goal, goal);
	plan_world_work_all(&world);
	is_stored(&world, "cancelled; completed; ");
	plan_world_end(&world);
}
END_TEST

/* --- many ---------------------------------------------------------------- */

#define MANY  1000
#define BATCH 50

static bool
is_empty(void *arg)
{
	const struct plan_world *world = arg;

	return world->world.core->state.task_count == 0;
}

/* Tasks that have ended, of no source that would have to be told. */
static void
end_many(struct plan_world *world)
{
	struct state *state = &world->world.core->state;

	for (int i = 0; i < BATCH; i++) {
		cleanup_free char *id = state_task_id(state);
		struct task *t = task_new(id, "fix", id, NULL, "Fix it", 1);

		ck_assert_int_eq(task_take(t, 1), 0);
		ck_assert_int_eq(task_assign(t, "auto-1", 1), 0);
		ck_assert_int_eq(
		    task_settle(t, OUTCOME_NO_CHANGES, NULL, 1), 0);
		state_add_task(state, t);
	}
	persist_changed(world->world.core);
	outcome_settle_due(world->world.mode);
	floor_world_wait(&world->world.floor, is_empty, world);
}

START_TEST(however_many_tasks_have_ended_none_is_left_in_memory)
{
	struct plan_world world;

	plan_world_begin(&world, NULL, NULL);
	plan_world_live(&world);
	plan_world_wait_open(&world);
	floor_world_settle(&world.world.floor);
	for (int i = 0; i < MANY; i += BATCH) {
		end_many(&world);
		ck_assert_uint_eq(plan_floor_set(world.floor)->plan_count, 0);
		ck_assert_uint_eq(
		    plan_floor_set(world.floor)->assignment_count, 0);
		ck_assert_uint_eq(
		    plan_floor_set(world.floor)->crystal_count, 0);
	}
	ck_assert_int_eq(plan_world_events(&world, "goal.completed"), MANY);
	plan_world_end(&world);
}
END_TEST

/* --- what nobody may ----------------------------------------------------- */

START_TEST(nobody_edits_plans_or_pauses_an_implicit_goal)
{
	static const char *const edits[][2] = {
		{ "overseer.work.update",
		    ", \"node\": \"TASK\", \"status\": \"cancelled\"" },
		{ "overseer.work.add", ", \"name\": \"x\"" },
		{ "overseer.work.split",
		    ", \"node\": \"TASK\", \"names\": [\"x\", \"y\"]" },
		{ "overseer.goal.plan", "" },
		{ "overseer.goal.plan",
		    ", \"plan\": \"## P\\n### T\\n"
		    "Acceptance:\\n- x\\n\"" },
		{ "overseer.goal.update", ", \"title\": \"x\"" },
		{ "overseer.goal.pause", "" },
		{ "overseer.goal.cancel", "" },
	};
	struct plan_world world;
	cleanup_free char *goal = NULL;

	begin(&world, NULL);
	goal = xstrdup(wait_bound(&world)->goal_id);
	for (size_t i = 0; i < nitems(edits); i++)
		ck_assert_ptr_nonnull(
		    strstr(refused(&world, edits[i][0], edits[i][1], goal),
			"llmc task drop t1"));
	plan_world_is(&world, goal, "active; TASK in_progress; ");
	plan_world_end(&world);
}
END_TEST

static void
on_ticked(const struct reconcile_result *result, void *arg)
{
	(void)arg;
	ck_assert_uint_eq(result->decision_count, 0);
	ck_assert_uint_eq(result->event_count, 0);
}

START_TEST(the_tick_leaves_the_tasks_of_auto_mode_alone)
{
	struct plan_world world;
	struct plan_assignment *a;

	begin(&world, NULL);
	a = wait_bound(&world);
	a->last_dispatch_ms = a->expected_update_ms = 1;
	fake_session_is_quiet(
	    auto_world_agent(&world.world)->session, INT64_C(1) << 40);
	plan_tick_now(world.floor, "test", true, on_ticked, NULL);
	ck_assert_int_eq(a->status, ASSIGNMENT_DISPATCHED);
	plan_world_end(&world);
}
END_TEST

/* --- the store lags behind ------------------------------------------------ */

START_TEST(without_goals_nothing_is_recorded)
{
	struct plan_world world;

	plan_world_begin(&world, NULL, NULL);
	plan_world_live(&world);
	plan_world_wait_open(&world);
	floor_world_settle(&world.world.floor); /* auto-1 is there */
	floor_world_sh(&world.world.floor,
	    "sed -i 's/^enabled = true/enabled = false/' .llmc/config.toml");
	floor_world_accept(&world.world.floor);
	plan_world_reopen(&world);
	auto_world_task(&world.world, "a.md", "Add a file\n");
	plan_world_live(&world);
	auto_world_turn(&world.world, 1);
	plan_world_work_all(&world);
	auto_world_filed(&world.world, "t1 landed; ");
	is_stored(&world, "");
	plan_world_end(&world);
}
END_TEST

START_TEST(without_its_store_a_task_goes_on_and_the_next_daemon_catches_up)
{
	struct plan_world world;
	struct agent *agent;

	begin(&world, NULL);
	wait_bound(&world);
	plan_floor_free(take_ptr(&world.floor));
	floor_world_sh(&world.world.floor,
	    "cd .llmc; mkdir kept; cp store.db* kept; rm store.db*; "
	    "head -c 8192 /dev/zero | tr '\\0' x >store.db");
	auto_world_reopen(&world.world);
	world.floor = plan_floor_new(world.world.mode);
	auto_world_task(&world.world, "b.md", "Add another file\n");
	plan_world_live(&world);
	plan_world_wait_open(&world);
	ck_assert_int_eq(world.floor->state, PLAN_SAFE);
	agent = auto_world_turn(&world.world, 1);
	auto_world_work(&world.world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_turn_on(&world.world, "t2");
	auto_world_filed(&world.world, "t1 landed; ");
	plan_floor_free(take_ptr(&world.floor));
	floor_world_sh(&world.world.floor,
	    "cd .llmc; rm -f store.db*; mv kept/store.db* .");
	auto_world_reopen(&world.world);
	world.floor = plan_floor_new(world.world.mode);
	plan_world_live(&world);
	plan_world_work_all(&world);
	auto_world_filed(&world.world, "t1 landed; t2 landed; ");
	is_stored(&world, "completed; completed; ");
	plan_floor_changed(world.floor);
	ck_assert_ptr_null(in_memory(&world));
	ck_assert_int_eq(plan_world_events(&world, "goal.created"), 2);
	plan_world_end(&world);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("plan-pool");

	unit_case(suite, "plan-pool",
	    (const TTest *const[]){
		a_task_that_a_worker_gets_is_an_implicit_goal,
		a_goal_whose_task_has_landed_is_completed_and_leaves_the_memory,
		a_goal_whose_task_has_failed_is_cancelled_and_says_why,
		a_goal_whose_task_needed_no_change_is_completed,
		every_attempt_is_a_run_of_the_same_assignment,
		a_revert_opens_the_goal_and_the_folder_says_when_it_is_done_again,
		a_failed_task_that_is_done_again_has_another_goal,
		a_task_whose_goal_is_over_for_good_gets_another_one,
		however_many_tasks_have_ended_none_is_left_in_memory,
		nobody_edits_plans_or_pauses_an_implicit_goal,
		the_tick_leaves_the_tasks_of_auto_mode_alone,
		without_goals_nothing_is_recorded,
		without_its_store_a_task_goes_on_and_the_next_daemon_catches_up,
		NULL });
	return suite;
}
