/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "api.h"
#include "plan-file.h"
#include "plan-node.h"
#include "plan-progress.h"
#include "plan-revise.h"

/* --- plan replan ------------------------------------------------------- */

static struct plan_changes changes;
static struct err err;

static int
replan(struct plan *plan, struct plan *next)
{
	const struct plan_edit edit = { plan, "planner", "stuck", NOW + 1,
		&changes };
	int r;

	plan_changes_release(&changes);
	err = (struct err){ 0 };
	r = plan_replan(&edit, next, NULL, &err);
	plan_free(next);
	return r;
}

static void
end_replan(struct plan *plan)
{
	plan_changes_release(&changes);
	ck_assert_int_eq(plan_deps_check(plan, NULL, NULL), 0);
	for (size_t i = 0; i < plan->count; i++)
		ck_assert_int_eq(
		    plan->nodes[i]->order, (int)plan->nodes[i]->place);
	plan_free(plan);
}

TEST(what_has_not_begun_is_replaced)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "T1.2 T1.1", "S1.2.1", "P2 P1", "T2.1");
	struct plan *next =
	    PLAN_WORLD("P1", "T1.2", "T1.1 T1.2", "T1.3", "P3 P1", "T3.1");

	xstrset(&plan_find(next, "T1.1")->name, "new name");
	ck_assert_int_eq(replan(plan, next), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 todo, T1.2 todo, T1.1 todo, T1.3 todo, P3 todo, T3.1 todo");
	ck_assert_str_eq(plan_find(plan, "T1.1")->name, "new name");
	ck_assert_str_eq(plan_find(plan, "T1.1")->depends_on[0], "T1.2");
	ck_assert_ptr_null(plan_find(plan, "T1.2")->depends_on);
	ck_assert_str_eq(plan_find(plan, "P1")->blocks[0], "P3");
	ck_assert_str_eq(plan->goal->revisions[0].what,
	    "replanned: added T1.3, P3, T3.1; changed T1.2 (deps), T1.1 "
	    "(name, deps); removed T2.1, P2, S1.2.1");
	ck_assert_str_eq(plan->goal->revisions[0].why, "stuck");
	ck_assert_uint_eq(strv_count(changes.removed), 3);
	ck_assert_uint_eq(changes.count, 6);
	end_replan(plan);
}

TEST(what_a_person_set_stays_unless_a_new_plan_says_otherwise)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");
	struct plan *next = PLAN_WORLD("P1", "T1.1");
	struct plan_node *n = plan_find(plan, "T1.1");
	struct plan_node *to = plan_find(next, "T1.1");

	n->priority = PRIORITY_LOW;
	n->recovery_policy = RECOVERY_REASSIGN;
	n->result = NODE_RESULT_REPORT;
	strv_add(&n->scope_paths, "src");
	ck_assert_int_eq(replan(plan, PLAN_WORLD("P1", "T1.1")), 0);
	ck_assert_int_eq(n->priority, PRIORITY_LOW);
	ck_assert_int_eq(n->recovery_policy, RECOVERY_REASSIGN);
	ck_assert_int_eq(n->result, NODE_RESULT_REPORT);
	ck_assert_str_eq(n->scope_paths[0], "src");
	to->priority = PRIORITY_HIGH;
	to->recovery_policy = RECOVERY_REPLAN;
	strv_add(&to->scope_paths, "docs");
	ck_assert_int_eq(replan(plan, next), 0);
	ck_assert_int_eq(n->priority, PRIORITY_HIGH);
	ck_assert_int_eq(n->recovery_policy, RECOVERY_REPLAN);
	ck_assert_str_eq(n->scope_paths[0], "docs");
	end_replan(plan);
}

