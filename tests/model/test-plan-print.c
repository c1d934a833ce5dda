/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "plan-file.h"
#include "plan-markdown.h"
#include "plan-progress.h"

#define ROUNDS 500

static unsigned seed;

static unsigned
any(unsigned below)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % below;
}

/* Lines that mean something in Markdown, or to plan-markdown. */
static const char *const lines[] = { "plain", "two words", "# title", "## P9",
	"###", "#### deep", "#hash", "- item", "* item", "+ item", "-", "---",
	"- - -", "***", "___", "\\", "\\- escaped", "\\\\ twice", "```", "~~~~",
	"``` sh", "<!-- comment -->", "<!-- begins", "ends -->",
	"Acceptance: no", "acceptance criteria:", "**Depends:** x",
	"Subtasks:", "Priority: none", "Recovery: nudge", "_Outcome_: x",
	"Scope paths: x", "Verification: by hand", "verification: {",
	"Constraints:", "T1.1: name", "P1 name", "name {#x}", "{#x}",
	"[ ] done", "> quote", "    indented", "\ttab", "  - nested", "  ```",
	"\xc3\xa4\xe2\x82\xac", "a: b", "1. one", "| a | b |", "*bold*", "x \\",
	"", "", "" };

static char *
any_line(void)
{
	const char *line = lines[any(nitems(lines) - 3)];

	return xstrdup(line + strspn(line, " \t"));
}

/* Without blanks at both ends. */
static char *
any_text(void)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t blanks;

	for (unsigned n = any(7); n > 0; n--)
		buf_addf(&text, "%s\n", lines[any(nitems(lines))]);
	while (text.len > 0 && strchr(" \t\n", text.data[text.len - 1]) != NULL)
		buf_truncate(&text, text.len - 1);
	blanks = strspn(text.data, " \t\n");
	return blanks == text.len ? NULL : xstrdup(text.data + blanks);
}

static char **
any_list(unsigned least)
{
	char **list = NULL;

	for (unsigned n = least + any(4); n > 0; n--)
		strv_take(&list, any_line());
	return list;
}

static char *
any_id(enum node_kind kind, unsigned number)
{
	static const char *const forms[] = { "P", "T1.", "S1.1.", "API",
		"task-", "", "lower", "A_", "x." };

	return xasprintf("%s%u",
	    forms[any(3) > 0 ? (unsigned)kind : any(nitems(forms))], number);
}

static struct json_object *
any_contract(void)
{
	struct json_object *contract = json_object_new_object();
	struct json_object *list = json_object_new_array();
	struct json_object *artifact = json_object_new_object();
	cleanup_free char *path = xasprintf("a -->/%u \\\" ", any(100));

	json_set_string(artifact, "path", path);
	json_object_array_add(list, artifact);
	json_set(contract, "artifacts", list);
	if (any(2) == 0)
		json_set_string(contract, "onFailure", "retry_once");
	return contract;
}

static struct plan_node *
add_node(struct plan *plan, struct plan_node *parent)
{
	enum node_kind kind = parent == NULL ? NODE_PHASE : parent->kind + 1;
	cleanup_free char *id = any_id(kind, (unsigned)plan->count + 1);
	cleanup_free char *name = any_line();
	struct plan_node *n = plan_node_new("goal_1", kind, id, name, NOW);

	xstrset(&n->parent_id, parent == NULL ? NULL : parent->id);
	n->order =
	    (int)(parent == NULL ? plan->phase_count : parent->child_count);
	n->objective = any_text();
	n->acceptance = any_list(kind == NODE_TASK ? 1 : 0);
	if (any(3) == 0)
		n->expected_outcome = any_line();
	if (any(3) == 0)
		n->scope_paths = any_list(1);
	if (any(3) == 0)
		n->required_tools = any_list(1);
	n->result = (enum node_result)any(NODE_RESULT_UNSET + 1);
	if (any(3) == 0)
		n->verification = any_contract();
	n->priority = (enum priority)any(PRIORITY_COUNT + 1);
	n->recovery_policy = (enum recovery_policy)any(RECOVERY_UNSET + 1);
	ck_assert_int_eq(plan_attach(plan, n, NULL), 0);
	for (unsigned i = any(3); i > 0 && plan->count > 1; i--) {
		const char *on = plan->nodes[any((unsigned)plan->count)]->id;

		if (plan_has(n->depends_on, on))
			continue;
		strv_add(&n->depends_on, on);
		if (plan_deps_check(plan, NULL, NULL) < 0)
			strv_remove(n->depends_on, on);
	}
	if (strv_count(n->depends_on) == 0)
		strv_clear(&n->depends_on);
	return n;
}

