/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "api-store.h"
#include "cli.h"
#include "errtext.h"
#include "event-filter.h"
#include "event-store.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "remote.h"

static void
add_list(struct json_object *params, const char *key, const char *const *words)
{
	struct json_object *list = json_object_new_array();

	for (; *words != NULL; words++)
		json_object_array_add(list, json_object_new_string(*words));
	json_set(params, key, list);
}

static struct json_object *
page_params(const struct event_filter *filter, size_t lines, int64_t before)
{
	struct json_object *params = json_object_new_object();

	if (filter->goal != NULL)
		json_set_string(params, "goal", filter->goal);
	add_list(params, "workers", filter->workers);
	add_list(params, "tasks", filter->tasks);
	add_list(params, "kinds", filter->kinds);
	json_set_int(params, "lines",
	    (int64_t)(lines < API_EVENTS_MAX ? lines : API_EVENTS_MAX));
	if (before > 0)
		json_set_int(params, "before", before);
	return params;
}

/* In front of what was read before. */
static struct json_object *
joined(struct json_object *older, struct json_object *newer)
{
	struct json_object *all = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(older); i++)
		json_object_array_add(
		    all, json_object_get(json_object_array_get_idx(older, i)));
	for (size_t i = 0; i < json_object_array_length(newer); i++)
		json_object_array_add(
		    all, json_object_get(json_object_array_get_idx(newer, i)));
	return all;
}

int
event_store_last(struct cli *cli, const struct event_filter *filter,
    size_t lines, struct json_object **ret_events)
{
	cleanup_free char *store =
	    workspace_path(&cli->workspace, WORKSPACE_BOOK);
	cleanup_json struct json_object *all = json_object_new_array();
	int64_t before = 0;

	*ret_events = NULL;
	if (!file_exists(store))
		return CLI_OK;
	while (json_object_array_length(all) < lines) {
		cleanup_json struct json_object *page = NULL;
		struct json_object *events = NULL, *more;
		struct err err = { 0 };
		const char *code;

		if (!remote_try(cli, "overseer.events",
			page_params(filter,
			    lines - json_object_array_length(all), before),
			0, &page, &code, &err))
			return filter->goal != NULL &&
				strcmp(code, "E_UNKNOWN") == 0 ?
			    cli_fail_err(cli, code, &err) :
			    CLI_OK;
		json_object_object_get_ex(page, "events", &events);
		more = joined(events, all);
		json_object_put(all);
		all = more;
		before = json_int_or(page, "before", 0);
		if (before == 0)
			break;
	}
	*ret_events = take_ptr(&all);
	return CLI_OK;
}

/* --- merge ----------------------------------------------------------- */

static const char *
stamp_of(struct json_object *record)
{
	return json_string_or(record, "timestamp", "");
}

/* The store may know more of it. */
static bool
is_same(struct json_object *a, struct json_object *b)
{
	static const char *const keys[] = { "type", "worker_name", "task",
		"goal", "node", "assignment" };
	struct json_object *x = NULL, *y = NULL;

	json_object_object_get_ex(a, "event", &x);
	json_object_object_get_ex(b, "event", &y);
	for (size_t i = 0; i < nitems(keys); i++) {
		const char *wanted = json_string_or(y, keys[i], NULL);

		if (wanted != NULL &&
		    strcmp(json_string_or(x, keys[i], ""), wanted) != 0)
			return false;
	}
	return strcmp(stamp_of(a), stamp_of(b)) == 0;
}

/* Is it among those from `at` on that have the same time? */
static bool
has(struct json_object *list, size_t at, struct json_object *record)
{
	size_t count = json_object_array_length(list);

	for (; at < count; at++) {
		struct json_object *other = json_object_array_get_idx(list, at);

		if (strcmp(stamp_of(other), stamp_of(record)) != 0)
			return false;
		if (is_same(other, record))
			return true;
	}
	return false;
}

struct json_object *
event_store_merge(
    struct json_object *stored, struct json_object *logged, size_t lines)
{
	cleanup_json struct json_object *all = json_object_new_array();
	struct json_object *last = json_object_new_array(), *record;
	size_t s = 0, l = 0, count = json_object_array_length(stored);

	for (; l < json_object_array_length(logged); l++) {
		record = json_object_array_get_idx(logged, l);
		for (; s < count &&
		     strcmp(stamp_of(json_object_array_get_idx(stored, s)),
			 stamp_of(record)) < 0;
		     s++)
			json_object_array_add(all,
			    json_object_get(
				json_object_array_get_idx(stored, s)));
		if (!has(stored, s, record))
			json_object_array_add(all, json_object_get(record));
	}
	for (; s < count; s++)
		json_object_array_add(
		    all, json_object_get(json_object_array_get_idx(stored, s)));
	count = json_object_array_length(all);
	for (size_t i = count > lines ? count - lines : 0; i < count; i++)
		json_object_array_add(
		    last, json_object_get(json_object_array_get_idx(all, i)));
	return last;
}
