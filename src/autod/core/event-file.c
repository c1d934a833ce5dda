/* SPDX-License-Identifier: ISC */

#include "clock.h"
#include "core.h"
#include "emit.h"
#include "errtext.h"
#include "event-file.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "workspace.h"

#define FILE_SIZE (50 * 1024 * 1024)
#define FILE_KEEP 3

static void
on_event(const struct event *event, void *arg)
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
	emit_subscribe(core, on_event, core);
}
