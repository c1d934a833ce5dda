/* SPDX-License-Identifier: ISC */

/* Agents that others have asked for have workers of their own; those who asked
 * wait for them, whatever happens meanwhile. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "clock.h"
#include "mem.h"
#include "plan-floor.h"
#include "task-run.h"
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

/* t1 is at work and has asked for t2, which is at work too. */
static void
begin(struct family_world *world, const char *more, const char *run)
{
	family_world_begin(world, more);
	family_world_turn(world, "t1");
	family_world_spawn(world, "t1", "S1", run);
	family_world_turn(world, "t2");
}

START_TEST(who_asked_waits_is_rebased_and_goes_on)
{
	struct family_world world;
	struct agent *agent;

	begin(&world, NULL, "");
	ck_assert_str_eq(task(&world, "t2")->worker, "team-1");
	ck_assert_str_eq(task(&world, "t2")->run->parent, "t1");
	family_world_turn_ends(&world, family_world_turn(&world, "t1"), "a.txt");
	family_world_wait(&world, "auto-1", WORKER_WAITING);
	floor_world_settle(&world.world->floor);
	ck_assert_str_eq(
	    worker(&world, "auto-1")->reason, "waits for S1 (t2)");
	family_world_turn_ends(&world, family_world_turn(&world, "t2"), "b.txt");
	agent = family_world_turn(&world, "t1");
	family_world_wait_filed(&world, "t2");
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "have ended"));
	ck_assert_str_eq(floor_world_wt(&world.world->floor, "auto-1",
			     "ls *.txt | tr '\n' ' '"),
	    "a.txt b.txt ");
	family_world_turn_ends(&world, agent, NULL);
	family_world_wait_filed(&world, "t1");
	plan_world_is(&world.plan, "g", "completed; T1.1 done; S1 done; ");
	auto_world_filed(world.world, "t2 landed; t1 landed; ");
	family_world_end(&world);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("team-work");

	unit_case(suite, "waiting",
	    (const TTest *const[]){
		who_asked_waits_is_rebased_and_goes_on, NULL });
	return suite;
}
