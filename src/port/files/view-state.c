/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "history.h"
#include "account.h"
#include "ask.h"
#include "jsonl.h"
#include "landing-record.h"
#include "metrics.h"
#include "people.h"
#include "settings.h"
#include "state.h"
#include "view-state.h"
#include "view.h"
#include "worker.h"
#include "workspace.h"

#define DOCUMENT_MAX ((size_t)256 * 1024)

/* What was read, and of which file. */
struct kept {
	struct json_object *(*read)(const struct workspace *workspace);
	const char *section; /* that it is, */
	const char *member; /* or the member of head */
	struct json_object *value;
	struct timespec changed;
	uint64_t ino;
	int64_t size;
	bool known;
};

#define KEPT_MAX 3
/* A file that was written so shortly before it was read may be written once
 * more without another time stamp. */
#define FRESH_MS 50

struct view_files {
	const struct workspace *workspace;
	struct kept kept[KEPT_MAX];
};

/* --- repairs --------------------------------------------------------- */

struct json_object *
view_repair_row(const struct spiral_event *event)
{
	struct json_object *row = json_object_new_object();

	view_row_moment(row, "at_unix", event->at_ms);
	json_set_string(row, "kind", spiral_kind_name(event->kind));
	json_set_string(row, "class", event->class);
	view_row_line(row, "words", event->words, VIEW_REASON_MAX);
	json_set_string(row, "outcome", event->outcome);
	json_set_int(row, "took_ms", event->took_ms);
	return row;
}

/* It stays the same when older ones are forgotten. */
static char *
repair_key(const struct history *history, size_t i)
{
	int64_t at = history->events[i].at_ms;
	int before = 0;

	while (i > 0 && history->events[--i].at_ms == at)
		before++;
	return xasprintf("%" PRId64 "-%d", at, before);
}

static struct json_object *
read_repairs(const struct workspace *workspace)
{
	struct json_object *rows = json_object_new_object();
	struct history history = { 0 };
	size_t first;

	if (history_load(workspace, &history, NULL) < 0)
		return rows;
	first = history.count > VIEW_REPAIRS_MAX ?
	    history.count - VIEW_REPAIRS_MAX :
	    0;
	for (size_t i = first; i < history.count; i++) {
		cleanup_free char *key = repair_key(&history, i);

		json_set(rows, key, view_repair_row(&history.events[i]));
	}
	history_release(&history);
	return rows;
}

/* --- the overseer ---------------------------------------------------- */

