/* SPDX-License-Identifier: ISC */

/* Agents that others have asked for have workers of their own; those who asked
 * wait for them, whatever happens meanwhile. */
#include "family-world.h"
#include "landing-record.h"
#include "outcome.h"
#include "team-private.h"

static const struct worker *
worker(const char *name)
{
	return state_find(&auto_world.core->state, name);
}

static struct task *
task(const char *id)
{
	return state_task(&auto_world.core->state, id);
}

/* t1 is at work and has asked for t2, which is at work too. */
static void
begin(const char *more, const char *run)
{
	family_world_begin(more);
	auto_world_turn_on("t1");
	family_world_spawn("t1", "S1", run);
	auto_world_turn_on("t2");
}

/* The turn of t1 ends, and it waits. */
static void
wait_for_others(const char *file)
{
	family_world_turn_ends(auto_world_turn_on("t1"), file);
	family_world_wait("auto-1", WORKER_WAITING);
}

static const char *
files(void)
{
	return floor_world_wt("auto-1", "ls *.txt | tr '\n' ' '");
}

/* t1 has its results: it ends, and so does the goal. */
static void
finish(const char *want)
{
	family_world_turn_ends(auto_world_turn_on("t1"), NULL);
	auto_world_wait_step("t1", -1);
	plan_world_is("g", want);
}

/* --- waiting ---------------------------------------------------------- */

TEST(who_asked_waits_is_rebased_and_gets_the_results)
{
	struct agent *agent;

	begin(NULL, "");
	ck_assert_str_eq(task("t2")->worker, "team-1");
	ck_assert_str_eq(task("t2")->launch.parent, "t1");
	wait_for_others("a.txt");
	floor_world_settle();
	ck_assert_str_eq(worker("auto-1")->reason, "waits for S1 (t2)");
	family_world_turn_ends(auto_world_turn_on("t2"), "b.txt");
	agent = auto_world_turn_on("t1");
	floor_has(fake_session_prompt(agent->session), "agent.completed:");
	floor_has(fake_session_prompt(agent->session), "\"task_id\": \"t2\"");
	floor_has(
	    fake_session_prompt(agent->session), "\"outcome\": \"landed\"");
	ck_assert_str_eq(files(), "a.txt b.txt ");
	finish("completed; T1.1 done; S1 done; ");
	auto_world_filed("t2 landed; t1 landed; ");
}

/* Its row of the tree. */
static void
shown(size_t at, const char *status, int asks, const char *why)
{
	struct json_object *row =
	    json_object_array_get_idx(plan_world_must("team.tree", "{}"), at);

	ck_assert_str_eq(json_string_or(row, "runStatus", ""), status);
	ck_assert_int_eq(json_int_or(row, "pendingRequestCount", -1), asks);
	ck_assert_str_eq(json_string_or(row, "blockedReason", ""), why);
}

/* The worker of this task asks; returns when that is stored. */
static struct floor_call *
ask(const char *id)
{
	struct floor_call *call = mail_world_ask(task(id)->worker,
	    "request_orchestrator", "{\"message\":\"A or B?\\nTell.\"}");

	floor_world_settle();
	plan_world_settle();
	return call;
}

TEST(agents_know_whom_they_ask_and_the_tree_shows_that_they_wait)
{
	begin(NULL, ", \"parent_actor\": \"actor:task:t1\"");
	floor_has(fake_session_prompt(auto_world_turn_on("t2")->session),
	    "You work for actor:task:t1, which spawned you.");
	ck_assert_ptr_null(
	    strstr(fake_session_prompt(auto_world_turn_on("t1")->session),
		"You work for"));
	shown(0, "running", 0, "");
	shown(1, "running", 0, "");
	ask("t2");
	shown(0, "running", 0, "");
	shown(1, "blocked", 1, "waits for an answer of actor:task:t1");
	ask("t1");
	shown(0, "blocked", 1, "waits for an answer of actor:system:person");
}

