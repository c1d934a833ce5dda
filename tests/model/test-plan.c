/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "api.h"
#include "plan-node.h"
#include "plan-goal.h"
#include "plan.h"

/* --- moves of single records ------------------------------------------- */

TEST(a_move_keeps_the_times)
{
	struct plan_node *n = plan_node_new("g", NODE_PHASE, "P1", "n", NOW);
	struct plan_evidence evidence = { 0 };
	struct plan_node_move move = { .to = NODE_QUEUED };

	strv_add(&evidence.commits, "abc");
	ck_assert(!plan_node_started(n));
	ck_assert_int_eq(plan_node_move(n, &move, NOW + 1, NULL), 0);
	ck_assert_int_eq(n->started_ms, 0);
	move.to = NODE_IN_PROGRESS;
	ck_assert_int_eq(plan_node_move(n, &move, NOW + 2, NULL), 0);
	ck_assert_int_eq(n->started_ms, NOW + 2);
	ck_assert_int_eq(n->attempts, 1);
	move =
	    (struct plan_node_move){ .to = NODE_DONE, .evidence = &evidence };
	ck_assert_int_eq(plan_node_move(n, &move, NOW + 3, NULL), 0);
	ck_assert_int_eq(n->ended_ms, NOW + 3);
	ck_assert_int_eq(n->updated_ms, NOW + 3);
	move = (struct plan_node_move){ .to = NODE_QUEUED };
	ck_assert_int_eq(plan_node_move(n, &move, NOW + 4, NULL), 0);
	ck_assert_int_eq(n->ended_ms, 0);
	ck_assert(!plan_evidence_any(&n->evidence));
	ck_assert(plan_node_started(n));
	plan_evidence_release(&evidence);
	plan_node_free(n);
}

TEST(an_override_needs_a_reason_and_ends_only_what_is_open)
{
	struct plan_node *n = plan_node_new("g", NODE_PHASE, "P1", "n", NOW);
	struct plan_node_move move = { .to = NODE_DONE, .actor = "person" };

	ck_assert_int_eq(plan_node_move(n, &move, NOW, NULL), API_E_REASON);
	move.override_reason = "why";
	n->status = NODE_CANCELLED;
	ck_assert_int_eq(plan_node_move(n, &move, NOW, NULL), API_E_TRANSITION);
	n->status = NODE_BLOCKED;
	ck_assert_int_eq(plan_node_move(n, &move, NOW, NULL), 0);
	ck_assert_str_eq(n->override.actor, "person");
	plan_node_free(n);
}

static struct plan_node *
worked(void)
{
	struct plan_node *node = plan_node_new("g", NODE_PHASE, "P1", "n", NOW);

	plan_node_assign(node, "A_1", NOW);
	return node;
}

TEST(an_assignment_needs_a_crystallization_to_be_done)
{
	struct plan_node *node = worked();
	struct plan_work *work = &node->work;
	struct plan_work_move move = { .to = ASSIGNMENT_DONE };

	ck_assert_int_eq(
	    plan_node_move_work(node, &move, NOW), API_E_TRANSITION);
	work->status = ASSIGNMENT_DISPATCHED;
	ck_assert_int_eq(plan_node_move_work(node, &move, NOW), API_E_EVIDENCE);
	move.actor = "person";
	ck_assert_int_eq(plan_node_move_work(node, &move, NOW), API_E_REASON);
	move = (struct plan_work_move){ .to = ASSIGNMENT_BLOCKED };
	ck_assert_int_eq(plan_node_move_work(node, &move, NOW), API_E_REASON);
	move.reason = "a key is missing";
	ck_assert_int_eq(plan_node_move_work(node, &move, NOW), 0);
	ck_assert_str_eq(work->blocked_reason, "a key is missing");
	move = (struct plan_work_move){ .to = ASSIGNMENT_DONE,
		.crystal_id = "C_1" };
	ck_assert_int_eq(plan_node_move_work(node, &move, NOW + 1), 0);
	ck_assert_int_eq(work->updated_ms, NOW + 1);
	ck_assert_ptr_null(work->blocked_reason);
	plan_node_free(node);
}

TEST(the_newest_dispatches_are_kept)
{
	struct plan_node *node = worked();
	struct plan_work *work = &node->work;
	char id[16];

	plan_node_instruct(node, "do it");
	ck_assert_ptr_null(plan_node_last_dispatch(node));
	for (int i = 0; i < PLAN_DISPATCHES_MAX + 2; i++) {
		snprintf(id, sizeof id, "D_%d", i);
		plan_node_dispatch(node, id, DISPATCH_SEND, "nudge", NOW + i);
	}
	ck_assert_uint_eq(work->dispatch_count, PLAN_DISPATCHES_MAX);
	ck_assert_ptr_null(plan_node_find_dispatch(node, "D_1"));
	ck_assert_ptr_eq(
	    plan_node_find_dispatch(node, "D_2"), &work->dispatches[0]);
	ck_assert_str_eq(plan_node_last_dispatch(node)->id, id);
	ck_assert_int_eq(
	    plan_node_last_dispatch(node)->result, DISPATCH_PENDING);
	ck_assert_int_eq(work->last_dispatch_ms, NOW + PLAN_DISPATCHES_MAX + 1);
	plan_node_free(node);
}

