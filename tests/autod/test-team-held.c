/* SPDX-License-Identifier: ISC */

/* Whoever waits for agents waits for those that will begin, knows of those that
 * will not, and waits for nobody for ever without a person's knowledge. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "auto.h"
#include "buf.h"
#include "file.h"
#include "life.h"
#include "mem.h"
#include "op-park-task.h"
#include "outcome.h"
#include "plan-floor.h"
#include "task-run.h"
#include "team-private.h"
#include "family-world.h"
#include "unit.h"

static const struct worker *
worker(struct family_world *world, const char *name)
{
	return state_find(&world->world->core->state, name);
}

static struct task *
task(struct family_world *world, const char *id)
{
	return state_task(&world->world->core->state, id);
}

static void
has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "%s: not in %s", part, text);
}

struct telling {
	struct family_world *world;
	const char *part;
};

static bool
is_told(void *arg)
{
	const struct telling *telling = arg;
	const struct agent *agent =
	    fleet_find(telling->world->world->floor.fleet, "auto-1");
	const char *prompt = fake_session_prompt(agent->session);

	return worker_in_turn(agent->worker->status) && prompt != NULL &&
	    strstr(prompt, telling->part) != NULL;
}

/* Run the loop until t1 is in a turn with a prompt that has this part. */
static void
told(struct family_world *world, const char *part)
{
	struct telling telling = { world, part };

	floor_world_wait(&world->world->floor, is_told, &telling);
}

static void
settle(struct family_world *world)
{
	auto_world_patrol(world->world);
	floor_world_settle(&world->world->floor);
}

/* The turn of t1 ends, and it waits. */
static void
wait_for_others(struct family_world *world)
{
	family_world_turn_ends(world, family_world_turn(world, "t1"), NULL);
	family_world_wait(world, "auto-1", WORKER_WAITING);
	floor_world_settle(&world->world->floor);
}

/* t1 has asked for S1, which cannot begin yet. */
static void
begin(struct family_world *world, const char *more, const char *run)
{
	family_world_begin(world, more);
	family_world_turn(world, "t1");
	family_world_spawn_after(world, "t1", "S1", run, "T1.1");
}

static void
still_waits(struct family_world *world)
{
	settle(world);
	ck_assert_int_eq(worker(world, "auto-1")->status, WORKER_WAITING);
}

/* --- the store is busy ------------------------------------------------- */

TEST(nobody_goes_on_while_it_is_not_known_who_has_not_begun)
{
	struct family_world world;

	begin(&world, NULL, "");
	wait_for_others(&world);
	plan_floor_close(world.plan.floor);
	still_waits(&world);
	plan_floor_open(world.plan.floor);
	still_waits(&world);
	family_world_end(&world);
}

TEST(a_turn_that_ends_meanwhile_is_not_judged)
{
	struct family_world world;

	begin(&world, NULL, "");
	floor_world_settle(&world.world->floor);
	plan_floor_close(world.plan.floor);
	wait_for_others(&world);
	plan_floor_open(world.plan.floor);
	still_waits(&world);
	has(worker(&world, "auto-1")->reason, "waits for S1 (S1)");
	family_world_end(&world);
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
	struct family_world world;

	begin(&world, NULL, "");
	wait_for_others(&world);
	if (losses[_i].method != NULL) {
		plan_world_must(
		    &world.plan, losses[_i].method, losses[_i].params);
	} else {
		cleanup_free char *sed = xasprintf(
		    "sed -i '%s' .llmc/config.toml", losses[_i].config);

		floor_world_sh(&world.world->floor, sed);
		floor_world_accept(&world.world->floor);
		family_world_die(&world);
	}
	told(&world, losses[_i].why);
	ck_assert_ptr_null(task(&world, "t1")->run->untold);
	family_world_end(&world);
}

/* In a turn, too: it waits for what it must know. */
TEST(one_that_works_is_told_when_its_turn_ends)
{
	struct family_world world;
	struct agent *agent;

	begin(&world, NULL, "");
	plan_world_must(&world.plan, losses[0].method, losses[0].params);
	agent = family_world_turn(&world, "t1");
	family_world_turn_ends(&world, agent, "a.txt");
	told(&world, losses[0].why);
	family_world_turn_ends(&world, family_world_turn(&world, "t1"), NULL);
	family_world_wait_filed(&world, "t1");
	auto_world_filed(world.world, "t1 landed; ");
	family_world_end(&world);
}

static bool
is_person_told(void *arg)
{
	(void)arg;
	return access(unit_path("told.all"), F_OK) == 0;
}

TEST(what_only_a_person_can_change_is_said_once)
{
	struct family_world world;
	cleanup_buf struct buf text = BUF_INIT;

	setenv("TOLD", unit_path("told"), 1);
	begin(&world,
	    "[people]\nnotify_on = [\"worker\"]\nnotify_command = "
	    "\"cat >>$TOLD; echo x >>$TOLD.all\"\n",
	    "");
	wait_for_others(&world);
	ck_assert_str_eq(worker(&world, "auto-1")->reason,
	    "waits for S1 (S1) (held: it depends on T1.1, which is "
	    "in_progress)");
	floor_world_wait(&world.world->floor, is_person_told, NULL);
	still_waits(&world);
	family_world_die(&world);
	still_waits(&world);
	plan_world_must(&world.plan, "overseer.goal.pause", "{\"goal\":\"g\"}");
	still_waits(&world);
	has(worker(&world, "auto-1")->reason, "(held: goal g is paused)");
	family_world_end(&world); /* and the commands have ended */
	ck_assert_int_eq(file_read(unit_path("told"), 10000, &text, NULL), 0);
	has(text.data, "auto-1 waits for S1, which cannot begin: ");
	buf_clear(&text);
	ck_assert_int_eq(file_read(unit_path("told.all"), 100, &text, NULL), 0);
	ck_assert_str_eq(text.data, "x\n");
}

