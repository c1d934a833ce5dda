/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "buf.h"
#include "clock.h"
#include "core.h"
#include "emit.h"
#include "errtext.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "plan-persist.h"
#include "plan-set.h"

#define RETRY_MS 1000 /* a full disk may have space again by then */

/* A record that was changed, by its name: what it says is looked up when it is
 * stored. body: of a dispatch, which is in no set. */
struct dirty {
	TAILQ_ENTRY(dirty) entry;
	enum store_kind kind;
	char *goal_id, *id;
	char *name; /* in by_name */
	char *body;
};

#define EVENT_STRINGS 8

struct happened {
	TAILQ_ENTRY(happened) entry;
	struct store_event event;
	char *strings[EVENT_STRINGS]; /* of the event */
};

struct effect {
	TAILQ_ENTRY(effect) entry;
	void *owner;
	plan_persist_fn *fn;
	void *arg;
};

TAILQ_HEAD(dirties, dirty);
TAILQ_HEAD(happenings, happened);
TAILQ_HEAD(effects, effect);

/* What one transaction stores. */
struct batch {
	struct dirties dirties;
	struct happenings events;
	struct effects effects;
	struct strmap by_name;
	size_t dirty_count, event_count;
};

struct plan_persist {
	struct core *core;
	struct store *store;
	const struct plan_set *set;
	struct batch next; /* being collected */
	struct batch covered; /* of the commit in progress */
	bool committing, running, lost;
	plan_persist_lost_fn *lost_fn;
	void *lost_arg;
	struct loop_call *call;
	struct loop_timer *retry;
};

/* --- batches --------------------------------------------------------- */

static void
batch_init(struct batch *batch)
{
	*batch = (struct batch){ 0 };
	TAILQ_INIT(&batch->dirties);
	TAILQ_INIT(&batch->events);
	TAILQ_INIT(&batch->effects);
}

static bool
batch_is_empty(const struct batch *batch)
{
	return TAILQ_EMPTY(&batch->dirties) && TAILQ_EMPTY(&batch->events);
}

static void
dirty_free(struct dirty *dirty)
{
	free(dirty->goal_id);
	free(dirty->id);
	free(dirty->name);
	free(dirty->body);
	free(dirty);
}

static void
happened_free(struct happened *happened)
{
	for (size_t i = 0; i < EVENT_STRINGS; i++)
		free(happened->strings[i]);
	free(happened);
}

/* The records and events are stored, or of no use any more. */
static void
batch_clear(struct batch *batch)
{
	struct dirty *dirty;
	struct happened *happened;

	strmap_release(&batch->by_name);
	while ((dirty = TAILQ_FIRST(&batch->dirties)) != NULL) {
		TAILQ_REMOVE(&batch->dirties, dirty, entry);
		dirty_free(dirty);
	}
	while ((happened = TAILQ_FIRST(&batch->events)) != NULL) {
		TAILQ_REMOVE(&batch->events, happened, entry);
		happened_free(happened);
	}
	batch->dirty_count = batch->event_count = 0;
}

static void
batch_forget(struct batch *batch, const void *owner)
{
	struct effect *effect, *next;

	for (effect = TAILQ_FIRST(&batch->effects); effect != NULL;
	     effect = next) {
		next = TAILQ_NEXT(effect, entry);
		if (owner != NULL && effect->owner != owner)
			continue;
		TAILQ_REMOVE(&batch->effects, effect, entry);
		free(effect);
	}
}

/* Takes goal_id, id and body. */
static void
batch_add(struct batch *batch, enum store_kind kind, char *goal_id, char *id,
    char *body)
{
	cleanup_free char *name =
	    xasprintf("%s %s %s", store_kind_name(kind), goal_id, id);
	struct dirty *dirty = strmap_get(&batch->by_name, name);

	if (dirty == NULL) {
		dirty = xcalloc(1, sizeof *dirty);
		dirty->kind = kind;
		dirty->goal_id = goal_id;
		dirty->id = id;
		dirty->name = take_ptr(&name);
		strmap_add(&batch->by_name, dirty->name, dirty);
		TAILQ_INSERT_TAIL(&batch->dirties, dirty, entry);
		batch->dirty_count++;
	} else {
		free(goal_id);
		free(id);
	}
	if (body != NULL) {
		free(dirty->body);
		dirty->body = body;
	}
}

