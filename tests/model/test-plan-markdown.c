/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "plan-file.h"
#include "plan-markdown.h"

static struct plan *
read_plan(const char *text)
{
	const struct plan_source source = { .goal_id = "goal_1",
		.now_ms = NOW };
	struct plan *plan = NULL;
	struct err err = { 0 };

	ck_assert_msg(
	    plan_markdown(text, strlen(text), &source, &plan, &err) == 0, "%s",
	    err.msg);
	return plan;
}

static void
expect_list(char *const *list, const char *words)
{
	cleanup_buf struct buf got = BUF_INIT;

	for (; list != NULL && *list != NULL; list++)
		buf_addf(&got, "%s%s", got.len == 0 ? "" : "|", *list);
	ck_assert_str_eq(got.data, words);
}

TEST(headings_and_bullets_are_phases_tasks_and_subtasks)
{
	struct plan *plan = read_plan("# Ship it\n"
				      "\n"
				      "Nobody can install it.\n"
				      "It must be easy.\n"
				      "\n"
				      "Acceptance:\n"
				      "- it installs\n"
				      "\n"
				      "Constraints:\n"
				      "- no new library\n"
				      "\n"
				      "## Prepare\n"
				      "All that comes first.\n"
				      "\n"
				      "### Parser\n"
				      "Read it.\n"
				      "\n"
				      "Acceptance:\n"
				      "\n"
				      "- all vectors pass\n"
				      "- no leak,\n"
				      "  not even a small one\n"
				      "\n"
				      "- the lexer\n"
				      "- the tree\n"
				      "  Acceptance: it is balanced\n"
				      "  Depends: S1.1.1\n"
				      "\n"
				      "### Printer\n"
				      "Depends: T1.1\n"
				      "Priority: high\n"
				      "Outcome: it prints\n"
				      "**Acceptance:**\n"
				      "* it prints\n"
				      "## Release\n"
				      "Depends:\n"
				      "- P1\n"
				      "- Printer\n");
	const struct plan_node *n;

	ck_assert_str_eq(plan_world_words(plan),
	    "P1 todo, T1.1 todo, S1.1.1 todo, S1.1.2 todo, T1.2 todo, P2 todo");
	ck_assert_str_eq(plan->goal->title, "Ship it");
	ck_assert_str_eq(plan->goal->problem_statement,
	    "Nobody can install it.\nIt must be easy.");
	expect_list(plan->goal->success_criteria, "it installs");
	expect_list(plan->goal->constraints, "no new library");
	ck_assert_str_eq(
	    plan_find(plan, "P1")->objective, "All that comes first.");
	n = plan_find(plan, "T1.1");
	ck_assert_str_eq(n->name, "Parser");
	ck_assert_str_eq(n->objective, "Read it.");
	expect_list(
	    n->acceptance, "all vectors pass|no leak, not even a small one");
	ck_assert_str_eq(plan_find(plan, "S1.1.1")->name, "the lexer");
	n = plan_find(plan, "S1.1.2");
	expect_list(n->acceptance, "it is balanced");
	expect_list(n->depends_on, "S1.1.1");
	n = plan_find(plan, "T1.2");
	expect_list(n->depends_on, "T1.1");
	expect_list(n->acceptance, "it prints");
	ck_assert_str_eq(n->expected_outcome, "it prints");
	ck_assert_int_eq(n->priority, PRIORITY_HIGH);
	expect_list(plan_find(plan, "P2")->depends_on, "P1|T1.2");
	expect_list(plan_find(plan, "P1")->blocks, "P2");
	plan_free(plan);
}

TEST(a_node_may_name_its_own_id)
{
	struct plan *plan = read_plan("# t\n"
				      "## P7: Seven\n"
				      "### API2: Second\n"
				      "Acceptance: a\n"
				      "- S7.1.1 one\n"
				      "- V2 is no id here\n"
				      "Depends: API9\n"
				      "### API9: Ninth\n"
				      "Acceptance: a\n");

	ck_assert_str_eq(plan_world_words(plan),
	    "P7 todo, API2 todo, S7.1.1 todo, S1.1.2 todo, API9 todo");
	ck_assert_str_eq(plan_find(plan, "API2")->name, "Second");
	ck_assert_str_eq(plan_find(plan, "S7.1.1")->name, "one");
	ck_assert_str_eq(plan_find(plan, "S1.1.2")->name, "V2 is no id here");
	expect_list(plan_find(plan, "API2")->depends_on, "API9");
	plan_free(plan);
}

