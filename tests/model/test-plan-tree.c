/* SPDX-License-Identifier: ISC */

/* The tree for people, and the counts in it. */

#include "plan-world.h"
#include "plan-progress.h"
#include "plan.h"
#include "table.h"

static void
expect_tree(const struct plan *plan, int width, const char *wanted)
{
	cleanup_buf struct buf out = BUF_INIT;
	struct table *table = plan_tree(plan, NULL);

	table_print(table, width, false, &out);
	table_free(table);
	ck_assert_str_eq(out.data, wanted);
}

/* Something of everything. */
static struct plan *
scene(struct plan_set *set)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2", "T1.2",
	    "T1.3", "P2 P1", "T2.1", "P3");
	struct plan_node *node = plan_find(plan, "S1.1.2");

	plan_set_add(set, plan, NULL);
	plan_world_set(plan, "S1.1.1", NODE_DONE);
	strv_add(
	    &plan_find(plan, "S1.1.1")->evidence.commits, "0123456789abcdef");
	plan_world_set(plan, "S1.1.2", NODE_IN_PROGRESS);
	plan_node_assign(node, "A_1", NOW);
	node->work.status = ASSIGNMENT_ACTIVE;
	xstrset(&node->work.worker, "adam");
	xstrset(&node->work.task, "t17");
	plan_world_set(plan, "T1.2", NODE_BLOCKED);
	plan_world_set(plan, "T1.3", NODE_CANCELLED);
	strv_add(&plan_find(plan, "T1.3")->replaced_by, "T1.2");
	return plan;
}

TEST(a_tree_shows_progress_blockers_and_who_works_on_what)
{
	struct plan_set set = { 0 };
	struct plan *plan = scene(&set);
	cleanup_buf struct buf head = BUF_INIT;

	expect_tree(plan, 0,
	    "node                       status       note\n"
	    "P1 name of P1              in_progress  1 of 3\n"
	    "  T1.1 name of T1.1        in_progress  1 of 2\n"
	    "    S1.1.1 name of S1.1.1  done         0123456789ab\n"
	    "    S1.1.2 name of S1.1.2  in_progress  adam (t17), active\n"
	    "  T1.2 name of T1.2        blocked      a reason\n"
	    "  T1.3 name of T1.3        cancelled    replaced by T1.2\n"
	    "P2 name of P2              todo         0 of 1; waits for P1\n"
	    "  T2.1 name of T2.1        todo\n"
	    "P3 name of P3              todo         ready\n");
	plan_tree_head(plan, &head);
	ck_assert_str_eq(head.data,
	    "title (goal_1): active, 1 of 5 done (20%), 1 ready, 1 blocked");
	plan_set_release(&set);
}

TEST(a_tree_fits_into_the_terminal)
{
	struct plan_set set = { 0 };
	struct plan *plan = scene(&set);
	cleanup_buf struct buf out = BUF_INIT;
	struct table *table = plan_tree(plan, NULL);

	table_print(table, 40, false, &out);
	table_free(table);
	for (char *line = out.data; *line != '\0';) {
		size_t len = strcspn(line, "\n");

		ck_assert_uint_le(len, 40 + 4); /* two marks of 3 bytes */
		line += len + 1;
	}
	plan_set_release(&set);
}

static const char *
paint(enum node_status status)
{
	return status == NODE_BLOCKED ? "31" : NULL;
}

TEST(colours_are_the_callers)
{
	struct plan_set set = { 0 };
	struct plan *plan = scene(&set);
	cleanup_buf struct buf out = BUF_INIT;
	struct table *table = plan_tree(plan, paint);

	table_print(table, 0, true, &out);
	table_free(table);
	ck_assert_ptr_nonnull(strstr(out.data, "\033[31mblocked"));
	ck_assert_ptr_null(strstr(out.data, "mtodo"));
	plan_set_release(&set);
}

TEST(an_override_is_shown_with_its_reason)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");
	struct plan_node *phase = plan_find(plan, "P1");
	cleanup_buf struct buf note = BUF_INIT;

	plan_override_set(&phase->override, "person", "enough", NOW, NULL);
	phase->status = NODE_DONE;
	plan_tree_note(plan, phase, &note);
	ck_assert_str_eq(note.data, "overridden by person: enough");
	plan_free(plan);
}

TEST(a_dependency_that_does_not_exist_is_shown)
{
	struct plan *plan = PLAN_WORLD("P1 P9");
	cleanup_buf struct buf note = BUF_INIT;

	plan_tree_note(plan, plan_find(plan, "P1"), &note);
	ck_assert_str_eq(note.data, "depends on a node that does not exist");
	plan_free(plan);
}

TEST(the_leaves_are_counted)
{
	struct plan_set set = { 0 };
	struct plan *plan = scene(&set);
	struct plan_summary s = plan_summary(plan, NULL);
	cleanup_json struct json_object *json =
	    schema_json(&plan_summary_schema, &s);
	cleanup_buf struct buf text = BUF_INIT;

	json_print(json, false, &text);
	ck_assert_str_eq(text.data,
	    "{\"total\":5,\"percent\":20,\"planning\":false,\"ready\":1,"
	    "\"assigned\":1,\"todo\":2,"
	    "\"queued\":0,\"in_progress\":1,\"blocked\":1,\"done\":1,"
	    "\"cancelled\":1,\"dropped\":0}");
	s = plan_summary(plan, plan_find(plan, "T1.1"));
	ck_assert_uint_eq(s.total, 2);
	ck_assert_int_eq(s.percent, 50);
	plan_set_release(&set);
}

/* A goal whose children were cancelled is not "3 of 3". */
TEST(what_was_cancelled_was_not_done)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "T1.2", "T1.3", "T1.4", "T1.5");
	cleanup_buf struct buf head = BUF_INIT, undone = BUF_INIT;

	for (int i = 1; i <= 5; i++) {
		cleanup_free char *id = xasprintf("T1.%d", i);

		plan_world_set(plan, id, i <= 3 ? NODE_DONE : NODE_CANCELLED);
	}
	plan->goal->status = GOAL_COMPLETED;
	plan_tree_head(plan, &head);
	ck_assert_str_eq(head.data,
	    "title (goal_1): incomplete, 3 of 5 done (60%), 2 cancelled");
	plan_summary_undone(plan, &undone);
	ck_assert_str_eq(undone.data, "3 of 5 done; not done: T1.4, T1.5");
	/* A part that others do is not missing. */
	strv_add(&plan_find(plan, "T1.4")->replaced_by, "T1.1");
	strv_add(&plan_find(plan, "T1.5")->replaced_by, "T1.1");
	buf_clear(&undone);
	plan_summary_undone(plan, &undone);
	ck_assert_str_eq(undone.data, "");
	plan_free(plan);
}

TEST(leaves_below_an_override_count_as_it_says)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "T1.2");
	struct plan_node *phase = plan_find(plan, "P1");
	struct plan_summary s;

	phase->status = NODE_DONE;
	plan_override_set(&phase->override, "person", "enough", NOW, NULL);
	s = plan_summary(plan, NULL);
	ck_assert_int_eq(s.percent, 100);
	plan_free(plan);
	plan = plan_new(plan_goal_new("goal_1", "t", NOW));
	s = plan_summary(plan, NULL);
	ck_assert_int_eq(s.percent, 0);
	plan_free(plan);
}
