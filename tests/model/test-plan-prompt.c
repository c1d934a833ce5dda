/* SPDX-License-Identifier: ISC */

#include "plan-goal.h"
#include "plan-prompt.h"
#include "plan-world.h"
#include "plan.h"

static struct plan_set set;

static struct plan *
scene(void)
{
	struct plan *plan = PLAN_WORLD(
	    "P1", "T1.1", "P2 P1", "T2.1", "S2.1.1", "S2.1.2 S2.1.1");
	struct plan_crystal *near = plan_crystal_new("C_1", "goal_1", "S2.1.1",
				CRYSTAL_LANDING, NOW),
			    *far = plan_crystal_new(
				"C_2", "goal_1", "P1", CRYSTAL_ROLLUP, NOW),
			    *own = plan_crystal_new(
				"C_3", "goal_1", "S2.1.2", CRYSTAL_UPDATE, NOW);

	set = (struct plan_set){ 0 };
	plan_set_add(&set, plan, NULL);
	plan_crystal_summarize(near, "NEAR");
	plan_crystal_decide(near, "DECISION", "RATIONALE");
	strv_add(&near->evidence.commits, "COMMIT");
	plan_crystal_summarize(far, "FAR");
	plan_crystal_summarize(own, "OWN");
	plan_set_add_crystal(&set, near, NULL);
	plan_set_add_crystal(&set, far, NULL);
	plan_set_add_crystal(&set, own, NULL);
	xstrset(&plan->goal->problem_statement, "PROBLEM");
	strv_add(&plan->goal->assumptions, "BACKGROUND");
	strv_add(&plan->goal->constraints, "CONSTRAINT");
	strv_add(&plan->goal->success_criteria, "SUCCESS");
	xstrset(&plan_find(plan, "T2.1")->objective, "PARENT");
	xstrset(&plan_find(plan, "S2.1.2")->objective, "OBJECTIVE");
	return plan;
}

static void
prompt_of(const struct plan *plan, const char *id, struct buf *out)
{
	buf_clear(out);
	plan_prompt(plan, plan_find(plan, id), out);
	ck_assert_uint_le(out->len, PLAN_INSTRUCTION_MAX);
	ck_assert(text_utf8_valid(out->data, out->len));
}

static bool
says(const struct buf *text, const char *words)
{
	return strstr(text->data, words) != NULL;
}

TEST(a_prompt_has_all_that_a_worker_needs)
{
	static const char *const words[] = { "name of S2.1.2", "OBJECTIVE",
		"- it works", "CONSTRAINT", "PARENT", "PROBLEM", "SUCCESS",
		"BACKGROUND", "OWN", "NEAR", "DECISION (RATIONALE)", "COMMIT",
		"FAR", "overseerUpdate", "\"workNodeId\": \"S2.1.2\"",
		"\"goalId\": \"goal_1\"" };
	struct plan *plan = scene();
	cleanup_buf struct buf text = BUF_INIT;

	prompt_of(plan, "S2.1.2", &text);
	for (size_t i = 0; i < nitems(words); i++)
		ck_assert_msg(
		    says(&text, words[i]), "%s:\n%s", words[i], text.data);
	/* What to do first, how to report last. */
	ck_assert_ptr_eq(strstr(text.data, "name of S2.1.2"), text.data);
	ck_assert(
	    strstr(text.data, "FAR") < strstr(text.data, "overseerUpdate"));
	plan_set_release(&set);
}

TEST(only_what_it_depends_on_is_told)
{
	struct plan *plan = scene();
	cleanup_buf struct buf text = BUF_INIT;

	prompt_of(plan, "T1.1", &text);
	ck_assert(!says(&text, "NEAR"));
	ck_assert(!says(&text, "FAR"));
	plan_set_release(&set);
}

TEST(a_subtask_without_criteria_has_those_of_its_task)
{
	struct plan *plan = scene();
	struct plan_node *node = plan_find(plan, "S2.1.2");
	cleanup_buf struct buf text = BUF_INIT;

	strv_clear(&node->acceptance);
	strv_clear(&node->parent->acceptance);
	strv_add(&node->parent->acceptance, "CRITERION OF THE TASK");
	prompt_of(plan, "S2.1.2", &text);
	ck_assert(says(&text, "- CRITERION OF THE TASK"));
	plan_set_release(&set);
}

static char *
filled(const char *words, size_t len)
{
	char *text = xcalloc(len + 1, 1);

	memset(text, 'x', len);
	memcpy(text, words, strlen(words));
	return text;
}

/* What is left out first, as more and more room is taken by the objective. */
TEST(the_least_useful_is_left_out_first)
{
	static const char *const order[] = { "BACKGROUND", "SUCCESS", "FAR",
		"PROBLEM", "NEAR", "PARENT", "CONSTRAINT", "OWN" };
	struct plan *plan = scene();
	struct plan_node *node = plan_find(plan, "S2.1.2");
	size_t gone = 0;

	for (size_t len = 1000; len <= PLAN_TEXT_MAX; len += 50) {
		cleanup_buf struct buf text = BUF_INIT;
		size_t now = 0;

		free(node->objective);
		node->objective = filled("OBJECTIVE", len);
		free(node->expected_outcome);
		node->expected_outcome = filled("OUTCOME", len);
		prompt_of(plan, "S2.1.2", &text);
		/* From here on the objective itself is cut. */
		if (says(&text, "[cut]"))
			break;
		while (now < nitems(order) && !says(&text, order[now]))
			now++;
		for (size_t i = now; i < nitems(order); i++)
			ck_assert_msg(says(&text, order[i]), "%s before %s",
			    order[i], order[now]);
		ck_assert_uint_ge(now, gone);
		gone = now;
		ck_assert(says(&text, "- it works"));
		ck_assert(says(&text, "overseerUpdate"));
	}
	ck_assert_uint_ge(gone, 7);
	plan_set_release(&set);
}

TEST(even_the_largest_node_fits)
{
	struct plan *plan = scene();
	struct plan_node *node = plan_find(plan, "S2.1.2");
	cleanup_buf struct buf text = BUF_INIT;

	free(node->objective);
	node->objective = filled("OBJECTIVE", PLAN_TEXT_MAX);
	free(node->name);
	node->name = filled("NAME", PLAN_NAME_MAX);
	free(plan->goal->title);
	plan->goal->title = filled("TITLE", PLAN_NAME_MAX);
	while (strv_count(node->acceptance) < PLAN_LIST_MAX)
		strv_take(
		    &node->acceptance, filled("CRITERION", PLAN_LINE_MAX));
	prompt_of(plan, "S2.1.2", &text);
	ck_assert(says(&text, "OBJECTIVE"));
	ck_assert(says(&text, "CRITERION"));
	ck_assert(says(&text, "[cut]"));
	ck_assert(says(&text, "overseerUpdate"));
	plan_set_release(&set);
}
