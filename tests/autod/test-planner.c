/* SPDX-License-Identifier: ISC */

/* The planner of goals, played by a shell script: it is asked for plans, asked
 * again, and given up. */
#include "plan-world.h"
#include "outcome.h"
#include "plan-floor.h"
#include "plan-private.h"
#include "tune.h"

#define PHASE(tasks)                                              \
	"{\"planVersion\":1,\"phases\":[{\"id\":\"P1\",\"name\":" \
	"\"Phase\",\"acceptance\":[\"it is there\"],\"tasks\":[" tasks "]}]}"
#define TASK(id) \
	"{\"id\":\"" id "\",\"name\":\"Task\",\"acceptance\":[\"it works\"]}"
#define GOOD PHASE(TASK("T1.1"))
#define BAD  PHASE("{\"id\":\"T1.1\",\"name\":\"Task\"}")

#define PRINT(json) "cat <<'E'\n" json "\nE\n"
#define HANG        "exec tail -f /dev/null\n"

/* It divides T1.1 as soon as it may. */
#define DIVIDES                                                          \
	"until [ -e .llmc/go ]; do sleep 0.05; done\n" PRINT(            \
	    PHASE("{\"id\":\"T1.1\",\"name\":\"Task\",\"acceptance\":"   \
		  "[\"x\"],\"subtasks\":[{\"id\":\"S1\",\"name\":\"n\"," \
		  "\"acceptance\":[\"x\"]}]}"))

/* planner.timeout in the ratio of the defaults to the times of begin(). */
#define TIMEOUT "timeout = \"250ms\"\n"

/* Settings for [planner], and what the planner does: a shell script in which $n
 * says how often it was asked, and its prompt is in .llmc/prompt.$n. */
static void
begin(const char *settings, const char *script)
{
	cleanup_free char *plan = xasprintf(
	    "[planner]\ncommand = \"sh .llmc/planner.sh\"\n%s", settings);
	cleanup_free char *text = xasprintf("echo >>.llmc/runs\n"
					    "n=$(wc -l <.llmc/runs)\n"
					    "cat >.llmc/prompt.$n\n"
					    "echo \"$LLMC_COMMAND\" "
					    ">.llmc/whose\n%s",
	    script);
	cleanup_free char *path = NULL;

	tune("plan_tick=100");
	plan_world_begin(plan, "max_attempts = 1\n");
	path = workspace_path(&floor_world.workspace, "planner.sh");
	ck_assert_int_eq(file_replace(path, text, strlen(text), 0600, NULL), 0);
	plan_world_live();
	ck_assert_int_eq(plan_world.floor->state, PLAN_OPEN);
}

/* A goal without a plan. */
static struct plan *
add_goal(const char *id)
{
	struct plan *plan =
	    plan_new(plan_goal_new(id, "Make tea", clock_wall_ms()));

	ck_assert_int_eq(
	    plan_set_add(plan_floor_set(plan_world.floor), plan, NULL), 0);
	plan_book_record(plan_world.floor, BOOK_GOAL, id, id);
	planner_look(plan_world.floor->planner);
	return plan;
}

static int
runs(void)
{
	return (int)strtol(
	    floor_world_sh("touch .llmc/runs; wc -l <.llmc/runs"), NULL, 10);
}

static const char *
prompt(int n)
{
	cleanup_free char *command = xasprintf("cat .llmc/prompt.%d", n);

	return floor_world_sh(command);
}

struct wait {
	const char *told;
};

static bool
was_told(void *arg)
{
	const struct wait *wait = arg;

	return strstr(auto_world.told.data, wait->told) != NULL;
}

static void
wait_told(const char *told)
{
	struct wait wait = { told };

	floor_world_wait(was_told, &wait);
	plan_world_settle();
}

static bool
is_asked(void *arg)
{
	cleanup_free char *path =
	    workspace_path(&floor_world.workspace, "whose");

	(void)arg;
	return file_exists(path);
}

/* --- plans --------------------------------------------------------------- */

