/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "api.h"
#include "plan-edit.h"

static struct plan_changes changes;
static struct err err;

static struct plan_edit
edit_of(struct plan *plan, const char *why)
{
	plan_changes_release(&changes);
	err = (struct err){ 0 };
	return (struct plan_edit){ plan, "person", why, NOW + 1, &changes };
}

/* The last revision, and the nodes that changed; then the end of the test. */
static void
expect(struct plan *plan, const char *what, const char *nodes)
{
	const struct plan_goal *goal = plan->goal;
	const struct plan_revision *last =
	    &goal->revisions[goal->revision_count - 1];

	ck_assert_str_eq(last->what, what);
	ck_assert_str_eq(last->actor, "person");
	ck_assert_int_eq(last->version, goal->version);
	ck_assert_int_eq(last->at_ms, NOW + 1);
	ck_assert_str_eq(plan_world_changes(&changes), nodes);
}

static void
finish(struct plan *plan)
{
	plan_changes_release(&changes);
	plan_free(plan);
}

TEST(every_change_is_a_version_with_what_who_and_why)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2");
	struct plan_edit edit = edit_of(plan, "it is late");

	ck_assert_int_eq(
	    plan_edit_priority(&edit, "T1.1", PRIORITY_URGENT, &err), 0);
	expect(plan, "urgent priority for T1.1", "T1.1 goal");
	ck_assert_int_eq(plan->goal->version, 1);
	ck_assert_str_eq(plan->goal->revisions[0].why, "it is late");
	ck_assert_str_eq(plan->goal->revisions[0].nodes[0], "T1.1");
	ck_assert_int_eq(
	    plan_priority(plan, plan_find(plan, "T1.1")), PRIORITY_URGENT);
	edit = edit_of(plan, NULL);
	ck_assert_int_eq(
	    plan_edit_priority(&edit, "T1.1", PRIORITY_COUNT, &err), 0);
	ck_assert_int_eq(
	    plan_priority(plan, plan_find(plan, "T1.1")), PRIORITY_NORMAL);
	ck_assert_int_eq(plan->goal->version, 2);
	finish(plan);
}

TEST(done_needs_evidence)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");
	struct plan_edit edit = edit_of(plan, NULL);
	struct plan_evidence evidence = { 0 };

	plan_world_set(plan, "T1.1", NODE_IN_PROGRESS);
	ck_assert_int_eq(
	    plan_edit_done(&edit, "T1.1", NULL, &err), API_E_EVIDENCE);
	ck_assert_int_eq(
	    plan_edit_done(&edit, "T1.1", &evidence, &err), API_E_EVIDENCE);
	ck_assert_int_eq(plan->goal->version, 0);
	strv_add(&evidence.commits, "abc123");
	ck_assert_int_eq(plan_edit_done(&edit, "T1.1", &evidence, &err), 0);
	expect(plan, "done: T1.1", "T1.1 P1 goal");
	ck_assert_str_eq(
	    plan_find(plan, "T1.1")->evidence.commits[0], "abc123");
	ck_assert_ptr_null(plan_find(plan, "T1.1")->override.actor);
	ck_assert_int_eq(plan->goal->status, GOAL_COMPLETED);
	ck_assert_int_eq(
	    plan_edit_done(&edit, "T1.1", &evidence, &err), API_E_CLOSED);
	plan_evidence_release(&evidence);
	finish(plan);
}

TEST(done_with_a_reason_is_an_override_with_actor_and_reason)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");
	struct plan_edit edit = edit_of(plan, "done by hand");
	struct plan_node *node = plan_find(plan, "T1.1");

	ck_assert_int_eq(plan_edit_done(&edit, "T1.1", NULL, &err), 0);
	ck_assert_int_eq(node->status, NODE_DONE);
	ck_assert_str_eq(node->override.actor, "person");
	ck_assert_str_eq(node->override.reason, "done by hand");
	ck_assert_int_eq(node->override.at_ms, NOW + 1);
	finish(plan);
}

TEST(done_does_not_follow_todo_without_an_override)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");
	struct plan_edit edit = edit_of(plan, NULL);

	ck_assert_int_eq(
	    plan_edit_done(&edit, "T1.1", NULL, &err), API_E_TRANSITION);
	ck_assert_int_eq(
	    plan_edit_done(&edit, "P1", NULL, &err), API_E_CHILDREN);
	edit = edit_of(plan, "enough");
	ck_assert_int_eq(plan_edit_done(&edit, "P1", NULL, &err), 0);
	ck_assert_str_eq(plan_world_words(plan), "P1 done, T1.1 todo");
	ck_assert_int_eq(plan->goal->status, GOAL_COMPLETED);
	finish(plan);
}

