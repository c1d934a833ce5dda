/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "people.h"
#include "push-record.h"
#include "settings.h"
#include "state.h"
#include "view-doc.h"
#include "view-row.h"
#include "view-state.h"
#include "worker.h"

static void
fill_workers(const struct state *state, struct json_object *view)
{
	struct json_object *rows = view_of(view, "workers");

	for (size_t i = 0; i < state->count; i++) {
		const struct worker *w = state->workers[i];
		const struct task *task =
		    w->task != NULL ? state_task(state, w->task) : NULL;

		json_set(rows, w->name, view_row_worker(w, task));
	}
}

/* --- tasks ----------------------------------------------------------- */

struct kept_row {
	uint64_t mark;
	struct json_object *row;
};

struct view_kept {
	struct kept_row *rows; /* in the order of the state's tasks */
	size_t count, at; /* at: of the next task, if nothing has changed */
};

struct view_kept *
view_kept_new(void)
{
	return xcalloc(1, sizeof(struct view_kept));
}

void
view_kept_free(struct view_kept *kept)
{
	if (kept == NULL)
		return;
	for (size_t i = 0; i < kept->count; i++)
		json_object_put(kept->rows[i].row);
	free(kept->rows);
	free(kept);
}

/* A new reference; NULL = there is none of this task as it is. */
static struct json_object *
kept_row(struct view_kept *kept, const struct task *task, uint64_t mark)
{
	for (size_t i = kept->at; i < kept->count; i++) {
		const struct kept_row *k = &kept->rows[i];

		if (strcmp(json_string_or(k->row, "id", ""), task->id) != 0)
			continue;
		kept->at = i + 1;
		return mark != 0 && k->mark == mark ? json_object_get(k->row) :
						      NULL;
	}
	return NULL;
}

static bool
is_waiting(const struct task *task)
{
	return task->step == TASK_OFFERED || task->step == TASK_WAITING;
}

/* The caller owns it. */
static struct json_object *
row_of(struct view_kept *before, struct view_kept *after,
    const struct task *task, bool whole)
{
	/* Its place decides whether it is whole. */
	uint64_t mark = before != NULL ? view_row_task_mark(task) : 0;
	struct json_object *row;

	mark = mark != 0 && !whole ? ~mark : mark;
	row = before != NULL ? kept_row(before, task, mark) : NULL;
	if (row == NULL)
		row = whole ? view_row_task(task) : view_row_task_brief(task);
	if (before != NULL)
		after->rows[after->count++] =
		    (struct kept_row){ mark, json_object_get(row) };
	return row;
}

static void
keep(struct view_kept *kept, const struct view_kept *after)
{
	for (size_t i = 0; i < kept->count; i++)
		json_object_put(kept->rows[i].row);
	free(kept->rows);
	*kept = *after;
}

static void
fill_steps(const struct state *state, int more, struct json_object *head)
{
	struct json_object *steps = json_object_new_object();
	int64_t counts[TASK_STEP_COUNT] = { 0 };

	for (size_t i = 0; i < state->task_count; i++)
		counts[state->tasks[i]->step]++;
	for (int i = 0; i < TASK_STEP_COUNT; i++)
		json_set_int(
		    steps, task_step_name((enum task_step)i), counts[i]);
	json_set(head, "steps", steps);
	json_set_int(head, "tasks_more", more);
}

static void
fill_tasks(
    const struct state *state, struct view_kept *kept, struct json_object *view)
{
	struct json_object *rows = view_of(view, "tasks");
	struct view_kept after = { 0 };
	int waiting = 0, parked = 0, more = 0;

	if (kept != NULL)
		after.rows = xreallocarray(
		    NULL, state->task_count + 1, sizeof *after.rows);
	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *task = state->tasks[i];
		int place = is_waiting(task)  ? ++waiting :
		    task->step == TASK_PARKED ? ++parked :
						0;

		if (place > (task->step == TASK_PARKED ? VIEW_PARKED_MAX :
							 VIEW_TASKS_MAX))
			more++;
		else
			json_set(rows, task->id,
			    row_of(
				kept, &after, task, place <= VIEW_TASKS_WHOLE));
	}
	if (kept != NULL)
		keep(kept, &after);
	fill_steps(state, more, view_of(view, "head"));
}

/* --- money ----------------------------------------------------------- */

