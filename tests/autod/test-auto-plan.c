/* SPDX-License-Identifier: ISC */

/* A floor above auto mode is one more source of tasks. Here the test is that
 * floor: it wants tasks done, and says when it has recorded something. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "agent.h"
#include "auto-world.h"
#include "auto.h"
#include "errtext.h"
#include "mem.h"
#include "source.h"
#include "unit.h"

struct above {
	struct auto_world *world;
	const char *wanted; /* the key of the next task; NULL = none */
	enum priority priority;
	int take, settle; /* the answers */
	int takes, settles;
	bool expects;
	enum task_outcome outcome;
};

static bool
on_offer(void *arg, bool team, struct source_offer *offer)
{
	struct above *above = arg;

	if (above->wanted == NULL || team)
		return false;
	*offer = (struct source_offer){ .key = take_ptr(&above->wanted),
		.title = "A node",
		.text = "Do the node\n",
		.priority = above->priority };
	return true;
}

static int
on_take(void *arg, const struct task *task, struct err *err)
{
	struct above *above = arg;

	ck_assert_str_eq(task->source, AUTO_PLAN_SOURCE);
	above->takes++;
	return above->take == 0 ? 0 : err_set(err, above->take, "not now");
}

static int
on_settle(void *arg, const struct task *task, struct err *err)
{
	struct above *above = arg;

	above->settles++;
	above->outcome = task->outcome;
	return above->settle == 0 ? 0 : err_set(err, above->settle, "not now");
}

static bool
on_expects(void *arg)
{
	return ((const struct above *)arg)->expects;
}

static const struct auto_policy policy = {
	.offer = on_offer,
	.take = on_take,
	.settle = on_settle,
	.expects = on_expects,
};

static void
begin(struct above *above, struct auto_world *world)
{
	*above = (struct above){ .world = world, .priority = PRIORITY_NORMAL };
	auto_world_begin(world, NULL);
	auto_set_policy(world->mode, &policy, above);
}

static bool
was_taken(void *arg)
{
	return ((const struct above *)arg)->takes > 0;
}

static bool
was_settled(void *arg)
{
	return ((const struct above *)arg)->settles > 0;
}

static bool
is_gone(void *arg)
{
	return ((const struct above *)arg)->world->core->state.task_count == 0;
}

static void
finish(struct auto_world *world, struct agent *agent)
{
	auto_world_work(world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
}

TEST(a_planned_task_goes_its_way)
{
	struct auto_world world;
	struct above above;
	struct agent *agent;

	begin(&above, &world);
	above.wanted = "goal/T1";
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "Do the node"));
	ck_assert_int_eq(above.takes, 1);
	finish(&world, agent);
	auto_world_wait_done(&world);
	ck_assert_int_eq(above.settles, 1);
	ck_assert_int_eq(above.outcome, OUTCOME_LANDED);
	auto_world_filed(&world, "t1 landed; ");
	auto_world_end(&world);
}

TEST(it_is_assigned_once_its_taking_is_recorded)
{
	struct auto_world world;
	struct above above;

	begin(&above, &world);
	above.wanted = "goal/T1";
	above.take = -EINPROGRESS;
	auto_world_live(&world);
	floor_world_wait(&world.floor, was_taken, &above);
	floor_world_settle(&world.floor);
	ck_assert_int_eq(world.core->state.tasks[0]->step, TASK_OFFERED);
	above.take = 0;
	auto_plan_changed(world.mode);
	auto_world_turn(&world, 1);
	auto_world_end(&world);
}

TEST(it_is_dropped_when_it_is_not_wanted_any_more)
{
	struct auto_world world;
	struct above above;

	begin(&above, &world);
	above.wanted = "goal/T1";
	above.take = -ESTALE;
	auto_world_live(&world);
	floor_world_wait(&world.floor, was_taken, &above);
	floor_world_wait(&world.floor, is_gone, &above);
	auto_world_filed(&world, "");
	auto_world_end(&world);
}

TEST(the_state_keeps_it_until_its_outcome_is_recorded)
{
	struct auto_world world;
	struct above above;

	begin(&above, &world);
	above.wanted = "goal/T1";
	above.settle = -EINPROGRESS;
	auto_world_live(&world);
	finish(&world, auto_world_turn(&world, 1));
	floor_world_wait(&world.floor, was_settled, &above);
	floor_world_settle(&world.floor);
	ck_assert_int_eq(world.core->state.tasks[0]->step, TASK_SETTLING);
	auto_world_filed(&world, "");
	above.settle = 0;
	auto_plan_changed(world.mode);
	floor_world_wait(&world.floor, is_gone, &above);
	auto_world_filed(&world, "t1 landed; ");
	auto_world_end(&world);
}

/* The daemon dies before the taking is recorded: the next one asks again. */
TEST(a_taking_that_was_not_recorded_is_asked_again)
{
	struct auto_world world;
	struct above above;

	begin(&above, &world);
	above.wanted = "goal/T1";
	above.take = -EINPROGRESS;
	auto_world_live(&world);
	floor_world_wait(&world.floor, was_taken, &above);
	floor_world_settle(&world.floor);
	auto_world_reopen(&world);
	above.takes = 0;
	above.take = 0;
	auto_set_policy(world.mode, &policy, &above);
	auto_world_live(&world);
	finish(&world, auto_world_turn(&world, 1));
	auto_world_wait_done(&world);
	ck_assert_int_eq(above.takes, 1);
	auto_world_filed(&world, "t1 landed; ");
	auto_world_end(&world);
}

TEST(its_priority_counts_beside_the_other_source)
{
	struct auto_world world;
	struct above above;
	const struct agent *agent;

	begin(&above, &world);
	above.wanted = "goal/T1";
	above.priority = PRIORITY_LOW;
	above.take = -EINPROGRESS;
	auto_world_task(&world, "a.md", "Do the file\n");
	auto_world_live(&world);
	floor_world_wait(&world.floor, was_taken, &above);
	above.take = 0;
	agent = auto_world_turn(&world, 1);
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "Do the file"));
	auto_world_end(&world);
}

TEST(the_run_is_not_over_while_more_is_expected)
{
	struct auto_world world;
	struct above above;

	begin(&above, &world);
	above.expects = true;
	auto_world_live(&world);
	floor_world_settle(&world.floor);
	auto_world_told(&world, "");
	above.expects = false;
	auto_plan_changed(world.mode);
	auto_world_wait(&world, "exhausted; ");
	auto_world_end(&world);
}
