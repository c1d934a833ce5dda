/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "core.h"
#include "emit.h"
#include "event-table.h"
#include "jsonl.h"
#include "workspace.h"

struct subscriber {
	TAILQ_ENTRY(subscriber) entry;
	emit_fn *fn;
	void *arg;
	bool gone; /* freed when the list is not in use */
};

TAILQ_HEAD(subscribers, subscriber);

struct emitter {
	struct subscribers list;
	unsigned depth; /* of nested emits */
};

struct emitter *
emitter_new(void)
{
	struct emitter *e = xcalloc(1, sizeof *e);

	TAILQ_INIT(&e->list);
	return e;
}

static void
sweep(struct emitter *e, bool all)
{
	struct subscriber *s, *next;

	for (s = TAILQ_FIRST(&e->list); s != NULL; s = next) {
		next = TAILQ_NEXT(s, entry);
		if (!all && !s->gone)
			continue;
		TAILQ_REMOVE(&e->list, s, entry);
		free(s);
	}
}

void
emitter_free(struct emitter *e)
{
	if (e == NULL)
		return;
	sweep(e, true);
	free(e);
}

void
emit(struct core *core, const struct event *event)
{
	struct emitter *e = core->emitter;
	struct event stamped = *event;
	struct subscriber *s;

	stamped.at_ms = clock_wall_ms();
	e->depth++;
	TAILQ_FOREACH (s, &e->list, entry)
		if (!s->gone)
			s->fn(&stamped, s->arg);
	if (--e->depth == 0)
		sweep(e, false);
}

void
emit_subscribe(struct core *core, emit_fn *fn, void *arg)
{
	struct subscriber *s = xcalloc(1, sizeof *s);

	s->fn = fn;
	s->arg = arg;
	TAILQ_INSERT_TAIL(&core->emitter->list, s, entry);
}

void
emit_unsubscribe(struct core *core, emit_fn *fn, const void *arg)
{
	struct subscriber *s;

	TAILQ_FOREACH (s, &core->emitter->list, entry)
		if (s->fn == fn && s->arg == arg)
			s->gone = true;
	if (core->emitter->depth == 0)
		sweep(core->emitter, false);
}

/* --- event log ---------------------------------------------------------- */

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

void
emit_damage(const char *words, void *arg)
{
	struct core *core = arg;
	cleanup_free char *reason = xasprintf(
	    "%s; the next start of the daemon looks at all of it, and makes a "
	    "new book of what can be read: llmc restart",
	    words);

	EMIT(core, EVENT_STATE_RECOVERED, .reason = reason);
}