static struct json_object *
day_row(const struct daybook_day *day)
{
	struct json_object *row = json_object_new_object();

	json_set_int(row, "day", day->day);
	view_row_cost(row, &day->spent);
	json_set_int(row, "unpriced", day->spent.unpriced);
	json_set_int(row, "tokens", usage_budget_tokens(&day->spent.usage));
	json_set_int(row, "attempts", day->attempts);
	json_set_int(row, "tasks_micros", daybook_task_cost(day));
	json_set_int(row, "hand_micros", day->cost_of[DAYBOOK_HAND]);
	json_set_int(row, "planner_micros", day->cost_of[DAYBOOK_PLANNER]);
	json_set_int(row, "repairs_micros", day->cost_of[DAYBOOK_REPAIR]);
	return row;
}

/* A limit that is set; null = none. */
static void
set_limit(struct json_object *json, const char *key, int64_t limit)
{
	json_set(json, key, limit > 0 ? json_object_new_int64(limit) : NULL);
}

static void
fill_budget(const struct state *state, const struct settings *settings,
    struct json_object *view)
{
	struct json_object *budget = view_of(view, "budget");
	struct json_object *days = json_object_new_array();

	json_set_int(budget, "day", state->today.day);
	json_set_int(budget, "tokens", state->today.tokens);
	json_set_int(budget, "cost_micros", state->today.cost);
	set_limit(
	    budget, "day_tokens", settings_int(settings, "budget.day_tokens"));
	set_limit(budget, "day_cost_micros",
	    settings_amount(settings, "budget.day_cost"));
	for (size_t i = 0; i < state->days.count; i++)
		json_object_array_add(days, day_row(&state->days.days[i]));
	json_set(budget, "days", days);
}

/* --- the head -------------------------------------------------------- */

/* Of this run, or the last; null = it began before they were counted. */
static struct json_object *
run_outcomes(const struct state *state)
{
	struct json_object *counted = NULL, *json;

	if (!json_object_object_get_ex(state->counters, "run", &counted))
		return NULL;
	json = json_object_new_object();
	for (int i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++) {
		const char *word = task_outcome_name((enum task_outcome)i);

		json_set_int(json, word, json_int_or(counted, word, 0));
	}
	return json;
}

static void
fill_head(const struct state *state, const struct settings *settings,
    struct json_object *view)
{
	struct json_object *head = view_of(view, "head");
	struct json_object *outcomes = json_object_new_object();

	json_set_bool(head, "auto", state->auto_mode);
	json_set_string(head, "paused", state->paused);
	json_set_string(head, "run_id", state->run_id);
	view_row_moment(head, "run_unix", state->run_ms);
	view_row_moment(
	    head, "outage_since_unix", state->outage_since_unix * 1000);
	view_row_moment(head, "dirty_retry_unix",
	    state->source_repo_dirty_retry_after_unix * 1000);
	for (int i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++)
		json_set_int(outcomes, task_outcome_name((enum task_outcome)i),
		    (int64_t)state->outcomes[i]);
	json_set(head, "outcomes", outcomes);
	json_set(head, "run_outcomes", run_outcomes(state));
	json_set_bool(head, "channel", people_reaches(settings));
}

/* --- without a daemon ------------------------------------------------ */

static void
fill_goals(struct json_object *digest, struct json_object *view)
{
	static const char *const members[] = { "title", "status", "done",
		"total", "ready", "blocked" };
	struct json_object *goals = NULL;

	json_set_string(view_of(view, "head"), "goals_off",
	    json_string_or(digest, "off", NULL));
	json_get_array(digest, "", "goals", &goals, NULL);
	for (size_t i = 0; goals != NULL && i < json_object_array_length(goals);
	     i++) {
		struct json_object *from = json_object_array_get_idx(goals, i);
		struct json_object *row = json_object_new_object();
		const char *id = json_string_or(from, "goal", "?");

		json_set_string(row, "id", id);
		for (size_t k = 0; k < nitems(members); k++)
			json_set(row, members[k],
			    json_object_get(
				json_object_object_get(from, members[k])));
		json_set(view_of(view, "goals"), id, row);
	}
}

void
view_state_alone(const struct state *state, const struct settings *settings,
    struct json_object *view)
{
	struct json_object *head = view_of(view, "head");

	if (state->goals != NULL)
		fill_goals(state->goals, view);
	json_set_bool(head, "red", state->landings.red_told != NULL);
	if (settings_bool(settings, "repo.push"))
		json_set(head, "push", push_record_json(&state->landings.push));
}

void
view_state_fill(const struct state *state, const struct settings *settings,
    struct view_kept *kept, struct json_object *view)
{
	fill_head(state, settings, view);
	fill_workers(state, view);
	fill_tasks(state, kept, view);
	fill_budget(state, settings, view);
	for (size_t i = 0; i < state->ask_count; i++)
		json_set(view_of(view, "asks"), state->asks[i]->id,
		    view_row_ask(state->asks[i]));
}
