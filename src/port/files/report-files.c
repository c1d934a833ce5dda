/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "buf.h"
#include "check-book.h"
#include "event-words.h"
#include "history.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "moment.h"
#include "report-files.h"
#include "report-make.h"
#include "report-period.h"
#include "settings.h"
#include "span-files.h"
#include "state.h"
#include "task-json.h"
#include "task.h"
#include "view-row.h"
#include "work-span.h"
#include "workspace.h"

/* Spans before the period tell which workers existed when it began. */
#define DAY_MS    (24 * 3600 * (int64_t)1000)
#define BEFORE_MS DAY_MS

/* --- runs ------------------------------------------------------------ */

static bool
on_run(struct json_object *line, void *arg)
{
	report_run_line(arg, line);
	return true;
}

void
report_files_run(const struct workspace *workspace, struct report_run *run)
{
	cleanup_free char *file = workspace_path(workspace, "runs.jsonl");

	jsonl_last(file, 0, on_run, run, NULL);
}

/* --- spans ----------------------------------------------------------- */

static void
on_span(const struct work_span *span, void *arg)
{
	struct report_files *files = arg;

	files->spans = xreallocarray(
	    files->spans, files->span_count + 1, sizeof *files->spans);
	files->spans[files->span_count++] = (struct work_span){
		.worker = xstrdup(span->worker),
		.use = span->use,
		.task = span->task != NULL ? xstrdup(span->task) : NULL,
		.attempt = span->attempt,
		.from_ms = span->from_ms,
		.to_ms = span->to_ms,
	};
}

/* --- tasks ----------------------------------------------------------- */

/* A task is filed again when its cost is corrected: the last one counts. */
static bool
on_task(struct json_object *record, void *arg)
{
	struct report_files *files = arg;
	struct json_object *row;
	struct task *task = NULL;

	if (task_from_json(record, "", &task, NULL) < 0)
		return true;
	row = view_row_task(task);
	json_set_int(row, "finished_ms", task->finished_ms);
	json_set(files->ended, task->id, row);
	task_free(task);
	return true;
}

/* --- events ---------------------------------------------------------- */

static bool
on_event(struct json_object *record, void *arg)
{
	struct report_files *files = arg;
	struct json_object *event = NULL, *row;
	cleanup_buf struct buf words = BUF_INIT;
	const char *type;
	int64_t at = 0;

	if (json_get_object(record, "", "event", &event, NULL) < 0 ||
	    !moment_parse(json_string_or(record, "timestamp", ""), &at))
		return true;
	type = json_string_or(event, "type", "");
	if (strcmp(type, REPORT_EVENT_OVERSIGHT) != 0 &&
	    strcmp(type, REPORT_EVENT_CHECK) != 0)
		return true;
	event_words_of(event, &words);
	row = json_object_new_object();
	json_set_int(row, "at_ms", at);
	json_set_string(row, "type", type);
	json_set_string(
	    row, "worker", json_string_or(event, "worker_name", NULL));
	json_set_string(row, "task", json_string_or(event, "task", NULL));
	json_set_string(row, "result", json_string_or(event, "result", NULL));
	json_set_string(row, "class", json_string_or(event, "class", NULL));
	json_set_string(row, "action", json_string_or(event, "action", NULL));
	view_row_line(row, "words", words.data, VIEW_REASON_MAX);
	json_object_array_add(files->events, row);
	return true;
}

/* --- repairs --------------------------------------------------------- */

static void
read_repairs(const struct workspace *workspace, struct report_files *files)
{
	struct history history = { 0 };

	if (history_load(workspace, &history, NULL) < 0)
		return;
	for (size_t i = 0; i < history.count; i++) {
		const struct spiral_event *event = &history.events[i];
		struct json_object *row = json_object_new_object();

		json_set_int(row, "at_ms", event->at_ms);
		json_set_string(row, "kind", spiral_kind_name(event->kind));
		json_set_string(row, "class", event->class);
		view_row_line(row, "words", event->words, VIEW_REASON_MAX);
		json_set_string(row, "outcome", event->outcome);
		json_set_int(row, "took_ms", event->took_ms);
		json_set(row, "cost_micros",
		    event->cost > 0 ? json_object_new_int64(event->cost) :
				      NULL);
		json_object_array_add(files->repairs, row);
	}
	history_release(&history);
}

