/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "clock.h"
#include "core.h"
#include "emit.h"
#include "eyes-events.h"
#include "eyes-floor.h"
#include "eyes-stream.h"
#include "json.h"
#include "mem.h"
#include "view-doc.h"
#include "view-files.h"
#include "view-row.h"

struct eyes_events {
	struct eyes_floor *eyes;
	struct json_object *list; /* an array of rows, oldest first; NULL =
				   * nobody has looked yet */
	int64_t count; /* ever */
};

static void
add(struct eyes_events *e, struct json_object *record)
{
	struct json_object *row = view_row_event(record, e->count + 1);

	if (row == NULL)
		return;
	e->count++;
	json_object_array_add(e->list, row);
	if (json_object_array_length(e->list) > VIEW_EVENTS_MAX)
		json_object_array_del_idx(e->list, 0, 1);
}

static void
on_event(const struct event *event, void *arg)
{
	struct eyes_events *e = arg;
	cleanup_json struct json_object *record = NULL;
	char stamp[CLOCK_STAMP_SIZE];

	if (e->list == NULL)
		return;
	clock_format_stamp(event->at_ms, stamp);
	record = event_record(event, stamp);
	if (record != NULL)
		add(e, record);
	eyes_stream_changed(e->eyes->stream);
}

struct eyes_events *
eyes_events_new(struct eyes_floor *eyes)
{
	struct eyes_events *e = xcalloc(1, sizeof *e);

	e->eyes = eyes;
	emit_subscribe(eyes->core, on_event, e);
	return e;
}

void
eyes_events_free(struct eyes_events *e)
{
	if (e == NULL)
		return;
	emit_unsubscribe(e->eyes->core, on_event, e);
	json_object_put(e->list);
	free(e);
}

struct json_object *
eyes_events_list(struct eyes_events *e)
{
	struct json_object *list = json_object_new_array();

	if (e->list == NULL) {
		e->list = view_files_events(e->eyes->core->workspace);
		e->count = (int64_t)json_object_array_length(e->list);
	}
	for (size_t i = 0; i < json_object_array_length(e->list); i++)
		json_object_array_add(list,
		    json_object_get(json_object_array_get_idx(e->list, i)));
	return list;
}