/* --- runs until empty --------------------------------------------------- */

TEST(a_run_until_empty_ends_although_they_are_held)
{
	struct family_world world;

	begin(&world, NULL, "");
	wait_for_others(&world);
	world.world->mode->until_empty = true;
	life_patrol(world.world->core);
	floor_world_wait_stopped(&world.world->floor);
	ck_assert_int_eq(world.world->core->exit_status, 1);
	family_world_end(&world);
}

/* t2 has a worker and asks a person; t1 knows, and waits on. */
static void
begin_asking(struct family_world *world, const char *run)
{
	family_world_begin(world, NULL);
	family_world_turn(world, "t1");
	family_world_spawn(world, "t1", "S1", run);
	family_world_turn(world, "t2");
	wait_for_others(world);
	fake_session_turn_ends(
	    family_world_turn(world, "t2")->session, "Tabs or spaces?");
	told(world, "agent.paused:t2");
	wait_for_others(world);
}

TEST(a_run_until_empty_ends_although_one_of_the_team_is_parked)
{
	struct family_world world;
	struct agent *agent;

	family_world_begin(&world, NULL);
	family_world_turn(&world, "t1");
	family_world_spawn(&world, "t1", "S1", "");
	agent = family_world_turn(&world, "t2");
	wait_for_others(&world);
	op_park_task(
	    world.world->mode, agent, ASK_FAILURE, "stopped by oversight: x");
	told(&world, "agent.paused:t2");
	wait_for_others(&world);
	world.world->mode->until_empty = true;
	life_patrol(world.world->core);
	floor_world_wait_stopped(&world.world->floor);
	ck_assert_int_eq(world.world->core->exit_status, 1);
	family_world_end(&world);
}

/* --- time and money ------------------------------------------------------ */

TEST(the_time_of_one_that_is_parked_runs_out_too)
{
	struct family_world world;
	struct task *filed;

	begin_asking(&world, ", \"timeout_s\": 3000");
	task(&world, "t2")->assigned_ms -= 3000000;
	settle(&world);
	told(&world, "timeout: ");
	family_world_wait_filed(&world, "t2");
	filed = family_world_filed(&world, "t2");
	ck_assert_int_eq(filed->outcome, OUTCOME_FAILED);
	task_free(filed);
	family_world_end(&world);
}

TEST(nobody_goes_on_while_all_are_paused)
{
	struct family_world world;
	struct core *core;

	begin(&world, NULL, "");
	core = world.world->core;
	wait_for_others(&world);
	xstrset(&core->state.paused, "the budget of the day is spent");
	plan_world_must(&world.plan, losses[0].method, losses[0].params);
	team_floor_changed(world.floor);
	floor_world_settle(&world.world->floor);
	ck_assert_int_eq(worker(&world, "auto-1")->status, WORKER_WAITING);
	xstrset(&core->state.paused, NULL);
	team_floor_changed(world.floor);
	told(&world, losses[0].why);
	family_world_end(&world);
}

/* --- results ------------------------------------------------------------- */

static bool
is_settling(void *arg)
{
	const struct task *t = task(arg, "t2");

	return t != NULL && t->step == TASK_SETTLING;
}

/* t2 has landed, and its outcome is about to be told. */
static void
begin_landed(struct family_world *world)
{
	family_world_begin(world, NULL);
	family_world_turn(world, "t1");
	family_world_spawn(world, "t1", "S1", "");
	family_world_turn(world, "t2");
	wait_for_others(world);
	family_world_turn_ends(world, family_world_turn(world, "t2"), "b.txt");
	floor_world_wait_closely(&world->world->floor, is_settling, world);
}

TEST(without_a_store_a_result_is_told_all_the_same)
{
	struct family_world world;

	family_world_begin(&world, NULL);
	family_world_turn(&world, "t1");
	family_world_spawn(&world, "t1", "S1", "");
	family_world_turn(&world, "t2");
	wait_for_others(&world);
	plan_floor_close(world.plan.floor);
	xstrset(&world.plan.floor->why, "the store is damaged");
	world.plan.floor->state = PLAN_SAFE;
	family_world_turn_ends(
	    &world, family_world_turn(&world, "t2"), "b.txt");
	told(&world, "- S1 (t2) has ended: landed");
	floor_world_wt(&world.world->floor, "auto-1", "test -e b.txt");
	family_world_end(&world);
}

TEST(one_that_has_landed_is_done_however_its_parent_ends)
{
	struct family_world world;

	begin_landed(&world);
	ck_assert_int_eq(outcome_drop(world.world->mode, task(&world, "t1"),
			     true, "not wanted", NULL),
	    0);
	family_world_wait_filed(&world, "t2");
	family_world_wait_filed(&world, "t1");
	plan_world_is(&world.plan, "g", "active; T1.1 blocked; S1 done; ");
	family_world_end(&world);
}

TEST(one_that_cannot_be_read_does_not_keep_its_parent)
{
	struct family_world world;

	begin(&world, "[team]\non_parent_end = \"hand_over\"\n",
	    ", \"timeout_s\": \"soon\"");
	ck_assert_int_eq(outcome_drop(world.world->mode, task(&world, "t1"),
			     true, "not wanted", NULL),
	    0);
	family_world_wait_filed(&world, "t1");
	ck_assert_ptr_null(plan_world_node(&world.plan, "g", "S1")->spawn);
	family_world_end(&world);
}
