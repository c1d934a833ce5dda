/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "plan-file.h"
#include "plan-prompt.h"
#include "plan.h"

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