/* Ids that a file left out are of other nodes. */
TEST(what_a_new_plan_calls_as_another_node_is_refused)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2");
	struct plan *next = PLAN_WORLD("P1", "T1.1", "T1.2");

	ck_assert_int_eq(plan_replan_check(plan, next, &err), 0);
	xstrset(&plan_find(next, "T1.1")->name, "other work");
	ck_assert_int_eq(plan_replan_check(plan, next, &err), 0);
	plan_find(plan, "T1.2")->started_ms = NOW;
	ck_assert_int_eq(plan_replan_check(plan, next, &err), 0);
	plan_find(plan, "T1.1")->started_ms = NOW;
	ck_assert_int_eq(plan_replan_check(plan, next, &err), API_E_STARTED);
	ck_assert_ptr_nonnull(strstr(err.msg, "T1.1 is "));
	ck_assert_ptr_nonnull(strstr(err.msg, "other work"));
	plan_free(next);
	plan_free(plan);
}

/* It has been worked on, and is planned anew: named or divided. */
TEST(one_node_that_has_begun_may_be_changed)
{
	for (int divided = 0; divided < 2; divided++) {
		struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2");
		struct plan *next = divided ?
		    PLAN_WORLD("P1", "T1.1", "S1.1.1", "T1.2") :
		    PLAN_WORLD("P1", "T1.1", "T1.2");
		const struct plan_edit edit = { plan, "planner", "stuck",
			NOW + 1, &changes };

		plan_find(plan, "T1.1")->started_ms = NOW;
		plan_find(plan, "T1.2")->started_ms = NOW;
		xstrset(&plan_find(next, "T1.1")->name, "new name");
		xstrset(&plan_find(next, "T1.2")->name, "not changed");
		plan_changes_release(&changes);
		ck_assert_int_eq(plan_replan(&edit, next, "T1.1", &err), 0);
		ck_assert_str_eq(plan_find(plan, "T1.1")->name, "new name");
		ck_assert_str_ne(plan_find(plan, "T1.2")->name, "not changed");
		ck_assert_str_eq(plan->goal->revisions[0].what,
		    divided ? "replanned: added S1.1.1; changed T1.1 (name)" :
			      "replanned: changed T1.1 (name)");
		plan_free(next);
		end_replan(plan);
	}
}

TEST(what_has_not_begun_is_moved_and_sorted)
{
	struct plan *plan = PLAN_WORLD(
	    "P1", "T1.1", "T1.2", "T1.3", "P2", "T2.1", "T2.2", "T2.3");
	struct plan *next = PLAN_WORLD("P2", "P1");
	static const char *const tasks[] = { "T2.3", "T2.2", "T1.3", "T2.1",
		"T1.2", "T9.9", "T1.1" };

	for (size_t i = 0; i < nitems(tasks); i++) {
		struct plan_node *node =
		    plan_node_new("goal_1", NODE_TASK, tasks[i], "n", NOW);

		xstrset(&node->parent_id, "P2");
		node->order = (int)i;
		ck_assert_int_eq(plan_attach(next, node, NULL), 0);
	}
	plan_world_set(plan, "T2.1", NODE_DONE);
	ck_assert_int_eq(replan(plan, next), 0);
	/* What has started, and is kept, comes first. */
	ck_assert_str_eq(plan_world_words(plan),
	    "P2 in_progress, T2.1 done, T2.3 todo, T2.2 todo, T1.3 todo, T1.2 "
	    "todo, T9.9 todo, T1.1 todo, P1 todo");
	end_replan(plan);
}

TEST(a_parent_whose_children_moved_is_removed)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "P2", "T2.1");
	struct plan *next = PLAN_WORLD("P2", "T2.1");
	struct plan_node *moved =
	    plan_node_new("goal_1", NODE_SUBTASK, "S1.1.1", "n", NOW);

	xstrset(&moved->parent_id, "T2.1");
	ck_assert_int_eq(plan_attach(next, moved, NULL), 0);
	ck_assert_int_eq(replan(plan, next), 0);
	ck_assert_str_eq(
	    plan_world_words(plan), "P2 todo, T2.1 todo, S1.1.1 todo");
	ck_assert_uint_eq(strv_count(changes.removed), 2);
	ck_assert_str_eq(plan->goal->revisions[0].what,
	    "replanned: changed S1.1.1 (place, name, acceptance); removed "
	    "T1.1, P1");
	end_replan(plan);
}