static struct json_object *
read_document(const struct workspace *workspace, const char *name,
    const char *const *members)
{
	cleanup_free char *file = workspace_path(workspace, name);
	cleanup_json struct json_object *json = NULL;
	struct json_object *row;

	if (json_load(file, DOCUMENT_MAX, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return NULL;
	row = json_object_new_object();
	for (; *members != NULL; members++) {
		struct json_object *value =
		    json_object_object_get(json, *members);

		if (json_object_is_type(value, json_type_string))
			view_row_line(row, *members,
			    json_object_get_string(value), VIEW_REASON_MAX);
		else if (json_object_is_type(value, json_type_int))
			json_set(row, *members, json_object_get(value));
	}
	return row;
}

static struct json_object *
read_overseer(const struct workspace *workspace)
{
	return read_document(workspace, "overseer.json",
	    (const char *const[]){ "state", "pid", "start_time_unix",
		"until_ms", "exit_status", NULL });
}

static struct json_object *
read_failure(const struct workspace *workspace)
{
	return read_document(workspace, "failure.json",
	    (const char *const[]){
		"class", "scope", "worker", "task", "words", "at_unix", NULL });
}

/* --- events ---------------------------------------------------------- */

static bool
on_event(struct json_object *record, void *arg)
{
	struct json_object *list = arg;
	struct json_object *row =
	    view_row_event(record, (int64_t)json_object_array_length(list) + 1);

	if (row != NULL)
		json_object_array_add(list, row);
	return true;
}

struct json_object *
view_files_events(const struct workspace *workspace)
{
	cleanup_free char *file = workspace_path(workspace, "logs/auto.log");
	struct json_object *list = json_object_new_array();

	jsonl_last(file, VIEW_EVENTS_MAX, on_event, list, NULL);
	return list;
}

/* --- all of them ----------------------------------------------------- */

/* In the order of view_files_names. */
static const struct kept kinds[KEPT_MAX] = {
	{ .read = read_repairs, .section = "repairs" },
	{ .read = read_overseer, .member = "overseer" },
	{ .read = read_failure, .member = "failure" },
};

const char *const view_files_names[KEPT_MAX + 1] = { "failures.jsonl",
	"overseer.json", "failure.json", NULL };

struct view_files *
view_files_new(const struct workspace *workspace)
{
	struct view_files *files = xcalloc(1, sizeof *files);

	files->workspace = workspace;
	memcpy(files->kept, kinds, sizeof files->kept);
	return files;
}

void
view_files_free(struct view_files *files)
{
	if (files == NULL)
		return;
	for (size_t i = 0; i < KEPT_MAX; i++)
		json_object_put(files->kept[i].value);
	free(files);
}

/* A missing file has inode 0. */
static void
refresh(const struct view_files *files, struct kept *k, const char *name)
{
	cleanup_free char *file = workspace_path(files->workspace, name);
	struct stat st = { 0 };
	int64_t age;

	if (stat(file, &st) < 0)
		st = (struct stat){ 0 };
	if (k->known && k->ino == st.st_ino && k->size == st.st_size &&
	    k->changed.tv_sec == st.st_mtim.tv_sec &&
	    k->changed.tv_nsec == st.st_mtim.tv_nsec)
		return;
	/* Its time is not now, so the next change of it gets another time. A
	 * time far in the future is as good: the clock was turned
	 * back. */
	age = clock_wall_ms() - clock_file_ms(&st.st_mtim);
	k->known = age > FRESH_MS || age < -FRESH_MS;
	k->ino = st.st_ino;
	k->size = st.st_size;
	k->changed = st.st_mtim;
	json_object_put(take_ptr(&k->value));
	if (k->ino != 0)
		k->value = k->read(files->workspace);
}

/* Is it alive, and when did it write its file? */
static void
fill_overseer(const struct view_files *files, struct json_object *head)
{
	cleanup_free char *lock =
	    workspace_path(files->workspace, "overseer.lock");

	if (json_object_object_get(head, "overseer") == NULL)
		return;
	json_set_bool(head, "overseer_alive", lock_is_held(lock) == 1);
	for (size_t i = 0; i < KEPT_MAX; i++)
		if (files->kept[i].read == read_overseer)
			view_row_moment(head, "overseer_unix",
			    clock_file_ms(&files->kept[i].changed));
}

void
view_files_fill(struct view_files *files, struct json_object *view)
{
	for (size_t i = 0; i < KEPT_MAX; i++) {
		struct kept *k = &files->kept[i];

		refresh(files, k, view_files_names[i]);
		if (k->member != NULL)
			json_set(view_of(view, "head"), k->member,
			    json_object_get(k->value));
		else if (k->value != NULL)
			view_add_rows(view_of(view, k->section), k->value);
	}
	fill_overseer(files, view_of(view, "head"));
}

/* --- tasks ----------------------------------------------------------- */

void
view_kept_clear(struct view_kept *kept)
{
	for (size_t i = 0; i < kept->count; i++)
		json_object_put(kept->rows[i].row);
	free(kept->rows);
	*kept = (struct view_kept){ 0 };
}

/* A new reference; NULL = there is none of this task as it is. */
static struct json_object *
kept_row(struct view_kept *kept, const struct task *task, uint64_t mark)
{
	for (size_t i = kept->at; i < kept->count; i++) {
		const struct view_kept_row *k = &kept->rows[i];

		if (strcmp(json_string_or(k->row, "id", ""), task->id) != 0)
			continue;
		kept->at = i + 1;
		return mark != 0 && k->mark == mark ? json_object_get(k->row) :
						      NULL;
	}
	return NULL;
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
		    (struct view_kept_row){ mark, json_object_get(row) };
	return row;
}

static void
fill_tasks(const struct state *state, struct view_kept *kept, bool wanted,
    struct json_object *view)
{
	struct json_object *rows = view_of(view, "tasks");
	struct json_object *head = view_of(view, "head");
	struct json_object *steps = json_object_new_object();
	int64_t counts[TASK_STEP_COUNT] = { 0 };
	struct view_kept after = { 0 };
	int waiting = 0, parked = 0, more = 0;

	if (!wanted)
		kept = NULL;
	if (kept != NULL)
		after.rows = xreallocarray(
		    NULL, state->task_count + 1, sizeof *after.rows);
	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *task = state->tasks[i];
		int place =
		    task->step == TASK_OFFERED || task->step == TASK_WAITING ?
		    ++waiting :
		    task->step == TASK_PARKED ? ++parked :
						0;

		counts[task->step]++;
		if (place > (task->step == TASK_PARKED ? VIEW_PARKED_MAX :
							 VIEW_TASKS_MAX))
			more++;
		else if (wanted)
			json_set(rows, task->id,
			    row_of(
				kept, &after, task, place <= VIEW_TASKS_WHOLE));
	}
	if (kept != NULL) {
		view_kept_clear(kept);
		*kept = after;
	}
	for (int i = 0; i < TASK_STEP_COUNT; i++)
		json_set_int(
		    steps, task_step_name((enum task_step)i), counts[i]);
	json_set(head, "steps", steps);
	json_set_int(head, "tasks_more", more);
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
	json_set(row, "usage", usage_to_json(&day->spent.usage));
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
	struct json_object *windows = json_object_new_object();

	json_set_int(budget, "day", state->today.day);
	json_set_int(budget, "tokens", state->today.tokens);
	json_set_int(budget, "cost_micros", state->today.cost);
	if (state->today.tokens_others > 0 || state->today.cost_others > 0) {
		json_set_int(
		    budget, "tokens_others", state->today.tokens_others);
		json_set_int(
		    budget, "cost_others_micros", state->today.cost_others);
	}
	set_limit(
	    budget, "day_tokens", settings_int(settings, "budget.day_tokens"));
	set_limit(budget, "day_cost_micros",
	    settings_amount(settings, "budget.day_cost"));
	for (size_t i = 0; i < state->days.count; i++)
		json_object_array_add(days, day_row(&state->days.days[i]));
	json_set(budget, "days", days);
	/* A window that nobody has reported is not there; after its reset it is
	 * not known any more, which who reads this can tell. */
	for (int i = 0; i < WINDOW_COUNT; i++) {
		const struct window *w = &state->windows[i];
		struct json_object *row = json_object_new_object();

		if (w->seen_ms == 0) {
			json_object_put(row);
			continue;
		}
		json_set(row, "used_percent",
		    json_object_new_double((double)w->used / 10));
		view_row_moment(row, "resets_unix", w->resets_ms);
		view_row_moment(row, "seen_unix", w->seen_ms);
		json_set(windows, window_words[i], row);
	}
	json_set(budget, "windows", windows);
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
	json_set_string(head, "held", state->held);
	view_row_moment(head, "held_until_unix", state->held_until_ms);
	json_set_string(head, "run_id", state->run_id);
	view_row_moment(head, "run_unix", state->run_ms);
	view_row_moment(
	    head, "outage_since_unix", state->outage_since_unix * 1000);
	view_row_moment(head, "dirty_retry_unix",
	    state->source_repo_dirty_retry_after_unix * 1000);
	json_set_int(
	    head, "dirty_backoff_secs", state->source_repo_dirty_backoff_secs);
	json_set_int(head, "dirty_tries", state->source_repo_dirty_retry_count);
	view_row_moment(
	    head, "assigned_unix", state->last_task_assignment_unix * 1000);
	view_row_moment(
	    head, "completed_unix", state->last_task_completion_unix * 1000);
	json_set_bool(head, "auto_used", state->auto_workers != NULL);
	json_set_string(head, "last_reviewed", state->last_reviewed);
	json_set_int(head, "errors", (int64_t)state->errors);
	json_set(head, "goals", json_object_get(state->goals));
	for (int i = OUTCOME_NONE + 1; i < OUTCOME_COUNT; i++)
		json_set_int(outcomes, task_outcome_name((enum task_outcome)i),
		    (int64_t)state->outcomes[i]);
	json_set(head, "outcomes", outcomes);
	json_set_int(head, "landed_elsewhere", (int64_t)state->elsewhere);
	json_set(head, "run_outcomes", run_outcomes(state));
	json_set_bool(head, "channel", people_reaches(settings));
	json_set_string(head, "unproven", state->landings.overtaken.commit);
	json_set(head, "push",
	    upstream_mode_of(settings) != UPSTREAM_OFF ?
		push_record_json(&state->landings.push) :
		NULL);
}

/* --- without a daemon ------------------------------------------------ */

void
view_state_alone(const struct state *state, const struct settings *settings,
    const struct workspace *workspace, struct json_object *view)
{
	struct json_object *head = view_of(view, "head"), *goals = NULL;
	const char *name = strrchr(workspace->root, '/');

	json_set_string(
	    head, "goals_off", json_string_or(state->goals, "off", NULL));
	json_get_array(state->goals, "", "goals", &goals, NULL);
	for (size_t i = 0; goals != NULL && i < json_object_array_length(goals);
	     i++) {
		struct json_object *from = json_object_array_get_idx(goals, i);
		struct json_object *row = json_object_new_object();
		const char *id = json_string_or(from, "goal", "?");

		json_set_string(row, "id", id);
		view_pick(row, from,
		    (const char *const[]){ "title", "status", "done", "total",
			"ready", "blocked", NULL });
		json_set(view_of(view, "goals"), id, row);
	}
	json_set_bool(head, "red", state->landings.red_told != NULL);
	json_set_string(
	    head, "branch", settings_string(settings, "repo.default_branch"));
	json_set_string(head, "project",
	    name != NULL && name[1] != '\0' ? name + 1 : workspace->root);
	json_set_string(head, "root", workspace->root);
}

void
view_state_fill(const struct state *state, const struct settings *settings,
    struct view_kept *kept, struct json_object *sections,
    struct json_object *view)
{
	struct json_object *rows = view_of(view, "workers");

	fill_head(state, settings, view);
	for (size_t i = 0; i < state->ask_count; i++)
		json_set(view_of(view, "asks"), state->asks[i]->id,
		    view_row_ask(state->asks[i]));
	for (size_t i = 0; view_wants(sections, "workers") && i < state->count;
	     i++) {
		const struct worker *w = state->workers[i];
		const struct task *task =
		    w->task != NULL ? state_task(state, w->task) : NULL;

		json_set(rows, w->name, view_row_worker(w, task));
	}
	fill_tasks(state, kept, view_wants(sections, "tasks"), view);
	if (view_wants(sections, "budget"))
		fill_budget(state, settings, view);
}

#define DAY_MS (24 * 3600 * (int64_t)1000)

/* What a person granted for the day is a part of its limit. */
static int64_t
limit_of(int64_t limit, int64_t granted)
{
	return limit > 0 ? limit + granted : 0;
}

void
metrics_state_fill(const struct state *state, const struct settings *settings,
    int64_t now_ms, struct metrics *m)
{
	struct budget_day today = { .day = now_ms / DAY_MS };
	struct budget spent;

	for (size_t i = 0; i < state->count; i++) {
		const struct worker *w = state->workers[i];

		enum worker_status shown = w->status;

		worker_status_parse(worker_shown_status(w), &shown);
		m->workers[metrics_mode_of(w->name)][shown]++;
		if (w->status == WORKER_LIMITED &&
		    w->until_ms > m->limit_until_ms)
			m->limit_until_ms = w->until_ms;
	}
	for (size_t i = 0; i < state->task_count; i++)
		m->tasks[state->tasks[i]->step]++;
	for (size_t i = 0; i < state->account_count; i++)
		m->cost_open += state->accounts[i]->spent.estimated;
	if (state->today.day == today.day)
		today = state->today;
	spent = budget_spent(&today, today.day);
	m->day_cost = spent.cost;
	m->day_cost_limit = limit_of(
	    settings_amount(settings, "budget.day_cost"), today.cost_allowed);
	m->day_tokens = spent.tokens;
	m->day_tokens_limit = limit_of(
	    settings_int(settings, "budget.day_tokens"), today.tokens_allowed);
	m->counters = state->counters;
}
