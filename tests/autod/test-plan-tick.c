/* SPDX-License-Identifier: ISC */

/* The tick in the daemon: what it sees, what it sends to workers and persons,
 * and that it sends it once. The times have the ratios of the defaults. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "clock.h"
#include "file.h"
#include "mem.h"
#include "plan-floor.h"
#include "plan-persist.h"
#include "plan-tick.h"
#include "plan-world.h"
#include "reconcile.h"
#include "unit.h"
#include "workspace.h"

#define HOUR_MS ((int64_t)3600 * 1000)

static const char fast[] = "tick_every = \"100ms\"\n"
			   "idle_after = \"750ms\"\n"
			   "min_resend_interval = \"250ms\"\n"
			   "backoff_base = \"100ms\"\n"
			   "backoff_max = \"1500ms\"\n";

/* Between two turns, and nothing happens. */
static void
stall(struct agent *agent)
{
	agent->worker->session.busy = false;
	fake_session_is_quiet(agent->session, HOUR_MS);
	ck_assert_int_eq(agent_move(agent, WORKER_PAUSED, "the test"), 0);
}

static struct plan_assignment *
assignment(struct plan_world *world)
{
	const struct plan_set *set = plan_floor_set(world->floor);

	ck_assert_uint_gt(set->assignment_count, 0);
	return set->assignments[set->assignment_count - 1];
}

static bool
is_told(void *arg)
{
	struct plan_world *world = arg;

	return strstr(world->world.told.data, "assignment.escalated") != NULL;
}

/* --- stalls ------------------------------------------------------------ */

START_TEST(a_stalled_worker_is_asked_for_its_status_and_goes_on)
{
	struct plan_world world;
	struct agent *agent;

	plan_world_begin(&world, fast, NULL);
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	agent = auto_world_turn(&world.world, 1);
	stall(agent);
	auto_world_turn(&world.world, 2);
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "Status"));
	ck_assert_uint_eq(assignment(&world)->dispatch_count, 2);
	ck_assert_int_eq(
	    assignment(&world)->dispatches[1].result, DISPATCH_ACCEPTED);
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	ck_assert_int_eq(plan_world_events(&world, "assignment.stalled"), 1);
	ck_assert_int_eq(plan_world_events(&world, "overseer.stalled"), 1);
	ck_assert_int_eq(plan_world_events(&world, "overseer.action"), 1);
	ck_assert_int_eq(plan_world_events(&world, "dispatch.ended"), 2);
	plan_world_end(&world);
}
END_TEST

/* It takes every message, and nothing follows. */
static bool
is_deaf_until_told(void *arg)
{
	struct plan_world *world = arg;
	struct agent *agent = auto_world_agent(&world->world);

	if (agent->op == NULL && agent->worker->session.busy &&
	    agent->worker->status == WORKER_WORKING)
		stall(agent);
	return is_told(world);
}

START_TEST(messages_that_do_not_help_end_with_a_person)
{
	struct plan_world world;
	const struct plan_node *node;

	plan_world_begin(&world, fast, NULL);
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	auto_world_turn(&world.world, 1);
	floor_world_wait(&world.world.floor, is_deaf_until_told, &world);
	node = plan_world_node(&world, "goal_a", "T1.1");
	ck_assert_int_eq(node->status, NODE_BLOCKED);
	ck_assert_int_eq(assignment(&world)->status, ASSIGNMENT_BLOCKED);
	ck_assert_int_eq(plan_world_events(&world, "assignment.escalated"), 1);
	plan_world_end(&world);
}
END_TEST

/* It never takes a message: each is tried again, then a person is told. */
START_TEST(a_worker_that_takes_no_message_is_given_up_after_the_retries)
{
	struct plan_world world;
	struct agent *agent;
	const struct plan_assignment *a;

	plan_world_begin(&world, fast, NULL);
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	agent = auto_world_turn(&world.world, 1);
	stall(agent);
	agent->worker->status = WORKER_IDLE;
	floor_world_wait(&world.world.floor, is_told, &world);
	a = assignment(&world);
	ck_assert_int_eq(fake_session_prompts(agent->session), 1);
	ck_assert_int_eq(a->status, ASSIGNMENT_BLOCKED);
	ck_assert_int_eq(a->dispatches[1].result, DISPATCH_ERROR);
	ck_assert_ptr_nonnull(strstr(a->blocked_reason, "2 messages"));
	plan_world_end(&world);
}
END_TEST

