/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "plan-file.h"
#include "plan-prompt.h"
#include "plan.h"

static const struct plan_limits limits = {
	.max_phases = 5,
	.max_tasks = 7,
	.max_subtasks = 6,
};

static struct plan *
plan_of(void)
{
	struct plan *plan = plan_new(plan_goal_new("goal_1", "Start fast", 1));
	struct plan_node *phase =
	    plan_node_new("goal_1", NODE_PHASE, "P1", "Measure", 1);
	struct plan_node *task =
	    plan_node_new("goal_1", NODE_TASK, "T1.1", "Profile", 1);

	xstrset(&task->parent_id, "P1");
	task->status = NODE_BLOCKED;
	ck_assert_int_eq(plan_attach(plan, phase, NULL), 0);
	ck_assert_int_eq(plan_attach(plan, task, NULL), 0);
	xstrset(&plan->goal->problem_statement, "It takes {title} long.");
	strv_add(&plan->goal->success_criteria, "below 100 ms");
	return plan;
}

static void
assert_has(const struct buf *text, const char *words)
{
	ck_assert_msg(strstr(text->data, words) != NULL, "%s", words);
}

static void
assert_filled(const struct buf *text)
{
	static const char *const places[] = { "{title}\n", "{maxPhases}",
		"{maxTasks}", "{maxSubtasks}", "{problem}", "{criteria}",
		"{nonGoals}", "{constraints}", "{repository}", "{problems}",
		"{previous}", "{node}", "{reason}", "{plan}", "{messages}" };

	for (size_t i = 0; i < nitems(places); i++)
		ck_assert_msg(
		    strstr(text->data, places[i]) == NULL, "%s", places[i]);
}

TEST(a_plan_is_asked_for_with_the_limits_and_the_goal)
{
	struct plan *plan = plan_of();
	cleanup_buf struct buf text = BUF_INIT;

	planner_prompt_plan(plan->goal, &limits, "Top level: a.c", &text);
	assert_has(&text, "At most 5 phases, 7 tasks in a phase and 6");
	assert_has(&text, "Goal: Start fast\n");
	assert_has(&text, "- below 100 ms\n");
	assert_has(&text, "Constraints:\n(nothing was said)\n");
	assert_has(&text, "The repository:\nTop level: a.c\n");
	assert_has(&text, "{\"planVersion\": 1,");
	/* A value is not read again. */
	assert_has(&text, "It takes {title} long.");
	assert_filled(&text);
	plan_free(plan);
}

TEST(a_correction_names_the_faults)
{
	cleanup_buf struct buf text = BUF_INIT;

	planner_prompt_repair(
	    (const char *const[]){ "phases: missing", "goal.title: no", NULL },
	    "{\"x\":1}", &text);
	assert_has(&text, "- phases: missing\n- goal.title: no\n");
	assert_has(&text, "{\"x\":1}");
	assert_filled(&text);
}

TEST(a_new_plan_is_asked_for_with_the_old_one)
{
	struct plan *plan = plan_of();
	cleanup_buf struct buf text = BUF_INIT;

	planner_prompt_replan(
	    plan, plan_find(plan, "T1.1"), "no sign of life", &limits, &text);
	assert_has(&text, "T1.1 (Profile) could not be done.");
	assert_has(&text, "What is known:\nno sign of life\n");
	assert_has(&text, "P1 (todo): Measure\n");
	assert_has(&text, "  T1.1 (blocked): Profile\n    {");
	assert_filled(&text);
	plan_free(plan);
}

TEST(long_values_are_cut)
{
	struct plan *plan = plan_of();
	cleanup_buf struct buf text = BUF_INIT, huge = BUF_INIT;

	for (int i = 0; i < 2 * PLANNER_VALUE_MAX; i++)
		buf_addc(&huge, 'x');
	planner_prompt_plan(plan->goal, &limits, huge.data, &text);
	assert_has(&text, "x\n[cut here]\n");
	ck_assert_uint_lt(text.len, PLANNER_VALUE_MAX + 8192);
	plan_free(plan);
}

TEST(every_template_has_an_id_and_a_hash)
{
	char hashes[PLANNER_TEMPLATE_COUNT][PLANNER_HASH_SIZE];

	for (int i = 0; i < PLANNER_TEMPLATE_COUNT; i++) {
		planner_template_hash((enum planner_template)i, hashes[i]);
		ck_assert_uint_eq(strlen(hashes[i]), PLANNER_HASH_SIZE - 1);
		for (int j = 0; j < i; j++) {
			ck_assert_str_ne(hashes[i], hashes[j]);
			ck_assert_str_ne(
			    planner_template_id((enum planner_template)i),
			    planner_template_id((enum planner_template)j));
		}
	}
}
