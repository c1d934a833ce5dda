/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api-work.h"
#include "event.h"
#include "plan-call.h"
#include "plan-floor.h"
#include "plan-query.h"
#include "plan.h"
#include "serve.h"

#define BYTES_MAX (1024 * 1024) /* of the answer to overseer.events, about */
#define READ_MAX  1000 /* events that it looks at */

static void
set_string(struct json_object *json, const char *key, const char *value)
{
	if (value != NULL)
		json_set_string(json, key, value);
}

static bool
on_event(const struct book_event *event, void *arg)
{
	struct json_object *row = json_object_new_object(), *data = NULL;

	json_set_int(row, "seq", event->seq);
	json_set_int(row, "ts", event->ts_ms);
	json_set_string(row, "type", event->type);
	set_string(row, "goal", event->goal_id);
	set_string(row, "assignment", event->assignment_id);
	set_string(row, "node", event->node_id);
	set_string(row, "worker", event->worker);
	set_string(row, "task", event->task);
	if (event->data != NULL &&
	    json_parse(event->data, strlen(event->data), BOOK_DATA_MAX * 2,
		&data, NULL) == 0)
		json_set(row, "data", data);
	json_object_array_add(arg, row);
	return true;
}

static bool
on_record(const struct book_record *record, void *arg)
{
	struct json_object *body;

	if (json_parse(record->body, strlen(record->body), BOOK_GOAL_MAX, &body,
		NULL) == 0)
		json_object_array_add(arg, body);
	return true;
}

static struct json_object *
rows_or_refuse(struct server_call *call, struct json_object *rows, int r,
    const struct err *err)
{
	if (r == 0)
		return rows;
	json_object_put(rows);
	plan_call_refuse(call, err);
	return NULL;
}

struct json_object *
plan_query_events(struct plan_floor *floor, struct server_call *call,
    const struct book_filter *filter)
{
	struct json_object *rows = json_object_new_array();
	struct err err = { 0 };
	int r =
	    book_query_events(floor->core->book, filter, on_event, rows, &err);

	return rows_or_refuse(call, rows, r, &err);
}

struct json_object *
plan_query_records(struct plan_floor *floor, struct server_call *call,
    enum book_kind kind, const char *goal_id, const char *id)
{
	struct json_object *rows = json_object_new_array();
	struct err err = { 0 };
	int r = book_read_bodies(
	    floor->core->book, kind, goal_id, id, on_record, rows, &err);

	return rows_or_refuse(call, rows, r, &err);
}

struct json_object *
plan_query_newest(struct plan_floor *floor, struct server_call *call,
    enum book_kind kind, const char *actor, size_t limit)
{
	struct json_object *rows = json_object_new_array();
	struct err err = { 0 };
	int r = book_read_newest(
	    floor->core->book, kind, actor, limit, on_record, rows, &err);

	return rows_or_refuse(call, rows, r, &err);
}

/* --- events for people ----------------------------------------------- */

struct json_object *
plan_query_log_record(struct json_object *row)
{
	static const char *const names[][2] = { { "worker", "worker_name" },
		{ "task", "task" }, { "goal", "goal" }, { "node", "node" },
		{ "assignment", "assignment" } };
	const char *type = json_string_or(row, "type", "");
	const struct event_row *known = event_row_named(type);
	struct json_object *record = json_object_new_object();
	struct json_object *event = json_object_new_object(), *data = NULL;
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_stamp(json_int_or(row, "ts", 0), stamp);
	json_set_string(record, "timestamp", stamp);
	json_set_string(record, "level",
	    log_level_name(known != NULL ? known->level : LOG_LEVEL_INFO));
	json_set_string(event, "type", type);
	for (size_t i = 0; i < nitems(names); i++)
		set_string(
		    event, names[i][1], json_string_or(row, names[i][0], NULL));
	if (json_object_object_get_ex(row, "data", &data)) {
		json_object_object_foreach(data, key, value)
		{
			if (!json_object_object_get_ex(event, key, NULL))
				json_set(event, key, json_object_get(value));
		}
	}
	json_set(record, "event", event);
	return record;
}

