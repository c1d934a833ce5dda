/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "json.h"
#include "mem.h"
#include "plan-batch.h"
#include "plan-set.h"

struct plan_batch_record {
	TAILQ_ENTRY(plan_batch_record) entry;
	enum store_kind kind;
	char *goal_id, *id;
	char *name; /* in by_name */
	char *body;
};

#define EVENT_STRINGS 8

struct plan_batch_event {
	TAILQ_ENTRY(plan_batch_event) entry;
	struct store_event event;
	char *strings[EVENT_STRINGS]; /* of the event */
	size_t bytes;
};

/* --- life ------------------------------------------------------------ */

struct plan_batch *
plan_batch_new(struct plan_persist *persist)
{
	struct plan_batch *batch = xcalloc(1, sizeof *batch);

	batch->persist = persist;
	TAILQ_INIT(&batch->records);
	TAILQ_INIT(&batch->events);
	TAILQ_INIT(&batch->effects);
	return batch;
}

static void
record_free(struct plan_batch_record *record)
{
	free(record->goal_id);
	free(record->id);
	free(record->name);
	free(record->body);
	free(record);
}

static void
event_free(struct plan_batch_event *event)
{
	for (size_t i = 0; i < EVENT_STRINGS; i++)
		free(event->strings[i]);
	free(event);
}

void
plan_batch_free(struct plan_batch *batch)
{
	struct plan_batch_record *record;
	struct plan_batch_event *event;

	if (batch == NULL)
		return;
	plan_batch_forget(batch, NULL);
	strmap_release(&batch->by_name);
	while ((record = TAILQ_FIRST(&batch->records)) != NULL) {
		TAILQ_REMOVE(&batch->records, record, entry);
		record_free(record);
	}
	while ((event = TAILQ_FIRST(&batch->events)) != NULL) {
		TAILQ_REMOVE(&batch->events, event, entry);
		event_free(event);
	}
	free(batch->goal_id);
	free(batch);
}

bool
plan_batch_is_empty(const struct plan_batch *batch)
{
	return TAILQ_EMPTY(&batch->records) && TAILQ_EMPTY(&batch->events);
}

/* --- adding ---------------------------------------------------------- */

void
plan_batch_record(struct plan_batch *batch, enum store_kind kind,
    const char *goal_id, const char *id, char *body)
{
	cleanup_free char *name =
	    xasprintf("%s %s %s", store_kind_name(kind), goal_id, id);
	struct plan_batch_record *record = strmap_get(&batch->by_name, name);

	if (record == NULL) {
		record = xcalloc(1, sizeof *record);
		record->kind = kind;
		record->goal_id = xstrdup(goal_id);
		record->id = xstrdup(id);
		record->name = take_ptr(&name);
		strmap_add(&batch->by_name, record->name, record);
		TAILQ_INSERT_TAIL(&batch->records, record, entry);
		batch->record_count++;
	}
	if (body != NULL) {
		free(record->body);
		record->body = body;
	}
}

void
plan_batch_event(struct plan_batch *batch, const struct store_event *event)
{
	struct plan_batch_event *copy = xcalloc(1, sizeof *copy);
	struct store_event *e = &copy->event;
	const char **const strings[EVENT_STRINGS] = { &e->type, &e->goal_id,
		&e->assignment_id, &e->node_id, &e->worker, &e->task, &e->data,
		&e->key };

	*e = *event;
	copy->bytes = sizeof *copy;
	for (size_t i = 0; i < EVENT_STRINGS; i++) {
		xstrset(&copy->strings[i], *strings[i]);
		*strings[i] = copy->strings[i];
		if (copy->strings[i] != NULL)
			copy->bytes += strlen(copy->strings[i]) + 1;
	}
	TAILQ_INSERT_TAIL(&batch->events, copy, entry);
	batch->event_count++;
	batch->event_bytes += copy->bytes;
}

void
plan_batch_effect(struct plan_batch *batch, void *owner, const char *goal_id,
    plan_persist_fn *fn, void *arg)
{
	struct plan_batch_effect *effect = xcalloc(1, sizeof *effect);

	effect->owner = owner;
	xstrset(&effect->goal_id, goal_id);
	effect->fn = fn;
	effect->arg = arg;
	TAILQ_INSERT_TAIL(&batch->effects, effect, entry);
}

void
plan_batch_forget(struct plan_batch *batch, const void *owner)
{
	struct plan_batch_effect *effect, *next;

	for (effect = TAILQ_FIRST(&batch->effects); effect != NULL;
	     effect = next) {
		next = TAILQ_NEXT(effect, entry);
		if (owner != NULL && effect->owner != owner)
			continue;
		TAILQ_REMOVE(&batch->effects, effect, entry);
		free(effect->goal_id);
		free(effect);
	}
}

/* --- joining and dividing -------------------------------------------- */

static void
move_record(struct plan_batch *from, struct plan_batch_record *record,
    struct plan_batch *to)
{
	TAILQ_REMOVE(&from->records, record, entry);
	strmap_remove(&from->by_name, record->name);
	from->record_count--;
	plan_batch_record(to, record->kind, record->goal_id, record->id,
	    take_ptr(&record->body));
	record_free(record);
}