TEST(a_subtask_goes_on_below_its_first_line)
{
	struct plan *plan = read_plan("# t\n## p\n### t\n"
				      "Acceptance: a\n"
				      "Subtasks:\n"
				      "- [ ] a long\n"
				      "  name\n"
				      "\n"
				      "  What it is for.\n"
				      "  - a note\n"
				      "- second\n"
				      "Text of the task.\n");

	ck_assert_str_eq(plan_find(plan, "S1.1.1")->name, "a long name");
	ck_assert_str_eq(
	    plan_find(plan, "S1.1.1")->objective, "What it is for.\n- a note");
	ck_assert_str_eq(plan_find(plan, "S1.1.2")->name, "second");
	ck_assert_str_eq(
	    plan_find(plan, "T1.1")->objective, "Text of the task.");
	plan_free(plan);
}

TEST(text_inside_fences_is_text)
{
	struct plan *plan = read_plan("# t\n## p\n"
				      "```\n"
				      "## no phase\n"
				      "- no subtask\n"
				      "```\n"
				      "---\n");

	ck_assert_str_eq(plan_world_words(plan), "P1 todo");
	ck_assert_str_eq(plan_find(plan, "P1")->objective,
	    "```\n## no phase\n- no subtask\n```");
	plan_free(plan);
}

TEST(a_backslash_makes_a_line_text_and_comments_are_none)
{
	struct plan *plan = read_plan("<!-- a\n# comment -->\n# t\n"
				      "Recovery: reassign\n## p\n"
				      "\\- no subtask\n"
				      "  \\Acceptance: none\n"
				      "<!-- one line -->\n"
				      "\\\\ one backslash\n"
				      "Recovery: nudge\n");

	ck_assert_str_eq(plan_find(plan, "P1")->objective,
	    "- no subtask\n  Acceptance: none\n\\ one backslash");
	ck_assert_int_eq(
	    plan_find(plan, "P1")->recovery_policy, RECOVERY_NUDGE);
	ck_assert_int_eq(plan->goal->recovery_policy, RECOVERY_REASSIGN);
	plan_free(plan);
}

TEST(any_id_can_stand_behind_the_name)
{
	struct plan *plan = read_plan("# t\n## one {#a-b}\n## P2: two {#P9}\n"
				      "## three {#no id}\n## P6: six\n"
				      "## four\n## five\n");

	ck_assert_str_eq(plan_world_words(plan),
	    "a-b todo, P9 todo, P3 todo, P6 todo, P5 todo, P7 todo");
	ck_assert_str_eq(plan_find(plan, "a-b")->name, "one");
	ck_assert_str_eq(plan_find(plan, "P9")->name, "P2: two");
	ck_assert_str_eq(plan_find(plan, "P3")->name, "three {#no id}");
	plan_free(plan);
}

TEST(windows_line_ends_and_tabs_are_fine)
{
	struct plan *plan = read_plan("# t\r\n## p\r\n### k\r\n"
				      "Acceptance:\r\n\r\n- a\r\n\r\n"
				      "- one\r\n\tAcceptance: b\r\n");

	expect_list(plan_find(plan, "T1.1")->acceptance, "a");
	expect_list(plan_find(plan, "S1.1.1")->acceptance, "b");
	plan_free(plan);
}