START_TEST(a_fresh_worker_gets_a_node_that_is_reassigned)
{
	struct plan_world world;
	const struct plan_set *set;

	plan_world_begin(&world, fast, NULL);
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	stall(auto_world_turn(&world.world, 1));
	assignment(&world)->recovery_policy = RECOVERY_REASSIGN;
	assignment(&world)->retry_count = 2;
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	set = plan_floor_set(world.floor);
	ck_assert_uint_eq(set->assignment_count, 2);
	ck_assert_int_eq(set->assignments[0]->status, ASSIGNMENT_CANCELLED);
	ck_assert_int_eq(set->assignments[1]->status, ASSIGNMENT_DONE);
	ck_assert_str_eq(set->assignments[1]->task, "t2");
	auto_world_filed(&world.world, "t1 aborted; t2 landed; ");
	plan_world_end(&world);
}
END_TEST

static const char divided[] =
    "cat >/dev/null\ncat <<'E'\n{\"planVersion\":1,\"goal\":{\"title\":"
    "\"A goal\"},\"phases\":[{\"id\":\"P1\",\"name\":\"A phase\","
    "\"acceptance\":[\"x\"],\"tasks\":[{\"id\":\"T1.1\",\"name\":"
    "\"T1.1\",\"acceptance\":[\"x\"],\"subtasks\":[{\"id\":\"S1\","
    "\"name\":\"n\",\"acceptance\":[\"x\"]}]}]}]}\nE\n";

static const char advised[] =
    "echo x >>.llmc/asked\ncat >.llmc/question\n"
    "echo '{\"actions\":[{\"type\":\"reassign\"}]}'\n";

static const char said[] = "{\"type\":\"assistant\",\"message\":{\"content\":"
			   "\"I am thinking about cups.\"}}\n";

/* A worker has T1.1, and makes no progress; the planner is this script. */
static void
stall_with_planner(
    struct plan_world *world, const char *settings, const char *script)
{
	cleanup_free char *plan =
	    xasprintf("%s[planner]\ncommand = \"sh .llmc/planner.sh\"\n%s",
		fast, settings);
	cleanup_free char *path = NULL, *transcript = NULL;
	struct agent *agent;

	plan_world_begin(world, plan, NULL);
	path = workspace_path(&world->world.floor.workspace, "planner.sh");
	transcript = workspace_path(&world->world.floor.workspace, "t.jsonl");
	ck_assert_int_eq(
	    file_replace(path, script, strlen(script), 0600, NULL), 0);
	ck_assert_int_eq(
	    file_replace(transcript, said, strlen(said), 0600, NULL), 0);
	plan_world_live(world);
	plan_world_goal(world, "goal_a", 1);
	agent = auto_world_turn(&world->world, 1);
	xstrset(&agent->worker->session.transcript, transcript);
	stall(agent);
	assignment(world)->retry_count = 2;
}

START_TEST(a_node_that_is_too_large_is_divided_by_the_planner)
{
	struct plan_world world;

	stall_with_planner(&world, "", divided);
	assignment(&world)->recovery_policy = RECOVERY_REPLAN;
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; S1 done; ");
	auto_world_filed(&world.world, "t1 aborted; t2 landed; ");
	plan_world_end(&world);
}
END_TEST

START_TEST(the_planner_is_asked_once_before_a_person_is_told)
{
	struct plan_world world;

	stall_with_planner(&world, "", advised);
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	auto_world_filed(&world.world, "t1 aborted; t2 landed; ");
	ck_assert_int_eq(plan_world_events(&world, "assignment.escalated"), 0);
	ck_assert_str_eq(
	    floor_world_sh(&world.world.floor, "wc -l <.llmc/asked"), "1");
	ck_assert_str_eq(floor_world_sh(&world.world.floor,
			     "grep -c 'about cups' .llmc/question"),
	    "1");
	plan_world_end(&world);
}
END_TEST