static void
move_event(struct plan_batch *from, struct plan_batch_event *event,
    struct plan_batch *to)
{
	TAILQ_REMOVE(&from->events, event, entry);
	from->event_count--;
	from->event_bytes -= event->bytes;
	TAILQ_INSERT_TAIL(&to->events, event, entry);
	to->event_count++;
	to->event_bytes += event->bytes;
}

static void
move_effect(struct plan_batch *from, struct plan_batch_effect *effect,
    struct plan_batch *to)
{
	TAILQ_REMOVE(&from->effects, effect, entry);
	TAILQ_INSERT_TAIL(&to->effects, effect, entry);
}

/* goal_id NULL = everything. */
static bool
is_of(const char *found, const char *goal_id)
{
	return goal_id == NULL ||
	    (found != NULL && strcmp(found, goal_id) == 0);
}

static void
move(struct plan_batch *from, const char *goal_id, struct plan_batch *to)
{
	struct plan_batch_record *record = NULL, *next_record;
	struct plan_batch_event *event = NULL, *next_event;
	struct plan_batch_effect *effect = NULL, *next_effect;

	TAILQ_FOREACH_SAFE(record, &from->records, entry, next_record)
	{
		if (is_of(record->goal_id, goal_id))
			move_record(from, record, to);
	}
	TAILQ_FOREACH_SAFE(event, &from->events, entry, next_event)
	{
		if (is_of(event->event.goal_id, goal_id))
			move_event(from, event, to);
	}
	TAILQ_FOREACH_SAFE(effect, &from->effects, entry, next_effect)
	{
		if (is_of(effect->goal_id, goal_id))
			move_effect(from, effect, to);
	}
}

void
plan_batch_join(struct plan_batch *first, struct plan_batch *second)
{
	move(second, NULL, first);
}

void
plan_batch_move_goal(
    struct plan_batch *from, const char *goal_id, struct plan_batch *to)
{
	move(from, goal_id, to);
}

bool
plan_batch_has_goal(const struct plan_batch *batch, const char *goal_id)
{
	const struct plan_batch_record *record;

	TAILQ_FOREACH (record, &batch->records, entry)
		if (strcmp(record->goal_id, goal_id) == 0)
			return true;
	return false;
}

const char *
plan_batch_any_goal(const struct plan_batch *batch)
{
	const struct plan_batch_record *record = TAILQ_FIRST(&batch->records);
	const struct plan_batch_event *event;
	const struct plan_batch_effect *effect;

	if (record != NULL)
		return record->goal_id;
	TAILQ_FOREACH (event, &batch->events, entry)
		if (event->event.goal_id != NULL)
			return event->event.goal_id;
	TAILQ_FOREACH (effect, &batch->effects, entry)
		if (effect->goal_id != NULL)
			return effect->goal_id;
	return NULL;
}

/* --- committing ------------------------------------------------------ */

static struct json_object *
record_json(const struct plan_set *set, const struct plan_batch_record *record)
{
	const struct plan *plan = plan_set_plan(set, record->goal_id);
	const struct plan_node *node;
	const struct plan_assignment *assignment;
	const struct plan_crystal *crystal;

	switch (record->kind) {
	case STORE_GOAL:
		return plan == NULL ? NULL : plan_goal_to_json(plan->goal);
	case STORE_NODE:
		node = plan == NULL ? NULL : plan_find(plan, record->id);
		return node == NULL ? NULL : plan_node_to_json(node);
	case STORE_ASSIGNMENT:
		assignment = plan_set_assignment(set, record->id);
		return assignment == NULL ? NULL :
					    plan_assignment_to_json(assignment);
	case STORE_CRYSTAL:
		crystal = plan_set_crystal(set, record->id);
		return crystal == NULL ? NULL : plan_crystal_to_json(crystal);
	case STORE_DISPATCH:
	case STORE_MAIL:
	case STORE_REQUEST:
	case STORE_RESERVATION:
	case STORE_KIND_COUNT:
		break;
	}
	return NULL;
}

static bool
is_in_set(enum store_kind kind)
{
	return kind != STORE_DISPATCH && kind < STORE_MAIL;
}

static char *
record_text(const struct plan_set *set, const struct plan_batch_record *record)
{
	struct json_object *json = record_json(set, record);
	cleanup_buf struct buf text = BUF_INIT;

	if (json == NULL)
		return NULL;
	json_print(json, false, &text);
	json_object_put(json);
	return xstrdup(text.data);
}

void
plan_batch_commit(struct plan_batch *batch, struct store *store,
    const struct plan_set *set, store_done_fn *done)
{
	cleanup_free struct store_change *changes =
	    xcalloc(batch->record_count + 1, sizeof *changes);
	cleanup_free struct store_event *events =
	    xcalloc(batch->event_count + 1, sizeof *events);
	const struct plan_batch_event *event = NULL;
	struct plan_batch_record *record = NULL;
	size_t changed = 0, happened = 0;

	TAILQ_FOREACH (record, &batch->records, entry) {
		if (is_in_set(record->kind)) {
			free(record->body);
			record->body = record_text(set, record);
		}
		changes[changed++] =
		    (struct store_change){ .kind = record->kind,
			    .goal_id = record->goal_id,
			    .id = record->id,
			    .body = record->body };
	}
	TAILQ_FOREACH (event, &batch->events, entry)
		events[happened++] = event->event;
	store_commit(store, changes, changed, events, happened, done, batch);
}
