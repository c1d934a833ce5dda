/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "plan-insights.h"

static void
effort(struct plan *plan, const char *id, const char *word)
{
	xstrset(&plan_find(plan, id)->estimated_effort, word);
}

/* The ids of a list of leaves, "T1.1 T1.2"; valid until the next call. */
static const char *
ids(const struct plan_insights *all, const size_t *list, size_t count)
{
	static char text[1024];

	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			strlcat(text, " ", sizeof text);
		strlcat(text, all->leaves[list[i]].node->id, sizeof text);
	}
	return text;
}

static const struct plan_insight *
leaf(const struct plan_insights *all, const char *id)
{
	for (size_t i = 0; i < all->open; i++)
		if (strcmp(all->leaves[i].node->id, id) == 0)
			return &all->leaves[i];
	return NULL;
}

TEST(the_critical_path_is_the_longest_by_effort)
{
	struct plan *plan = PLAN_WORLD(
	    "P1", "T1.1", "T1.2 T1.1", "T1.3 T1.1", "T1.4 T1.2 T1.3", "T1.5");
	cleanup_plan_insights struct plan_insights all = { 0 };

	effort(plan, "T1.1", "small");
	effort(plan, "T1.2", "large");
	effort(plan, "T1.3", "small");
	effort(plan, "T1.4", "3");
	effort(plan, "T1.5", "medium");
	plan_insights(plan, &all);
	ck_assert_int_eq(all.length, 6 + 24 + 3);
	ck_assert_int_eq(all.effort, 6 + 24 + 6 + 3 + 12);
	ck_assert_uint_eq(all.open, 5);
	ck_assert_uint_eq(all.ready, 2);
	ck_assert_str_eq(ids(&all, all.path, all.path_count), "T1.1 T1.2 T1.4");
	ck_assert_int_eq(leaf(&all, "T1.3")->slack, 18);
	ck_assert_int_eq(leaf(&all, "T1.5")->slack, 33 - 12);
	ck_assert_int_eq(leaf(&all, "T1.4")->start, 30);
	plan_free(plan);
}

/* A node waits for those that the nodes above it wait for, and for all below
 * what it depends on. */
TEST(dependencies_of_phases_and_tasks_count_for_their_leaves)
{
	struct plan *plan = PLAN_WORLD(
	    "P1", "T1.1", "S1.1.1", "S1.1.2", "P2 P1", "T2.1", "T2.2 T2.1");
	cleanup_plan_insights struct plan_insights all = { 0 };

	effort(plan, "S1.1.2", "xl");
	plan_insights(plan, &all);
	ck_assert_str_eq(
	    ids(&all, all.path, all.path_count), "S1.1.2 T2.1 T2.2");
	ck_assert_int_eq(all.length, 48 + 2 * PLAN_INSIGHT_EFFORT);
	ck_assert_uint_eq(leaf(&all, "S1.1.1")->waiting, 2);
	ck_assert_uint_eq(leaf(&all, "T2.1")->waiting, 1);
	ck_assert_uint_eq(leaf(&all, "T2.2")->waiting, 0);
	ck_assert_str_eq(
	    ids(&all, all.blockers, all.blocker_count), "S1.1.2 S1.1.1 T2.1");
	ck_assert_str_eq(
	    ids(&all, all.bottlenecks, all.bottleneck_count), "S1.1.2 T2.1");
	plan_free(plan);
}

TEST(what_has_ended_counts_for_nothing)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "T1.2 T1.1", "T1.3 T1.2", "T1.4 T1.3");
	cleanup_plan_insights struct plan_insights all = { 0 }, none = { 0 };

	plan_world_set(plan, "T1.1", NODE_DONE);
	plan_world_set(plan, "T1.3", NODE_CANCELLED);
	plan_insights(plan, &all);
	ck_assert_uint_eq(all.open, 2);
	ck_assert_int_eq(all.length, PLAN_INSIGHT_EFFORT);
	ck_assert_uint_eq(all.path_count, 1);
	ck_assert_uint_eq(all.blocker_count, 0);
	plan_world_set(plan, "T1.2", NODE_DONE);
	plan_world_set(plan, "T1.4", NODE_DONE);
	plan_insights(plan, &none);
	ck_assert_uint_eq(none.open, 0);
	ck_assert_uint_eq(none.path_count, 0);
	ck_assert_int_eq(none.length, 0);
	plan_free(plan);
}

