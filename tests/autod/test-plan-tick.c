/* SPDX-License-Identifier: ISC */

/* The tick in the daemon: what it sees, what it sends to workers and persons,
 * and that it sends it once. The times have the ratios of the defaults. */
#include "plan-world.h"
#include "plan-private.h"
#include "tune.h"

#define HOUR_MS ((int64_t)3600 * 1000)

#define FAST "plan_tick=100"

static void
begin_fast(void)
{
	tune(FAST);
	plan_world_begin_goal(NULL, 1);
}

/* Between two turns, and nothing happens. */
static void
stall(struct agent *agent)
{
	agent->worker->session.busy = false;
	fake_session_is_quiet(agent->session, HOUR_MS);
	ck_assert_int_eq(agent_move(agent, WORKER_PAUSED, "the test"), 0);
}

static struct plan_work *
assignment(void)
{
	return &plan_world_worked()->work;
}

static bool
is_told(void *arg)
{
	(void)arg;
	return strstr(auto_world.told.data, "assignment.escalated") != NULL;
}

/* --- stalls ------------------------------------------------------------ */

TEST(a_stalled_worker_is_asked_for_its_status_and_goes_on)
{
	struct agent *agent;

	begin_fast();
	agent = auto_world_turn(1);
	stall(agent);
	auto_world_turn(2);
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "Status"));
	ck_assert_uint_eq(assignment()->dispatch_count, 2);
	ck_assert_int_eq(assignment()->dispatches[1].result, DISPATCH_ACCEPTED);
	fake_session_is_quiet(agent->session, 0); /* however long that takes */
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
	ck_assert_int_eq(plan_world_events("assignment.stalled"), 1);
	ck_assert_int_eq(plan_world_events("overseer.stalled"), 1);
	ck_assert_int_eq(plan_world_events("overseer.action"), 1);
	ck_assert_int_eq(plan_world_events("dispatch.ended"), 2);
}

/* It takes every message, and nothing follows. */
static bool
is_deaf_until_told(void *arg)
{
	struct agent *agent = auto_world_agent();

	(void)arg;
	if (agent->op == NULL && agent->worker->session.busy &&
	    agent->worker->status == WORKER_WORKING)
		stall(agent);
	return is_told(&plan_world);
}

TEST(messages_that_do_not_help_end_with_a_person)
{
	const struct plan_node *node;

	begin_fast();
	auto_world_turn(1);
	floor_world_wait(is_deaf_until_told, &plan_world);
	node = plan_world_node("goal_a", "T1.1");
	ck_assert_int_eq(node->status, NODE_BLOCKED);
	ck_assert_int_eq(assignment()->status, ASSIGNMENT_BLOCKED);
	ck_assert_int_eq(plan_world_events("assignment.escalated"), 1);
}

/* It never takes a message: each is tried again, then a person is told. */
TEST(a_worker_that_takes_no_message_is_given_up_after_the_retries)
{
	struct agent *agent;
	const struct plan_work *a;

	begin_fast();
	agent = auto_world_turn(1);
	stall(agent);
	agent->worker->status = WORKER_IDLE;
	floor_world_wait(is_told, &plan_world);
	a = assignment();
	ck_assert_int_eq(fake_session_prompts(agent->session), 1);
	ck_assert_int_eq(a->status, ASSIGNMENT_BLOCKED);
	ck_assert_int_eq(a->dispatches[1].result, DISPATCH_ERROR);
	ck_assert_ptr_nonnull(strstr(a->blocked_reason, "2 messages"));
}

TEST(a_fresh_worker_gets_a_node_that_is_reassigned)
{
	begin_fast();
	stall(auto_world_turn(1));
	assignment()->recovery_policy = RECOVERY_REASSIGN;
	assignment()->retry_count = 2;
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
	ck_assert_int_eq(plan_world_events("assignment.cancelled"), 1);
	ck_assert_int_eq(assignment()->status, ASSIGNMENT_DONE);
	ck_assert_str_eq(assignment()->task, "t2");
	auto_world_filed("t1 aborted; t2 landed; ");
}

static const char divided[] =
    "cat >/dev/null\ncat <<'E'\n{\"planVersion\":1,\"goal\":{\"title\":"
    "\"A goal\"},\"phases\":[{\"id\":\"P1\",\"name\":\"A phase\","
    "\"acceptance\":[\"x\"],\"tasks\":[{\"id\":\"T1.1\",\"name\":"
    "\"T1.1\",\"acceptance\":[\"x\"],\"subtasks\":[{\"id\":\"S1\","
    "\"name\":\"n\",\"acceptance\":[\"x\"]}]}]}]}\nE\n";

