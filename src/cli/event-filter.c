/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "event-filter.h"
#include "event.h"
#include "json.h"

static bool
has(const char *const *list, const char *word)
{
	if (list[0] == NULL)
		return true;
	for (; *list != NULL; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}

bool
event_filter_wants(struct json_object *record, const void *arg)
{
	const struct event_filter *filter = arg;
	struct json_object *event = NULL;

	if (json_get_object(record, "", "event", &event, NULL) < 0)
		return false;
	if (filter->goal != NULL &&
	    strcasestr(json_string_or(event, "goal", ""), filter->goal) == NULL)
		return false;
	return has(filter->workers, json_string_or(event, "worker_name", "")) &&
	    has(filter->tasks, json_string_or(event, "task", "")) &&
	    has(filter->kinds, json_string_or(event, "type", ""));
}

bool
event_filter_is_kind(const char *name)
{
	return event_row_named(name) != NULL;
}

void
event_filter_add_kinds(struct buf *out)
{
	bool first = true;

	for (int i = 0; i < EVENT_KIND_COUNT; i++) {
		const char *name = event_row((enum event_kind)i)->name;

		if (name == NULL)
			continue;
		buf_addf(out, "%s%s", first ? "" : " ", name);
		first = false;
	}
}
