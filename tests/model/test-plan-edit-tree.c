/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "api.h"
#include "plan-node.h"
#include "plan-edit.h"
#include "plan-progress.h"

static struct plan_changes changes;
static struct err err;

static struct plan_edit
edit_of(struct plan *plan)
{
	plan_changes_release(&changes);
	err = (struct err){ 0 };
	return (struct plan_edit){ plan, "person", "why", NOW + 1, &changes };
}

/* Refused, and the plan is as before. */
#define REFUSED(plan, call, code)                                           \
	do {                                                                \
		cleanup_free char *before = xstrdup(plan_world_json(plan)); \
		ck_assert_int_eq(call, code);                               \
		ck_assert_str_eq(plan_world_json(plan), before);            \
		ck_assert_str_eq(plan_world_changes(&changes), "");         \
	} while (0)

#define NO_ADD(parent, code) \
	REFUSED(plan,        \
	    plan_edit_add(&edit, parent, PLAN_LAST, &spec, NULL, &err), code)
#define NO_MOVE(id, to, code) \
	REFUSED(plan, plan_edit_move(&edit, id, to, 0, &err), code)
#define NO_SPLIT(id, parts, count, code) \
	REFUSED(plan, plan_edit_split(&edit, id, parts, count, &err), code)
#define NO_MERGE(ids, code) \
	REFUSED(plan, plan_edit_merge(&edit, ids, NULL, &err), code)

static void
finish(struct plan *plan)
{
	ck_assert_int_eq(plan_deps_check(plan, NULL, NULL), 0);
	plan_changes_release(&changes);
	plan_free(plan);
}

static void
expect_list(char *const *list, const char *words)
{
	cleanup_buf struct buf got = BUF_INIT;

	for (; list != NULL && *list != NULL; list++)
		buf_addf(&got, "%s%s", got.len == 0 ? "" : " ", *list);
	ck_assert_str_eq(got.data, words);
}

static void
expect_what(const struct plan *plan, const char *what)
{
	ck_assert_str_eq(
	    plan->goal->revisions[plan->goal->revision_count - 1].what, what);
}

TEST(a_node_is_added_with_the_next_free_id)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2");
	struct plan_edit edit = edit_of(plan);
	const struct plan_spec spec = { .name = "more" };
	struct plan_node *node = NULL;

	ck_assert_int_eq(
	    plan_edit_add(&edit, "P1", PLAN_LAST, &spec, &node, &err), 0);
	ck_assert_str_eq(node->id, "T1.3");
	ck_assert_int_eq(node->kind, NODE_TASK);
	ck_assert_str_eq(plan_world_changes(&changes), "T1.3 goal");
	expect_what(plan, "added T1.3");
	edit = edit_of(plan);
	ck_assert_int_eq(
	    plan_edit_add(&edit, "T1.3", PLAN_LAST, &spec, &node, &err), 0);
	ck_assert_str_eq(node->id, "S1.3.1");
	ck_assert_int_eq(plan_edit_add(&edit, NULL, 0, &spec, &node, &err), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P2 todo, P1 todo, T1.1 todo, T1.2 todo, T1.3 todo, S1.3.1 todo");
	ck_assert_int_eq(plan_find(plan, "P1")->order, 1);
	finish(plan);
}

TEST(an_added_node_depends_on_others_and_they_know)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2");
	struct plan_edit edit = edit_of(plan);
	const char *const deps[] = { "T1.1", "T1.2", NULL };
	const struct plan_spec spec = {
		.id = "X", .name = "x", .depends_on = deps
	};

	ck_assert_int_eq(
	    plan_edit_add(&edit, "P1", PLAN_LAST, &spec, NULL, &err), 0);
	expect_list(plan_find(plan, "X")->depends_on, "T1.1 T1.2");
	expect_list(plan_find(plan, "T1.1")->blocks, "X");
	ck_assert_str_eq(plan_world_changes(&changes), "X T1.1 T1.2 goal");
	finish(plan);
}

