/* SPDX-License-Identifier: ISC */

/* Whoever waits for agents waits for those that will begin, knows of those that
 * will not, and waits for nobody for ever without a person's knowledge. */
#include "family-world.h"
#include "outcome.h"
#include "park.h"
#include "team-private.h"

static const struct worker *
worker(const char *name)
{
	return state_find(&auto_world.core->state, name);
}

struct telling {
	const char *part;
};

static bool
is_told(void *arg)
{
	const struct telling *telling = arg;
	const struct agent *agent = fleet_find(floor_world.fleet, "auto-1");
	const char *prompt = fake_session_prompt(agent->session);

	return worker_in_turn(agent->worker->status) && prompt != NULL &&
	    strstr(prompt, telling->part) != NULL;
}

/* Run the loop until t1 is in a turn with a prompt that has this part. */
static void
told(const char *part)
{
	struct telling telling = { part };

	floor_world_wait(is_told, &telling);
}

static void
settle(void)
{
	auto_world_patrol();
	floor_world_settle();
}

/* The turn of t1 ends, and it waits. */
static void
wait_for_others(void)
{
	family_world_turn_ends(auto_world_turn_on("t1"), NULL);
	family_world_wait("auto-1", WORKER_WAITING);
	floor_world_settle();
}

/* t1 has asked for S1, which cannot begin yet. */
static void
begin(const char *more, const char *run)
{
	family_world_begin(more);
	auto_world_turn_on("t1");
	family_world_spawn_after("t1", "S1", run, "T1.1");
}

static void
still_waits(void)
{
	settle();
	ck_assert_int_eq(worker("auto-1")->status, WORKER_WAITING);
}

/* --- those that do not begin ------------------------------------------- */

static const struct {
	const char *method, *params, *config, *why;
} losses[] = {
	{ "overseer.work.update",
	    "{\"node\":\"S1\",\"status\":\"cancelled\",\"reason\":\"no\"}",
	    NULL, "S1 (S1) has not begun, and will not: it is cancelled" },
	{ "overseer.work.update",
	    "{\"node\":\"P1\",\"status\":\"blocked\",\"reason\":\"Bob\"}", NULL,
	    "will not: P1, which it is a part of, is blocked" },
	{ "overseer.work.split", "{\"node\":\"S1\",\"names\":[\"x\",\"y\"]}",
	    NULL, "will not: it " },
	{ NULL, NULL, "s/^enabled = true/enabled = false/",
	    "will not: goals are off" },
	{ NULL, NULL, "s/^enabled = true/&\\nallow_agents = [\"eve\"]/",
	    "will not: goals are off, or not for agents" },
};

TEST_ROWS(those_that_will_not_begin_are_not_waited_for, nitems(losses))
{
	begin(NULL, "");
	wait_for_others();
	if (losses[_i].method != NULL) {
		plan_world_must(losses[_i].method, losses[_i].params);
	} else {
		cleanup_free char *sed = xasprintf(
		    "sed -i '%s' .llmc/config.toml", losses[_i].config);

		floor_world_sh(sed);
		floor_world_accept();
		mail_world_die();
	}
	told(losses[_i].why);
	ck_assert_ptr_null(auto_world_of("t1")->attempt.untold);
}

/* In a turn, too: it waits for what it must know. */
TEST(one_that_works_is_told_when_its_turn_ends)
{
	struct agent *agent;

	begin(NULL, "");
	plan_world_must(losses[0].method, losses[0].params);
	agent = auto_world_turn_on("t1");
	family_world_turn_ends(agent, "a.txt");
	told(losses[0].why);
	family_world_turn_ends(auto_world_turn_on("t1"), NULL);
	auto_world_wait_step("t1", -1);
	auto_world_filed("t1 landed; ");
}

static bool
is_person_told(void *arg)
{
	(void)arg;
	return access(unit_path("told.all"), F_OK) == 0;
}

TEST(what_only_a_person_can_change_is_said_once)
{
	cleanup_buf struct buf text = BUF_INIT;

	setenv("TOLD", unit_path("told"), 1);
	begin("[people.channels.told]\ntype = \"command\"\ncommand = "
	      "\"cat >>$TOLD; echo x >>$TOLD.all\"\n",
	    "");
	wait_for_others();
	ck_assert_str_eq(worker("auto-1")->reason,
	    "waits for S1 (S1) (held: it depends on T1.1, which is "
	    "in_progress)");
	floor_world_wait(is_person_told, NULL);
	still_waits();
	mail_world_die();
	still_waits();
	plan_world_must("overseer.goal.pause", "{\"goal\":\"g\"}");
	still_waits();
	floor_has(worker("auto-1")->reason, "(held: goal g is paused)");
	mail_world_end(); /* and the commands have ended */
	ck_assert_int_eq(file_read(unit_path("told"), 10000, &text, NULL), 0);
	floor_has(text.data, "auto-1 waits for S1, which cannot begin: ");
	buf_clear(&text);
	ck_assert_int_eq(file_read(unit_path("told.all"), 100, &text, NULL), 0);
	ck_assert_str_eq(text.data, "x\n");
}