TEST(a_goal_without_a_plan_gets_one)
{
	const struct plan_goal *goal;
	cleanup_free char *root = NULL;

	begin("", PRINT(GOOD));
	goal = add_goal("goal_a")->goal;
	wait_told("plan.generated");
	ck_assert_ptr_nonnull(plan_world_node("goal_a", "T1.1"));
	ck_assert_ptr_nonnull(strstr(prompt(1), "Make tea"));
	ck_assert_int_eq(runs(), 1);
	ck_assert_str_eq(goal->model_ref, "planner.command");
	ck_assert_str_eq(goal->template_id, "plan.v1");
	ck_assert_ptr_nonnull(goal->template_hash);
	ck_assert_ptr_nonnull(goal->planner_output);
	ck_assert_ptr_nonnull(strstr(
	    json_string_or(goal->planner_inputs, "prompt", ""), "Make tea"));
	ck_assert_int_eq(goal->plan_attempts, 0);
	ck_assert_int_eq(plan_world_events("plan.generated"), 1);
	/* It is no person. */
	root = xstrdup(floor_world.workspace.root);
	ck_assert_str_eq(floor_world_sh("cat .llmc/whose"), root);
}

TEST(a_draft_waits_until_it_is_applied)
{
	const struct plan *plan;
	struct err err = { 0 };

	begin("", PRINT(GOOD));
	plan = add_goal("goal_a");
	ck_assert_int_eq(
	    planner_ask(plan_world.floor->planner, "goal_a", true, &err), 0);
	wait_told("plan.drafted");
	plan_world_settle();
	/* The goal has no plan, but the planner is not asked for one. */
	ck_assert_int_eq(runs(), 1);
	ck_assert_uint_eq(plan->count, 0);
	ck_assert_ptr_nonnull(plan->goal->draft);
	ck_assert(!planner_expects(plan_world.floor->planner));
	plan_world_must("overseer.plan.apply", "{\"goal\":\"goal_a\"}");
	ck_assert_ptr_nonnull(plan_world_node("goal_a", "T1.1"));
	ck_assert_str_eq(plan->goal->model_ref, "planner.command");
	ck_assert_int_eq(plan_world_events("plan.created"), 1);
}

TEST(an_invalid_answer_is_corrected)
{
	const struct plan_goal *goal;

	begin(
	    "", "if [ $n = 1 ]; then\n" PRINT(BAD) "else\n" PRINT(GOOD) "fi\n");
	goal = add_goal("goal_a")->goal;
	wait_told("plan.generated");
	ck_assert_int_eq(runs(), 2);
	/* Each run has no memory of the one before. */
	ck_assert_ptr_nonnull(strstr(prompt(2), "Make tea"));
	ck_assert_ptr_nonnull(
	    strstr(prompt(2), "phases[0].tasks[0].acceptance"));
	ck_assert_uint_eq(strv_count(goal->validation_errors), 1);
}

TEST(nothing_is_guessed_when_no_answer_is_valid)
{
	struct plan *plan;
	struct err err = { 0 };

	begin("",
	    "if [ $n -le 3 ]; then\n" PRINT(BAD) "else\n" PRINT(GOOD) "fi\n");
	plan = add_goal("goal_a");
	wait_told("plan.failed");
	ck_assert_int_eq(runs(), 3);
	ck_assert_uint_eq(plan->count, 0);
	ck_assert_ptr_nonnull(
	    strstr(plan->goal->plan_fault, "phases[0].tasks[0].acceptance"));
	/* The next daemon does not ask again by itself. */
	plan_world_die();
	plan_world_settle();
	ck_assert_int_eq(runs(), 3);
	plan = plan_world_plan("goal_a");
	ck_assert_ptr_nonnull(plan->goal->plan_fault);
	ck_assert(!planner_expects(plan_world.floor->planner));
	ck_assert_int_eq(
	    planner_ask(plan_world.floor->planner, "goal_a", false, &err), 0);
	ck_assert(planner_expects(plan_world.floor->planner));
	wait_told("plan.generated");
	ck_assert_ptr_null(plan->goal->plan_fault);
	ck_assert_int_eq(runs(), 4);
}

/* It is asked three times. The exit status is believed before the answer. */
static const struct {
	const char *settings, *script, *fault;
} failures[] = {
	{ TIMEOUT, HANG, "took longer" },
	{ "", "exec yes\n", "more than 1048576 bytes" },
	{ "", PRINT(GOOD) "echo no luck >&2\nexit 3\n", "status 3: no luck" },
};

TEST_ROWS(a_planner_without_an_answer_is_given_up, nitems(failures))
{
	const struct plan *plan;

	begin(failures[_i].settings, failures[_i].script);
	plan = add_goal("goal_a");
	wait_told("plan.failed");
	ck_assert_msg(
	    strstr(plan->goal->plan_fault, failures[_i].fault) != NULL, "%s",
	    plan->goal->plan_fault);
	/* One that is too long is an answer. */
	ck_assert_int_eq(plan->goal->plan_attempts, _i == 1 ? 1 : 3);
	if (_i > 0)
		ck_assert_int_eq(runs(), 3);
}