TEST(it_waits_on_until_all_have_ended)
{
	begin(NULL, "");
	family_world_spawn("t1", "S2", "");
	auto_world_turn_on("t3");
	ck_assert_str_eq(task("t3")->worker, "team-2");
	wait_for_others("a.txt");
	floor_world_settle();
	ck_assert_str_eq(
	    worker("auto-1")->reason, "waits for S1 (t2), S2 (t3)");
	family_world_turn_ends(auto_world_turn_on("t3"), "b.txt");
	/* It has nothing to do with the first result, and waits again. */
	wait_for_others(NULL);
	floor_world_settle();
	ck_assert_str_eq(worker("auto-1")->reason, "waits for S1 (t2)");
	family_world_turn_ends(auto_world_turn_on("t2"), "c.txt");
	floor_has(fake_session_prompt(auto_world_turn_on("t1")->session),
	    "\"task_id\": \"t2\"");
	ck_assert_str_eq(files(), "a.txt b.txt c.txt ");
	finish("completed; T1.1 done; S1 done; S2 done; ");
}

TEST(a_conflict_with_their_work_is_its_own_to_resolve)
{
	struct agent *agent;

	begin(NULL, "");
	wait_for_others("same.txt");
	family_world_turn_ends(auto_world_turn_on("t2"), "same.txt");
	family_world_wait("auto-1", WORKER_REBASING);
	agent = auto_world_turn_on("t1");
	floor_world_wt("auto-1",
	    "echo both >same.txt; git add same.txt; "
	    "GIT_EDITOR=true git rebase --continue >/dev/null 2>&1");
	fake_session_turn_ends(agent->session, "Resolved.");
	auto_world_wait_step("t2", -1);
	auto_world_wait_step("t1", -1);
	ck_assert_str_eq(floor_world_sh("cat same.txt"), "both");
}

/* Whatever was going on, the next daemon goes on with it. */
TEST(a_daemon_that_dies_changes_nothing)
{
	struct agent *agent;

	begin(NULL, "");
	wait_for_others("a.txt");
	floor_world_settle();
	mail_world_die();
	family_world_wait("auto-1", WORKER_WAITING);
	agent = auto_world_turn_on("t2");
	family_world_turn_ends(agent, "b.txt");
	family_world_wait("team-1", WORKER_ACCEPTING);
	mail_world_die();
	agent = auto_world_turn_on("t1");
	floor_has(fake_session_prompt(agent->session), "\"task_id\": \"t2\"");
	mail_world_die();
	ck_assert_str_eq(files(), "a.txt b.txt ");
	finish("completed; T1.1 done; S1 done; ");
	auto_world_filed("t2 landed; t1 landed; ");
}

TEST(a_person_may_pause_it_and_talk_to_it)
{
	struct floor_call *call;
	struct agent *agent;

	begin(NULL, "");
	wait_for_others("a.txt");
	call = floor_world_call("worker.pause", "auto-1", "");
	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert_int_eq(worker("auto-1")->status, WORKER_PAUSED);
	family_world_turn_ends(auto_world_turn_on("t2"), "b.txt");
	auto_world_wait_step("t2", -1);
	ck_assert_int_eq(worker("auto-1")->status, WORKER_PAUSED);
	ck_assert_str_eq(files(), "a.txt ");
	call = floor_world_ask("auto.resume", "{\"worker\": \"auto-1\"}");
	ck_assert_ptr_null(floor_world_answer(call));
	agent = auto_world_turn_on("t1");
	floor_has(fake_session_prompt(agent->session), "\"task_id\": \"t2\"");
	ck_assert_str_eq(files(), "a.txt b.txt ");
	finish("completed; T1.1 done; S1 done; ");
}

/* --- ends -------------------------------------------------------------- */

TEST(one_that_fails_is_told_and_the_goal_goes_on_without_it)
{
	struct agent *agent;

	begin("max_attempts = 1\n", "");
	wait_for_others("a.txt");
	agent = auto_world_turn_on("t2");
	for (int i = 0; i < 4; i++) {
		agent = auto_world_turn_on("t2");
		fake_session_turn_ends(agent->session, "I cannot do this.");
	}
	agent = auto_world_turn_on("t1");
	floor_has(
	    fake_session_prompt(agent->session), "\"outcome\": \"failed\"");
	finish("completed; T1.1 done; S1 cancelled; ");
	auto_world_filed("t2 failed; t1 landed; ");
}