static const struct {
	const char *text, *words;
} faults[] = {
	{ "", "line 1: the plan has no title: begin with # Title" },
	{ "# t\n", "line 1: the plan has no phase" },
	{ "# t\n# u\n", "line 2: the title (#) comes once" },
	{ "## p\n# t\n", "line 2: the title (#) comes once" },
	{ "# t\n### k\n", "line 2: a task (###) needs a phase (##) above" },
	{ "# t\n## p\n### k\n#### x\n", "line 4: a plan has phases (##)" },
	{ "# t\n##\n", "line 2: a phase needs a name" },
	{ "# t\n## P1:\n", "line 2: a phase needs a name" },
	{ "# t\n## p\n- s\n", "line 3: a subtask (-) needs a task (###)" },
	{ "# t\n## p\nSubtasks:\n", "line 3: subtasks need a task" },
	{ "# t\n## p\n### k\n", "line 3: T1.1 has no acceptance criteria" },
	{ "# t\n## p\n### k\n\n- s\n",
	    "line 3: T1.1 has no acceptance criteria" },
	{ "# t\nDepends: P1\n## p\n", "line 2: a goal depends on nothing" },
	{ "# t\n## p\nConstraints:\n- c\n",
	    "line 3: constraints are the goal's" },
	{ "# t\n## p\nPriority: hi\n", "line 3: the priority is one of" },
	{ "# t\n## p\nRecovery: none\n", "line 3: the recovery is one of" },
	{ "# t\n## p\nDepends: P9\n",
	    "line 3: P1 depends on \"P9\", which is not" },
	{ "# t\n## same\n## same\n## x\nDepends:\n\n- same\n",
	    "line 7: P3 depends on \"same\", which is not" },
	{ "# t\n## P1: a\n## P1: b\n", "line 3: P1: goal goal_1 has such" },
	{ "# t\n## p\nDepends: P2\n## q\nDepends: P1\n",
	    "line 5: nodes wait for each other: P1 -> P2 -> P1" },
	{ "# t\n## p\nVerification: {\"artifacts\": 1}\n",
	    "line 3: verification.artifacts: expected an array" },
	{ "# t\n## p\nVerification: {\n", "line 3: verification: byte" },
	{ "# t\nVerification: {}\n## p\n", "line 2: scope paths, tools" },
	{ "# t\nScope paths: a\n## p\n", "line 2: scope paths, tools" },
	{ "# t\nResult: report\n## p\n", "line 2: scope paths, tools" },
	{ "# t\n## p \xff\n", "line 2: not valid UTF-8 text" },
};

TEST(a_node_has_a_contract_paths_tools_and_a_result)
{
	struct plan *plan =
	    read_plan("# t\n## p\n### k\nAcceptance: a\n"
		      "Verification: run the tests\n"
		      "Verification: {\"artifacts\": [{\"path\": \"o\"}]}\n"
		      "Scope paths:\n- src/a b\n- docs\n"
		      "Required tools: WebFetch\nResult: report\n"
		      "### l\nResult: a table\nAcceptance: a\n");
	const struct plan_node *node = plan_find(plan, "T1.1");

	ck_assert_str_eq(node->objective, "Verification: run the tests");
	ck_assert_ptr_nonnull(node->verification);
	expect_list(node->scope_paths, "src/a b|docs");
	expect_list(node->acceptance, "a");
	expect_list(node->required_tools, "WebFetch");
	ck_assert_int_eq(node->result, NODE_RESULT_REPORT);
	node = plan_find(plan, "T1.2");
	ck_assert_int_eq(node->result, NODE_RESULT_UNSET);
	ck_assert_str_eq(node->objective, "Result: a table");
	plan_free(plan);
}

TEST_ROWS(a_fault_is_refused_with_its_line, nitems(faults))
{
	const struct plan_source source = { .goal_id = "goal_1",
		.now_ms = NOW };
	struct plan *plan = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(plan_markdown(faults[_i].text, strlen(faults[_i].text),
			     &source, &plan, &err),
	    -EINVAL);
	ck_assert_msg(strstr(err.msg, faults[_i].words) == err.msg,
	    "\"%s\": %s", err.msg, faults[_i].words);
	ck_assert_ptr_null(plan);
}

TEST(the_bounds_of_records_hold)
{
	const struct plan_source source = { .goal_id = "goal_1",
		.now_ms = NOW };
	struct plan *plan = NULL;
	struct err err = { 0 };

	for (int i = 0; i < 4; i++) {
		cleanup_buf struct buf text = BUF_INIT;

		buf_adds(&text, "# t\n## p\n");
		if (i == 0)
			buf_adds(&text, "### ");
		if (i == 1)
			buf_adds(&text, "Acceptance: ");
		if (i == 3)
			buf_adds(&text, "Acceptance:\n");
		for (int k = 0; k < 9000; k++)
			buf_adds(&text, i == 3 ? "- a\n" : "x");
		buf_addc(&text, '\n');
		ck_assert_int_eq(
		    plan_markdown(text.data, text.len, &source, &plan, &err),
		    -EINVAL);
	}
}