TEST(the_next_daemon_asks_again)
{
	begin("", "[ $n = 1 ] && " HANG PRINT(GOOD));
	add_goal("goal_a");
	floor_world_wait(is_asked, &plan_world);
	plan_world_die();
	wait_told("plan.generated");
	ck_assert_int_eq(runs(), 2);
	ck_assert_ptr_nonnull(plan_world_node("goal_a", "T1.1"));
}

TEST(daemons_that_die_of_it_do_not_try_for_ever)
{
	begin("", "touch .llmc/asked.$n\n" HANG);
	add_goal("goal_a");
	for (int i = 1; i <= 3; i++) {
		floor_world_wait(is_asked, &plan_world);
		floor_world_sh("rm .llmc/whose");
		plan_world_die();
	}
	wait_told("plan.failed");
	ck_assert_int_eq(runs(), 3);
}

TEST(the_planner_ends_with_its_goal)
{
	struct plan *plan;

	begin("", HANG);
	plan = add_goal("goal_a");
	floor_world_wait(is_asked, &plan_world);
	ck_assert(planner_expects(plan_world.floor->planner));
	ck_assert_int_eq(plan_goal_move(plan->goal, GOAL_CANCELLED, NULL, NULL,
			     clock_wall_ms(), NULL),
	    0);
	planner_look(plan_world.floor->planner);
	floor_world_settle();
	ck_assert(!planner_expects(plan_world.floor->planner));
}

TEST(its_cost_counts_for_the_day)
{
	const struct plan *plan;

	begin("",
	    PRINT("{\"type\":\"result\",\"is_error\":false,\"total_cost_usd\":"
		  "0.25,\"modelUsage\":{\"claude-x\":{}},\"result\":\"\","
		  "\"structured_output\":" GOOD "}"));
	plan = add_goal("goal_a");
	wait_told("plan.generated");
	ck_assert_int_eq(auto_world.core->state.today.cost, 250000);
	ck_assert_str_eq(plan->goal->model_ref, "claude-x");
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
	struct answer answer = { 0 };
	struct err err = { 0 };
	struct plan_node *node;

	begin("",
	    "if [ $n = 1 ]; then\n" PRINT(PHASE(
		"{\"id\":\"T1.2\",\"name\":\"Task\",\"acceptance\":[\"x\"],"
		"\"subtasks\":[{\"id\":\"T1.1\",\"name\":\"n\",\"acceptance\":"
		"[\"x\"]}]}")) "else\n" PRINT(PHASE("{\"id\":\"T1.2\",\"name\":"
						    "\"Task\",\"acceptance\":["
						    "\"x\"],\"subtasks\":[{"
						    "\"id\":\"S1\",\"name\":"
						    "\"n\",\"acceptance\":["
						    "\"x\"]}]}")) "fi\n");
	plan_world_goal("goal_a", 2);
	auto_world_turn(1);
	plan_world_settle();
	ck_assert_int_eq(
	    planner_replan(plan_world.floor->planner, "goal_a", "T1.2",
		"it is too large", on_replanned, &answer, &err),
	    0);
	ck_assert_int_lt(
	    planner_replan(plan_world.floor->planner, "goal_a", "T1.2",
		"it is too large", on_replanned, &answer, &err),
	    0);
	floor_world_wait(is_told, &answer);
	ck_assert_msg(answer.next != NULL, "%s", answer.err.msg);
	ck_assert_int_eq(runs(), 2);
	ck_assert_ptr_nonnull(strstr(prompt(1), "it is too large"));
	ck_assert_ptr_nonnull(strstr(prompt(2), "T1.1 has started"));
	ck_assert_int_eq(planner_apply(plan_world.floor->planner, answer.next,
			     "T1.2", "it is too large", &err),
	    0);
	plan_free(answer.next);
	node = plan_world_node("goal_a", "T1.1");
	ck_assert_ptr_nonnull(node);
	ck_assert_str_eq(node->name, "T1.1");
	node = plan_world_node("goal_a", "S1");
	ck_assert_ptr_nonnull(node);
	ck_assert_str_eq(node->parent_id, "T1.2");
	plan_world_settle();
	ck_assert_int_eq(plan_world_events("plan.created"), 1);
}

/* Between two turns, and nothing happens; messages did not help. */
static void
stall(void)
{
	struct agent *agent = auto_world_turn(1);
	struct plan_work *a = &plan_world_worked()->work;

	agent->worker->session.busy = false;
	fake_session_is_quiet(agent->session, (int64_t)3600 * 1000);
	ck_assert_int_eq(agent_move(agent, WORKER_PAUSED, "the test"), 0);
	a->recovery_policy = RECOVERY_REPLAN;
	a->retry_count = 2;
}