START_TEST(a_person_is_told_after_the_deadline_of_a_planner_that_hangs)
{
	struct plan_world world;

	stall_with_planner(&world, "timeout = \"250ms\"\n",
	    "echo x >>.llmc/asked\nexec tail -f /dev/null\n");
	floor_world_wait(&world.world.floor, is_told, &world);
	plan_world_settle(&world);
	ck_assert_int_eq(plan_world_events(&world, "assignment.escalated"), 1);
	ck_assert_str_eq(
	    floor_world_sh(&world.world.floor, "wc -l <.llmc/asked"), "1");
	plan_world_end(&world);
}
END_TEST

START_TEST(a_tick_that_is_off_leaves_no_record)
{
	struct plan_world world;

	plan_world_begin(&world, fast, NULL);
	plan_world_goal(&world, "goal_a", 1);
	floor_world_sh(&world.world.floor,
	    "sed -i 's/^enabled = true/enabled = false/' .llmc/config.toml");
	floor_world_accept(&world.world.floor);
	plan_world_reopen(&world);
	plan_world_live(&world);
	plan_world_wait_open(&world);
	floor_world_settle(&world.world.floor);
	ck_assert_int_eq(plan_world_events(&world, "overseer.tick"), 0);
	plan_world_end(&world);
}
END_TEST

START_TEST(a_dry_run_changes_nothing)
{
	struct plan_world world;

	plan_world_begin(&world, "idle_after = \"100ms\"\n", NULL);
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	stall(auto_world_turn(&world.world, 1));
	plan_world_settle(&world);
	plan_tick_now(world.floor, "test", true, NULL, NULL);
	ck_assert_uint_eq(assignment(&world)->dispatch_count, 1);
	ck_assert(plan_persist_is_idle(plan_floor_persist(world.floor)));
	plan_world_end(&world);
}
END_TEST

/* --- questions --------------------------------------------------------- */

START_TEST(a_question_goes_to_a_person_and_the_answer_to_the_worker)
{
	struct plan_world world;
	struct agent *agent;

	plan_world_begin(&world, fast, NULL);
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	agent = auto_world_turn(&world.world, 1);
	fake_session_is_quiet(agent->session, HOUR_MS);
	fake_session_turn_ends(
	    agent->session, "I looked.\n\nShall I use tabs or spaces?");
	floor_world_wait(&world.world.floor, is_told, &world);
	ck_assert_int_eq(fake_session_prompts(agent->session), 1);
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	ck_assert_str_eq(
	    plan_world_node(&world, "goal_a", "T1.1")->blocked_reason,
	    "Shall I use tabs or spaces?");
	ck_assert_ptr_null(floor_world_answer(&world.world.floor,
	    floor_world_call(&world.world.floor, "worker.message", "auto-1",
		", \"text\": \"Tabs.\"")));
	auto_world_turn(&world.world, 2);
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	ck_assert_int_eq(plan_world_events(&world, "assignment.escalated"), 1);
	plan_world_end(&world);
}
END_TEST

/* --- updates ----------------------------------------------------------- */

static const char update[] =
    "Done.\n\n```json\n{\"overseerUpdate\": {\"status\": \"done\", "
    "\"summary\": \"The file is there.\"}}\n```\n";