/* --- the method overseer.events --------------------------------------- */

/* The only one of a list, which the book can look for; NULL = none, or
 * several. */
static const char *
only(struct json_object *params, const char *key)
{
	struct json_object *list = NULL;

	if (!json_object_object_get_ex(params, key, &list) ||
	    json_object_array_length(list) != 1)
		return NULL;
	return json_object_get_string(json_object_array_get_idx(list, 0));
}

static bool
has(struct json_object *params, const char *key, const char *word)
{
	struct json_object *list = NULL;
	size_t count;

	if (!json_object_object_get_ex(params, key, &list))
		return true;
	count = json_object_array_length(list);
	for (size_t i = 0; i < count; i++)
		if (strcmp(json_object_get_string(
			       json_object_array_get_idx(list, i)),
			word) == 0)
			return true;
	return count == 0;
}

static bool
wants(struct json_object *params, const char *goal, struct json_object *row)
{
	return (goal == NULL ||
		   strcmp(json_string_or(row, "goal", ""), goal) == 0) &&
	    has(params, "workers", json_string_or(row, "worker", "")) &&
	    has(params, "tasks", json_string_or(row, "task", "")) &&
	    has(params, "kinds", json_string_or(row, "type", ""));
}

static struct json_object *
turned(struct json_object *events)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = json_object_array_length(events); i > 0; i--)
		json_object_array_add(list,
		    json_object_get(json_object_array_get_idx(events, i - 1)));
	return list;
}

/* What is likely to find the fewest. The book looks for one thing only: with
 * another it would have to read on until it has found enough. */
static struct book_filter
filter_of(struct json_object *params, const char *goal)
{
	struct book_filter filter = {
		.before_seq = json_int_or(params, "before", 0),
		.limit = READ_MAX,
		.newest_first = true,
	};

	filter.task = only(params, "tasks");
	if (filter.task == NULL)
		filter.worker = only(params, "workers");
	if (filter.task == NULL && filter.worker == NULL)
		filter.goal_id = goal;
	if (filter.task == NULL && filter.worker == NULL && goal == NULL)
		filter.type = only(params, "kinds");
	return filter;
}

static void
on_events(void *arg, struct server_call *call, struct json_object *params)
{
	const struct plan *plan;

	if (plan_call_begin_maybe(arg, call, params, &plan)) {
		const char *goal = plan != NULL ? plan->goal->id : NULL;
		struct book_filter filter = filter_of(params, goal);
		size_t lines =
		    (size_t)json_int_or(params, "lines", API_EVENTS_MAX);
		cleanup_json struct json_object *rows =
		    plan_query_events(arg, call, &filter);
		cleanup_json struct json_object *events =
		    json_object_new_array();
		struct json_object *result;
		size_t i, count, bytes = 0;

		/* The newest first, until the answer is full. Who gets fewer
		 * than wanted, and "before", asks again: no call looks at
		 * more than READ_MAX events. */
		if (rows == NULL)
			return;
		count = json_object_array_length(rows);
		for (i = 0; i < count && bytes < BYTES_MAX &&
		     json_object_array_length(events) < lines;
		     i++) {
			struct json_object *row =
			    json_object_array_get_idx(rows, i);
			struct json_object *record;

			filter.before_seq = json_int_or(row, "seq", 0);
			if (!wants(params, goal, row))
				continue;
			record = plan_query_log_record(row);
			bytes += strlen(json_object_to_json_string(record));
			json_object_array_add(events, record);
		}
		result = json_object_new_object();
		json_set(result, "events", turned(events));
		if (i < count || count == READ_MAX)
			json_set_int(result, "before", filter.before_seq);
		serve_show(call, result);
	}
}

void
plan_query_register(struct plan_floor *floor)
{
	serve_handle(floor->core, "overseer.events", on_events, floor);
}
