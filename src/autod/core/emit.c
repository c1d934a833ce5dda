/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "core.h"
#include "emit.h"

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
	struct event told = *event;
	struct subscriber *s;

	told.at_ms = clock_wall_ms();
	e->depth++;
	TAILQ_FOREACH (s, &e->list, entry)
		if (!s->gone)
			s->fn(&told, s->arg);
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
