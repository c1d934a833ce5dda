/* SPDX-License-Identifier: ISC */

/* auto.log: what happened, an event a line, for people and `llmc events`. */
#include <stdarg.h>

#include "clock.h"
#include "errtext.h"
#include "json.h"
#include "jsonl.h"
#include "log.h"
#include "mem.h"
#include "pilot.h"
#include "workspace.h"

#define RECORD_SIZE (50 * 1024 * 1024)
#define RECORD_KEEP 3

void
record(struct daemon *d, enum log_level level, const char *type, ...)
{
	cleanup_free char *file = workspace_path(d->workspace, "logs/auto.log");
	cleanup_json struct json_object *json = json_object_new_object();
	struct json_object *event = json_object_new_object();
	char stamp[CLOCK_STAMP_SIZE];
	const char *key, *value;
	struct err err = { 0 };
	va_list ap;

	clock_format_stamp(clock_wall_ms(), stamp);
	json_set_string(json, "timestamp", stamp);
	json_set_string(json, "level", log_level_name(level));
	json_set_string(event, "type", type);
	va_start(ap, type);
	while ((key = va_arg(ap, const char *)) != NULL) {
		value = va_arg(ap, const char *);
		if (value != NULL)
			json_set_string(event, key, value);
	}
	va_end(ap);
	json_set(json, "event", event);
	if (jsonl_append(file, json, RECORD_SIZE, RECORD_KEEP, &err) < 0)
		log_debug("auto.log: %s", err.msg);
}