TEST(adding_is_refused_without_a_trace)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "S1.1.1", "T1.2 T1.1", "T1.3");
	struct plan_edit edit = edit_of(plan);
	const char *const unknown[] = { "T9", NULL };
	const char *const cycle[] = { "T1.2", NULL };
	struct plan_spec spec = { .name = "x" };
	cleanup_free char *longer = xcalloc(PLAN_NAME_MAX + 2, 1);

	NO_ADD("P9", API_E_UNKNOWN);
	NO_ADD("S1.1.1", API_E_LEVEL);
	spec.id = "T1.1";
	NO_ADD("P1", API_E_EXISTS);
	spec.id = "no id";
	NO_ADD("P1", API_E_LIMIT);
	spec.id = NULL;
	spec.depends_on = unknown;
	NO_ADD("P1", API_E_UNKNOWN);
	spec.depends_on = cycle;
	NO_ADD("T1.1", API_E_CYCLE);
	spec.depends_on = NULL;
	memset(longer, 'a', PLAN_NAME_MAX + 1);
	spec.name = longer;
	NO_ADD("P1", API_E_LIMIT);
	spec.name = "";
	NO_ADD("P1", API_E_LIMIT);
	finish(plan);
}

TEST(a_leaf_at_work_gets_no_children)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2", "T1.3", "T1.4");
	struct plan_edit edit = edit_of(plan);
	const struct plan_spec spec = { .name = "x" };

	plan_world_set(plan, "T1.1", NODE_IN_PROGRESS);
	plan_world_set(plan, "T1.2", NODE_DONE);
	plan_world_set(plan, "T1.4", NODE_CANCELLED);
	plan_node_assign(plan_find(plan, "T1.3"), "A_1", NOW);
	NO_ADD("T1.1", API_E_STARTED);
	NO_ADD("T1.2", API_E_CLOSED);
	NO_ADD("T1.3", API_E_ASSIGNED);
	NO_ADD("T1.4", API_E_CLOSED);
	finish(plan);
}

TEST(adding_to_a_done_phase_opens_it_and_the_goal)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");
	struct plan_edit edit = edit_of(plan);
	const struct plan_spec spec = { .name = "x" };

	plan_world_set(plan, "T1.1", NODE_DONE);
	ck_assert_int_eq(plan->goal->status, GOAL_COMPLETED);
	ck_assert_int_eq(
	    plan_edit_add(&edit, "P1", PLAN_LAST, &spec, NULL, &err), 0);
	ck_assert_int_eq(plan->goal->status, GOAL_ACTIVE);
	ck_assert_int_eq(plan_find(plan, "P1")->status, NODE_IN_PROGRESS);
	finish(plan);
}

TEST(a_task_is_split_into_subtasks)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2 T1.1");
	struct plan_edit edit = edit_of(plan);
	const char *const first[] = { "a", NULL };
	const struct plan_spec parts[] = { { .id = "a", .name = "one" },
		{ .name = "two", .depends_on = first } };

	ck_assert_int_eq(
	    plan_edit_split(&edit, "T1.1", parts, nitems(parts), &err), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 todo, T1.1 todo, a todo, S1.1.2 todo, T1.2 todo");
	expect_list(plan_find(plan, "S1.1.2")->depends_on, "a");
	expect_list(plan_find(plan, "T1.2")->depends_on, "T1.1");
	expect_what(plan, "split T1.1: a, S1.1.2");
	finish(plan);
}

TEST(a_subtask_is_split_into_siblings_that_take_its_place)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2 S1.1.1",
	    "S1.1.3 S1.1.2", "T1.2 S1.1.2");
	struct plan_edit edit = edit_of(plan);
	const struct plan_spec parts[] = { { .name = "one" },
		{ .name = "two" } };
	struct plan_node *old = plan_find(plan, "S1.1.2");

	old->priority = PRIORITY_HIGH;
	ck_assert_int_eq(
	    plan_edit_split(&edit, "S1.1.2", parts, nitems(parts), &err), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 todo, T1.1 todo, S1.1.1 todo, S1.1.2 cancelled, S1.1.4 todo, "
	    "S1.1.5 todo, S1.1.3 todo, T1.2 todo");
	expect_list(old->replaced_by, "S1.1.4 S1.1.5");
	expect_list(plan_find(plan, "S1.1.4")->depends_on, "S1.1.1");
	expect_list(plan_find(plan, "S1.1.5")->depends_on, "S1.1.1");
	expect_list(plan_find(plan, "S1.1.3")->depends_on, "S1.1.4 S1.1.5");
	expect_list(plan_find(plan, "T1.2")->depends_on, "S1.1.4 S1.1.5");
	ck_assert_int_eq(plan_find(plan, "S1.1.5")->priority, PRIORITY_HIGH);
	finish(plan);
}

