/* SPDX-License-Identifier: ISC */

/* The planner of goals, played by a shell script: it is asked for plans, asked
 * again, and given up. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "outcome.h"
#include "plan-book.h"
#include "plan-floor.h"
#include "plan-tick.h"
#include "plan-world.h"
#include "planner.h"
#include "strv.h"
#include "unit.h"

#define PHASE(tasks)                                              \
	"{\"planVersion\":1,\"phases\":[{\"id\":\"P1\",\"name\":" \
	"\"Phase\",\"acceptance\":[\"it is there\"],\"tasks\":[" tasks "]}]}"
#define TASK(id) \
	"{\"id\":\"" id "\",\"name\":\"Task\",\"acceptance\":[\"it works\"]}"
#define GOOD PHASE(TASK("T1.1"))
#define BAD  PHASE("{\"id\":\"T1.1\",\"name\":\"Task\"}")

#define PRINT(json) "cat <<'E'\n" json "\nE\n"
#define HANG        "exec tail -f /dev/null\n"

/* planner.timeout in the ratio of the defaults to the times of begin(). */
#define TIMEOUT "timeout = \"250ms\"\n"

/* Settings for [planner], and what the planner does: a shell script in which $n
 * says how often it was asked, and its prompt is in .llmc/prompt.$n. */
static void
begin(struct plan_world *world, const char *settings, const char *script)
{
	cleanup_free char *plan =
	    xasprintf("tick_every = \"100ms\"\nidle_after = \"750ms\"\n"
		      "min_resend_interval = \"250ms\"\n"
		      "backoff_base = \"100ms\"\nbackoff_max = \"1500ms\"\n"
		      "[planner]\ncommand = \"sh .llmc/planner.sh\"\n%s",
		settings);
	cleanup_free char *text = xasprintf("echo >>.llmc/runs\n"
					    "n=$(wc -l <.llmc/runs)\n"
					    "cat >.llmc/prompt.$n\n"
					    "echo \"$LLMC_COMMAND\" "
					    ">.llmc/whose\n%s",
	    script);
	cleanup_free char *path = NULL;

	plan_world_begin(world, plan, "max_attempts = 1\n");
	path = workspace_path(&world->world.floor.workspace, "planner.sh");
	ck_assert_int_eq(file_replace(path, text, strlen(text), 0600, NULL), 0);
	plan_world_live(world);
	ck_assert_int_eq(world->floor->state, PLAN_OPEN);
}

/* A goal without a plan. */
static struct plan *
add_goal(struct plan_world *world, const char *id)
{
	struct plan *plan =
	    plan_new(plan_goal_new(id, "Make tea", clock_wall_ms()));

	ck_assert_int_eq(
	    plan_set_add(plan_floor_set(world->floor), plan, NULL), 0);
	plan_book_record(world->floor, BOOK_GOAL, id, id);
	planner_look(world->floor->planner);
	return plan;
}

static int
runs(struct plan_world *world)
{
	return (int)strtol(floor_world_sh(&world->world.floor,
			       "touch .llmc/runs; wc -l <.llmc/runs"),
	    NULL, 10);
}

static const char *
prompt(struct plan_world *world, int n)
{
	cleanup_free char *command = xasprintf("cat .llmc/prompt.%d", n);

	return floor_world_sh(&world->world.floor, command);
}

struct wait {
	struct plan_world *world;
	const char *told;
};

static bool
was_told(void *arg)
{
	const struct wait *wait = arg;

	return strstr(wait->world->world.told.data, wait->told) != NULL;
}

static void
wait_told(struct plan_world *world, const char *told)
{
	struct wait wait = { world, told };

	floor_world_wait(&world->world.floor, was_told, &wait);
	plan_world_settle(world);
}

static bool
is_asked(void *arg)
{
	struct plan_world *world = arg;
	cleanup_free char *path =
	    workspace_path(&world->world.floor.workspace, "whose");

	return file_exists(path);
}

/* --- plans --------------------------------------------------------------- */

