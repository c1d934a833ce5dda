/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "metrics.h"
#include "settings.h"
#include "state.h"
#include "view-state.h"
#include "view.h"
#include "worker.h"

#define NOW (INT64_C(1769853600) * 1000)

static struct state state;
static struct settings *settings;
static struct view_kept rows, *kept;

static void
begin(void)
{
	const struct settings_facts facts = { .root = "/r" };
	struct settings_problems problems;

	state_init(&state);
	settings = settings_parse("", 0, &facts, &problems);
	settings_problems_release(&problems);
}

static void
end(void)
{
	state_release(&state);
	settings_free(settings);
	view_kept_clear(&rows);
}

static struct json_object *
view_now(void)
{
	struct json_object *view = view_new();

	view_state_fill(&state, settings, kept, NULL, view);
	return view;
}

static struct task *
add_task(enum task_step step)
{
	cleanup_free char *id = state_task_id(&state);
	struct task *task = task_new(id, "folder", id, "T", "text", NOW);

	task->step = step;
	xstrset(&task->last_words, "the last words");
	state_add_task(&state, task);
	return task;
}

TEST(an_empty_state_is_shown)
{
	cleanup_json struct json_object *view = NULL;

	begin();
	view = view_now();
	ck_assert_int_eq(json_object_object_length(view_of(view, "tasks")), 0);
	ck_assert(!json_bool_or(view_of(view, "head"), "auto", true));
	ck_assert_int_eq(
	    json_int_or(view_of(view, "head"), "tasks_more", -1), 0);
	end();
}

TEST(a_worker_is_shown_with_its_task)
{
	cleanup_json struct json_object *view = NULL;
	struct worker *w = worker_new("auto-1", NOW);
	struct task *task;

	begin();
	task = add_task(TASK_ASSIGNED);
	task->attempts = 3;
	xstrset(&w->task, task->id);
	state_add(&state, w);
	state_add(&state, worker_new("auto-2", NOW));
	xstrset(&state.workers[1]->task, "t99"); /* is gone */
	view = view_now();
	ck_assert_int_eq(
	    json_int_or(view_row(view, "workers", "auto-1"), "attempt", 0), 3);
	ck_assert_ptr_null(json_object_object_get(
	    view_row(view, "workers", "auto-2"), "attempt"));
	end();
}

TEST(of_very_many_tasks_most_are_brief_and_the_rest_is_counted)
{
	cleanup_json struct json_object *view = NULL;
	struct json_object *head, *steps;

	begin();
	for (int i = 0; i < VIEW_TASKS_MAX + 5; i++)
		add_task(TASK_WAITING);
	add_task(TASK_ASSIGNED); /* is whole, wherever it is */
	view = view_now();
	head = view_of(view, "head");
	steps = json_object_object_get(head, "steps");
	ck_assert_int_eq(json_object_object_length(view_of(view, "tasks")),
	    VIEW_TASKS_MAX + 1);
	ck_assert_int_eq(json_int_or(head, "tasks_more", 0), 5);
	ck_assert_int_eq(json_int_or(steps, "waiting", 0), VIEW_TASKS_MAX + 5);
	ck_assert_int_eq(json_int_or(steps, "assigned", 0), 1);
	ck_assert_ptr_nonnull(json_object_object_get(
	    view_row(view, "tasks", "t200"), "last_words"));
	ck_assert_ptr_null(json_object_object_get(
	    view_row(view, "tasks", "t201"), "last_words"));
	ck_assert_ptr_nonnull(json_object_object_get(
	    view_row(view, "tasks", "t1006"), "last_words"));
	end();
}

TEST(of_very_many_parked_tasks_the_rest_is_counted)
{
	cleanup_json struct json_object *view = NULL;

	begin();
	for (int i = 0; i < VIEW_PARKED_MAX + 7; i++)
		add_task(TASK_PARKED);
	add_task(TASK_WAITING); /* has a place of its own */
	view = view_now();
	ck_assert_int_eq(json_object_object_length(view_of(view, "tasks")),
	    VIEW_PARKED_MAX + 1);
	ck_assert_int_eq(
	    json_int_or(view_of(view, "head"), "tasks_more", 0), 7);
	ck_assert_ptr_nonnull(json_object_object_get(
	    view_row(view, "tasks", "t508"), "last_words"));
	ck_assert_ptr_null(json_object_object_get(
	    view_row(view, "tasks", "t201"), "last_words"));
	end();
}

/* What a person would see is the same, whether rows are kept or not. */
TEST(rows_that_are_kept_are_those_that_have_not_changed)
{
	cleanup_json struct json_object *first = NULL, *second = NULL;
	struct task *task;

	begin();
	for (int i = 0; i < VIEW_TASKS_WHOLE + 3; i++)
		add_task(TASK_WAITING);
	kept = &rows;
	first = view_now();
	state_remove_task(&state, "t2"); /* one more is whole now */
	task = state_task(&state, "t5");
	task->turns++;
	add_task(TASK_ASSIGNED);
	second = view_now();
	ck_assert_ptr_eq(
	    view_row(first, "tasks", "t1"), view_row(second, "tasks", "t1"));
	ck_assert_ptr_eq(view_row(first, "tasks", "t203"),
	    view_row(second, "tasks", "t203"));
	ck_assert_ptr_ne(
	    view_row(first, "tasks", "t5"), view_row(second, "tasks", "t5"));
	ck_assert_ptr_ne(view_row(first, "tasks", "t201"),
	    view_row(second, "tasks", "t201"));
	kept = NULL;
	{
		cleanup_json struct json_object *plain = view_now();

		ck_assert(json_object_equal(plain, second));
	}
	end();
}

TEST(a_budget_without_a_limit_is_null)
{
	cleanup_json struct json_object *view = NULL;
	struct json_object *limit = NULL;

	begin();
	state.today.tokens = 7;
	view = view_now();
	ck_assert(json_object_object_get_ex(
	    view_of(view, "budget"), "day_tokens", &limit));
	ck_assert_ptr_null(limit);
	ck_assert_int_eq(json_int_or(view_of(view, "budget"), "tokens", 0), 7);
	end();
}

TEST(what_a_run_brought_is_counted_however_many_tasks_it_had)
{
	cleanup_json struct json_object *before = NULL, *view = NULL;
	struct json_object *counts = NULL;

	begin();
	before = view_now();
	ck_assert(json_object_object_get_ex(
	    view_of(before, "head"), "run_outcomes", &counts));
	ck_assert_ptr_null(counts); /* nobody knows */
	counters_run_begins(&state.counters);
	for (int i = 0; i < 300; i++)
		counters_task(&state.counters, "landed", 1);
	view = view_now();
	counts = json_object_object_get(view_of(view, "head"), "run_outcomes");
	ck_assert_int_eq(json_int_or(counts, "landed", -1), 300);
	ck_assert_int_eq(json_int_or(counts, "dead-letter", -1), 0);
	end();
}

TEST(the_same_state_is_the_same_view)
{
	cleanup_json struct json_object *a = NULL, *b = NULL;

	begin();
	state_add(&state, worker_new("adam", NOW));
	add_task(TASK_PARKED);
	a = view_now();
	b = view_now();
	ck_assert_ptr_null(view_diff(a, b));
	end();
}