TEST(splitting_is_refused_without_a_trace)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2 S1.1.1", "T1.2");
	struct plan_edit edit = edit_of(plan);
	const char *const after[] = { "S1.1.2", NULL };
	const char *const other[] = { "b", NULL }, *const one[] = { "a", NULL };
	const struct plan_spec plain = { .name = "x" };
	const struct plan_spec behind = { .name = "x", .depends_on = after };
	const struct plan_spec circle[] = {
		{ .id = "a", .name = "a", .depends_on = other },
		{ .id = "b", .name = "b", .depends_on = one },
	};

	NO_SPLIT("T1.1", &plain, 1, API_E_CHILDREN);
	NO_SPLIT("T1.2", &plain, 0, API_E_LIMIT);
	/* What waits for S1.1.1 would wait for its part, which waits for it. */
	NO_SPLIT("S1.1.1", &behind, 1, API_E_CYCLE);
	NO_SPLIT("S1.1.1", circle, 2, API_E_CYCLE);
	NO_SPLIT("T1.2", circle, 2, API_E_CYCLE);
	plan_world_set(plan, "T1.2", NODE_IN_PROGRESS);
	NO_SPLIT("T1.2", &plain, 1, API_E_STARTED);
	plan_world_set(plan, "T1.2", NODE_DONE);
	NO_SPLIT("T1.2", &plain, 1, API_E_CLOSED);
	finish(plan);
}

TEST(siblings_are_merged_into_the_first)
{
	struct plan *plan = PLAN_WORLD(
	    "P1", "T1.1 T1.4", "T1.2 T1.1 T1.5", "T1.3 T1.2", "T1.4", "T1.5");
	struct plan_edit edit = edit_of(plan);
	const char *const ids[] = { "T1.1", "T1.2", NULL };

	strv_add(&plan_find(plan, "T1.2")->acceptance, "it is fast");
	ck_assert_int_eq(plan_edit_merge(&edit, ids, "both", &err), 0);
	ck_assert_str_eq(plan_find(plan, "T1.1")->name, "both");
	expect_list(plan_find(plan, "T1.1")->depends_on, "T1.4 T1.5");
	expect_list(plan_find(plan, "T1.3")->depends_on, "T1.1");
	ck_assert_uint_eq(strv_count(plan_find(plan, "T1.1")->acceptance), 2);
	ck_assert_int_eq(plan_find(plan, "T1.2")->status, NODE_CANCELLED);
	expect_list(plan_find(plan, "T1.2")->replaced_by, "T1.1");
	expect_what(plan, "merged into T1.1: T1.2");
	finish(plan);
}

TEST(merging_is_refused_without_a_trace)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1 T1.3", "T1.2", "T1.3 T1.2",
	    "T1.4", "T1.5", "S1.5.1", "P2", "T2.1");
	struct plan_edit edit = edit_of(plan);
	static const char *const circle[] = { "T1.1", "T1.2", NULL };
	static const char *const parents[] = { "T1.1", "T2.1", NULL };
	static const char *const twice[] = { "T1.1", "T1.1", NULL };
	static const char *const alone[] = { "T1.1", NULL };
	static const char *const started[] = { "T1.1", "T1.4", NULL };
	static const char *const children[] = { "T1.2", "T1.5", NULL };

	plan_world_set(plan, "T1.4", NODE_IN_PROGRESS);
	plan_world_set(plan, "T1.4", NODE_QUEUED);
	NO_MERGE(circle, API_E_CYCLE);
	NO_MERGE(parents, API_E_LEVEL);
	NO_MERGE(twice, API_E_EXISTS);
	NO_MERGE(alone, API_E_LIMIT);
	NO_MERGE(started, API_E_STARTED);
	NO_MERGE(children, API_E_CHILDREN);
	finish(plan);
}