static void
drop(const char *id)
{
	cleanup_free char *params = xasprintf("{\"task\": \"%s\"}", id);
	struct floor_call *call = floor_world_ask("task.drop", params);

	ck_assert_ptr_null(floor_world_answer(call));
}

TEST(whoever_ends_badly_takes_those_below_along)
{
	begin(NULL, "");
	family_world_spawn("t2", "S2", "");
	auto_world_turn_on("t3");
	floor_world_wt("team-2", "echo half >half.txt");
	drop("t1");
	auto_world_wait_step("t1", -1);
	auto_world_wait_step("t2", -1);
	auto_world_wait_step("t3", -1);
	floor_world_settle();
	plan_world_is(
	    "g", "active; T1.1 blocked; S1 cancelled; S2 cancelled; ");
	floor_has(floor_world_sh("git for-each-ref --format='%(refname)'"),
	    "salvage/team-2");
}

static void
end_well(const char *id)
{
	struct agent *agent = auto_world_turn_on(id);

	outcome_settle(auto_world.mode, task(id), OUTCOME_NO_CHANGES, NULL);
	auto_clear_worker(agent);
	auto_world_wait_step(id, -1);
}

TEST(one_that_ends_well_hands_them_to_its_parent)
{
	begin(NULL, "");
	family_world_spawn("t2", "S2", "");
	auto_world_turn_on("t3");
	end_well("t2");
	ck_assert_str_eq(task("t3")->launch.parent, "t1");
	ck_assert_str_eq(task("t3")->launch.parent_actor, "actor:task:t1");
	end_well("t1");
	ck_assert_ptr_null(task("t3")->launch.parent);
	ck_assert_str_eq(task("t3")->launch.parent_actor, ACTOR_OVERSEER);
	family_world_turn_ends(auto_world_turn_on("t3"), "c.txt");
	auto_world_wait_step("t3", -1);
	auto_world_filed("t2 no_changes; t1 no_changes; t3 landed; ");
}

/* A reviewer of a goal's task has an hour, in which limits of the service do
 * not count. */
TEST_ROWS(a_reviewer_that_takes_too_long_is_replaced, 2)
{
	struct agent *reviewer;

	family_world_begin("review = \"codex\"\n");
	family_world_turn_ends(auto_world_turn_on("t1"), "a.txt");
	reviewer = auto_world_turn_on("t2");
	if (_i == 1)
		agent_move(reviewer, WORKER_LIMITED, "it is limited");
	reviewer->worker->until_ms = clock_wall_ms() + 1000000;
	/* When it was given the task does not count. */
	task("t2")->assigned_ms -= 7200000;
	team_floor_changed(mail_world.team);
	floor_world_settle();
	ck_assert_int_eq(task("t2")->step, TASK_ASSIGNED);
	reviewer->worker->since_ms -= 3600001;
	team_floor_changed(mail_world.team);
	if (_i == 1) {
		floor_world_settle();
		ck_assert_int_eq(task("t2")->step, TASK_ASSIGNED);
		return;
	}
	reviewer = auto_world_turn_on("t3");
	ck_assert_int_eq(task("t1")->attempt.review_tries, 1);
	fake_session_turn_ends(reviewer->session, "verdict: approve\n");
	auto_world_wait_step("t1", -1);
	plan_world_is("g", "completed; T1.1 done; ");
}

TEST(a_run_that_takes_too_long_has_failed)
{
	struct task *filed;
	struct agent *agent;

	begin(NULL, ", \"timeout_s\": 30");
	wait_for_others("a.txt");
	task("t2")->assigned_ms -= 29500;
	persist_changed(auto_world.core);
	floor_world_settle();
	mail_world_die();
	agent = auto_world_turn_on("t1");
	floor_has(fake_session_prompt(agent->session), "timeout: ");
	auto_world_wait_step("t2", -1);
	filed = family_world_filed("t2");
	ck_assert_int_eq(filed->outcome, OUTCOME_FAILED);
	ck_assert_int_eq(filed->attempts, 1);
	ck_assert(filed->attempt.timed_out);
	task_free(filed);
	finish("completed; T1.1 done; S1 cancelled; ");
}