TEST(a_goal_without_a_plan_gets_one)
{
	struct plan_world world;
	const struct plan_goal *goal;
	cleanup_free char *root = NULL;

	begin(&world, "", PRINT(GOOD));
	goal = add_goal(&world, "goal_a")->goal;
	wait_told(&world, "plan.generated");
	ck_assert_ptr_nonnull(plan_world_node(&world, "goal_a", "T1.1"));
	ck_assert_ptr_nonnull(strstr(prompt(&world, 1), "Make tea"));
	ck_assert_int_eq(runs(&world), 1);
	ck_assert_str_eq(goal->model_ref, "planner.command");
	ck_assert_str_eq(goal->template_id, "plan.v1");
	ck_assert_ptr_nonnull(goal->template_hash);
	ck_assert_ptr_nonnull(goal->planner_output);
	ck_assert_ptr_nonnull(strstr(
	    json_string_or(goal->planner_inputs, "prompt", ""), "Make tea"));
	ck_assert_int_eq(goal->plan_attempts, 0);
	ck_assert_int_eq(plan_world_events(&world, "plan.generated"), 1);
	/* It is no person. */
	root = xstrdup(world.world.floor.workspace.root);
	ck_assert_str_eq(
	    floor_world_sh(&world.world.floor, "cat .llmc/whose"), root);
	plan_world_end(&world);
}

TEST(a_draft_waits_until_it_is_applied)
{
	struct plan_world world;
	const struct plan *plan;
	struct err err = { 0 };

	begin(&world, "", PRINT(GOOD));
	plan = add_goal(&world, "goal_a");
	ck_assert_int_eq(
	    planner_ask(world.floor->planner, "goal_a", true, &err), 0);
	wait_told(&world, "plan.drafted");
	plan_world_settle(&world);
	/* The goal has no plan, but the planner is not asked for one. */
	ck_assert_int_eq(runs(&world), 1);
	ck_assert_uint_eq(plan->count, 0);
	ck_assert_ptr_nonnull(plan->goal->draft);
	ck_assert(!planner_expects(world.floor->planner));
	plan_world_must(&world, "overseer.plan.apply", "{\"goal\":\"goal_a\"}");
	ck_assert_ptr_nonnull(plan_world_node(&world, "goal_a", "T1.1"));
	ck_assert_str_eq(plan->goal->model_ref, "planner.command");
	ck_assert_int_eq(plan_world_events(&world, "plan.created"), 1);
	plan_world_end(&world);
}

TEST(an_invalid_answer_is_corrected)
{
	struct plan_world world;
	const struct plan_goal *goal;

	begin(&world, "",
	    "if [ $n = 1 ]; then\n" PRINT(BAD) "else\n" PRINT(GOOD) "fi\n");
	goal = add_goal(&world, "goal_a")->goal;
	wait_told(&world, "plan.generated");
	ck_assert_int_eq(runs(&world), 2);
	/* Each run has no memory of the one before. */
	ck_assert_ptr_nonnull(strstr(prompt(&world, 2), "Make tea"));
	ck_assert_ptr_nonnull(
	    strstr(prompt(&world, 2), "phases[0].tasks[0].acceptance"));
	ck_assert_uint_eq(strv_count(goal->validation_errors), 1);
	plan_world_end(&world);
}

TEST(nothing_is_guessed_when_no_answer_is_valid)
{
	struct plan_world world;
	struct plan *plan;
	struct err err = { 0 };

	begin(&world, "max_repair_attempts = 1\n",
	    "if [ $n -le 2 ]; then\n" PRINT(BAD) "else\n" PRINT(GOOD) "fi\n");
	plan = add_goal(&world, "goal_a");
	wait_told(&world, "plan.failed");
	ck_assert_int_eq(runs(&world), 2);
	ck_assert_uint_eq(plan->count, 0);
	ck_assert_ptr_nonnull(
	    strstr(plan->goal->plan_fault, "phases[0].tasks[0].acceptance"));
	/* The next daemon does not ask again by itself. */
	plan_world_reopen(&world);
	plan_world_live(&world);
	plan_world_settle(&world);
	ck_assert_int_eq(runs(&world), 2);
	plan = plan_world_plan(&world, "goal_a");
	ck_assert_ptr_nonnull(plan->goal->plan_fault);
	ck_assert(!planner_expects(world.floor->planner));
	ck_assert_int_eq(
	    planner_ask(world.floor->planner, "goal_a", false, &err), 0);
	ck_assert(planner_expects(world.floor->planner));
	wait_told(&world, "plan.generated");
	ck_assert_ptr_null(plan->goal->plan_fault);
	ck_assert_int_eq(runs(&world), 3);
	plan_world_end(&world);
}

