/* SPDX-License-Identifier: ISC */

/* The goal of a task that is no node of a plan: its shape, and what nobody does
 * with it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "plan-edit-tree.h"
#include "plan-edit.h"
#include "plan-implicit.h"
#include "plan-ready.h"
#include "plan-set.h"
#include "plan-world.h"
#include "planner-result.h"
#include "reconcile.h"
#include "task.h"
#include "unit.h"

static struct task *
task_of(const char *id, const char *key)
{
	return task_new(id, "folder", key, NULL, "# Paint it\n\nIn red.", NOW);
}

/* In progress, with an open assignment that is long overdue. */
static struct plan_assignment *
add(struct plan_set *set, const struct task *task, const char *goal)
{
	struct plan *plan = plan_implicit_new(task, goal, NOW);
	struct plan_assignment *a =
	    plan_assignment_new(goal, goal, "TASK", NOW);

	ck_assert_int_eq(plan_set_add(set, plan, NULL), 0);
	plan_world_set(plan, "TASK", NODE_IN_PROGRESS);
	xstrset(&a->worker, "auto-1");
	xstrset(&a->task, task->id);
	a->status = ASSIGNMENT_DISPATCHED;
	a->last_dispatch_ms = a->expected_update_ms = NOW;
	ck_assert_int_eq(plan_set_add_assignment(set, a, NULL), 0);
	return a;
}

START_TEST(a_task_is_one_node_whose_intent_is_its_text)
{
	struct task *task = task_of("t7", "a.md");
	struct plan *plan = plan_implicit_new(task, "goal_x", NOW), *copy;
	cleanup_json struct json_object *json = plan_to_json(plan);
	const struct plan_node *node = plan_implicit_node(plan);

	ck_assert(plan->goal->implicit);
	ck_assert_str_eq(plan->goal->title, "Paint it");
	ck_assert_uint_eq(plan->count, 2);
	ck_assert_int_eq(node->kind, NODE_TASK);
	ck_assert_str_eq(node->name, "Paint it");
	ck_assert_str_eq(node->objective, "# Paint it\n\nIn red.");
	/* As the store reads it. */
	ck_assert_int_eq(plan_from_json(json, "", &copy, NULL), 0);
	ck_assert(copy->goal->implicit);
	plan_free(copy);
	plan_free(plan);
	task_free(task);
}
END_TEST

START_TEST(a_long_text_is_cut_to_the_bound_of_a_record)
{
	char *text = xcalloc(1, 100001);
	struct task *task;
	struct plan *plan;
	cleanup_json struct json_object *json = NULL;
	struct plan *copy;

	memset(text, 'x', 100000);
	task = task_new("t1", "folder", "a.md", NULL, text, NOW);
	plan = plan_implicit_new(task, "goal_x", NOW);
	json = plan_to_json(plan);
	ck_assert_int_eq(plan_from_json(json, "", &copy, NULL), 0);
	plan_free(copy);
	plan_free(plan);
	task_free(task);
	free(text);
}
END_TEST

START_TEST(a_task_names_its_node_whatever_its_source)
{
	struct task *task = task_of("t7", "a.md");
	cleanup_free char *none = plan_implicit_key(task, false);
	cleanup_free char *own = NULL, *planned = NULL;

	ck_assert_ptr_null(none);
	xstrset(&task->goal, "goal_x");
	own = plan_implicit_key(task, false);
	ck_assert_str_eq(own, "goal_x/TASK");
	xstrset(&task->key, "goal_a/T2.3");
	planned = plan_implicit_key(task, true);
	ck_assert_str_eq(planned, "goal_a/T2.3");
	task_free(task);
}
END_TEST

START_TEST(its_node_is_never_ready_and_never_queued)
{
	struct task *task = task_of("t7", "a.md");
	struct plan_set set = { 0 };
	struct plan *plan = plan_implicit_new(task, "goal_x", NOW);
	cleanup_free struct plan_ready *list = NULL;
	struct plan_changes changes = { 0 };

	plan_set_add(&set, plan, NULL);
	ck_assert_uint_eq(plan_ready_list(&set, &list), 0);
	ck_assert(!plan_node_ready(plan, plan_implicit_node(plan)));
	plan_ready_queue(plan, NOW + 1, &changes);
	ck_assert_uint_eq(changes.count, 0);
	plan->goal->plan_wanted = true;
	ck_assert(!planner_is_due(plan));
	plan_set_release(&set);
	task_free(task);
}
END_TEST