/* --- all of them ----------------------------------------------------- */

void
report_files_load(const struct workspace *workspace, const struct state *state,
    bool alive, int64_t from_ms, int64_t now_ms, struct report_files *ret_files)
{
	cleanup_free char *tasks = workspace_path(workspace, "tasks.jsonl");
	cleanup_free char *log = workspace_path(workspace, "logs/auto.log");
	struct report_files files = {
		.ended = json_object_new_object(),
		.repairs = json_object_new_array(),
		.events = json_object_new_array(),
	};

	span_files_read(
	    workspace, from_ms - BEFORE_MS, now_ms, on_span, &files);
	if (alive || state->daemon_running)
		span_files_open(
		    workspace, state, alive, now_ms, on_span, &files);
	jsonl_since(tasks, from_ms, on_task, &files, NULL);
	jsonl_since(log, from_ms, on_event, &files, NULL);
	read_repairs(workspace, &files);
	*ret_files = files;
}

void
report_files_release(struct report_files *files)
{
	json_object_put(files->ended);
	json_object_put(files->repairs);
	json_object_put(files->events);
	for (size_t i = 0; i < files->span_count; i++)
		work_span_release(&files->spans[i]);
	free(files->spans);
	memset(files, 0, sizeof *files);
}

void
report_files_check(const struct state *state, const struct settings *settings,
    struct json_object *head)
{
	const char *command = settings_string(settings, "auto.check_command");
	const struct check_book *book = &state->landings.checks;
	const struct check_command *known;
	struct json_object *json;
	char key[CHECK_KEY_SIZE];

	if (command == NULL || *command == '\0')
		return;
	check_book_key(command, key);
	known = check_book_command(book, key);
	json = json_object_new_object();
	json_set_string(json, "command", command);
	json_set_int(json, "trees", known != NULL ? known->trees : 0);
	json_set_int(json, "flaky_trees", known != NULL ? known->flaky : 0);
	json_set_bool(json, "flaky_alarm", check_book_alarm(book, key));
	json_set(head, "check", json);
}

/* The row of a day, made if there is none. */
static struct json_object *
day_of(struct json_object *days, int64_t day)
{
	struct json_object *row;

	for (size_t i = 0; i < json_object_array_length(days); i++) {
		row = json_object_array_get_idx(days, i);
		if (json_int_or(row, "day", -1) == day)
			return row;
	}
	row = json_object_new_object();
	json_set_int(row, "day", day);
	json_set_string(row, "cost_source", cost_source_words[COST_REPORTED]);
	json_set_int(row, "tasks_micros", 0);
	json_set_int(row, "hand_micros", 0);
	json_set_int(row, "planner_micros", 0);
	json_object_array_add(days, row);
	return row;
}

void
report_files_book_repairs(const struct report_files *files,
    const struct state *state, struct json_object *budget)
{
	struct json_object *days = NULL;

	if (json_get_array(budget, "", "days", &days, NULL) < 0)
		return;
	for (size_t i = 0; i < json_object_array_length(files->repairs); i++) {
		struct json_object *repair =
		    json_object_array_get_idx(files->repairs, i);
		int64_t at = json_int_or(repair, "at_ms", 0);
		int64_t cost = json_int_or(repair, "cost_micros", 0);
		struct json_object *row;

		if (at <= state->repairs_ms || cost <= 0)
			continue;
		row = day_of(days, at / DAY_MS);
		json_set_int(row, "repairs_micros",
		    json_int_or(row, "repairs_micros", 0) + cost);
		json_set_int(row, "cost_micros",
		    json_int_or(row, "cost_micros", 0) + cost);
	}
}
