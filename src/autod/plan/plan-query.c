/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "clock.h"
#include "errtext.h"
#include "event.h"
#include "json.h"
#include "mem.h"
#include "plan-call.h"
#include "plan-floor.h"
#include "plan-query.h"
#include "planbook.h"
#include "serve.h"

struct query {
	TAILQ_ENTRY(query) entry;
	struct plan_queries *queries;
	struct server_call *call;
	struct json_object *context, *rows;
	plan_query_fn *fn;
};

TAILQ_HEAD(query_list, query);

struct plan_queries {
	struct plan_floor *floor;
	struct query_list list;
};

/* --- life ------------------------------------------------------------ */

struct plan_queries *
plan_queries_new(struct plan_floor *floor)
{
	struct plan_queries *queries = xcalloc(1, sizeof *queries);

	queries->floor = floor;
	TAILQ_INIT(&queries->list);
	return queries;
}

static struct query *
query_new(struct plan_floor *floor, struct server_call *call,
    struct json_object *context, plan_query_fn *fn)
{
	struct query *query = xcalloc(1, sizeof *query);

	query->queries = floor->queries;
	query->call = call;
	query->context = json_object_get(context);
	query->rows = json_object_new_array();
	query->fn = fn;
	TAILQ_INSERT_TAIL(&floor->queries->list, query, entry);
	return query;
}

static void
query_free(struct query *query)
{
	TAILQ_REMOVE(&query->queries->list, query, entry);
	json_object_put(query->context);
	json_object_put(query->rows);
	free(query);
}

void
plan_queries_closed(struct plan_queries *queries)
{
	struct query *query;

	while ((query = TAILQ_FIRST(&queries->list)) != NULL) {
		serve_refuse(query->call, API_FAILED,
		    "the store of goals was closed; try again");
		query_free(query);
	}
}

void
plan_queries_free(struct plan_queries *queries)
{
	if (queries == NULL)
		return;
	plan_queries_closed(queries);
	free(queries);
}

/* --- questions ------------------------------------------------------- */

static void
set_string(struct json_object *json, const char *key, const char *value)
{
	if (value != NULL)
		json_set_string(json, key, value);
}

static struct json_object *
event_row_json(const struct store_event *event)
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
	    json_parse(event->data, strlen(event->data), STORE_DATA_MAX * 2,
		&data, NULL) == 0)
		json_set(row, "data", data);
	return row;
}

static void
on_part(const struct store_part *part, void *arg)
{
	struct query *query = arg;
	struct json_object *body;

	for (size_t i = 0; i < part->event_count; i++)
		json_object_array_add(
		    query->rows, event_row_json(&part->events[i]));
	for (size_t i = 0; i < part->record_count; i++)
		if (json_parse(part->records[i].body,
			strlen(part->records[i].body), STORE_GOAL_MAX, &body,
			NULL) == 0)
			json_object_array_add(query->rows, body);
	if (!part->last)
		return;
	if (part->err != NULL)
		plan_call_refuse(query->call, part->err);
	else
		query->fn(query->queries->floor, query->call, query->context,
		    query->rows);
	query_free(query);
}

void
plan_query_events(struct plan_floor *floor, struct server_call *call,
    struct json_object *context, const struct store_filter *filter,
    plan_query_fn *fn)
{
	store_query_events(planbook_store(floor->book), filter, on_part,
	    query_new(floor, call, context, fn));
}

void
plan_query_records(struct plan_floor *floor, struct server_call *call,
    struct json_object *context, enum store_kind kind, const char *goal_id,
    const char *id, plan_query_fn *fn)
{
	store_read(planbook_store(floor->book), kind, goal_id, id, on_part,
	    query_new(floor, call, context, fn));
}

void
plan_query_newest(struct plan_floor *floor, struct server_call *call,
    struct json_object *context, enum store_kind kind, const char *actor,
    size_t limit, plan_query_fn *fn)
{
	store_read_newest(planbook_store(floor->book), kind, actor, limit,
	    on_part, query_new(floor, call, context, fn));
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
