/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "api-store.h"
#include "event-query.h"
#include "json.h"
#include "mem.h"
#include "plan-call.h"
#include "plan-floor.h"
#include "plan-query.h"
#include "plan.h"
#include "serve.h"

#define BYTES_MAX (1024 * 1024) /* of the answer, about */
#define READ_MAX  1000 /* events that are read at once */

/* A call is under way as an object: its params, and
 *
 *   goal_id  of the goal that they mean
 *   events   records so far, the newest is first
 *   bytes    how long they are
 *   at       the number of the last event that was looked at */

/* The only one of a list, which the store can look for; NULL = none, or
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
wants(struct json_object *params, struct json_object *row)
{
	return has(params, "workers", json_string_or(row, "worker", "")) &&
	    has(params, "tasks", json_string_or(row, "task", "")) &&
	    has(params, "kinds", json_string_or(row, "type", ""));
}

static struct json_object *
events_of(struct json_object *asked)
{
	struct json_object *events = NULL;

	json_object_object_get_ex(asked, "events", &events);
	return events;
}

static void
answer(struct plan_floor *floor, struct server_call *call,
    struct json_object *asked, bool more)
{
	struct json_object *result = json_object_new_object();
	struct json_object *events = events_of(asked);
	struct json_object *turned = json_object_new_array();

	for (size_t i = json_object_array_length(events); i > 0; i--)
		json_object_array_add(turned,
		    json_object_get(json_object_array_get_idx(events, i - 1)));
	json_set(result, "events", turned);
	if (more)
		json_set_int(result, "before", json_int_or(asked, "at", 0));
	serve_reply(floor->core, call, result);
}

/* Is the answer full? */
static bool
take(struct json_object *asked, struct json_object *row)
{
	struct json_object *events = events_of(asked), *record;
	int64_t bytes = json_int_or(asked, "bytes", 0);

	json_set_int(asked, "at", json_int_or(row, "seq", 0));
	if (!wants(asked, row))
		return false;
	record = plan_query_log_record(row);
	bytes += (int64_t)strlen(json_object_to_json_string(record));
	json_set_int(asked, "bytes", bytes);
	json_object_array_add(events, record);
	return bytes >= BYTES_MAX ||
	    (int64_t)json_object_array_length(events) >=
	    json_int_or(asked, "lines", API_EVENTS_MAX);
}

static void ask(struct plan_floor *floor, struct server_call *call,
    struct json_object *asked);

static void
on_rows(struct plan_floor *floor, struct server_call *call,
    struct json_object *asked, struct json_object *rows)
{
	size_t count = json_object_array_length(rows);

	for (size_t i = 0; i < count; i++)
		if (take(asked, json_object_array_get_idx(rows, i))) {
			answer(floor, call, asked,
			    i + 1 < count || count == READ_MAX);
			return;
		}
	if (count == READ_MAX)
		ask(floor, call, asked);
	else
		answer(floor, call, asked, false);
}

static void
ask(struct plan_floor *floor, struct server_call *call,
    struct json_object *asked)
{
	const struct store_filter filter = {
		.goal_id = json_string_or(asked, "goal_id", NULL),
		.worker = only(asked, "workers"),
		.task = only(asked, "tasks"),
		.type = only(asked, "kinds"),
		.before_seq = json_int_or(asked, "at", 0),
		.limit = READ_MAX,
		.newest_first = true,
	};

	plan_query_events(floor, call, asked, &filter, on_rows);
}

static void
begin(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, struct plan *plan)
{
	cleanup_json struct json_object *asked = NULL;

	json_object_deep_copy(params, &asked, NULL);
	json_set(asked, "events", json_object_new_array());
	json_set_int(asked, "at", json_int_or(params, "before", 0));
	if (plan != NULL)
		json_set_string(asked, "goal_id", plan->goal->id);
	ask(floor, call, asked);
}

static void
on_events(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan_floor *floor = arg;

	if (!plan_call_begin(floor, call))
		return;
	if (json_string_or(params, "goal", NULL) != NULL)
		plan_call_goal(floor, call, params, begin);
	else
		begin(floor, call, params, NULL);
}

void
event_query_register(struct plan_floor *floor)
{
	serve_handle(floor->core, "overseer.events", on_events, floor);
}