/* --- runs until empty --------------------------------------------------- */

TEST(a_run_until_empty_ends_although_they_are_held)
{
	begin(NULL, "");
	wait_for_others();
	auto_world.mode->until_empty = true;
	life_patrol(auto_world.core);
	floor_world_wait_stopped();
	ck_assert_int_eq(auto_world.core->exit_status, 1);
}

/* t2 has a worker and asks a person; t1 knows, and waits on. */
static void
begin_asking(const char *run)
{
	family_world_begin(NULL);
	auto_world_turn_on("t1");
	family_world_spawn("t1", "S1", run);
	auto_world_turn_on("t2");
	wait_for_others();
	fake_session_turn_ends(
	    auto_world_turn_on("t2")->session, "Tabs or spaces?");
	told("agent.paused:t2");
	wait_for_others();
}

TEST(a_run_until_empty_ends_although_one_of_the_team_is_parked)
{
	struct agent *agent;

	family_world_begin(NULL);
	auto_world_turn_on("t1");
	family_world_spawn("t1", "S1", "");
	agent = auto_world_turn_on("t2");
	wait_for_others();
	op_park_task(
	    auto_world.mode, agent, ASK_FAILURE, "stopped by oversight: x");
	told("agent.paused:t2");
	wait_for_others();
	auto_world.mode->until_empty = true;
	life_patrol(auto_world.core);
	floor_world_wait_stopped();
	ck_assert_int_eq(auto_world.core->exit_status, 1);
}

/* --- time and money ------------------------------------------------------ */

TEST(the_time_of_one_that_is_parked_runs_out_too)
{
	struct task *filed;

	begin_asking(", \"timeout_s\": 3000");
	auto_world_of("t2")->assigned_ms -= 3000000;
	settle();
	told("timeout: ");
	auto_world_wait_step("t2", -1);
	filed = family_world_filed("t2");
	ck_assert_int_eq(filed->outcome, OUTCOME_FAILED);
	task_free(filed);
}

TEST(nobody_goes_on_while_all_are_paused)
{
	struct core *core;

	begin(NULL, "");
	core = auto_world.core;
	wait_for_others();
	xstrset(&core->state.paused, "the budget of the day is spent");
	plan_world_must(losses[0].method, losses[0].params);
	team_floor_changed(mail_world.team);
	floor_world_settle();
	ck_assert_int_eq(worker("auto-1")->status, WORKER_WAITING);
	xstrset(&core->state.paused, NULL);
	team_floor_changed(mail_world.team);
	told(losses[0].why);
}

/* --- results ------------------------------------------------------------- */

static bool
is_settling(void *arg)
{
	const struct task *t = auto_world_of("t2");

	(void)arg;
	return t != NULL && t->step == TASK_SETTLING;
}

/* t2 has landed, and its outcome is about to be told. */
static void
begin_landed(void)
{
	family_world_begin(NULL);
	auto_world_turn_on("t1");
	family_world_spawn("t1", "S1", "");
	auto_world_turn_on("t2");
	wait_for_others();
	family_world_turn_ends(auto_world_turn_on("t2"), "b.txt");
	floor_world_wait_closely(is_settling, NULL);
}

TEST(without_a_store_a_result_is_told_all_the_same)
{
	family_world_begin(NULL);
	auto_world_turn_on("t1");
	family_world_spawn("t1", "S1", "");
	auto_world_turn_on("t2");
	wait_for_others();
	xstrset(&plan_world.floor->why, "the store is damaged");
	plan_world.floor->state = PLAN_SAFE;
	family_world_turn_ends(auto_world_turn_on("t2"), "b.txt");
	told("- S1 (t2) has ended: landed");
	floor_world_wt("auto-1", "test -e b.txt");
}

TEST(one_that_has_landed_is_done_however_its_parent_ends)
{
	begin_landed();
	ck_assert_int_eq(outcome_drop(auto_world.mode, auto_world_of("t1"),
			     "not wanted", NULL),
	    0);
	auto_world_wait_step("t2", -1);
	auto_world_wait_step("t1", -1);
	plan_world_is("g", "active; T1.1 blocked; S1 done; ");
}