TEST(an_instruction_is_cut)
{
	struct plan_node *node = worked();
	struct plan_work *work = &node->work;
	cleanup_free char *text = xcalloc(PLAN_INSTRUCTION_MAX + 10, 1);

	memset(text, 'x', PLAN_INSTRUCTION_MAX + 8);
	plan_node_instruct(node, text);
	ck_assert_uint_eq(strlen(work->instruction), PLAN_INSTRUCTION_MAX);
	plan_node_free(node);
}

TEST(the_newest_revisions_are_kept)
{
	struct plan_goal *goal = plan_goal_new("goal_1", "t", NOW);

	for (int i = 0; i < PLAN_REVISIONS_MAX + 5; i++)
		plan_goal_revise(goal, "person", "what", NULL, NOW);
	ck_assert_uint_eq(goal->revision_count, PLAN_REVISIONS_MAX);
	ck_assert_int_eq(goal->revisions[0].version, 6);
	ck_assert_int_eq(goal->version, PLAN_REVISIONS_MAX + 5);
	plan_goal_free(goal);
}

TEST(evidence_is_merged_without_doubles)
{
	struct plan_evidence a = { 0 }, b = { 0 };

	strv_add(&a.commits, "1");
	strv_add(&b.commits, "1");
	strv_add(&b.commits, "2");
	strv_add(&b.files_touched, "f");
	plan_evidence_merge(&a, &b);
	ck_assert_uint_eq(strv_count(a.commits), 2);
	ck_assert_uint_eq(strv_count(a.files_touched), 1);
	for (int i = 0; i < PLAN_LIST_MAX; i++)
		strv_take(&b.commits, xasprintf("more-%d", i));
	plan_evidence_merge(&a, &b);
	ck_assert_uint_eq(strv_count(a.commits), PLAN_LIST_MAX);
	plan_evidence_release(&a);
	plan_evidence_release(&b);
}

/* --- the tree ----------------------------------------------------------- */

static int
build(const char *const *ids, struct plan **ret_plan, struct err *err)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2", "P2", "T2.1");
	struct plan_node *nodes[16];
	size_t count = 0;
	int r;

	for (; *ids != NULL; ids++)
		nodes[count++] = plan_node_copy(plan_find(plan, *ids));
	r = plan_build(
	    plan_goal_new("goal_1", "t", NOW), nodes, count, ret_plan, err);
	plan_free(plan);
	return r;
}

TEST(nodes_may_come_in_any_order)
{
	const char *const ids[] = { "S1.1.2", "T2.1", "P2", "T1.1", "S1.1.1",
		"P1", NULL };
	struct plan *plan = NULL;

	ck_assert_int_eq(build(ids, &plan, NULL), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 todo, T1.1 todo, S1.1.1 todo, S1.1.2 todo, P2 todo, T2.1 todo");
	plan_free(plan);
}

TEST(a_plan_that_does_not_fit_together_is_refused)
{
	const char *const orphan[] = { "P1", "S1.1.1", NULL };
	const char *const twice[] = { "P1", "P1", NULL };
	struct plan *plan = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(build(orphan, &plan, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "S1.1.1"));
	ck_assert_int_eq(build(twice, &plan, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "P1"));
	ck_assert_ptr_null(plan);
}

TEST(a_removed_node_is_gone_and_reported)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2", "T1.3");
	struct plan_changes changes = { 0 };
	struct plan_node *node = plan_find(plan, "T1.2");

	plan_changed(&changes, node);
	plan_changed(&changes, node);
	plan_changed(&changes, plan_find(plan, "T1.3"));
	ck_assert_str_eq(plan_world_changes(&changes), "T1.2 T1.3");
	plan_changes_removed(&changes, node);
	plan_detach(plan, node);
	plan_node_free(node);
	ck_assert_str_eq(plan_world_changes(&changes), "T1.3 -T1.2");
	ck_assert_ptr_null(plan_find(plan, "T1.2"));
	ck_assert_str_eq(
	    plan_world_words(plan), "P1 todo, T1.1 todo, T1.3 todo");
	ck_assert_uint_eq(plan_find(plan, "T1.3")->place, 1);
	plan_changes_release(&changes);
	plan_free(plan);
}

TEST(a_plan_is_read_back_with_its_nodes)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "S1.1.1", "P2 P1", "T2.1 S1.1.1");
	cleanup_json struct json_object *json = plan_to_json(plan);
	cleanup_free char *text = xstrdup(plan_world_json(plan));
	struct plan *again = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(plan_from_json(json, "", &again, &err), 0);
	ck_assert_str_eq(plan_world_json(again), text);
	json_object_array_add(
	    json_object_object_get(json, "nodes"), json_object_new_int(1));
	plan_free(again);
	ck_assert_int_eq(plan_from_json(json, "g", &again, &err), -EINVAL);
	ck_assert_str_eq(
	    err.msg, "g.nodes[5]: expected an object, found a number");
	plan_free(plan);
}