/* Put a batch that could not be stored before the one that comes after it. */
static void
batch_return(struct batch *failed, struct batch *next)
{
	struct batch both;
	struct batch *const parts[] = { failed, next };

	batch_init(&both);
	for (size_t i = 0; i < nitems(parts); i++) {
		struct dirty *dirty;

		TAILQ_FOREACH (dirty, &parts[i]->dirties, entry)
			batch_add(&both, dirty->kind, take_ptr(&dirty->goal_id),
			    take_ptr(&dirty->id), take_ptr(&dirty->body));
		TAILQ_CONCAT(&both.events, &parts[i]->events, entry);
		TAILQ_CONCAT(&both.effects, &parts[i]->effects, entry);
		both.event_count += parts[i]->event_count;
		batch_clear(parts[i]);
		batch_init(parts[i]);
	}
	batch_init(next);
	TAILQ_CONCAT(&next->dirties, &both.dirties, entry);
	TAILQ_CONCAT(&next->events, &both.events, entry);
	TAILQ_CONCAT(&next->effects, &both.effects, entry);
	next->by_name = both.by_name;
	next->dirty_count = both.dirty_count;
	next->event_count = both.event_count;
}

/* --- bodies ---------------------------------------------------------- */

static struct json_object *
record_json(const struct plan_set *set, const struct dirty *dirty)
{
	const struct plan *plan = plan_set_plan(set, dirty->goal_id);
	const struct plan_node *node;
	const struct plan_assignment *assignment;
	const struct plan_crystal *crystal;

	switch (dirty->kind) {
	case STORE_GOAL:
		return plan == NULL ? NULL : plan_goal_to_json(plan->goal);
	case STORE_NODE:
		node = plan == NULL ? NULL : plan_find(plan, dirty->id);
		return node == NULL ? NULL : plan_node_to_json(node);
	case STORE_ASSIGNMENT:
		assignment = plan_set_assignment(set, dirty->id);
		return assignment == NULL ? NULL :
					    plan_assignment_to_json(assignment);
	case STORE_CRYSTAL:
		crystal = plan_set_crystal(set, dirty->id);
		return crystal == NULL ? NULL : plan_crystal_to_json(crystal);
	case STORE_DISPATCH:
	case STORE_KIND_COUNT:
		break;
	}
	return NULL;
}

static char *
json_text(struct json_object *json)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (json == NULL)
		return NULL;
	json_print(json, false, &text);
	json_object_put(json);
	return xstrdup(text.data);
}

/* --- committing ------------------------------------------------------ */

/* Effects that these request wait for the next commit. */
static void
run_effects(struct plan_persist *p)
{
	struct effect *effect;

	p->running = true;
	while ((effect = TAILQ_FIRST(&p->covered.effects)) != NULL) {
		TAILQ_REMOVE(&p->covered.effects, effect, entry);
		effect->fn(effect->arg);
		free(effect);
	}
	p->running = false;
}

static void
commit_again(void *arg)
{
	struct plan_persist *p = arg;

	loop_call_request(p->call);
}

/* A full disk may have space again; a damaged file stays damaged. */
static bool
may_pass(int code)
{
	return code == -ENOSPC || code == -EDQUOT || code == -EIO ||
	    code == -EAGAIN || code == -ENOMEM || code == -EROFS;
}

static void
commit_failed(struct plan_persist *p, const struct err *err)
{
	struct err copy = *err;

	batch_return(&p->covered, &p->next);
	if (!may_pass(err->code)) {
		p->lost = true;
		p->lost_fn(&copy, p->lost_arg);
		return;
	}
	emit(p->core,
	    &(struct event){
		.kind = EVENT_STORE_UNWRITTEN, .reason = copy.msg });
	loop_timer_free(p->retry);
	p->retry = loop_after(p->core->loop, RETRY_MS, commit_again, p);
}

static void
on_committed(const struct err *err, void *arg)
{
	struct plan_persist *p = arg;

	p->committing = false;
	if (err != NULL) {
		commit_failed(p, err);
		return;
	}
	batch_clear(&p->covered);
	run_effects(p);
	if (!batch_is_empty(&p->next) || !TAILQ_EMPTY(&p->next.effects))
		loop_call_request(p->call);
}

static void
commit(struct plan_persist *p)
{
	const struct batch *batch = &p->covered;
	cleanup_free struct store_change *changes =
	    xcalloc(batch->dirty_count + 1, sizeof *changes);
	cleanup_free struct store_event *events =
	    xcalloc(batch->event_count + 1, sizeof *events);
	const struct happened *happened;
	struct dirty *dirty;
	size_t changed = 0, happenings = 0;

	TAILQ_FOREACH (dirty, &batch->dirties, entry) {
		if (dirty->kind != STORE_DISPATCH) {
			free(dirty->body);
			dirty->body = json_text(record_json(p->set, dirty));
		}
		changes[changed++] = (struct store_change){ .kind = dirty->kind,
			.goal_id = dirty->goal_id,
			.id = dirty->id,
			.body = dirty->body };
	}
	TAILQ_FOREACH (happened, &batch->events, entry)
		events[happenings++] = happened->event;
	p->committing = true;
	store_commit(
	    p->store, changes, changed, events, happenings, on_committed, p);
}