static const struct late_row {
	enum worker_status status;
	bool lands;
} late_rows[] = {
	{ WORKER_WORKING, false },
	{ WORKER_LIMITED, false },
	{ WORKER_WORKING, true },
};

/* Waiting for the service counts; finished work lands whenever it can. */
TEST_ROWS(what_lands_does_not_take_too_long, nitems(late_rows))
{
	const struct late_row *row = &late_rows[_i];
	struct landing_record *record;
	struct landing_item *item;
	struct agent *agent;

	begin(NULL, ", \"timeout_s\": 3000");
	agent = auto_world_turn_on("t2");
	record = &auto_world.core->state.landings;
	if (row->status == WORKER_LIMITED)
		agent_move(agent, WORKER_LIMITED, "it is limited");
	agent->worker->until_ms = clock_wall_ms() + 1000000;
	if (row->lands) {
		item = landing_record_new_item(record);
		xstrset(&item->task, "t2");
		item->step = ITEM_PROPOSED; /* the queue leaves it alone */
		landing_record_append(record, item);
	}
	task("t2")->assigned_ms -= 3000000;
	team_floor_changed(mail_world.team);
	if (row->lands) {
		floor_world_settle();
		ck_assert_int_eq(task("t2")->step, TASK_ASSIGNED);
	} else {
		auto_world_wait_step("t2", -1);
	}
}

/* --- workers ----------------------------------------------------------- */

static bool
is_removed(void *arg)
{
	(void)arg;
	return worker("team-1") == NULL;
}

TEST(workers_that_nobody_needs_any_more_are_removed)
{
	struct agent *agent;

	begin(NULL, "");
	family_world_turn_ends(auto_world_turn_on("t2"), "b.txt");
	auto_world_wait_step("t2", -1);
	family_world_wait("team-1", WORKER_IDLE);
	auto_world_patrol();
	floor_world_settle();
	agent = fleet_find(floor_world.fleet, "team-1");
	ck_assert_ptr_nonnull(agent);
	agent->worker->since_ms -= 61000;
	/* One that a person holds stays. */
	agent->worker->on_hold = true;
	auto_world_patrol();
	ck_assert_ptr_nonnull(worker("team-1"));
	agent->worker->on_hold = false;
	auto_world_patrol();
	floor_world_wait(is_removed, NULL);
	ck_assert_ptr_nonnull(worker("auto-1"));
}

TEST(a_session_with_other_settings_is_started_anew)
{
	struct agent *agent;

	begin(NULL, "");
	agent = auto_world_turn_on("t2");
	ck_assert_int_eq(fake_session_launches(agent->session), 1);
	family_world_turn_ends(agent, "b.txt");
	auto_world_wait_step("t2", -1);
	family_world_spawn("t1", "S2", ", \"model\": \"haiku\"");
	agent = auto_world_turn_on("t3");
	ck_assert_str_eq(agent->worker->name, "team-1");
	ck_assert_int_eq(fake_session_launches(agent->session), 2);
	/* Nobody knows how the session of another daemon was started. */
	family_world_turn_ends(agent, "c.txt");
	auto_world_wait_step("t3", -1);
	family_world_wait("team-1", WORKER_IDLE);
	mail_world_die();
	family_world_spawn("t1", "S3", "");
	agent = auto_world_turn_on("t4");
	ck_assert_int_gt(fake_session_launches(agent->session), 0);
}

TEST(those_that_wait_do_not_count_against_the_limit)
{
	struct agent *agent;

	begin("[team]\nmax_concurrent = 1\n", "");
	family_world_spawn("t2", "S2", "");
	auto_world_patrol();
	floor_world_settle();
	ck_assert_ptr_null(worker("team-2"));
	agent = auto_world_turn_on("t2");
	family_world_turn_ends(agent, "b.txt");
	family_world_wait("team-1", WORKER_WAITING);
	agent = auto_world_turn_on("t3");
	ck_assert_str_eq(agent->worker->name, "team-2");
}