TEST(a_started_node_is_neither_removed_nor_renamed_nor_moved)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2",
	    "T1.2 T1.1", "T1.3", "P2", "T2.1");
	struct plan *next = PLAN_WORLD("P2", "T2.1", "S2.1.1", "T2.2");
	struct plan_node *task;

	plan_world_set(plan, "S1.1.1", NODE_IN_PROGRESS);
	plan_world_set(plan, "S1.1.1", NODE_QUEUED);
	plan_world_set(plan, "T1.2", NODE_DONE);
	plan_world_set(plan, "T1.3", NODE_CANCELLED);
	xstrset(&plan_find(next, "T2.1")->name, "changed");
	ck_assert_int_eq(replan(plan, next), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 in_progress, T1.1 in_progress, S1.1.1 queued, T1.2 done, T1.3 "
	    "cancelled, P2 todo, T2.1 todo, S2.1.1 todo, T2.2 todo");
	ck_assert_str_eq(plan_find(plan, "T2.1")->name, "changed");
	/* And again with other names for what has started. */
	next = PLAN_WORLD("P1", "T1.2", "P2", "T2.1");
	task = plan_find(next, "T1.2");
	xstrset(&task->name, "renamed");
	ck_assert_int_eq(replan(plan, next), 0);
	ck_assert_str_eq(plan_find(plan, "T1.2")->name, "name of T1.2");
	ck_assert_str_eq(plan_find(plan, "T1.2")->depends_on[0], "T1.1");
	ck_assert_ptr_nonnull(plan_find(plan, "S1.1.1"));
	end_replan(plan);
}

TEST(an_assigned_node_counts_as_started)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2");

	plan_node_assign(plan_find(plan, "T1.1"), "A_1", NOW);
	ck_assert_int_eq(replan(plan, PLAN_WORLD("P1", "T1.3")), 0);
	ck_assert_str_eq(
	    plan_world_words(plan), "P1 todo, T1.1 todo, T1.3 todo");
	end_replan(plan);
}

TEST(a_task_whose_attempt_failed_can_get_subtasks)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");

	plan_world_set(plan, "T1.1", NODE_IN_PROGRESS);
	plan_world_set(plan, "T1.1", NODE_QUEUED);
	ck_assert_int_eq(
	    replan(plan, PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2")), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 in_progress, T1.1 todo, S1.1.1 todo, S1.1.2 todo");
	end_replan(plan);
}

static void
replan_refused(struct plan *plan, struct plan *next, int code)
{
	cleanup_free char *before = xstrdup(plan_world_json(plan));

	ck_assert_int_eq(replan(plan, next), code);
	ck_assert_str_eq(plan_world_json(plan), before);
	ck_assert_str_eq(plan_world_changes(&changes), "");
}

TEST(a_refusal_changes_nothing)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2", "T1.3");
	struct plan *next;

	plan_world_set(plan, "T1.1", NODE_IN_PROGRESS);
	plan_world_set(plan, "T1.2", NODE_CANCELLED);
	replan_refused(plan, PLAN_WORLD("P1", "T1.1", "S1.1.1"), API_E_STARTED);
	replan_refused(plan, PLAN_WORLD("P1", "T1.2", "S1.2.1"), API_E_CLOSED);
	next = plan_new(plan_goal_new("goal_1", "t", NOW));
	plan_attach(
	    next, plan_node_new("goal_1", NODE_PHASE, "T1.1", "n", NOW), NULL);
	replan_refused(plan, next, API_E_STARTED);
	end_replan(plan);

	/* T1.1 waits for T1.2 already, and is kept. */
	plan = PLAN_WORLD("P1", "T1.1 T1.2", "T1.2");
	plan_find(plan, "T1.1")->started_ms = NOW;
	replan_refused(
	    plan, PLAN_WORLD("P1", "T1.1", "T1.2 T1.1"), API_E_CYCLE);
	end_replan(plan);
}

