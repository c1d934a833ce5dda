/* SPDX-License-Identifier: ISC */

/* Turns and sessions of a repair that fail: waited for, started again, or given
 * up. */
#include <errno.h>
#include <stdlib.h>

#include "clock.h"
#include "loop.h"
#include "mem.h"
#include "repair-world.h"
#include "unit.h"

static void
work(struct world *w)
{
	world_agent(w);
	repair_begin(&w->o);
	world_until_step(w, "work");
	world_agent_ready(w);
}

START_TEST(a_login_that_is_missing_fails_it)
{
	struct world w;

	world_begin(&w, false);
	work(&w);
	free(world_answer(&w,
	    world_hook(&w, "StopFailure",
		"{\"error\":\"authentication_failed\","
		"\"last_assistant_message\":\"Please run /login\"}")));
	world_until_told(
	    &w, REPAIR_FAILED, "the agent's turn failed: Please run /login");
	world_end(&w);
}
END_TEST

START_TEST(an_outage_is_waited_for_a_few_times)
{
	struct world w;

	world_begin(&w, false);
	work(&w);
	for (int i = 0; i < 4; i++) {
		free(world_answer(&w,
		    world_hook(&w, "StopFailure",
			"{\"error\":\"overloaded\","
			"\"last_assistant_message\":\"529\"}")));
		if (i == 3)
			break;
		ck_assert(loop_timer_pending(w.o.repair->agent.wait));
		loop_timer_restart(w.o.repair->agent.wait, 1);
		world_until_typed(&w, "The interruption is over.");
	}
	world_until_told(&w, REPAIR_FAILED, "the agent's turn failed: 529");
	world_end(&w);
}
END_TEST

/* More often than a turn may fail, and longer than the repair may take. */
START_TEST(a_usage_limit_is_waited_for_until_it_is_over)
{
	const char *limit = "{\"error\":\"rate_limit\","
			    "\"last_assistant_message\":\"You've hit your "
			    "limit\"}";
	int64_t before, wait;
	struct world w;

	world_begin(&w, false);
	work(&w);
	for (int i = 0; i < 6; i++) {
		before = loop_timer_remaining(
		    w.o.repair->op.deadline, clock_mono_ms());
		free(world_answer(&w, world_hook(&w, "StopFailure", limit)));
		wait = loop_timer_remaining(
		    w.o.repair->agent.wait, clock_mono_ms());
		ck_assert_int_gt(wait, (int64_t)4 * 60 * 1000);
		ck_assert_int_gt(loop_timer_remaining(
				     w.o.repair->op.deadline, clock_mono_ms()),
		    before + wait - 5000);
		loop_timer_restart(w.o.repair->agent.wait, 1);
		world_until_typed(&w, "The interruption is over.");
	}
	free(world_stops(&w));
	world_until_told(&w, REPAIR_COMPLETED, "the agent finished");
	world_end(&w);
}
END_TEST

START_TEST(a_session_that_dies_is_started_again_twice)
{
	uint64_t generation = 0;
	struct world w;

	world_begin(&w, false);
	work(&w);
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_gt(
		    w.o.repair->agent.record.generation, generation);
		generation = w.o.repair->agent.record.generation;
		world_agent_exits(&w);
		world_until_tmux(&w, "kill");
		world_agent(&w);
		world_agent_ready(&w); /* with the whole prompt again */
	}
	world_agent_exits(&w);
	world_until_told(
	    &w, REPAIR_DIED, "the repair session ended on its own");
	world_end(&w);
}
END_TEST

START_TEST(a_session_that_cannot_be_started_is_tried_again)
{
	struct world w;

	world_begin(&w, false);
	repair_begin(&w.o);
	world_until_step(&w, "work");
	for (int i = 0; i < 3; i++) {
		/* The end of the previous one, and the start. */
		world_until_tmux(&w, i == 0 ? "kill" : "kill kill");
		w.tmux->err = (struct err){ -EIO, "no tmux today" };
	}
	world_until_told(&w, REPAIR_DIED, "no tmux today");
	world_end(&w);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("repair-turns");

	unit_case(s, "failures",
	    (const TTest *[]){ a_login_that_is_missing_fails_it,
		an_outage_is_waited_for_a_few_times,
		a_usage_limit_is_waited_for_until_it_is_over,
		a_session_that_dies_is_started_again_twice,
		a_session_that_cannot_be_started_is_tried_again, NULL });
	return s;
}
