/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "plan-file.h"
#include "plan-goal.h"
#include "plan-prompt.h"
#include "plan.h"

/* --- plan prompt ------------------------------------------------------- */

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

/* --- planner prompt ---------------------------------------------------- */

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

/* --- planner result ---------------------------------------------------- */

#define GOOD                                                               \
	"{\"planVersion\":1,\"goal\":{\"title\":\"G\"},\"phases\":[{"      \
	"\"id\":\"P1\",\"name\":\"p\",\"acceptance\":[\"a\"],\"tasks\":[{" \
	"\"id\":\"T1.1\",\"name\":\"t\",\"acceptance\":[\"a\"]}]}]}"

static const struct plan_source source = {
	.goal_id = "goal_1",
	.title = "G",
	.now_ms = 1,
	.planner = true,
	.limits = { .max_phases = 1,
	    .max_tasks = 2,
	    .max_subtasks = 2,
	    .phase_acceptance = true },
};

static void
judge(const char *answer, int repairs, struct planner_result *result)
{
	planner_judge(answer, strlen(answer), &source, repairs, 2, result);
}

TEST(a_valid_plan_is_accepted)
{
	struct planner_result result;

	judge(GOOD, 0, &result);
	ck_assert_int_eq(result.verdict, PLANNER_ACCEPTED);
	ck_assert_uint_eq(result.plan->count, 2);
	ck_assert_ptr_null(result.prompt);
	ck_assert_uint_eq(strv_count(result.problems), 0);
	planner_result_release(&result);
}

TEST(the_json_of_claude_code_is_opened)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct planner_result result;

	buf_adds(&text,
	    "{\"type\":\"result\",\"is_error\":false,\"total_cost_usd\":0.25,"
	    "\"result\":\"fine\",\"structured_output\":" GOOD "}");
	judge(text.data, 0, &result);
	ck_assert_int_eq(result.verdict, PLANNER_ACCEPTED);
	ck_assert_int_eq(result.cost_millionths, 250000);
	planner_result_release(&result);
	buf_clear(&text);
	buf_adds(&text, "{\"type\":\"result\",\"result\":");
	text_add_json(&text, GOOD, strlen(GOOD));
	buf_adds(&text, "}");
	judge(text.data, 0, &result);
	ck_assert_int_eq(result.verdict, PLANNER_ACCEPTED);
	ck_assert_int_eq(result.cost_millionths, 0);
	planner_result_release(&result);
	/* A failure of Claude Code is not the planner's to correct. */
	judge("{\"type\":\"result\",\"is_error\":true,\"result\":\"no "
	      "credit\"}",
	    0, &result);
	ck_assert_int_eq(result.verdict, PLANNER_GIVE_UP);
	ck_assert_str_eq(result.problems[0], "the planner failed: no credit");
	planner_result_release(&result);
}

static const struct {
	const char *answer, *problem;
} wrong[] = {
	{ "", "" },
	{ "Here is the plan: {}", "" },
	{ "[]", "" },
	{ "{}", "planVersion" },
	{ "{\"planVersion\":1,\"phases\":[]}", "phases" },
	{ "{\"planVersion\":2,\"phases\":[]}", "planVersion" },
	{ "{\"planVersion\":1,\"phases\":[{\"id\":\"P1\",\"name\":\"p\","
	  "\"tasks\":[]}]}",
	    "phases[0].acceptance" },
	{ "{\"planVersion\":1,\"phases\":[{\"id\":\"P1\",\"name\":\"p\","
	  "\"acceptance\":[\"a\"],\"tasks\":[{\"id\":\"P1\",\"name\":\"t\","
	  "\"acceptance\":[\"a\"]}]}]}",
	    "phases[0].tasks[0].id" },
	{ "{\"planVersion\":1,\"phases\":[{\"id\":\"P1\",\"name\":\"p\","
	  "\"acceptance\":[\"a\"],\"tasks\":[{\"id\":\"T1\",\"name\":\"t\","
	  "\"acceptance\":[\"a\"],\"deps\":[\"T9\"]}]}]}",
	    "phases[0].tasks[0].deps[0]" },
	{ "{\"planVersion\":1,\"phases\":[{\"id\":\"P1\",\"name\":\"p\","
	  "\"acceptance\":[\"a\"],\"deps\":[\"P2\"]},{\"id\":\"P2\","
	  "\"name\":\"q\",\"acceptance\":[\"a\"],\"deps\":[\"P1\"]}]}",
	    "phases" },
};

TEST_ROWS(a_wrong_answer_is_sent_back_with_its_faults, nitems(wrong))
{
	struct planner_result result;

	judge(wrong[_i].answer, 0, &result);
	ck_assert_int_eq(result.verdict, PLANNER_ASK_AGAIN);
	ck_assert_ptr_null(result.plan);
	ck_assert_uint_ge(strv_count(result.problems), 1);
	ck_assert_msg(strstr(result.problems[0], wrong[_i].problem) != NULL,
	    "%s", result.problems[0]);
	ck_assert_ptr_nonnull(strstr(result.prompt, result.problems[0]));
	planner_result_release(&result);
}

TEST(patience_has_an_end)
{
	struct planner_result result;

	judge("{}", 1, &result);
	ck_assert_int_eq(result.verdict, PLANNER_ASK_AGAIN);
	planner_result_release(&result);
	judge("{}", 2, &result);
	ck_assert_int_eq(result.verdict, PLANNER_GIVE_UP);
	ck_assert_ptr_null(result.prompt);
	ck_assert_uint_ge(strv_count(result.problems), 1);
	planner_result_release(&result);
}

TEST(a_huge_answer_is_refused)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct planner_result result;

	for (int i = 0; i <= PLANNER_ANSWER_MAX; i++)
		buf_addc(&text, ' ');
	judge(text.data, 0, &result);
	ck_assert_int_eq(result.verdict, PLANNER_ASK_AGAIN);
	ck_assert_uint_lt(strlen(result.prompt), 65536);
	planner_result_release(&result);
}

TEST(the_schema_has_the_three_levels)
{
	cleanup_json struct json_object *schema = planner_schema();
	const char *text = json_object_to_json_string(schema);

	ck_assert_ptr_nonnull(strstr(text, "\"phases\""));
	ck_assert_ptr_nonnull(strstr(text, "\"tasks\""));
	ck_assert_ptr_nonnull(strstr(text, "\"subtasks\""));
}

#define PHASE      "properties.phases.items"
#define PHASE_TASK PHASE ".properties.tasks.items"

TEST(the_schema_allows_what_the_prompt_offers)
{
	static const char *const levels[] = { PHASE, PHASE_TASK,
		PHASE_TASK ".properties.subtasks.items" };
	static const char *const members[] = { "objective", "outcome",
		"definitionOfDone", "priority", "estimatedEffort", "scopePaths",
		"requiredTools", "result", "recoveryPolicy" };
	cleanup_json struct json_object *schema = planner_schema();

	for (size_t i = 0; i < nitems(levels); i++)
		for (size_t j = 0; j < nitems(members); j++) {
			struct json_object *at = schema;
			cleanup_free char *path = xstrdup(levels[i]);
			char *rest = path, *part;

			while ((part = strsep(&rest, ".")) != NULL)
				at = json_object_object_get(at, part);
			at = json_object_object_get(at, "properties");
			ck_assert_msg(
			    json_object_object_get(at, members[j]) != NULL,
			    "%s: %s", levels[i], members[j]);
		}
}
