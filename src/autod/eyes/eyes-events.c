/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "core.h"
#include "emit.h"
#include "event-words.h"
#include "eyes-events.h"
#include "eyes-floor.h"
#include "eyes-stream.h"
#include "json.h"
#include "mem.h"
#include "text.h"
#include "view-doc.h"
#include "view-row.h"

#define WORDS_MAX 500 /* bytes */

struct eyes_events {
	struct eyes_floor *eyes;
	struct json_object *list; /* an array of rows, oldest first */
	int64_t count; /* ever */
};

static struct json_object *
event_view(const struct event *event, struct json_object *record)
{
	struct json_object *row = json_object_new_object();
	struct json_object *fields = json_object_object_get(record, "event");
	cleanup_buf struct buf words = BUF_INIT;

	json_set_int(row, "at_ms", event->at_ms);
	json_set_string(row, "level", json_string_or(record, "level", NULL));
	json_set_string(row, "type", json_string_or(fields, "type", NULL));
	json_set_string(row, "worker", event->worker);
	json_set_string(row, "task", event->task);
	event_words_of(fields, &words);
	view_row_text(row, "words", words.data, WORDS_MAX);
	return row;
}

/* A list that is handed out is not changed any more. */
static void
add(struct eyes_events *e, struct json_object *row)
{
	struct json_object *list = json_object_new_array();
	size_t count = json_object_array_length(e->list);

	json_set_int(row, "n", ++e->count);
	for (size_t i = count >= VIEW_EVENTS_MAX ? 1 : 0; i < count; i++)
		json_object_array_add(list,
		    json_object_get(json_object_array_get_idx(e->list, i)));
	json_object_array_add(list, row);
	json_object_put(e->list);
	e->list = list;
}

static void
on_event(const struct event *event, void *arg)
{
	struct eyes_events *e = arg;
	cleanup_json struct json_object *record = NULL;
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_stamp(event->at_ms, stamp);
	record = event_record(event, stamp);
	if (record != NULL)
		add(e, event_view(event, record));
	eyes_stream_changed(e->eyes->stream);
}

struct eyes_events *
eyes_events_new(struct eyes_floor *eyes)
{
	struct eyes_events *e = xcalloc(1, sizeof *e);

	e->eyes = eyes;
	e->list = json_object_new_array();
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
	return json_object_get(e->list);
}