TEST(a_slow_planner_is_ended_and_asked_again)
{
	struct plan_world world;
	const struct plan *plan;

	begin(&world, TIMEOUT, HANG);
	plan = add_goal(&world, "goal_a");
	wait_told(&world, "plan.failed");
	ck_assert_msg(strstr(plan->goal->plan_fault, "took longer") != NULL,
	    "%s", plan->goal->plan_fault);
	ck_assert_int_eq(plan->goal->plan_attempts, 3);
	plan_world_end(&world);
}

TEST(a_huge_answer_is_not_read_to_its_end)
{
	struct plan_world world;
	const struct plan *plan;

	begin(&world, "max_repair_attempts = 1\n", "exec yes\n");
	plan = add_goal(&world, "goal_a");
	wait_told(&world, "plan.failed");
	ck_assert_ptr_nonnull(
	    strstr(plan->goal->plan_fault, "more than 1048576 bytes"));
	ck_assert_int_eq(runs(&world), 2);
	plan_world_end(&world);
}

TEST(an_exit_status_is_believed_before_the_answer)
{
	struct plan_world world;
	const struct plan *plan;

	begin(&world, "", PRINT(GOOD) "echo no luck >&2\nexit 3\n");
	plan = add_goal(&world, "goal_a");
	wait_told(&world, "plan.failed");
	ck_assert_ptr_nonnull(strstr(plan->goal->plan_fault, "status 3"));
	ck_assert_ptr_nonnull(strstr(plan->goal->plan_fault, "no luck"));
	ck_assert_int_eq(runs(&world), 3);
	plan_world_end(&world);
}

TEST(the_next_daemon_asks_again)
{
	struct plan_world world;

	begin(&world, "", "[ $n = 1 ] && " HANG PRINT(GOOD));
	add_goal(&world, "goal_a");
	floor_world_wait(&world.world.floor, is_asked, &world);
	plan_world_reopen(&world);
	plan_world_live(&world);
	wait_told(&world, "plan.generated");
	ck_assert_int_eq(runs(&world), 2);
	ck_assert_ptr_nonnull(plan_world_node(&world, "goal_a", "T1.1"));
	plan_world_end(&world);
}

TEST(daemons_that_die_of_it_do_not_try_for_ever)
{
	struct plan_world world;

	begin(&world, "", "touch .llmc/asked.$n\n" HANG);
	add_goal(&world, "goal_a");
	for (int i = 1; i <= 3; i++) {
		floor_world_wait(&world.world.floor, is_asked, &world);
		floor_world_sh(&world.world.floor, "rm .llmc/whose");
		plan_world_reopen(&world);
		plan_world_live(&world);
	}
	wait_told(&world, "plan.failed");
	ck_assert_int_eq(runs(&world), 3);
	plan_world_end(&world);
}

TEST(the_planner_ends_with_its_goal)
{
	struct plan_world world;
	struct plan *plan;

	begin(&world, "", HANG);
	plan = add_goal(&world, "goal_a");
	floor_world_wait(&world.world.floor, is_asked, &world);
	ck_assert(planner_expects(world.floor->planner));
	ck_assert_int_eq(plan_goal_move(plan->goal, GOAL_CANCELLED, NULL, NULL,
			     clock_wall_ms(), NULL),
	    0);
	planner_look(world.floor->planner);
	floor_world_settle(&world.world.floor);
	ck_assert(!planner_expects(world.floor->planner));
	plan_world_end(&world);
}

