/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "core.h"
#include "emit.h"
#include "json.h"
#include "mem.h"
#include "plan-log.h"
#include "plan-persist.h"

struct plan_log {
	struct core *core;
	struct plan_persist *persist;
};

/* More than the record of auto.log has. */
static void
add_data(struct json_object *fields, const char *text)
{
	cleanup_json struct json_object *data = NULL;

	if (json_parse(text, strlen(text), STORE_DATA_MAX, &data, NULL) == 0) {
		json_object_object_foreach(data, key, value)
		{
			json_set(fields, key, json_object_get(value));
		}
	}
}

void
plan_log_add(struct plan_log *log, const struct event *event)
{
	const struct event_row *row = event_row(event->kind);
	cleanup_json struct json_object *record = NULL;
	cleanup_buf struct buf data = BUF_INIT;
	struct json_object *fields;
	cleanup_free char *key = NULL;

	if (row->name == NULL)
		return;
	record = event_record(event, "");
	if (!json_object_object_get_ex(record, "event", &fields))
		return;
	json_object_object_del(fields, "type");
	if (event->data != NULL)
		add_data(fields, event->data);
	json_print(fields, false, &data);
	if (event->dispatch != NULL && event->receipt != NULL)
		key = xasprintf("%s/%s", row->name, event->receipt);
	plan_persist_event(log->persist,
	    &(struct store_event){ .ts_ms = event->at_ms,
		.type = row->name,
		.goal_id = event->goal,
		.assignment_id = event->assignment,
		.node_id = event->node,
		.worker = event->worker,
		.task = event->task,
		.data = data.data,
		.key = key });
}

static void
on_event(const struct event *event, void *arg)
{
	plan_log_add(arg, event);
}

struct plan_log *
plan_log_new(struct core *core, struct plan_persist *persist)
{
	struct plan_log *log = xcalloc(1, sizeof *log);

	log->core = core;
	log->persist = persist;
	emit_subscribe(core, on_event, log);
	return log;
}

void
plan_log_free(struct plan_log *log)
{
	if (log == NULL)
		return;
	emit_unsubscribe(log->core, on_event, log);
	free(log);
}
