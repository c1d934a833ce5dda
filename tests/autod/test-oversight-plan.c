/* SPDX-License-Identifier: ISC */

/* What a plan says about the iterations of a task on one of its nodes. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "book-history.h"
#include "agent.h"
#include "json.h"
#include "mem.h"
#include "oversight-floor.h"
#include "plan.h"
#include "plan-world.h"
#include "unit.h"

#define ON "max_turns = 50\n[oversight]\nmode = \"act\"\n"

struct world {
	struct plan_world plan;
	struct oversight_floor *floor;
};

static struct agent *
begin(struct world *w, const char *effort)
{
	memset(w, 0, sizeof *w);
	plan_world_begin(&w->plan, NULL, ON);
	w->floor = oversight_floor_new(w->plan.world.mode);
	plan_world_live(&w->plan);
	plan_world_goal(&w->plan, "goal_a", 1);
	xstrset(&plan_world_node(&w->plan, "goal_a", "T1.1")->estimated_effort,
	    effort);
	return auto_world_turn(&w->plan.world, 1);
}

static void
end(struct world *w)
{
	oversight_floor_free(w->floor);
	plan_world_end(&w->plan);
}

/* Turn n ends with a file that is not committed. Returns what is recorded. */
static struct buf last = BUF_INIT;

/* The last one with an iteration. */
static bool
on_turn(const char *task, int64_t seq, struct json_object *record, void *arg)
{
	(void)task;
	(void)seq;
	if (!json_object_object_get_ex(record, "iteration", NULL))
		return true;
	buf_clear(arg);
	json_print(record, false, arg);
	return true;
}

static const char *
turn(struct world *w, int n, const char *words)
{
	struct agent *agent = auto_world_turn(&w->plan.world, n);

	floor_world_wt(&w->plan.world.floor, "auto-1", "echo 1 >one.txt");
	fake_session_turn_ends(agent->session, words);
	auto_world_turn(&w->plan.world, n + 1);
	buf_clear(&last);
	ck_assert_int_eq(book_read_turns(w->plan.world.core->book, "t1", 0,
			     on_turn, &last, NULL),
	    0);
	return last.data;
}

static void
has(const char *text, const char *words)
{
	ck_assert_msg(
	    strstr(text, words) != NULL, "\"%s\" is not in: %s", words, text);
}

static void
lacks(const char *text, const char *words)
{
	ck_assert_msg(
	    strstr(text, words) == NULL, "\"%s\" is in: %s", words, text);
}

TEST(the_effort_of_a_node_says_how_many_are_expected)
{
	struct world w;
	const char *text;

	begin(&w, "small");
	text = turn(&w, 1, "Working.");
	has(text, "\"maxIterations\":6");
	/* It is not known how far it is: that is not 0. */
	lacks(text, "completionPercentage");
	lacks(text, "\"scope\"");
	end(&w);
}

TEST(without_an_effort_nothing_is_expected)
{
	struct world w;

	begin(&w, NULL);
	lacks(turn(&w, 1, "Working."), "maxIterations");
	end(&w);
}

/* It was divided while its worker had it. */
TEST(the_parts_of_a_node_say_how_far_it_is)
{
	struct world w;
	struct plan *plan;

	begin(&w, NULL);
	plan = plan_world_plan(&w.plan, "goal_a");
	for (int i = 1; i <= 2; i++) {
		cleanup_free char *id = xasprintf("S1.1.%d", i);
		struct plan_node *part =
		    plan_node_new("goal_a", NODE_SUBTASK, id, id, 1);

		xstrset(&part->parent_id, "T1.1");
		part->order = i;
		part->status = i == 1 ? NODE_DONE : NODE_BLOCKED;
		ck_assert_int_eq(plan_attach(plan, part, NULL), 0);
	}
	has(turn(&w, 1, "Working."), "\"completionPercentage\":50");
	end(&w);
}

TEST(an_update_about_another_node_says_nothing)
{
	struct world w;
	const char *text;

	begin(&w, NULL);
	text = turn(&w, 1,
	    "Words.\n```json\n{\"overseerUpdate\": {\"workNodeId\": \"T9.9\", "
	    "\"summary\": \"All well\", \"blockers\": [\"x\"]}}\n```\n");
	lacks(text, "\"learnings\":\"All well\"");
	lacks(text, "\"blockers\":[\"x\"]");
	text = turn(&w, 2,
	    "Words.\n```json\n{\"overseerUpdate\": {\"workNodeId\": \"T1.1\", "
	    "\"summary\": \"All well\", \"blockers\": [\"x\"]}}\n```\n");
	has(text, "\"learnings\":\"All well\"");
	has(text, "\"blockers\":[\"x\"]");
	end(&w);
}