TEST(its_cost_counts_for_the_day)
{
	struct plan_world world;
	const struct plan *plan;

	begin(&world, "",
	    PRINT("{\"type\":\"result\",\"is_error\":false,\"total_cost_usd\":"
		  "0.25,\"modelUsage\":{\"claude-x\":{}},\"result\":\"\","
		  "\"structured_output\":" GOOD "}"));
	plan = add_goal(&world, "goal_a");
	wait_told(&world, "plan.generated");
	ck_assert_int_eq(world.world.core->state.today.cost, 250000);
	ck_assert_str_eq(plan->goal->model_ref, "claude-x");
	plan_world_end(&world);
}

/* --- other questions ------------------------------------------------------ */

struct answer {
	struct plan *next;
	bool told;
	struct err err;
};

static void
on_replanned(struct plan *next, const struct err *err, void *arg)
{
	struct answer *answer = arg;

	answer->told = true;
	answer->next = next;
	if (err != NULL)
		answer->err = *err;
}

static bool
is_told(void *arg)
{
	return ((const struct answer *)arg)->told;
}

/* T1.1 has begun, T1.2 waits for it. */
TEST(a_node_is_divided_and_what_has_begun_stays)
{
	struct plan_world world;
	struct answer answer = { 0 };
	struct err err = { 0 };
	struct plan_node *node;

	begin(&world, "",
	    "if [ $n = 1 ]; then\n" PRINT(PHASE(
		"{\"id\":\"T1.2\",\"name\":\"Task\",\"acceptance\":[\"x\"],"
		"\"subtasks\":[{\"id\":\"T1.1\",\"name\":\"n\",\"acceptance\":"
		"[\"x\"]}]}")) "else\n" PRINT(PHASE("{\"id\":\"T1.2\",\"name\":"
						    "\"Task\",\"acceptance\":["
						    "\"x\"],\"subtasks\":[{"
						    "\"id\":\"S1\",\"name\":"
						    "\"n\",\"acceptance\":["
						    "\"x\"]}]}")) "fi\n");
	plan_world_goal(&world, "goal_a", 2);
	auto_world_turn(&world.world, 1);
	plan_world_settle(&world);
	ck_assert_int_eq(planner_replan(world.floor->planner, "goal_a", "T1.2",
			     "it is too large", on_replanned, &answer, &err),
	    0);
	ck_assert_int_lt(planner_replan(world.floor->planner, "goal_a", "T1.2",
			     "it is too large", on_replanned, &answer, &err),
	    0);
	floor_world_wait(&world.world.floor, is_told, &answer);
	ck_assert_msg(answer.next != NULL, "%s", answer.err.msg);
	ck_assert_int_eq(runs(&world), 2);
	ck_assert_ptr_nonnull(strstr(prompt(&world, 1), "it is too large"));
	ck_assert_ptr_nonnull(strstr(prompt(&world, 2), "T1.1 has started"));
	ck_assert_int_eq(planner_apply(world.floor->planner, answer.next,
			     "T1.2", "it is too large", &err),
	    0);
	plan_free(answer.next);
	node = plan_world_node(&world, "goal_a", "T1.1");
	ck_assert_ptr_nonnull(node);
	ck_assert_str_eq(node->name, "T1.1");
	node = plan_world_node(&world, "goal_a", "S1");
	ck_assert_ptr_nonnull(node);
	ck_assert_str_eq(node->parent_id, "T1.2");
	plan_world_settle(&world);
	ck_assert_int_eq(plan_world_events(&world, "plan.created"), 1);
	plan_world_end(&world);
}

