/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "auto.h"
#include "event.h"
#include "intake.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "plan-bind.h"
#include "plan-catch-up.h"
#include "plan-floor.h"
#include "plan-implicit.h"
#include "plan-pool.h"
#include "plan-set.h"
#include "plan-tasks.h"
#include "task-json.h"
#include "workspace.h"

/* An assignment without a task, or a node without an assignment: a damaged
 * store may have lost it, or have the node as it was before. */
struct orphan {
	struct plan_assignment *assignment; /* NULL = of a node */
	struct plan *plan; /* of a node */
	struct plan_node *node;
	char *key; /* of the records of its tasks: their id, or a node's key */
	struct task *filed; /* the record of its task; NULL = none */
};

struct orphans {
	struct orphan **list;
	size_t count, room;
	struct strmap by_key;
	bool any_filed; /* of a node */
};

/* An older task on the node is not the one that was lost. */
static bool
is_task_of(const struct orphan *o, const struct task *t)
{
	if (o->assignment != NULL)
		return plan_bind_is_for(t, o->assignment);
	return intake_is_planned(t) && t->finished_ms >= o->node->updated_ms;
}

/* The last record of a task counts. */
static bool
on_record(struct json_object *record, void *arg)
{
	struct orphans *orphans = arg;

	static const char *const keys[] = { "id", "key" };

	for (size_t i = 0; i < nitems(keys); i++) {
		struct orphan *o = strmap_get(
		    &orphans->by_key, json_string_or(record, keys[i], ""));
		struct task *t = NULL;

		if (o == NULL || task_from_json(record, "", &t, NULL) < 0)
			continue;
		if (!is_task_of(o, t)) {
			task_free(t);
			continue;
		}
		task_free(o->filed);
		o->filed = t;
		orphans->any_filed |= o->node != NULL;
	}
	return true;
}

/* Work that was taken back since then is not done. */
static bool
on_told(struct json_object *record, void *arg)
{
	struct orphans *orphans = arg;
	struct json_object *event = NULL;
	const char *ref;

	if (!json_object_object_get_ex(record, "event", &event) ||
	    strcmp(json_string_or(event, "type", ""),
		event_row(EVENT_REVERTED)->name) != 0)
		return true;
	ref = json_string_or(event, "ref", "");
	for (size_t i = 0; i < orphans->count; i++) {
		struct orphan *o = orphans->list[i];

		if (o->node != NULL && o->filed != NULL &&
		    o->filed->commit != NULL &&
		    strcmp(o->filed->commit, ref) == 0) {
			task_free(o->filed);
			o->filed = NULL;
		}
	}
	return true;
}

static void
orphans_add(struct orphans *orphans, const struct orphan *o)
{
	struct orphan *copy = xcalloc(1, sizeof *copy);

	*copy = *o;
	if (orphans->count == orphans->room) {
		orphans->room = orphans->room == 0 ? 16 : orphans->room * 2;
		orphans->list = xreallocarray(
		    orphans->list, orphans->room, sizeof(struct orphan *));
	}
	orphans->list[orphans->count++] = copy;
	strmap_add(&orphans->by_key, copy->key, copy);
}

static void
orphans_release(struct orphans *orphans)
{
	strmap_release(&orphans->by_key);
	for (size_t i = 0; i < orphans->count; i++) {
		task_free(orphans->list[i]->filed);
		free(orphans->list[i]->key);
		free(orphans->list[i]);
	}
	free(orphans->list);
}

static void
find_nodes(
    const struct plan_floor *floor, struct plan *plan, struct orphans *orphans)
{
	for (struct plan_node *n = plan_next(plan, NULL); n != NULL;
	     n = plan_next(plan, n)) {
		char *key;

		if (!plan_node_leaf(n) || n->assignment != NULL ||
		    (n->status != NODE_IN_PROGRESS &&
			n->status != NODE_QUEUED && n->status != NODE_TODO))
			continue;
		key = xasprintf("%s/%s", n->goal_id, n->id);
		if (state_task_by_key(
			&floor->core->state, AUTO_PLAN_SOURCE, key) == NULL)
			orphans_add(orphans,
			    &(struct orphan){
				.plan = plan, .node = n, .key = key });
		else
			free(key);
	}
}

static void
find_orphans(struct plan_floor *floor, struct orphans *orphans)
{
	const struct plan_set *set = plan_floor_set(floor);

	for (size_t i = 0; i < set->assignment_count; i++) {
		struct plan_assignment *a = set->assignments[i];

		if (assignment_status_open(a->status) && a->task != NULL &&
		    plan_tasks_of(floor, a) == NULL)
			orphans_add(orphans,
			    &(struct orphan){
				.assignment = a, .key = xstrdup(a->task) });
	}
	for (size_t i = 0; i < set->plan_count; i++)
		if (goal_status_open(set->plans[i]->goal->status))
			find_nodes(floor, set->plans[i], orphans);
}

/* Its task may have failed before: only what is done need not be begun. */
static bool
is_behind(const struct orphan *o)
{
	return o->node->status == NODE_IN_PROGRESS ||
	    (o->filed != NULL &&
		(o->filed->outcome == OUTCOME_LANDED ||
		    o->filed->outcome == OUTCOME_NO_CHANGES));
}

static void
catch_up_node(struct plan_floor *floor, const struct orphan *o)
{
	struct plan_assignment *a = NULL;

	/* What it depends on may have been caught up with. */
	if (!node_status_open(o->node->status) || o->node->assignment != NULL ||
	    !is_behind(o))
		return;
	if (o->filed != NULL && plan_bind(floor, o->filed, true, NULL) == 0)
		a = plan_bind_of(floor, o->filed);
	if (a != NULL)
		plan_bind_end(floor, a, o->filed, NULL);
	else if (o->node->status == NODE_IN_PROGRESS)
		plan_bind_queue_again(
		    floor, o->plan, o->node, "nobody works on it");
}

void
plan_catch_up(struct plan_floor *floor)
{
	cleanup_free char *tasks =
	    workspace_path(floor->core->workspace, "tasks.jsonl");
	cleanup_free char *log =
	    workspace_path(floor->core->workspace, "logs/auto.log");
	struct orphans orphans = { 0 };

	find_orphans(floor, &orphans);
	if (orphans.count > 0) {
		jsonl_last(tasks, 0, on_record, &orphans, NULL);
		if (orphans.any_filed)
			jsonl_last(log, 0, on_told, &orphans, NULL);
	}
	for (size_t i = 0; i < orphans.count; i++) {
		const struct orphan *o = orphans.list[i];

		if (o->assignment == NULL)
			catch_up_node(floor, o);
		else if (o->filed != NULL)
			plan_bind_end(floor, o->assignment, o->filed, NULL);
		else if (plan_implicit_is(plan_floor_set(floor), o->assignment))
			plan_pool_give_up(floor, o->assignment,
			    "its task went back to its source");
		else
			plan_bind_release(
			    floor, o->assignment, "no task is known for it");
	}
	orphans_release(&orphans);
}
