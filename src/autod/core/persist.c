/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <sys/queue.h>

#include "core.h"
#include "emit.h"
#include "errtext.h"
#include "loop.h"
#include "mem.h"
#include "persist.h"
#include "root-guard.h"
#include "state-store.h"

#define RETRY_MS 1000 /* a full disk may have space again by then */

struct effect {
	TAILQ_ENTRY(effect) entry;
	void *owner; /* NULL: an answer, which is never dropped */
	persist_fn *fn;
	void *arg;
};

TAILQ_HEAD(effects, effect);

struct persist {
	struct core *core;
	struct state_store *store;
	bool dirty; /* there are changes that are not being saved */
	bool committing; /* the store has not answered */
	bool running; /* effects are running */
	struct effects waiting; /* effects for the next commit */
	struct effects covered; /* effects of the commit in progress */
	struct loop_call *call;
	struct loop_timer *retry;
	void (*foreign_fn)(void *arg);
	void *foreign_arg;
	void (*changed_fn)(void *arg);
	void *changed_arg;
};

static void
commit_again(void *arg)
{
	struct persist *p = arg;

	loop_call_request(p->call);
}

/* Effects that these request wait for the next commit. */
static void
run_effects(struct persist *p)
{
	struct effect *effect;

	p->running = true;
	while ((effect = TAILQ_FIRST(&p->covered)) != NULL) {
		TAILQ_REMOVE(&p->covered, effect, entry);
		effect->fn(effect->arg);
		free(effect);
	}
	p->running = false;
}

/* Keep the effects: nothing may be done that is not saved. */
static void
commit_failed(struct persist *p, const struct err *err)
{
	p->dirty = true;
	TAILQ_CONCAT(&p->covered, &p->waiting, entry);
	TAILQ_CONCAT(&p->waiting, &p->covered, entry);
	emit(p->core,
	    &(struct event){
		.kind = EVENT_STATE_UNWRITTEN, .reason = err->msg });
	loop_timer_free(p->retry);
	p->retry = loop_after(p->core->loop, RETRY_MS, commit_again, p);
}

static void
on_committed(const struct err *err, void *arg)
{
	struct persist *p = arg;

	p->committing = false;
	if (err != NULL) {
		commit_failed(p, err);
		return;
	}
	run_effects(p);
	if (p->dirty || !TAILQ_EMPTY(&p->waiting))
		loop_call_request(p->call);
}

static void
judge_foreign(struct persist *p)
{
	if (p->core->options->oneshot ||
	    p->store->kind->is_foreign(p->store, &p->core->state) != 1)
		return;
	if (p->foreign_fn != NULL)
		p->foreign_fn(p->foreign_arg);
	else
		emit(p->core, &(struct event){ .kind = EVENT_STATE_FOREIGN });
}

static void
commit(struct persist *p)
{
	struct err err = { 0 };
	int r;

	if (!root_guard_holds(p->core)) {
		/* Nothing can be saved any more. What waits for that is run
		 * when all is being stopped, to end with it. */
		if (!p->core->stopping)
			return;
		p->dirty = false;
		TAILQ_CONCAT(&p->covered, &p->waiting, entry);
		run_effects(p);
		return;
	}
	judge_foreign(p);
	r = p->store->kind->begin(p->store, &err);
	if (r == 0)
		r = p->store->kind->put(p->store, &p->core->state, &err);
	if (r < 0) {
		commit_failed(p, &err);
		return;
	}
	p->dirty = false;
	p->committing = true;
	TAILQ_CONCAT(&p->covered, &p->waiting, entry);
	p->store->kind->commit(p->store, on_committed, p);
}

/* Runs at the end of a pass of the loop. */
static void
on_pass_end(void *arg)
{
	struct persist *p = arg;

	if (p->committing || p->running ||
	    (p->retry != NULL && loop_timer_pending(p->retry)))
		return;
	if (p->dirty) {
		commit(p);
		return;
	}
	TAILQ_CONCAT(&p->covered, &p->waiting, entry);
	run_effects(p);
}

struct persist *
persist_new(struct core *core, struct state_store *store)
{
	struct persist *p = xcalloc(1, sizeof *p);

	p->core = core;
	p->store = store;
	TAILQ_INIT(&p->waiting);
	TAILQ_INIT(&p->covered);
	p->call = loop_call_new(core->loop, on_pass_end, p);
	return p;
}

static void
release(struct effects *effects)
{
	struct effect *effect;

	while ((effect = TAILQ_FIRST(effects)) != NULL) {
		TAILQ_REMOVE(effects, effect, entry);
		if (effect->owner == NULL)
			effect->fn(effect->arg);
		free(effect);
	}
}

void
persist_free(struct persist *p)
{
	if (p == NULL)
		return;
	release(&p->covered);
	release(&p->waiting);
	loop_call_free(p->call);
	loop_timer_free(p->retry);
	p->store->kind->free(p->store);
	free(p);
}

static void
mark(struct persist *p)
{
	p->dirty = true;
	if (p->changed_fn != NULL)
		p->changed_fn(p->changed_arg);
}

void
persist_changed(struct core *core)
{
	mark(core->persist);
	loop_call_request(core->persist->call);
}

void
persist_note(struct core *core)
{
	mark(core->persist);
}

void
persist_on_changed(struct core *core, void (*fn)(void *arg), void *arg)
{
	core->persist->changed_fn = fn;
	core->persist->changed_arg = arg;
}

void
persist_then(struct core *core, void *owner, persist_fn *fn, void *arg)
{
	struct effect *effect = xcalloc(1, sizeof *effect);

	effect->owner = owner;
	effect->fn = fn;
	effect->arg = arg;
	TAILQ_INSERT_TAIL(&core->persist->waiting, effect, entry);
	loop_call_request(core->persist->call);
}

static void
forget(struct effects *effects, const void *owner)
{
	struct effect *effect, *next;

	for (effect = TAILQ_FIRST(effects); effect != NULL; effect = next) {
		next = TAILQ_NEXT(effect, entry);
		if (effect->owner != owner)
			continue;
		TAILQ_REMOVE(effects, effect, entry);
		free(effect);
	}
}

void
persist_forget(struct core *core, const void *owner)
{
	forget(&core->persist->waiting, owner);
	forget(&core->persist->covered, owner);
}

bool
persist_is_idle(const struct core *core)
{
	const struct persist *p = core->persist;

	return !p->dirty && !p->committing && TAILQ_EMPTY(&p->waiting) &&
	    TAILQ_EMPTY(&p->covered);
}

int
persist_flush(struct core *core, struct err *err)
{
	struct persist *p = core->persist;
	int r;

	if (!root_guard_holds(core))
		return 0;
	r = p->store->kind->flush(p->store, &core->state, err);
	if (r == 0)
		p->dirty = false;
	return r;
}

void
persist_on_foreign(struct core *core, void (*fn)(void *arg), void *arg)
{
	core->persist->foreign_fn = fn;
	core->persist->foreign_arg = arg;
}

void
persist_check_foreign(struct core *core)
{
	struct state_store *store = core->persist->store;

	if (root_guard_holds(core) &&
	    store->kind->is_foreign(store, &core->state) == 1)
		persist_changed(core); /* checked when it is written back */
}