/* Between two turns, and nothing happens; messages did not help. */
static void
stall(struct plan_world *world)
{
	struct agent *agent = auto_world_turn(&world->world, 1);
	const struct plan_set *set = plan_floor_set(world->floor);
	struct plan_assignment *a = set->assignments[0];

	agent->worker->session.busy = false;
	fake_session_is_quiet(agent->session, (int64_t)3600 * 1000);
	ck_assert_int_eq(agent_move(agent, WORKER_PAUSED, "the test"), 0);
	a->recovery_policy = RECOVERY_REPLAN;
	a->retry_count = 2;
}

TEST(a_stalled_node_stays_as_it_is_without_a_valid_plan)
{
	struct plan_world world;
	const struct plan_set *set;

	begin(&world, "max_repair_attempts = 0\n", PRINT(BAD));
	plan_world_goal(&world, "goal_a", 1);
	stall(&world);
	wait_told(&world, "not divided");
	set = plan_floor_set(world.floor);
	ck_assert_int_eq(set->assignments[0]->status, ASSIGNMENT_STALLED);
	plan_world_is(&world, "goal_a", "active; T1.1 in_progress; ");
	plan_world_end(&world);
}

static bool
next_step_is_due(void *arg)
{
	const struct plan_world *world = arg;
	const struct plan_assignment *a =
	    plan_floor_set(world->floor)->assignments[0];

	return is_asked(arg) && clock_wall_ms() > a->backoff_until_ms &&
	    clock_wall_ms() > a->expected_update_ms;
}

/* The planner may take longer than the ladder waits between two steps. */
TEST(a_stalled_node_waits_for_the_plan_that_divides_it)
{
	struct plan_world world;

	begin(&world, "",
	    "until [ -e .llmc/go ]; do sleep 0.05; done\n" PRINT(
		PHASE("{\"id\":\"T1.1\",\"name\":\"Task\",\"acceptance\":"
		      "[\"x\"],\"subtasks\":[{\"id\":\"S1\",\"name\":"
		      "\"n\",\"acceptance\":[\"x\"]}]}")));
	plan_world_goal(&world, "goal_a", 1);
	stall(&world);
	floor_world_wait(&world.world.floor, next_step_is_due, &world);
	plan_tick_now(world.floor, "test", false, NULL, NULL);
	plan_world_settle(&world);
	ck_assert_uint_eq(plan_floor_set(world.floor)->assignment_count, 1);
	floor_world_sh(&world.world.floor, "touch .llmc/go");
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; S1 done; ");
	ck_assert_int_eq(runs(&world), 1);
	plan_world_end(&world);
}

static bool
is_reassigned(void *arg)
{
	const struct plan_world *world = arg;

	return plan_floor_set(world->floor)->assignment_count == 2;
}

TEST(a_planner_that_hangs_holds_a_stalled_node_until_its_deadline)
{
	struct plan_world world;

	begin(&world, TIMEOUT, HANG);
	plan_world_goal(&world, "goal_a", 1);
	stall(&world);
	floor_world_wait(&world.world.floor, is_reassigned, &world);
	ck_assert_ptr_nonnull(strstr(world.world.told.data, "not divided"));
	ck_assert_int_eq(runs(&world), 1);
	plan_world_end(&world);
}

TEST(a_plan_that_has_begun_is_not_made_again)
{
	struct plan_world world;
	struct err err = { 0 };

	begin(&world, "", PRINT(GOOD));
	plan_world_goal(&world, "goal_a", 1);
	auto_world_turn(&world.world, 1);
	ck_assert_int_lt(
	    planner_ask(world.floor->planner, "goal_a", false, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "--plan-file"));
	ck_assert_int_lt(
	    planner_ask(world.floor->planner, "goal_b", false, &err), 0);
	plan_world_end(&world);
}