TEST(a_parent_that_lost_its_children_is_a_leaf)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "T1.2");

	plan_world_set(plan, "S1.1.1", NODE_BLOCKED);
	ck_assert_int_eq(plan_find(plan, "T1.1")->status, NODE_BLOCKED);
	ck_assert_int_eq(replan(plan, PLAN_WORLD("P1", "T1.1")), 0);
	ck_assert_str_eq(plan_world_words(plan), "P1 todo, T1.1 todo");
	ck_assert_ptr_null(plan_find(plan, "T1.1")->blocked_reason);
	end_replan(plan);
}

/* --- plan revise ------------------------------------------------------- */

static struct buf text;

/* The plan as text, in which what is there once is replaced. */
static void
print(const struct plan *plan)
{
	buf_clear(&text);
	plan_print(plan, true, &text);
}

static void
replace(const char *from, const char *to)
{
	cleanup_free char *old = xstrdup(text.data);
	const char *at = strstr(old, from);

	ck_assert_msg(at != NULL, "no \"%s\" in:\n%s", from, old);
	buf_clear(&text);
	buf_addf(
	    &text, "%.*s%s%s", (int)(at - old), old, to, at + strlen(from));
}

static int
revise_from(struct plan *plan, const char *before)
{
	const struct plan_edit edit = { plan, "person", "why", NOW + 1,
		&changes };

	plan_changes_release(&changes);
	err = (struct err){ 0 };
	return plan_revise(&edit, text.data, before, &err);
}

static int
revise(struct plan *plan)
{
	return revise_from(plan, NULL);
}

static void
finish(struct plan *plan)
{
	plan_changes_release(&changes);
	buf_release(&text);
	ck_assert_int_eq(plan_deps_check(plan, NULL, NULL), 0);
	plan_free(plan);
}

static struct plan *
world(void)
{
	struct plan *plan = PLAN_WORLD(
	    "P1", "T1.1", "S1.1.1", "S1.1.2", "T1.2 T1.1", "P2 P1", "T2.1");

	xstrset(&plan_find(plan, "T1.2")->suggested_agent_id, "eve");
	xstrset(&plan_find(plan, "T1.2")->objective, "two  \nlines ");
	return plan;
}

TEST(a_text_that_is_as_it_was_changes_nothing)
{
	struct plan *plan = world();
	cleanup_free char *was = xstrdup(plan_world_json(plan));

	print(plan);
	ck_assert_int_eq(revise(plan), 0);
	ck_assert_str_eq(plan_world_json(plan), was);
	ck_assert_uint_eq(changes.count, 0);
	ck_assert_int_eq(plan->goal->version, 0);
	finish(plan);
}

TEST(only_what_is_different_is_changed_in_one_revision)
{
	struct plan *plan = world();
	const struct plan_node *n;

	print(plan);
	replace("# title", "# Another title");
	replace("### T1.2: name of T1.2", "### T1.2: printer");
	replace("Depends: T1.1", "Depends: S1.1.2\nPriority: urgent");
	ck_assert_int_eq(revise(plan), 0);
	ck_assert_str_eq(plan->goal->title, "Another title");
	n = plan_find(plan, "T1.2");
	ck_assert_str_eq(n->name, "printer");
	ck_assert_str_eq(n->depends_on[0], "S1.1.2");
	ck_assert_uint_eq(strv_count(n->depends_on), 1);
	ck_assert_ptr_null(plan_find(plan, "T1.1")->blocks);
	ck_assert_str_eq(plan_find(plan, "S1.1.2")->blocks[0], "T1.2");
	ck_assert_int_eq(n->priority, PRIORITY_URGENT);
	/* What a text cannot say, or was not touched, is as it was. */
	ck_assert_str_eq(n->suggested_agent_id, "eve");
	ck_assert_str_eq(n->objective, "two  \nlines ");
	ck_assert_int_eq(plan->goal->version, 1);
	ck_assert_uint_eq(plan->goal->revision_count, 1);
	ck_assert_str_eq(plan->goal->revisions[0].what,
	    "edited the goal's title and the plan: 0 added, 1 changed, 0 "
	    "removed");
	ck_assert_str_eq(plan_world_changes(&changes), "T1.2 T1.1 S1.1.2 goal");
	finish(plan);
}