/* --- the set ------------------------------------------------------------ */

static struct plan *
second(void)
{
	struct plan *plan = plan_new(plan_goal_new("goal_2", "t", NOW));

	plan_attach(
	    plan, plan_node_new("goal_2", NODE_PHASE, "P1", "n", NOW), NULL);
	return plan;
}

TEST(a_node_has_one_assignment_after_the_other)
{
	struct plan_set set = { 0 };
	struct plan_cursor cursor = { 0 };
	struct plan_node *node;

	ck_assert_int_eq(plan_set_add(&set, PLAN_WORLD("P1", "P2"), NULL), 0);
	ck_assert_ptr_null(plan_set_next(&set, &cursor));
	node = plan_find(plan_set_plan(&set, "goal_1"), "P2");
	ck_assert(!plan_node_is_assigned(node));
	plan_node_assign(node, "A_1", NOW);
	xstrset(&node->work.worker, "eve");
	ck_assert(plan_node_is_assigned(node));
	ck_assert_ptr_eq(plan_set_assigned(&set, "goal_1", "P2", "A_1"), node);
	node->work.status = ASSIGNMENT_CANCELLED;
	ck_assert(!plan_node_is_assigned(node));
	plan_node_assign(node, "A_2", NOW);
	ck_assert_ptr_null(node->work.worker);
	ck_assert_int_eq(node->work.status, ASSIGNMENT_QUEUED);
	ck_assert_ptr_null(plan_set_assigned(&set, "goal_1", "P2", "A_1"));
	ck_assert_ptr_null(plan_set_assigned(&set, "goal_9", "P2", "A_2"));
	ck_assert_ptr_null(plan_set_assigned(&set, "goal_1", "P1", NULL));
	cursor = (struct plan_cursor){ 0 };
	ck_assert_ptr_eq(plan_set_next(&set, &cursor), node);
	ck_assert_ptr_null(plan_set_next(&set, &cursor));
	plan_set_release(&set);
}

TEST(a_node_is_found_by_its_id_alone_if_that_is_unique)
{
	struct plan_set set = { 0 };
	struct plan *plan = NULL, *other = second();
	struct plan_node *node = NULL;
	struct err err = { 0 };

	plan_set_add(&set, PLAN_WORLD("P1", "T1.1"), NULL);
	plan_set_add(&set, other, NULL);
	ck_assert_int_eq(
	    plan_set_find(&set, NULL, "T1.1", &plan, &node, NULL), 0);
	ck_assert_str_eq(plan->goal->id, "goal_1");
	ck_assert_int_eq(
	    plan_set_find(&set, NULL, "P1", &plan, &node, &err), API_E_UNKNOWN);
	ck_assert_str_eq(
	    err.msg, "2 goals have a node P1; name the goal: goal_1, goal_2");
	ck_assert_int_eq(
	    plan_set_find(&set, "goal_2", "P1", &plan, &node, NULL), 0);
	ck_assert_ptr_eq(plan, other);
	other->goal->status = GOAL_COMPLETED;
	ck_assert_int_eq(
	    plan_set_find(&set, NULL, "P1", &plan, &node, NULL), 0);
	ck_assert_str_eq(plan->goal->id, "goal_1");
	ck_assert_int_eq(
	    plan_set_find(&set, NULL, "P9", &plan, &node, &err), API_E_UNKNOWN);
	ck_assert_int_eq(
	    plan_set_find(&set, "g", "P1", &plan, &node, &err), API_E_UNKNOWN);
	ck_assert_str_eq(err.msg, "there is no goal g");
	plan_set_release(&set);
}

TEST(a_dropped_goal_takes_all_that_belongs_to_it)
{
	struct plan_set set = { 0 };
	struct plan_crystal *old = plan_crystal_new(
				"C_1", "goal_2", "P1", CRYSTAL_UPDATE, NOW),
			    *fresh = plan_crystal_new("C_2", "goal_2", "P1",
				CRYSTAL_LANDING, NOW + 1);

	plan_set_add(&set, PLAN_WORLD("P1"), NULL);
	plan_set_add(&set, second(), NULL);
	ck_assert_int_eq(plan_set_add_crystal(&set, fresh, NULL), 0);
	ck_assert_int_eq(plan_set_add_crystal(&set, old, NULL), 0);
	ck_assert_ptr_eq(
	    plan_find(plan_set_plan(&set, "goal_2"), "P1")->crystal, fresh);
	ck_assert(plan_set_drop(&set, "goal_2"));
	ck_assert(!plan_set_drop(&set, "goal_2"));
	ck_assert_uint_eq(set.plan_count, 1);
	ck_assert_uint_eq(set.crystal_count, 0);
	ck_assert_ptr_null(plan_set_crystal(&set, "C_1"));
	plan_set_release(&set);
}
