/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "buf.h"
#include "clock.h"
#include "core.h"
#include "emit.h"
#include "errtext.h"
#include "event-log.h"
#include "failure-class.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "workspace.h"

#define FILE_SIZE (50 * 1024 * 1024)
#define FILE_KEEP 3

static void
event_file_on_event(const struct event *event, void *arg)
{
	const struct core *core = arg;
	cleanup_free char *file = NULL;
	cleanup_json struct json_object *record = NULL;
	char stamp[CLOCK_STAMP_SIZE];
	struct err err = { 0 };

	clock_format_stamp(event->at_ms, stamp);
	record = event_record(event, stamp);
	if (record == NULL)
		return;
	file = workspace_path(core->workspace, "logs/auto.log");
	if (jsonl_append(file, record, FILE_SIZE, FILE_KEEP, &err) < 0)
		log_debug("auto.log: %s", err.msg);
}

void
event_file_subscribe(struct core *core)
{
	emit_subscribe(core, event_file_on_event, core);
}

#define FIELDS_MAX 12 /* per event */

struct pairs {
	char *words[2 * FIELDS_MAX + 1];
	size_t count;
};

static void
add_pair(const char *name, const char *value, void *arg)
{
	struct pairs *pairs = arg;

	if (pairs->count + 2 > 2 * FIELDS_MAX)
		return;
	pairs->words[pairs->count++] = xstrdup(name);
	pairs->words[pairs->count++] = xstrdup(value);
}

static void
event_log_on_event(const struct event *event, void *arg)
{
	const struct event_row *row = event_row(event->kind);
	cleanup_buf struct buf text = BUF_INIT;
	struct pairs pairs = { 0 };

	(void)arg;
	if (!log_enabled(row->level))
		return;
	event_text(event, &text);
	event_fields(event, add_pair, &pairs);
	if (row->failure != NULL) {
		const struct failure_class *class =
		    failure_class_find(row->failure);

		add_pair("class", class->name, &pairs);
		add_pair("scope", failure_scope_name(class->scope), &pairs);
	}
	log_pairs(row->level, text.data, (const char *const *)pairs.words);
	for (size_t i = 0; i < pairs.count; i++)
		free(pairs.words[i]);
}

void
event_log_subscribe(struct core *core)
{
	emit_subscribe(core, event_log_on_event, NULL);
}