TEST(a_node_moves_with_all_below_it)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "S1.1.1", "T1.2", "P2 P1", "T2.1", "T2.2");
	struct plan_edit edit = edit_of(plan);

	ck_assert_int_eq(plan_edit_move(&edit, "T1.1", "P2", 1, &err), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 todo, T1.2 todo, P2 todo, T2.1 todo, T1.1 todo, S1.1.1 todo, "
	    "T2.2 todo");
	ck_assert_str_eq(plan_find(plan, "T1.1")->parent_id, "P2");
	expect_what(plan, "moved T1.1 below P2");
	/* P2 waits for P1: moving from there to P1 is no cycle. */
	edit = edit_of(plan);
	ck_assert_int_eq(
	    plan_edit_move(&edit, "T2.2", "P1", PLAN_LAST, &err), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 todo, T1.2 todo, T2.2 todo, P2 todo, T2.1 todo, T1.1 todo, "
	    "S1.1.1 todo");
	/* The records say the same. */
	{
		struct plan *copy = plan_copy(plan);
		cleanup_free char *before = xstrdup(plan_world_json(plan));

		ck_assert_str_eq(plan_world_json(copy), before);
		plan_free(copy);
	}
	finish(plan);
}

TEST(moving_is_refused_without_a_trace)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "S1.1.1", "T1.2 P2", "P2", "T2.1", "T2.2");
	struct plan_edit edit = edit_of(plan);

	plan_world_set(plan, "T2.2", NODE_IN_PROGRESS);
	NO_MOVE("T1.1", "T2.1", API_E_LEVEL);
	NO_MOVE("T1.1", NULL, API_E_LEVEL);
	NO_MOVE("P1", "P2", API_E_LEVEL);
	NO_MOVE("T1.2", "P2", API_E_CYCLE);
	NO_MOVE("S1.1.1", "T2.2", API_E_STARTED);
	finish(plan);
}

TEST(a_parent_without_children_is_open_again)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "S1.1.1", "T1.2", "S1.2.1");
	struct plan_edit edit = edit_of(plan);

	plan_world_set(plan, "S1.1.1", NODE_IN_PROGRESS);
	ck_assert_int_eq(plan_edit_move(&edit, "S1.1.1", "T1.2", 0, &err), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 in_progress, T1.1 todo, T1.2 in_progress, S1.1.1 in_progress, "
	    "S1.2.1 todo");
	finish(plan);
}

/* --- spawn ----------------------------------------------------------- */

TEST(spawned_nodes_stand_beside_one_that_is_at_work)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2 T1.1");
	struct plan_edit edit;
	const struct plan_spec specs[] = { { .name = "a" }, { .name = "b" } };
	struct plan_node *nodes[2];
	int64_t version = plan->goal->version;

	plan_world_set(plan, "T1.1", NODE_IN_PROGRESS);
	plan_find(plan, "T1.1")->priority = PRIORITY_HIGH;
	edit = edit_of(plan);
	ck_assert_int_eq(
	    plan_edit_spawn(&edit, "P1", "T1.1", specs, 2, nodes, &err), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 in_progress, T1.1 in_progress, T1.2 todo, T1.3 todo, T1.4 "
	    "todo");
	ck_assert_str_eq(nodes[1]->id, "T1.4");
	ck_assert_int_eq(nodes[0]->priority, PRIORITY_HIGH);
	ck_assert_int_eq(plan->goal->version, version + 1);
	expect_what(plan, "spawned from T1.1: T1.3, T1.4");
	finish(plan);
}

TEST(nodes_are_spawned_all_or_none)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");
	struct plan_edit edit;
	const struct plan_spec specs[] = { { .name = "a" }, { .name = "" } };
	struct plan_node *nodes[2];

	plan_world_set(plan, "T1.1", NODE_IN_PROGRESS);
	edit = edit_of(plan);
	REFUSED(plan,
	    plan_edit_spawn(&edit, "P1", "T1.1", specs, 2, nodes, &err),
	    API_E_LIMIT);
	REFUSED(plan,
	    plan_edit_spawn(&edit, "P9", "T1.1", specs, 1, nodes, &err),
	    API_E_UNKNOWN);
	REFUSED(plan,
	    plan_edit_spawn(&edit, "T1.1", NULL, specs, 1, nodes, &err),
	    API_E_STARTED);
	plan->goal->status = GOAL_CANCELLED;
	REFUSED(plan,
	    plan_edit_spawn(&edit, "P1", "T1.1", specs, 1, nodes, &err),
	    API_E_CLOSED);
	finish(plan);
}