START_TEST(the_tick_does_nothing_about_it_however_stale_it_is)
{
	static const char *const allowed[] = { "main", NULL };
	const struct reconcile_config config = { .enabled = true,
		.tick_every_ms = 1,
		.idle_after_ms = 1,
		.max_retries = 1,
		.allow_agents = allowed };
	const struct reconcile_facts facts[] = {
		{ .assignment_id = "goal_x", .lost = true },
		{ .assignment_id = "goal_y", .lost = true },
	};
	const struct reconcile_telemetry telemetry = { .facts = facts,
		.count = 2 };
	struct task *task = task_of("t7", "a.md");
	struct plan_set set = { 0 };
	struct reconcile_result result;

	add(&set, task, "goal_x");
	reconcile(&set, &telemetry, &config, NOW + 1000000, &result);
	ck_assert_uint_eq(result.decision_count + result.event_count, 0);
	reconcile_result_release(&result);
	/* Another goal's would not be left alone. */
	add(&set, task, "goal_y");
	plan_set_plan(&set, "goal_y")->goal->implicit = false;
	reconcile(&set, &telemetry, &config, NOW + 1000000, &result);
	ck_assert_uint_gt(result.event_count, 0);
	for (size_t i = 0; i < result.event_count; i++)
		ck_assert_str_eq(result.events[i].goal_id, "goal_y");
	reconcile_result_release(&result);
	plan_set_release(&set);
	task_free(task);
}
END_TEST

START_TEST(only_what_became_of_its_task_changes_it)
{
	struct task *task = task_of("t7", "a.md");
	struct plan *plan = plan_implicit_new(task, "goal_x", NOW);
	struct plan_changes changes = { 0 };
	struct plan_edit edit = { .plan = plan,
		.actor = "person",
		.why = "because",
		.now_ms = NOW + 1,
		.changes = &changes };
	const struct plan_spec spec = { .name = "more" };
	struct plan_node *node;
	struct err err = { 0 };

	ck_assert_int_eq(plan_edit_cancel(&edit, "TASK", &err), API_E_CLOSED);
	ck_assert_ptr_nonnull(strstr(err.msg, "llmc task drop t7"));
	ck_assert_int_eq(
	    plan_edit_done(&edit, "TASK", NULL, NULL), API_E_CLOSED);
	ck_assert_int_eq(
	    plan_edit_add(&edit, "POOL", PLAN_LAST, &spec, &node, NULL),
	    API_E_CLOSED);
	ck_assert_int_eq(
	    plan_edit_split(&edit, "TASK", &spec, 1, NULL), API_E_CLOSED);
	ck_assert(!plan_implicit_may(plan, GOAL_PAUSED));
	ck_assert(plan_implicit_may(plan, GOAL_ARCHIVED));
	ck_assert(plan_implicit_may(plan, GOAL_CANCELLED));
	edit.by_task = true;
	ck_assert_int_eq(plan_implicit_cancel(&edit, NULL), 0);
	ck_assert_int_eq(plan->goal->status, GOAL_CANCELLED);
	ck_assert_str_eq(
	    plan_world_words(plan), "POOL cancelled, TASK cancelled");
	ck_assert_str_eq(
	    plan->goal->revisions[plan->goal->revision_count - 1].why,
	    "because");
	plan_changes_release(&changes);
	plan_free(plan);
	task_free(task);
}
END_TEST

START_TEST(a_goal_that_somebody_works_on_is_not_cancelled_by_a_person)
{
	struct task *task = task_of("t7", "a.md");
	struct plan_set set = { 0 };
	const struct plan_assignment *a = add(&set, task, "goal_x");

	ck_assert(plan_implicit_is(&set, a));
	ck_assert(
	    !plan_implicit_may(plan_set_plan(&set, "goal_x"), GOAL_CANCELLED));
	plan_set_release(&set);
	task_free(task);
}
END_TEST

START_TEST(a_task_that_is_done_again_goes_on_with_the_open_goal_of_its_name)
{
	struct task *task = task_of("t7", "a.md");
	struct task *again = task_of("t9", "a.md"),
		    *other = task_of("t9", "b.md");
	struct plan_set set = { 0 };
	struct plan_assignment *a = add(&set, task, "goal_x");

	ck_assert_ptr_null(plan_implicit_reuse(&set, again));
	a->status = ASSIGNMENT_DONE;
	plan_set_relink(&set, a);
	ck_assert_ptr_null(plan_implicit_reuse(&set, other));
	ck_assert_ptr_eq(
	    plan_implicit_reuse(&set, again), plan_set_plan(&set, "goal_x"));
	plan_set_plan(&set, "goal_x")->goal->status = GOAL_COMPLETED;
	ck_assert_ptr_null(plan_implicit_reuse(&set, again));
	plan_set_release(&set);
	task_free(task);
	task_free(again);
	task_free(other);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("plan-implicit");

	unit_case(suite, "plan-implicit",
	    (const TTest *const[]){ a_task_is_one_node_whose_intent_is_its_text,
		a_long_text_is_cut_to_the_bound_of_a_record,
		a_task_names_its_node_whatever_its_source,
		its_node_is_never_ready_and_never_queued,
		the_tick_does_nothing_about_it_however_stale_it_is,
		only_what_became_of_its_task_changes_it,
		a_goal_that_somebody_works_on_is_not_cancelled_by_a_person,
		a_task_that_is_done_again_goes_on_with_the_open_goal_of_its_name,
		NULL });
	return suite;
}