START_TEST(an_update_is_kept_with_the_result)
{
	struct plan_world world;
	const struct plan_set *set;
	bool found = false;

	plan_world_begin(&world, fast, NULL);
	world.words = update;
	plan_world_live(&world);
	plan_world_goal(&world, "goal_a", 1);
	plan_world_work_all(&world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	set = plan_floor_set(world.floor);
	for (size_t i = 0; i < set->crystal_count; i++)
		found |= strcmp(set->crystals[i]->summary,
			     "The file is there.") == 0;
	ck_assert(found);
	plan_world_end(&world);
}
END_TEST

/* --- a worker that a person drives ------------------------------------- */

static const char with_eve[] = "tick_every = \"100ms\"\n"
			       "allow_agents = [\"main\", \"eve\"]\n"
			       "allow_cross_agent = true\n";

static void
assign_to_eve(struct plan_world *world)
{
	struct plan_assignment *a =
	    plan_assignment_new("A_eve", "goal_a", "T1.1", clock_wall_ms());

	xstrset(&a->agent_id, "eve");
	xstrset(&a->worker, "eve");
	xstrset(&a->session_key, "worker:eve");
	plan_assignment_instruct(a, "Do it, eve.");
	ck_assert_int_eq(
	    plan_set_add_assignment(plan_floor_set(world->floor), a, NULL), 0);
	plan_persist_record(plan_floor_persist(world->floor), STORE_ASSIGNMENT,
	    "goal_a", "A_eve");
}

static bool
eve_has_it(void *arg)
{
	struct plan_world *world = arg;
	const struct agent *eve = fleet_find(world->world.floor.fleet, "eve");

	return eve != NULL && eve->op == NULL && eve->worker->session.busy &&
	    assignment(world)->dispatch_count > 0 &&
	    assignment(world)->dispatches[0].result == DISPATCH_ACCEPTED;
}

static void
begin_eve(struct plan_world *world)
{
	plan_world_begin(world, with_eve, NULL);
	floor_world_add(&world->world.floor, "eve", WORKER_OFFLINE)->retry_ms =
	    0;
	plan_world_wait_open(world);
	plan_world_goal(world, "goal_a", 1);
	assign_to_eve(world);
	plan_world_settle(world);
	plan_world_live(world);
}

START_TEST(a_worker_that_a_person_drives_gets_its_node_as_a_prompt)
{
	struct plan_world world;
	const struct agent *eve;

	begin_eve(&world);
	floor_world_wait(&world.world.floor, eve_has_it, &world);
	eve = fleet_find(world.world.floor.fleet, "eve");
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(eve->session), "Do it, eve."));
	ck_assert_int_eq(fake_session_prompts(eve->session), 1);
	plan_world_is(&world, "goal_a", "active; T1.1 in_progress; ");
	plan_world_end(&world);
}
END_TEST

static bool
eve_is_done(void *arg)
{
	return plan_world_node(arg, "goal_a", "T1.1")->status == NODE_DONE;
}