TEST(a_stalled_node_stays_as_it_is_without_a_valid_plan)
{
	begin("", PRINT(BAD));
	plan_world_goal("goal_a", 1);
	stall();
	wait_told("not divided");
	ck_assert_int_eq(plan_world_worked()->work.status, ASSIGNMENT_STALLED);
	plan_world_is("goal_a", "active; T1.1 in_progress; ");
}

static bool
next_step_is_due(void *arg)
{
	const struct plan_work *a = &plan_world_worked()->work;

	return is_asked(arg) && clock_wall_ms() > a->backoff_until_ms &&
	    clock_wall_ms() > a->expected_update_ms;
}

/* The planner may take longer than the ladder waits between two steps. */
TEST(a_stalled_node_waits_for_the_plan_that_divides_it)
{
	begin("", DIVIDES);
	plan_world_goal("goal_a", 1);
	stall();
	floor_world_wait(next_step_is_due, &plan_world);
	plan_tick_now(plan_world.floor, "test", false, NULL, NULL);
	plan_world_settle();
	ck_assert_ptr_null(strstr(plan_world_worked()->work.id, "-r2"));
	floor_world_sh("touch .llmc/go");
	plan_world_work_all();
	plan_world_is("goal_a", "completed; S1 done; ");
	ck_assert_int_eq(runs(), 1);
}

static bool
is_reassigned(void *arg)
{
	(void)arg;
	return strstr(plan_world_worked()->work.id, "-r2") != NULL;
}

TEST(a_planner_that_hangs_holds_a_stalled_node_until_its_deadline)
{
	begin(TIMEOUT, HANG);
	plan_world_goal("goal_a", 1);
	stall();
	floor_world_wait(is_reassigned, &plan_world);
	ck_assert_ptr_nonnull(strstr(auto_world.told.data, "not divided"));
	ck_assert_int_eq(runs(), 1);
}

TEST(a_plan_that_has_begun_is_not_made_again)
{
	struct err err = { 0 };

	begin("", PRINT(GOOD));
	plan_world_goal("goal_a", 1);
	auto_world_turn(1);
	ck_assert_int_lt(
	    planner_ask(plan_world.floor->planner, "goal_a", false, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "--plan"));
	ck_assert_int_lt(
	    planner_ask(plan_world.floor->planner, "goal_b", false, &err), 0);
}

/* It would fail again. */
TEST(an_answer_that_does_not_change_the_node_is_refused)
{
	struct answer answer = { 0 };
	struct plan_node *node;
	struct err err = { 0 };

	begin("", PRINT(PHASE(TASK("T1.1") "," TASK("T1.2"))));
	plan_world_goal("goal_a", 2);
	node = plan_world_node("goal_a", "T1.2");
	xstrset(&node->name, "Task");
	strv_clear(&node->depends_on);
	strv_add(&node->acceptance, "it works");
	ck_assert_int_eq(
	    planner_replan(plan_world.floor->planner, "goal_a", "T1.2",
		"it is too large", on_replanned, &answer, &err),
	    0);
	floor_world_wait(is_told, &answer);
	ck_assert_ptr_null(answer.next);
	ck_assert_int_eq(runs(), 3);
	ck_assert_ptr_nonnull(strstr(prompt(2), "T1.2 is as it was"));
}

static void
fail_attempt(void)
{
	struct agent *agent = auto_world_agent();

	if (agent->op == NULL && agent->worker->session.busy &&
	    agent->worker->status != WORKER_STARTING)
		outcome_attempt_failed(
		    auto_world.mode, agent, "the check failed");
}

/* The attempt fails, and so the planner is asked. */
static bool
fails_until_asked(void *arg)
{
	(void)arg;
	if (is_asked(&plan_world))
		return true;
	fail_attempt();
	return false;
}

/* The same, but the planner may have too much to do. */
static bool
fails_until_wanted(void *arg)
{
	(void)arg;
	if (plan_world_node("goal_a", "T1.1")->replan_why != NULL)
		return true;
	fail_attempt();
	return false;
}

/* T1.1 is to be planned anew when it has failed, and has. */
static void
fail_task_until(floor_fn *fn)
{
	plan_world_goal("goal_a", 1);
	plan_world_plan("goal_a")->goal->recovery_policy = RECOVERY_REPLAN;
	plan_book_record(plan_world.floor, BOOK_GOAL, "goal_a", "goal_a");
	auto_world_turn(1);
	floor_world_wait(fn, &plan_world);
	plan_world_settle();
	auto_world_filed("t1 failed; ");
}

