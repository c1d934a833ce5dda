/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "buf.h"
#include "core.h"
#include "emit.h"
#include "event-log.h"
#include "failure-class.h"
#include "mem.h"

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
on_event(const struct event *event, void *arg)
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
	emit_subscribe(core, on_event, NULL);
}