static struct plan *
any_plan(void)
{
	struct plan *plan = plan_new(plan_goal_new("goal_1", "x", NOW));
	struct plan_goal *goal = plan->goal;

	free(goal->title);
	goal->title = any_line();
	goal->problem_statement = any_text();
	goal->success_criteria = any_list(0);
	goal->constraints = any_list(0);
	goal->priority = (enum priority)any(PRIORITY_COUNT);
	goal->recovery_policy = (enum recovery_policy)any(RECOVERY_UNSET + 1);
	for (unsigned p = 1 + any(3); p > 0; p--) {
		struct plan_node *phase = add_node(plan, NULL);

		for (unsigned t = any(3); t > 0; t--) {
			struct plan_node *task = add_node(plan, phase);

			for (unsigned s = any(4); s > 0; s--)
				add_node(plan, task);
		}
	}
	plan_link_blocks(plan);
	return plan;
}

static struct plan *
read_again(const struct plan *plan, bool notes)
{
	const struct plan_source source = { .goal_id = "goal_1",
		.now_ms = NOW };
	cleanup_buf struct buf text = BUF_INIT;
	struct plan *again = NULL;
	struct err err = { 0 };

	plan_print(plan, notes, &text);
	if (plan_markdown(text.data, text.len, &source, &again, &err) < 0) {
		fputs(text.data, stderr);
		ck_abort_msg("%s", err.msg);
	}
	return again;
}

TEST(what_is_printed_is_read_as_the_same_plan)
{
	for (seed = 1; seed < ROUNDS * 7919; seed += 7919) {
		unsigned begin = seed;
		struct plan *plan = any_plan();
		struct plan *again = read_again(plan, any(2) == 0);
		cleanup_free char *was = xstrdup(plan_world_json(plan));

		if (strcmp(plan_world_json(again), was) != 0) {
			cleanup_buf struct buf text = BUF_INIT;

			plan_print(plan, true, &text);
			fprintf(stderr, "%s\n%s\n%s\n", was,
			    plan_world_json(again), text.data);
			ck_abort_msg("seed %u", begin);
		}
		plan_free(plan);
		plan_free(again);
		seed = begin;
	}
}

TEST(a_person_sees_headings_with_ids_and_what_stays)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2 S1.1.1", "T1.2 T1.1");
	cleanup_buf struct buf text = BUF_INIT;

	xstrset(&plan_find(plan, "T1.2")->objective, "Do it.");
	plan_find(plan, "T1.2")->priority = PRIORITY_HIGH;
	plan_find(plan, "T1.2")->recovery_policy = RECOVERY_REPLAN;
	plan_world_set(plan, "S1.1.1", NODE_DONE);
	plan_print(plan, true, &text);
	ck_assert_str_eq(strstr(text.data, "-->\n") + 4,
	    "# title\n"
	    "\n## P1: name of P1\n"
	    "<!-- in_progress: it stays as it is -->\n"
	    "\nAcceptance:\n- it works\n"
	    "\n### T1.1: name of T1.1\n"
	    "<!-- in_progress: it stays as it is -->\n"
	    "\nAcceptance:\n- it works\n"
	    "\nSubtasks:\n"
	    "- S1.1.1: name of S1.1.1\n"
	    "  <!-- done: it stays as it is -->\n"
	    "\n  Acceptance:\n  - it works\n"
	    "- S1.1.2: name of S1.1.2\n"
	    "\n  Acceptance:\n  - it works\n"
	    "\n  Depends: S1.1.1\n"
	    "\n### T1.2: name of T1.2\n"
	    "\nDo it.\n"
	    "\nAcceptance:\n- it works\n"
	    "\nDepends: T1.1\nPriority: high\nRecovery: replan\n");
	plan_free(plan);
}
