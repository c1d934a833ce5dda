/* SPDX-License-Identifier: ISC */

/* What a plan says about the iterations of a task on one of its nodes. */
#include "plan-world.h"
#include "oversight-floor.h"
#include "plan.h"
#include "tune.h"

#define ON "max_turns = 50\n[oversight]\nmode = \"act\"\n"

static struct world {
	struct oversight_floor *floor;
} w;

static void
end(void)
{
	oversight_floor_free(w.floor);
	plan_world_end();
}

static struct agent *
begin(const char *effort)
{
	memset(&w, 0, sizeof w);
	plan_world_begin(NULL, ON);
	w.floor = oversight_floor_new(auto_world.mode);
	plan_world_live();
	plan_world_goal("goal_a", 1);
	xstrset(&plan_world_node("goal_a", "T1.1")->estimated_effort, effort);
	unit_at_end(end);
	return auto_world_turn(1);
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
turn(int n, const char *words)
{
	struct agent *agent = auto_world_turn(n);

	floor_world_wt("auto-1", "echo 1 >one.txt");
	fake_session_turn_ends(agent->session, words);
	auto_world_turn(n + 1);
	buf_clear(&last);
	ck_assert_int_eq(book_read_turns(auto_world.core->book, "t1", 0,
			     on_turn, &last, NULL),
	    0);
	return last.data;
}

static void
lacks(const char *text, const char *words)
{
	ck_assert_msg(
	    strstr(text, words) == NULL, "\"%s\" is in: %s", words, text);
}

TEST(the_effort_of_a_node_says_how_many_are_expected)
{
	const char *text;

	begin("small");
	text = turn(1, "Working.");
	floor_has(text, "\"maxIterations\":6");
	/* It is not known how far it is: that is not 0. */
	lacks(text, "completionPercentage");
	lacks(text, "\"scope\"");
}

TEST(without_an_effort_nothing_is_expected)
{
	begin(NULL);
	lacks(turn(1, "Working."), "maxIterations");
}

/* It was divided while its worker had it. */
TEST(the_parts_of_a_node_say_how_far_it_is)
{
	struct plan *plan;

	begin(NULL);
	plan = plan_world_plan("goal_a");
	for (int i = 1; i <= 2; i++) {
		cleanup_free char *id = xasprintf("S1.1.%d", i);
		struct plan_node *part =
		    plan_node_new("goal_a", NODE_SUBTASK, id, id, 1);

		xstrset(&part->parent_id, "T1.1");
		part->order = i;
		part->status = i == 1 ? NODE_DONE : NODE_BLOCKED;
		ck_assert_int_eq(plan_attach(plan, part, NULL), 0);
	}
	floor_has(turn(1, "Working."), "\"completionPercentage\":50");
}

TEST(an_update_about_another_node_says_nothing)
{
	const char *text;

	begin(NULL);
	text = turn(1,
	    "Words.\n```json\n{\"overseerUpdate\": {\"workNodeId\": \"T9.9\", "
	    "\"summary\": \"All well\", \"blockers\": [\"x\"]}}\n```\n");
	lacks(text, "\"learnings\":\"All well\"");
	lacks(text, "\"blockers\":[\"x\"]");
	text = turn(2,
	    "Words.\n```json\n{\"overseerUpdate\": {\"workNodeId\": \"T1.1\", "
	    "\"summary\": \"All well\", \"blockers\": [\"x\"]}}\n```\n");
	floor_has(text, "\"learnings\":\"All well\"");
	floor_has(text, "\"blockers\":[\"x\"]");
}