static const char said[] = "{\"type\":\"assistant\",\"message\":{\"content\":"
			   "\"I am thinking about cups.\"}}\n";

/* A worker has T1.1, and makes no progress; the planner is this script. */
static void
stall_with_planner(const char *script)
{
	cleanup_free char *path = NULL, *transcript = NULL;
	struct agent *agent;

	tune(FAST);
	plan_world_begin(
	    "[planner]\ncommand = \"sh .llmc/planner.sh\"\n", NULL);
	path = workspace_path(&floor_world.workspace, "planner.sh");
	transcript = workspace_path(&floor_world.workspace, "t.jsonl");
	ck_assert_int_eq(
	    file_replace(path, script, strlen(script), 0600, NULL), 0);
	ck_assert_int_eq(
	    file_replace(transcript, said, strlen(said), 0600, NULL), 0);
	plan_world_live();
	plan_world_goal("goal_a", 1);
	agent = auto_world_turn(1);
	xstrset(&agent->worker->session.transcript, transcript);
	stall(agent);
	assignment()->retry_count = 2;
}

TEST(a_node_that_is_too_large_is_divided_by_the_planner)
{
	stall_with_planner(divided);
	assignment()->recovery_policy = RECOVERY_REPLAN;
	plan_world_work_all();
	plan_world_is("goal_a", "completed; S1 done; ");
	auto_world_filed("t1 aborted; t2 landed; ");
}

static bool
is_being_divided(void *arg)
{
	(void)arg;
	return planner_is_replanning(
	    plan_world.floor->planner, "goal_a", "T1.1");
}

TEST(a_node_that_makes_progress_meanwhile_is_not_divided)
{
	cleanup_free char *slow = xasprintf(
	    "until test -e .llmc/go; do sleep 0.05; done\n%s", divided);
	struct agent *agent;

	stall_with_planner(slow);
	assignment()->recovery_policy = RECOVERY_REPLAN;
	floor_world_wait(is_being_divided, NULL);
	agent = auto_world_agent();
	fake_session_is_quiet(agent->session, 0);
	agent_message(agent, "Go on.");
	assignment()->status = ASSIGNMENT_ACTIVE;
	floor_world_sh("touch .llmc/go");
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
	auto_world_filed("t1 landed; ");
}

TEST(a_tick_that_is_off_leaves_no_record)
{
	tune(FAST);
	plan_world_begin(NULL, NULL);
	plan_world_goal("goal_a", 1);
	floor_world_sh(
	    "sed -i 's/^enabled = true/enabled = false/' .llmc/config.toml");
	floor_world_accept();
	plan_world_die();
	floor_world_settle();
	ck_assert_int_eq(plan_world_events("overseer.tick"), 0);
}

TEST(a_dry_run_changes_nothing)
{
	plan_world_begin("", NULL);
	plan_world_live();
	plan_world_goal("goal_a", 1);
	stall(auto_world_turn(1));
	plan_world_settle();
	plan_tick_now(plan_world.floor, "test", true, NULL, NULL);
	ck_assert_uint_eq(assignment()->dispatch_count, 1);
	ck_assert(persist_is_idle(auto_world.core));
}

/* --- updates ----------------------------------------------------------- */

static const char update[] =
    "Done.\n\n```json\n{\"overseerUpdate\": {\"status\": \"done\", "
    "\"summary\": \"The file is there.\"}}\n```\n";

TEST(an_update_is_kept_with_the_result)
{
	const struct plan_set *set;
	bool found = false;

	tune(FAST);
	plan_world_begin(NULL, NULL);
	plan_world.words = update;
	plan_world_live();
	plan_world_goal("goal_a", 1);
	plan_world_work_all();
	plan_world_is("goal_a", "completed; T1.1 done; ");
	set = plan_floor_set(plan_world.floor);
	for (size_t i = 0; i < set->crystal_count; i++)
		found |= strcmp(set->crystals[i]->summary,
			     "The file is there.") == 0;
	ck_assert(found);
}

/* --- who acts ---------------------------------------------------------- */

/* Everything was long ago. */
static void
let_it_be_overdue(const struct agent *agent)
{
	struct plan_work *a = assignment();

	fake_session_is_quiet(agent->session, INT64_MAX);
	a->last_dispatch_ms = a->last_activity_ms = a->expected_update_ms = 1;
}