static void
fail_task(void)
{
	fail_task_until(fails_until_asked);
}

static bool
is_completed(void *arg)
{
	const struct plan *plan = plan_world_plan("goal_a");

	(void)arg;
	return plan != NULL && plan->goal->status == GOAL_COMPLETED;
}

TEST(a_task_that_failed_is_planned_anew_whenever_the_daemon_dies)
{
	const struct plan *plan;

	begin("", DIVIDES);
	fail_task();
	plan_world_is("goal_a", "active; T1.1 in_progress; ");
	ck_assert_ptr_nonnull(strstr(prompt(1), "the check failed"));
	plan_world_die();
	floor_world_sh("touch .llmc/go");
	plan_world_work(is_completed, &plan_world);
	plan_world_work_all();
	plan_world_is("goal_a", "completed; S1 done; ");
	ck_assert_int_eq(runs(), 2);
	auto_world_filed("t1 failed; t2 landed; ");
	plan = plan_world_plan("goal_a");
	ck_assert_str_eq(
	    plan->goal->revisions[plan->goal->revision_count - 1].what,
	    "replanned: added S1; changed T1.1 (name, acceptance)");
	ck_assert_ptr_null(plan_find(plan, "T1.1")->replan_why);
	ck_assert_int_eq(plan_world_events("assignment.escalated"), 0);
}

TEST(a_task_that_cannot_be_planned_anew_is_for_a_person)
{
	const struct plan_node *node;

	begin("", "exit 3\n");
	fail_task();
	wait_told("assignment.escalated");
	plan_world_is("goal_a", "active; T1.1 blocked; ");
	node = plan_world_node("goal_a", "T1.1");
	ck_assert_ptr_nonnull(
	    strstr(node->blocked_reason, "The planner could not"));
	ck_assert_int_eq(plan_world_events("assignment.escalated"), 1);
}

static void
move_goal(const char *id, enum goal_status to)
{
	ck_assert_int_eq(plan_goal_move(plan_world_plan(id)->goal, to, NULL,
			     NULL, clock_wall_ms(), NULL),
	    0);
	plan_book_record(plan_world.floor, BOOK_GOAL, id, id);
	plan_floor_changed(plan_world.floor);
}

TEST(a_node_that_finds_too_many_questions_is_planned_anew_later)
{
	struct answer answer = { 0 };
	const struct plan_node *node;
	struct err err = { 0 };
	int r = 0;

	begin("", DIVIDES);
	floor_world_sh("touch .llmc/go");
	plan_world_goal("goal_b", 40);
	move_goal("goal_b", GOAL_PAUSED);
	for (int i = 2; r == 0; i++) {
		cleanup_free char *id = xasprintf("T1.%d", i);

		r = planner_replan(plan_world.floor->planner, "goal_b", id, "x",
		    on_replanned, &answer, &err);
	}
	ck_assert_msg(r == -EAGAIN, "%s", err.msg);
	fail_task_until(fails_until_wanted);
	for (int i = 0; i < 4; i++) {
		plan_floor_changed(plan_world.floor);
		plan_world_settle();
	}
	node = plan_world_node("goal_a", "T1.1");
	ck_assert_int_eq(node->replans, 0);
	ck_assert_str_eq(node->replan_why, "the check failed");
	ck_assert_int_eq(runs(), 0);
	move_goal("goal_b", GOAL_CANCELLED);
	planner_look(plan_world.floor->planner);
	floor_world_until(answer.told);
	plan_floor_changed(plan_world.floor);
	plan_world_work(is_completed, &plan_world);
	plan_world_is("goal_a", "completed; S1 done; ");
	ck_assert_int_eq(runs(), 1);
}

/* Each daemon ends while it asks. */
TEST(a_node_is_planned_anew_by_three_daemons_at_most)
{
	begin("", DIVIDES);
	fail_task();
	for (int asked = 1; asked < 3; asked++) {
		ck_assert_int_eq(
		    plan_world_node("goal_a", "T1.1")->replans, asked);
		plan_world_die();
		floor_world_until(
		    plan_world_node("goal_a", "T1.1")->replans > asked);
		plan_world_settle();
	}
	plan_world_is("goal_a", "active; T1.1 in_progress; ");
	plan_world_die();
	wait_told("assignment.escalated");
	plan_world_is("goal_a", "active; T1.1 blocked; ");
	ck_assert_ptr_nonnull(
	    strstr(plan_world_node("goal_a", "T1.1")->blocked_reason,
		"was ended each time"));
}