TEST(a_contract_and_its_scope_can_be_edited)
{
	struct plan *plan = world();
	const struct plan_node *n = plan_find(plan, "T1.2");

	print(plan);
	replace("Depends: T1.1",
	    "Depends: T1.1\nVerification: {\"artifacts\": []}\n\n"
	    "Scope paths:\n- src");
	ck_assert_int_eq(revise(plan), 0);
	ck_assert_ptr_nonnull(n->verification);
	ck_assert_str_eq(n->scope_paths[0], "src");
	ck_assert_str_eq(plan_world_changes(&changes), "T1.2 goal");
	print(plan);
	replace("Verification: {\"artifacts\":[]}\n", "");
	replace("Scope paths:\n- src\n", "");
	ck_assert_int_eq(revise(plan), 0);
	ck_assert_ptr_null(n->verification);
	ck_assert_ptr_null(n->scope_paths);
	finish(plan);
}

TEST(nodes_are_added_removed_and_moved)
{
	struct plan *plan = world();

	print(plan);
	replace("- S1.1.2: name of S1.1.2\n\n  Acceptance:\n  - it works\n",
	    "- a new one\n");
	replace("### T2.1: name of T2.1",
	    "### First of all\nAcceptance: a\n### T2.1: name of T2.1");
	replace("### T1.2: name of T1.2",
	    "## P2: name of P2\n\nAcceptance:\n"
	    "- it works\n\nDepends: P1\n\n"
	    "### T1.2: name of T1.2");
	replace("\n## P2: name of P2\n\nAcceptance:\n- it works\n\nDepends: "
		"P1\n\n### First",
	    "\n### First");
	ck_assert_int_eq(revise(plan), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 todo, T1.1 todo, S1.1.1 todo, S1.1.3 todo, P2 todo, "
	    "T1.2 todo, T2.2 todo, T2.1 todo");
	ck_assert_str_eq(plan_find(plan, "T2.2")->name, "First of all");
	ck_assert_str_eq(plan_find(plan, "T1.2")->parent_id, "P2");
	ck_assert_str_eq(changes.removed[0], "S1.1.2");
	ck_assert_str_eq(plan->goal->revisions[0].what,
	    "edited the plan: 2 added, 1 changed, 1 removed");
	finish(plan);
}

/* A removal in front of a node moves it, but changes nothing of it. */
TEST(a_parent_that_lost_its_children_can_be_worked_on)
{
	struct plan *plan = world();

	print(plan);
	replace("\nSubtasks:\n"
		"- S1.1.1: name of S1.1.1\n\n  Acceptance:\n  - it works\n"
		"- S1.1.2: name of S1.1.2\n\n  Acceptance:\n  - it works\n",
	    "");
	ck_assert_int_eq(revise(plan), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 todo, T1.1 todo, T1.2 todo, P2 todo, T2.1 todo");
	ck_assert(plan_node_leaf(plan_find(plan, "T1.1")));
	ck_assert_str_eq(plan->goal->revisions[0].what,
	    "edited the plan: 0 added, 0 changed, 2 removed");
	finish(plan);
}

TEST(a_new_last_node_changes_nothing_of_the_others)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.8", "T1.9");

	print(plan);
	buf_adds(&text, "### T1.10: new\nAcceptance: a\n");
	ck_assert_int_eq(revise(plan), 0);
	ck_assert_str_eq(plan->goal->revisions[0].what,
	    "edited the plan: 1 added, 0 changed, 0 removed");
	/* As it is read from its record, too. */
	ck_assert_int_gt(
	    plan_find(plan, "T1.10")->order, plan_find(plan, "T1.9")->order);
	finish(plan);
}

TEST(a_goal_without_a_plan_gets_one)
{
	struct plan *plan = plan_new(plan_goal_new("goal_1", "title", NOW));

	plan->goal->plan_wanted = true;
	print(plan);
	replace("# title", "# another");
	ck_assert_int_eq(revise(plan), 0);
	ck_assert_str_eq(plan->goal->title, "another");
	ck_assert(plan->goal->plan_wanted);
	print(plan);
	buf_adds(&text, "## phase\n### task\nAcceptance: a\n");
	ck_assert_int_eq(revise(plan), 0);
	ck_assert_str_eq(plan_world_words(plan), "P1 todo, T1.1 todo");
	ck_assert(!plan->goal->plan_wanted);
	finish(plan);
}