/* That is the stall ladder of auto mode. */
TEST(a_worker_in_its_turn_gets_no_message_from_the_tick)
{
	struct agent *agent;

	plan_world_begin_goal(NULL, 1);
	agent = auto_world_turn(1);
	let_it_be_overdue(agent);
	plan_tick_now(plan_world.floor, "test", false, NULL, NULL);
	plan_world_settle();
	ck_assert_uint_eq(assignment()->dispatch_count, 1);
	ck_assert_int_eq(assignment()->status, ASSIGNMENT_ACTIVE);
	/* Between two turns it is the tick's. */
	stall(agent);
	let_it_be_overdue(agent);
	plan_tick_now(plan_world.floor, "test", false, NULL, NULL);
	ck_assert_uint_eq(assignment()->dispatch_count, 2);
	auto_world_turn(2);
}

TEST(what_is_busy_is_recorded_and_asked_later)
{
	struct agent *agent;

	plan_world_begin_goal(NULL, 1);
	agent = auto_world_turn(1);
	stall(agent);
	agent->worker->status = WORKER_LIMITED;
	let_it_be_overdue(agent);
	plan_tick_now(plan_world.floor, "test", false, NULL, NULL);
	plan_world_settle();
	ck_assert_int_eq(assignment()->status, ASSIGNMENT_STALLED);
	ck_assert_uint_eq(assignment()->dispatch_count, 1);
	ck_assert_int_eq(plan_world_events("assignment.stalled"), 1);
	ck_assert_int_eq(fake_session_prompts(agent->session), 1);
	agent->worker->status = WORKER_PAUSED;
	plan_tick_now(plan_world.floor, "test", false, NULL, NULL);
	ck_assert_uint_eq(assignment()->dispatch_count, 2);
	auto_world_turn(2);
	ck_assert_int_eq(plan_world_events("assignment.stalled"), 1);
}

/* Auto mode asks a person with the task. */
TEST(what_an_automatic_task_asks_is_not_escalated_twice)
{
	struct agent *agent;

	plan_world_begin_goal(NULL, 1);
	agent = auto_world_turn(1);
	stall(agent);
	assignment()->last_dispatch_ms -= 1000;
	EMIT(auto_world.core, EVENT_TURN_ENDED, .worker = "auto-1",
	    .text = "Tabs or spaces?");
	plan_tick_now(plan_world.floor, "test", false, NULL, NULL);
	ck_assert_uint_eq(assignment()->dispatch_count, 1);
	ck_assert_int_ne(assignment()->status, ASSIGNMENT_BLOCKED);
}

/* Five workers are silent. Row 0: one tick reads four transcripts, and asks
 * those workers. Row 1: a transcript is not read soon after a message, so that
 * the fifth is. */
TEST_ROWS(one_tick_reads_few_transcripts, 2)
{
	struct plan_work *works[5];
	struct agent *agents[5];
	cleanup_free char *path = NULL;
	size_t sent = 0;

	plan_world_begin(NULL, "concurrency = 5\n");
	path = workspace_path(&floor_world.workspace, "t.jsonl");
	ck_assert_int_eq(file_replace(path, said, strlen(said), 0600, NULL), 0);
	plan_world_live();
	for (int i = 0; i < 5; i++) {
		cleanup_free char *goal = xasprintf("goal_%d", i);
		cleanup_free char *task = xasprintf("t%d", i + 1);

		plan_world_goal(goal, 1);
		agents[i] = auto_world_turn_on(task);
		plan_world_settle();
		works[i] = &plan_world_node(goal, "T1.1")->work;
	}
	for (int i = 0; i < 5; i++) {
		xstrset(&agents[i]->worker->session.transcript, path);
		stall(agents[i]);
		fake_session_is_quiet(agents[i]->session, INT64_MAX);
		works[i]->last_activity_ms = works[i]->expected_update_ms = 1;
		works[i]->last_dispatch_ms =
		    _i == 0 || i == 4 ? 1 : clock_wall_ms() - 1000;
	}
	plan_tick_now(plan_world.floor, "test", false, NULL, NULL);
	for (int i = 0; i < 5; i++)
		sent += works[i]->dispatch_count - 1;
	ck_assert_uint_eq(sent, _i == 0 ? 4 : 1);
	ck_assert_uint_eq(works[4]->dispatch_count, _i == 0 ? 1 : 2);
}