/* It would fail again. */
TEST(an_answer_that_does_not_change_the_node_is_refused)
{
	struct plan_world world;
	struct answer answer = { 0 };
	struct plan_node *node;
	struct err err = { 0 };

	begin(&world, "max_repair_attempts = 1\n",
	    PRINT(PHASE(TASK("T1.1") "," TASK("T1.2"))));
	plan_world_goal(&world, "goal_a", 2);
	node = plan_world_node(&world, "goal_a", "T1.2");
	xstrset(&node->name, "Task");
	strv_clear(&node->depends_on);
	strv_add(&node->acceptance, "it works");
	ck_assert_int_eq(planner_replan(world.floor->planner, "goal_a", "T1.2",
			     "it is too large", on_replanned, &answer, &err),
	    0);
	floor_world_wait(&world.world.floor, is_told, &answer);
	ck_assert_ptr_null(answer.next);
	ck_assert_int_eq(runs(&world), 2);
	ck_assert_ptr_nonnull(strstr(prompt(&world, 2), "T1.2 is as it was"));
	plan_world_end(&world);
}

/* The attempt fails, and so the planner is asked. */
static bool
fails_until_asked(void *arg)
{
	struct plan_world *world = arg;
	struct agent *agent = auto_world_agent(&world->world);

	if (is_asked(world))
		return true;
	if (agent->op == NULL && agent->worker->session.busy &&
	    agent->worker->status != WORKER_STARTING)
		outcome_attempt_failed(
		    world->world.mode, agent, "the check failed");
	return false;
}

/* T1.1 is to be planned anew when it has failed, and has. */
static void
fail_task(struct plan_world *world)
{
	plan_world_goal(world, "goal_a", 1);
	plan_world_plan(world, "goal_a")->goal->recovery_policy =
	    RECOVERY_REPLAN;
	plan_book_record(world->floor, BOOK_GOAL, "goal_a", "goal_a");
	auto_world_turn(&world->world, 1);
	floor_world_wait(&world->world.floor, fails_until_asked, world);
	plan_world_settle(world);
	auto_world_filed(&world->world, "t1 failed; ");
}

static bool
is_completed(void *arg)
{
	const struct plan *plan = plan_world_plan(arg, "goal_a");

	return plan != NULL && plan->goal->status == GOAL_COMPLETED;
}

TEST(a_task_that_failed_is_planned_anew_whenever_the_daemon_dies)
{
	struct plan_world world;
	const struct plan *plan;

	begin(&world, "",
	    "until [ -e .llmc/go ]; do sleep 0.05; done\n" PRINT(
		PHASE("{\"id\":\"T1.1\",\"name\":\"Task\",\"acceptance\":"
		      "[\"x\"],\"subtasks\":[{\"id\":\"S1\",\"name\":"
		      "\"n\",\"acceptance\":[\"x\"]}]}")));
	fail_task(&world);
	plan_world_is(&world, "goal_a", "active; T1.1 in_progress; ");
	ck_assert_ptr_nonnull(strstr(prompt(&world, 1), "the check failed"));
	plan_world_reopen(&world);
	plan_world_live(&world);
	floor_world_sh(&world.world.floor, "touch .llmc/go");
	plan_world_work(&world, is_completed, &world);
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; S1 done; ");
	ck_assert_int_eq(runs(&world), 2);
	auto_world_filed(&world.world, "t1 failed; t2 landed; ");
	plan = plan_world_plan(&world, "goal_a");
	ck_assert_str_eq(
	    plan->goal->revisions[plan->goal->revision_count - 1].what,
	    "replanned: added S1; changed T1.1 (name, acceptance)");
	ck_assert_ptr_null(plan_find(plan, "T1.1")->replan_why);
	ck_assert_int_eq(plan_world_events(&world, "assignment.escalated"), 0);
	plan_world_end(&world);
}

TEST(a_task_that_cannot_be_planned_anew_is_for_a_person)
{
	struct plan_world world;
	const struct plan_node *node;

	begin(&world, "", "exit 3\n");
	fail_task(&world);
	wait_told(&world, "assignment.escalated");
	plan_world_is(&world, "goal_a", "active; T1.1 blocked; ");
	node = plan_world_node(&world, "goal_a", "T1.1");
	ck_assert_ptr_nonnull(
	    strstr(node->blocked_reason, "The planner could not"));
	ck_assert_int_eq(plan_world_events(&world, "assignment.escalated"), 1);
	plan_world_end(&world);
}