static const struct {
	const char *from, *to;
	int code;
	const char *words;
} refused[] = {
	{ "- S1.1.1: name of S1.1.1", "- S1.1.1: other", API_E_STARTED,
	    "S1.1.1: its name cannot be changed" },
	{ "### T1.1: name of T1.1", "### T1.1: other", API_E_STARTED,
	    "T1.1: its name cannot be changed" },
	{ "## P1: name of P1\n", "## P1: name of P1\nNew text.\n",
	    API_E_STARTED, "P1: its text cannot be changed" },
	{ "- S1.1.1: name of S1.1.1\n  <!-- done: it stays as it is -->\n"
	  "\n  Acceptance:\n  - it works\n",
	    "", API_E_STARTED, "S1.1.1 is missing in the text" },
	{ "- S1.1.1: name", "- S1.1.1: name of S1.1.1\n- more\n- name",
	    API_E_STARTED, NULL },
	{ "### T1.2: name of T1.2", "- S1.1.9: x\n", API_E_LEVEL, NULL },
	{ "- S1.1.2: name of S1.1.2", "### S1.1.2: name", API_E_LEVEL,
	    "S1.1.2 is a subtask and stays one" },
	{ "Depends: P1", "Depends: P7", -EINVAL, "line 48: P2 depends on" },
	{ "### T2.1: name of T2.1\n", "### T2.1: name of T2.1\nDepends: P2\n",
	    -EINVAL, NULL },
	{ "### T2.1: name of T2.1\n", "### new\n### T2.1: x\n", -EINVAL,
	    "line 50: T2.2 has no acceptance criteria" },
	{ "# title\n", "", -EINVAL, "line 1: the plan has no title" },
};

TEST_ROWS(a_refusal_names_the_place_and_changes_nothing, nitems(refused))
{
	struct plan *plan = world();
	cleanup_free char *was = NULL;

	plan_world_set(plan, "S1.1.1", NODE_DONE);
	was = xstrdup(plan_world_json(plan));
	print(plan);
	replace(refused[_i].from, refused[_i].to);
	ck_assert_int_lt(revise(plan), 0);
	if (refused[_i].words != NULL) {
		ck_assert_int_eq(err.code, refused[_i].code);
		ck_assert_msg(strstr(err.msg, refused[_i].words) == err.msg,
		    "%s", err.msg);
	}
	ck_assert_str_eq(plan_world_json(plan), was);
	finish(plan);
}

TEST(an_order_and_a_priority_can_be_changed_of_what_has_started)
{
	struct plan *plan = PLAN_WORLD("P1", "P2");

	plan_world_set(plan, "P1", NODE_IN_PROGRESS);
	print(plan);
	replace("## P1: name of P1\n<!-- in_progress: it stays as it is "
		"-->\n\nAcceptance:\n- it works\n",
	    "");
	buf_adds(&text,
	    "\n## P1: name of P1\nAcceptance:\n- it works\n\nPriority: low\n");
	ck_assert_int_eq(revise(plan), 0);
	ck_assert_str_eq(plan_world_words(plan), "P2 todo, P1 in_progress");
	ck_assert_int_eq(plan_find(plan, "P1")->priority, PRIORITY_LOW);
	ck_assert_str_eq(plan->goal->revisions[0].what,
	    "edited the plan: 0 added, 2 changed, 0 removed");
	finish(plan);
}

TEST(an_edit_of_an_old_text_is_refused)
{
	struct plan *plan = world();
	char hash[PLAN_HASH_SIZE];

	plan_revise_hash(plan, hash);
	print(plan);
	replace("# title", "# other");
	/* A status is no change of the text. */
	plan_world_set(plan, "S1.1.1", NODE_DONE);
	ck_assert_int_eq(revise_from(plan, hash), 0);
	ck_assert_int_eq(revise_from(plan, hash), API_CHANGED);
	finish(plan);
}