TEST(blocked_needs_a_reason_and_can_be_undone)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");
	struct plan_edit edit = edit_of(plan, " ");
	struct plan_node *node = plan_find(plan, "T1.1");

	plan_world_set(plan, "T1.1", NODE_QUEUED);
	ck_assert_int_eq(plan_edit_block(&edit, "T1.1", &err), API_E_REASON);
	edit = edit_of(plan, "needs a key");
	ck_assert_int_eq(plan_edit_block(&edit, "T1.1", &err), 0);
	ck_assert_str_eq(node->blocked_reason, "needs a key");
	expect(plan, "blocked T1.1", "T1.1 P1 goal");
	ck_assert_int_eq(
	    plan_edit_block(&edit, "T1.1", &err), API_E_TRANSITION);
	ck_assert_int_eq(plan_edit_unblock(&edit, "P1", &err), API_E_CHILDREN);
	ck_assert_int_eq(plan_edit_unblock(&edit, "T1.1", &err), 0);
	ck_assert_str_eq(plan_world_words(plan), "P1 queued, T1.1 queued");
	ck_assert_ptr_null(node->blocked_reason);
	ck_assert_int_eq(
	    plan_edit_unblock(&edit, "T1.1", &err), API_E_TRANSITION);
	finish(plan);
}

TEST(a_node_that_somebody_works_on_is_not_blocked)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");
	struct plan_edit edit = edit_of(plan, "wait");
	struct plan_node *node = plan_find(plan, "T1.1");

	plan_world_set(plan, "T1.1", NODE_IN_PROGRESS);
	plan_node_assign(node, "A_1", NOW);
	xstrset(&node->work.worker, "auto-1");
	xstrset(&node->work.task, "t7");
	ck_assert_int_eq(plan_edit_block(&edit, "T1.1", &err), API_E_ASSIGNED);
	ck_assert_str_eq(err.msg,
	    "auto-1 has T1.1; to take it back, type: llmc task drop t7");
	ck_assert_int_eq(node->status, NODE_IN_PROGRESS);
	finish(plan);
}

TEST(a_blocked_parent_stays_blocked_until_it_is_unblocked)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2");
	struct plan_edit edit = edit_of(plan, "wait for the review");

	ck_assert_int_eq(plan_edit_block(&edit, "P1", &err), 0);
	plan_world_set(plan, "T1.1", NODE_IN_PROGRESS);
	ck_assert_str_eq(
	    plan_world_words(plan), "P1 blocked, T1.1 in_progress, T1.2 todo");
	edit = edit_of(plan, NULL);
	ck_assert_int_eq(plan_edit_unblock(&edit, "P1", &err), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 in_progress, T1.1 in_progress, T1.2 todo");
	finish(plan);
}

TEST(cancelling_takes_all_that_is_open_below)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2", "T1.2", "P2");
	struct plan_edit edit = edit_of(plan, NULL);

	plan_world_set(plan, "S1.1.1", NODE_DONE);
	ck_assert_int_eq(plan_edit_cancel(&edit, "P1", &err), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 done, T1.1 done, S1.1.1 done, S1.1.2 cancelled, T1.2 "
	    "cancelled, P2 todo");
	ck_assert_int_eq(plan_edit_cancel(&edit, "P1", &err), API_E_CLOSED);
	ck_assert_int_eq(plan_edit_cancel(&edit, "P2", &err), 0);
	ck_assert_int_eq(plan->goal->status, GOAL_COMPLETED);
	finish(plan);
}

TEST(a_revert_opens_a_node_and_its_goal)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");
	struct plan_edit edit = edit_of(plan, "by hand");

	ck_assert_int_eq(
	    plan_edit_reopen(&edit, "T1.1", &err), API_E_TRANSITION);
	ck_assert_int_eq(plan_edit_done(&edit, "T1.1", NULL, &err), 0);
	ck_assert_int_eq(plan->goal->status, GOAL_COMPLETED);
	ck_assert_int_eq(plan_edit_reopen(&edit, "P1", &err), API_E_CHILDREN);
	ck_assert_int_eq(plan_edit_reopen(&edit, "T1.1", &err), 0);
	ck_assert_str_eq(plan_world_words(plan), "P1 queued, T1.1 queued");
	ck_assert_ptr_null(plan_find(plan, "T1.1")->override.actor);
	ck_assert_int_eq(plan->goal->status, GOAL_ACTIVE);
	finish(plan);
}

TEST(nothing_changes_in_an_ended_goal)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");
	struct plan_edit edit = edit_of(plan, "why");

	plan->goal->status = GOAL_ARCHIVED;
	ck_assert_int_eq(
	    plan_edit_done(&edit, "T1.1", NULL, &err), API_E_CLOSED);
	ck_assert_int_eq(plan_edit_cancel(&edit, "T1.1", &err), API_E_CLOSED);
	plan->goal->status = GOAL_ACTIVE;
	ck_assert_int_eq(plan_edit_cancel(&edit, "T9", &err), API_E_UNKNOWN);
	ck_assert_str_eq(err.msg, "goal goal_1 has no node T9");
	finish(plan);
}
