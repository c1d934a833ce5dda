/* SPDX-License-Identifier: ISC */

/* A floor above auto mode is one more source of tasks. Here the test is that
 * floor: it wants tasks done, and says when it has recorded something. */
#include "auto-world.h"
#include "source.h"

struct above {
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
begin(struct above *above)
{
	*above = (struct above){ .priority = PRIORITY_NORMAL };
	auto_world_begin(NULL);
	auto_set_policy(auto_world.mode, &policy, above);
}

static void
finish(struct agent *agent)
{
	auto_world_finish(agent, "b.txt");
}

TEST(a_planned_task_goes_its_way)
{
	struct above above;
	struct agent *agent;

	begin(&above);
	above.wanted = "goal/T1";
	auto_world_live();
	agent = auto_world_turn(1);
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "Do the node"));
	ck_assert_int_eq(above.takes, 1);
	finish(agent);
	auto_world_wait_done();
	ck_assert_int_eq(above.settles, 1);
	ck_assert_int_eq(above.outcome, OUTCOME_LANDED);
	auto_world_filed("t1 landed; ");
}

TEST(it_is_assigned_once_its_taking_is_recorded)
{
	struct above above;

	begin(&above);
	above.wanted = "goal/T1";
	above.take = -EINPROGRESS;
	auto_world_live();
	floor_world_until(above.takes > 0);
	floor_world_settle();
	ck_assert_int_eq(auto_world.core->state.tasks[0]->step, TASK_OFFERED);
	above.take = 0;
	auto_plan_changed(auto_world.mode);
	auto_world_turn(1);
}

TEST(it_is_dropped_when_it_is_not_wanted_any_more)
{
	struct above above;

	begin(&above);
	above.wanted = "goal/T1";
	above.take = -ESTALE;
	auto_world_live();
	floor_world_until(above.takes > 0);
	floor_world_until(auto_world.core->state.task_count == 0);
	auto_world_filed("");
}

TEST(the_state_keeps_it_until_its_outcome_is_recorded)
{
	struct above above;

	begin(&above);
	above.wanted = "goal/T1";
	above.settle = -EINPROGRESS;
	auto_world_live();
	finish(auto_world_turn(1));
	floor_world_until(above.settles > 0);
	floor_world_settle();
	ck_assert_int_eq(auto_world.core->state.tasks[0]->step, TASK_SETTLING);
	auto_world_filed("");
	above.settle = 0;
	auto_plan_changed(auto_world.mode);
	floor_world_until(auto_world.core->state.task_count == 0);
	auto_world_filed("t1 landed; ");
}

/* The daemon dies before the taking is recorded: the next one asks again. */
TEST(a_taking_that_was_not_recorded_is_asked_again)
{
	struct above above;

	begin(&above);
	above.wanted = "goal/T1";
	above.take = -EINPROGRESS;
	auto_world_live();
	floor_world_until(above.takes > 0);
	floor_world_settle();
	auto_world_reopen();
	above.takes = 0;
	above.take = 0;
	auto_set_policy(auto_world.mode, &policy, &above);
	auto_world_live();
	finish(auto_world_turn(1));
	auto_world_wait_done();
	ck_assert_int_eq(above.takes, 1);
	auto_world_filed("t1 landed; ");
}

TEST(its_priority_counts_beside_the_other_source)
{
	struct above above;
	const struct agent *agent;

	begin(&above);
	above.wanted = "goal/T1";
	above.priority = PRIORITY_LOW;
	above.take = -EINPROGRESS;
	auto_world_task("a.md", "Do the file\n");
	auto_world_live();
	floor_world_until(above.takes > 0);
	above.take = 0;
	agent = auto_world_turn(1);
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "Do the file"));
}

TEST(the_run_is_not_over_while_more_is_expected)
{
	struct above above;

	begin(&above);
	above.expects = true;
	auto_world_live();
	floor_world_settle();
	auto_world_told("");
	above.expects = false;
	auto_plan_changed(auto_world.mode);
	auto_world_wait("exhausted; ");
}