START_TEST(work_of_such_a_worker_counts_when_a_person_accepts_it)
{
	struct plan_world world;
	struct agent *eve;
	const char *commit;

	begin_eve(&world);
	floor_world_wait(&world.world.floor, eve_has_it, &world);
	eve = fleet_find(world.world.floor.fleet, "eve");
	floor_world_wt(&world.world.floor, "eve",
	    "echo e >e.txt; git add e.txt; git commit -qm 'add e.txt'");
	fake_session_turn_ends(eve->session, "Done.");
	floor_world_wait_status(&world.world.floor, eve, WORKER_NEEDS_REVIEW);
	plan_world_is(&world, "goal_a", "active; T1.1 in_progress; ");
	ck_assert_ptr_null(floor_world_answer(&world.world.floor,
	    floor_world_call(&world.world.floor, "worker.accept", "eve", "")));
	floor_world_wait(&world.world.floor, eve_is_done, &world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	commit = plan_world_node(&world, "goal_a", "T1.1")->evidence.commits[0];
	ck_assert_str_eq(
	    floor_world_sh(&world.world.floor, "git rev-parse main"), commit);
	plan_world_end(&world);
}
END_TEST

static bool
is_accepted(void *arg)
{
	struct plan_world *world = arg;

	return world->floor->state == PLAN_OPEN &&
	    assignment(world)->dispatches[0].result == DISPATCH_ACCEPTED;
}

/* It was accepted, and the store did not hear of it. */
START_TEST(work_that_a_person_accepted_counts_for_the_next_daemon)
{
	struct plan_world world;
	struct agent *eve;

	begin_eve(&world);
	floor_world_wait(&world.world.floor, eve_has_it, &world);
	eve = fleet_find(world.world.floor.fleet, "eve");
	floor_world_wt(&world.world.floor, "eve",
	    "echo e >e.txt; git add e.txt; git commit -qm 'add e.txt'");
	fake_session_turn_ends(eve->session, "Done.");
	floor_world_wait_status(&world.world.floor, eve, WORKER_NEEDS_REVIEW);
	plan_floor_close(world.floor);
	ck_assert_ptr_null(floor_world_answer(&world.world.floor,
	    floor_world_call(&world.world.floor, "worker.accept", "eve", "")));
	floor_world_wait_status(&world.world.floor, eve, WORKER_IDLE);
	floor_world_settle(&world.world.floor);
	plan_world_reopen(&world);
	plan_world_live(&world);
	plan_world_wait_open(&world);
	floor_world_wait(&world.world.floor, eve_is_done, &world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	ck_assert_str_eq(
	    floor_world_sh(&world.world.floor, "git rev-parse main"),
	    plan_world_node(&world, "goal_a", "T1.1")->evidence.commits[0]);
	plan_world_end(&world);
}
END_TEST

/* The daemon died after it gave the message to the worker, and before it
 * stored that. */
START_TEST(a_message_that_the_worker_has_is_not_sent_again)
{
	struct plan_world world;
	struct agent *eve;

	begin_eve(&world);
	floor_world_wait(&world.world.floor, eve_has_it, &world);
	eve = fleet_find(world.world.floor.fleet, "eve");
	fake_session_turn_ends(eve->session, "Nothing to do.");
	floor_world_wait_status(&world.world.floor, eve, WORKER_NO_CHANGES);
	plan_world_settle(&world);
	assignment(&world)->dispatches[0].result = DISPATCH_PENDING;
	plan_persist_record(plan_floor_persist(world.floor), STORE_ASSIGNMENT,
	    "goal_a", "A_eve");
	plan_world_settle(&world);
	floor_world_settle(&world.world.floor);
	plan_world_reopen(&world);
	plan_world_live(&world);
	plan_world_wait_open(&world);
	floor_world_wait(&world.world.floor, is_accepted, &world);
	floor_world_settle(&world.world.floor);
	eve = fleet_find(world.world.floor.fleet, "eve");
	ck_assert_int_eq(fake_session_prompts(eve->session), 0);
	ck_assert_int_eq(eve->worker->status, WORKER_NO_CHANGES);
	plan_world_end(&world);
}
END_TEST

struct death {
	struct plan_world *world;
	int left; /* passes since the dispatch was decided */
};

static bool
is_time_to_die(void *arg)
{
	struct death *death = arg;
	const struct plan_assignment *a = assignment(death->world);

	return a->dispatch_count > 0 && death->left-- <= 0;
}

/* _i passes after the decision: before it is stored, stored but not sent,
 * given to the session, submitted. */
START_TEST(killed_around_a_dispatch_it_is_sent_once)
{
	struct plan_world world;
	struct death death = { &world, _i };
	const struct plan_assignment *a;
	const struct agent *eve;
	int given;

	begin_eve(&world);
	floor_world_wait_closely(&world.world.floor, is_time_to_die, &death);
	eve = fleet_find(world.world.floor.fleet, "eve");
	given = fake_session_prompts(eve->session);
	plan_world_reopen(&world);
	plan_world_live(&world);
	plan_world_wait_open(&world);
	floor_world_wait(&world.world.floor, eve_has_it, &world);
	plan_world_settle(&world);
	a = assignment(&world);
	eve = fleet_find(world.world.floor.fleet, "eve");
	ck_assert_uint_eq(a->dispatch_count, 1);
	/* A slow machine gets as far as the turn before the death. */
	if (given == 0 || fake_session_prompts(eve->session) > 0) {
		ck_assert_int_eq(fake_session_prompts(eve->session), 1);
		ck_assert_ptr_nonnull(
		    strstr(fake_session_prompt(eve->session), "Do it, eve."));
	}
	ck_assert_int_eq(plan_world_events(&world, "dispatch.ended"), 1);
	plan_world_end(&world);
}
END_TEST

static void
move_goal(struct plan_world *world, enum goal_status to)
{
	struct plan *plan = plan_world_plan(world, "goal_a");

	ck_assert_int_eq(
	    plan_goal_move(plan->goal, to, NULL, NULL, clock_wall_ms(), NULL),
	    0);
	plan_persist_record(
	    plan_floor_persist(world->floor), STORE_GOAL, "goal_a", "goal_a");
	plan_floor_changed(world->floor);
}

static bool
eve_is_idle(void *arg)
{
	struct plan_world *world = arg;
	const struct agent *eve = fleet_find(world->world.floor.fleet, "eve");

	return eve->worker->status == WORKER_IDLE && eve->op == NULL;
}

/* A message is decided, and the goal moves before it is sent. */
static const struct agent *
move_before_eve_has_it(struct plan_world *world, enum goal_status to)
{
	struct death now = { world, 0 };
	const struct agent *eve;

	begin_eve(world);
	floor_world_wait_closely(&world->world.floor, is_time_to_die, &now);
	move_goal(world, to);
	floor_world_wait(&world->world.floor, eve_is_idle, world);
	plan_world_settle(world);
	floor_world_settle(&world->world.floor);
	eve = fleet_find(world->world.floor.fleet, "eve");
	ck_assert_int_eq(fake_session_prompts(eve->session), 0);
	return eve;
}

static bool
is_cancelled(void *arg)
{
	return assignment(arg)->status == ASSIGNMENT_CANCELLED;
}

START_TEST(a_message_for_a_goal_that_was_cancelled_is_not_sent)
{
	struct plan_world world;

	move_before_eve_has_it(&world, GOAL_CANCELLED);
	ck_assert_int_eq(
	    assignment(&world)->dispatches[0].result, DISPATCH_ERROR);
	floor_world_wait(&world.world.floor, is_cancelled, &world);
	plan_world_end(&world);
}
END_TEST

START_TEST(a_message_for_a_goal_that_is_paused_is_sent_when_it_goes_on)
{
	struct plan_world world;
	const struct agent *eve;

	eve = move_before_eve_has_it(&world, GOAL_PAUSED);
	ck_assert_int_eq(
	    assignment(&world)->dispatches[0].result, DISPATCH_PENDING);
	move_goal(&world, GOAL_ACTIVE);
	floor_world_wait(&world.world.floor, eve_has_it, &world);
	ck_assert_int_eq(fake_session_prompts(eve->session), 1);
	plan_world_end(&world);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("plan-tick");

	unit_case(suite, "tick",
	    (const TTest *const[]){
		a_stalled_worker_is_asked_for_its_status_and_goes_on,
		messages_that_do_not_help_end_with_a_person,
		a_worker_that_takes_no_message_is_given_up_after_the_retries,
		a_fresh_worker_gets_a_node_that_is_reassigned,
		a_node_that_is_too_large_is_divided_by_the_planner,
		a_person_is_told_after_the_deadline_of_a_planner_that_hangs,
		the_planner_is_asked_once_before_a_person_is_told,
		a_tick_that_is_off_leaves_no_record, a_dry_run_changes_nothing,
		a_question_goes_to_a_person_and_the_answer_to_the_worker,
		an_update_is_kept_with_the_result,
		a_worker_that_a_person_drives_gets_its_node_as_a_prompt,
		work_of_such_a_worker_counts_when_a_person_accepts_it,
		work_that_a_person_accepted_counts_for_the_next_daemon,
		a_message_that_the_worker_has_is_not_sent_again,
		a_message_for_a_goal_that_was_cancelled_is_not_sent,
		a_message_for_a_goal_that_is_paused_is_sent_when_it_goes_on,
		NULL });
	unit_rows(suite, killed_around_a_dispatch_it_is_sent_once, 12);
	return suite;
}