/* In 20,000 nodes, each of the first half keeps all of the second waiting. */
TEST(the_largest_plan_takes_no_time_to_speak_of)
{
	struct plan_goal *goal = plan_goal_new("goal_1", "t", 1);
	struct plan *plan = plan_new(goal);
	cleanup_plan_insights struct plan_insights all = { 0 };
	cleanup_recommendations struct recommendations told = { 0 };
	struct plan_changes changes = { 0 };
	int64_t begin;

	for (int i = 0; i < PLAN_NODES_MAX; i++) {
		cleanup_free char *id = xasprintf("N%d", i);
		struct plan_node *node = plan_node_new(
		    "goal_1", i < 2 ? NODE_PHASE : NODE_TASK, id, "n", NOW);

		node->order = i;
		if (i >= 2)
			node->parent_id = xstrdup(i % 2 == 0 ? "N0" : "N1");
		ck_assert_int_eq(plan_attach(plan, node, NULL), 0);
	}
	plan_depend(
	    &changes, plan_find(plan, "N1"), plan_find(plan, "N0"), NOW);
	begin = clock_mono_ms();
	plan_insights(plan, &all);
	plan_recommend(plan, &all, &told);
	/* Much more than it takes with sanitizers. */
	ck_assert_int_lt(clock_mono_ms() - begin, 20000);
	ck_assert_uint_eq(all.open, PLAN_NODES_MAX - 2);
	ck_assert_int_eq(all.length, 2 * PLAN_INSIGHT_EFFORT);
	ck_assert_uint_eq(
	    all.leaves[all.blockers[0]].waiting, PLAN_NODES_MAX / 2 - 1);
	ck_assert_uint_eq(told.count, RECOMMEND_MAX);
	plan_changes_release(&changes);
	plan_free(plan);
}

/* --- recommendations -------------------------------------------------- */

static const struct recommendation *
find(const struct recommendations *all, enum recommend_kind kind,
    const char *node)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->list[i].kind == kind &&
		    strcmp(all->list[i].nodes[0], node) == 0)
			return &all->list[i];
	return NULL;
}

static void
says(const struct recommendation *r, const char *words)
{
	ck_assert_ptr_nonnull(r);
	for (char **reason = r->reasons; reason != NULL && *reason != NULL;
	     reason++)
		if (strstr(*reason, words) != NULL)
			return;
	ck_abort_msg("no reason says \"%s\"", words);
}

TEST(critical_work_that_others_wait_for_comes_first)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "T1.2 T1.1", "T1.3 T1.2", "T1.4");
	cleanup_plan_insights struct plan_insights all = { 0 };
	cleanup_recommendations struct recommendations told = { 0 };

	plan_insights(plan, &all);
	plan_recommend(plan, &all, &told);
	ck_assert_int_eq(told.list[0].kind, RECOMMEND_START);
	ck_assert_str_eq(told.list[0].nodes[0], "T1.1");
	says(&told.list[0], "on the critical path");
	says(&told.list[0], "2 nodes wait for it");
	ck_assert_int_gt(
	    told.list[0].score, find(&told, RECOMMEND_START, "T1.4")->score);
	ck_assert_ptr_null(find(&told, RECOMMEND_START, "T1.2"));
	plan_free(plan);
}

TEST(large_and_failed_nodes_are_to_be_split)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2 T1.1", "T1.3");
	cleanup_plan_insights struct plan_insights all = { 0 };
	cleanup_recommendations struct recommendations told = { 0 };

	effort(plan, "T1.1", "xl");
	plan_find(plan, "T1.3")->attempts = 2;
	plan_insights(plan, &all);
	plan_recommend(plan, &all, &told);
	says(find(&told, RECOMMEND_SPLIT, "T1.1"), "80% of the critical path");
	ck_assert_ptr_nonnull(
	    strstr(find(&told, RECOMMEND_SPLIT, "T1.1")->command,
		"llmc goal node split goal_1/T1.1"));
	says(find(&told, RECOMMEND_SPLIT, "T1.3"), "2 attempts");
	ck_assert_ptr_null(find(&told, RECOMMEND_SPLIT, "T1.2"));
	plan_free(plan);
}

TEST(small_siblings_are_to_be_merged)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2", "S1.1.3", "T1.2");
	cleanup_plan_insights struct plan_insights all = { 0 };
	cleanup_recommendations struct recommendations told = { 0 };
	const struct recommendation *r;

	effort(plan, "S1.1.1", "xs");
	effort(plan, "S1.1.3", "tiny");
	effort(plan, "T1.2", "xs");
	plan_insights(plan, &all);
	plan_recommend(plan, &all, &told);
	r = find(&told, RECOMMEND_MERGE, "S1.1.1");
	says(r, "2 nodes of T1.1 are small");
	ck_assert_str_eq(
	    r->command, "llmc goal node merge goal_1/S1.1.1 goal_1/S1.1.3");
	ck_assert_ptr_null(find(&told, RECOMMEND_MERGE, "T1.2"));
	plan_free(plan);
}

TEST(blocked_and_badly_ordered_work_is_named)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "T1.2 T1.1", "T1.3", "T1.4");
	cleanup_plan_insights struct plan_insights all = { 0 };
	cleanup_recommendations struct recommendations told = { 0 };

	plan_find(plan, "T1.3")->priority = PRIORITY_HIGH;
	plan_world_set(plan, "T1.4", NODE_BLOCKED);
	xstrset(&plan_find(plan, "T1.4")->blocked_reason, "no key");
	plan_insights(plan, &all);
	ck_assert_uint_eq(all.blocked, 1);
	plan_recommend(plan, &all, &told);
	says(find(&told, RECOMMEND_UNBLOCK, "T1.4"), "no key");
	says(find(&told, RECOMMEND_REORDER, "T1.1"), "T1.3");
	ck_assert_str_eq(find(&told, RECOMMEND_REORDER, "T1.1")->command,
	    "llmc goal node priority goal_1/T1.1 high");
	for (size_t i = 0; i < told.count; i++)
		ck_assert(told.list[i].score > 0 && told.list[i].score <= 100);
	plan_free(plan);
}