/* Runs at the end of a pass of the loop. */
static void
on_pass_end(void *arg)
{
	struct plan_persist *p = arg;

	if (p->committing || p->running || p->lost ||
	    (p->retry != NULL && loop_timer_pending(p->retry)))
		return;
	p->covered = p->next;
	/* The heads of lists cannot be copied. */
	TAILQ_INIT(&p->covered.dirties);
	TAILQ_INIT(&p->covered.events);
	TAILQ_INIT(&p->covered.effects);
	TAILQ_CONCAT(&p->covered.dirties, &p->next.dirties, entry);
	TAILQ_CONCAT(&p->covered.events, &p->next.events, entry);
	TAILQ_CONCAT(&p->covered.effects, &p->next.effects, entry);
	batch_init(&p->next);
	if (batch_is_empty(&p->covered))
		run_effects(p);
	else
		commit(p);
}

/* --- what changed ---------------------------------------------------- */

void
plan_persist_record(struct plan_persist *p, enum store_kind kind,
    const char *goal_id, const char *id)
{
	batch_add(&p->next, kind, xstrdup(goal_id), xstrdup(id), NULL);
	loop_call_request(p->call);
}

void
plan_persist_dispatch(
    struct plan_persist *p, const struct plan_dispatch *dispatch)
{
	batch_add(&p->next, STORE_DISPATCH, xstrdup(dispatch->goal_id),
	    xstrdup(dispatch->id), json_text(plan_dispatch_to_json(dispatch)));
	loop_call_request(p->call);
}

void
plan_persist_changes(struct plan_persist *p, const struct plan *plan,
    const struct plan_changes *changes)
{
	const char *goal_id = plan->goal->id;

	if (changes->goal)
		plan_persist_record(p, STORE_GOAL, goal_id, goal_id);
	for (size_t i = 0;
	     changes->removed != NULL && changes->removed[i] != NULL; i++)
		plan_persist_record(
		    p, STORE_NODE, goal_id, changes->removed[i]);
	for (size_t i = 0; i < changes->count; i++)
		plan_persist_record(
		    p, STORE_NODE, goal_id, changes->nodes[i]->id);
}

void
plan_persist_event(struct plan_persist *p, const struct store_event *event)
{
	struct happened *happened = xcalloc(1, sizeof *happened);
	struct store_event *e = &happened->event;
	const char **const strings[EVENT_STRINGS] = { &e->type, &e->goal_id,
		&e->assignment_id, &e->node_id, &e->worker, &e->task, &e->data,
		&e->key };

	*e = *event;
	if (e->ts_ms == 0)
		e->ts_ms = clock_wall_ms();
	for (size_t i = 0; i < EVENT_STRINGS; i++) {
		xstrset(&happened->strings[i], *strings[i]);
		*strings[i] = happened->strings[i];
	}
	TAILQ_INSERT_TAIL(&p->next.events, happened, entry);
	p->next.event_count++;
	loop_call_request(p->call);
}

void
plan_persist_then(
    struct plan_persist *p, void *owner, plan_persist_fn *fn, void *arg)
{
	struct effect *effect = xcalloc(1, sizeof *effect);

	effect->owner = owner;
	effect->fn = fn;
	effect->arg = arg;
	TAILQ_INSERT_TAIL(&p->next.effects, effect, entry);
	loop_call_request(p->call);
}

void
plan_persist_forget(struct plan_persist *p, const void *owner)
{
	batch_forget(&p->next, owner);
	batch_forget(&p->covered, owner);
}

bool
plan_persist_is_idle(const struct plan_persist *p)
{
	return !p->committing && batch_is_empty(&p->next) &&
	    TAILQ_EMPTY(&p->next.effects) && TAILQ_EMPTY(&p->covered.effects);
}

/* --- life ------------------------------------------------------------ */

struct plan_persist *
plan_persist_new(struct core *core, struct store *store,
    const struct plan_set *set, plan_persist_lost_fn *lost, void *arg)
{
	struct plan_persist *p = xcalloc(1, sizeof *p);

	p->core = core;
	p->store = store;
	p->set = set;
	p->lost_fn = lost;
	p->lost_arg = arg;
	batch_init(&p->next);
	batch_init(&p->covered);
	p->call = loop_call_new(core->loop, on_pass_end, p);
	return p;
}

void
plan_persist_free(struct plan_persist *p)
{
	struct batch *const batches[] = { &p->next, &p->covered };

	for (size_t i = 0; i < nitems(batches); i++) {
		batch_forget(batches[i], NULL);
		batch_clear(batches[i]);
	}
	loop_call_free(p->call);
	loop_timer_free(p->retry);
	free(p);
}
