/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "clock.h"
#include "emit.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "plan-apply.h"
#include "plan-edit.h"
#include "plan-floor.h"
#include "plan-landed.h"
#include "plan-set.h"
#include "reconcile.h"
#include "strv.h"
#include "workspace.h"

/* --- landed ----------------------------------------------------------- */

/* Is it open, with a worker and without a task? */
static bool
is_driven(const struct plan_assignment *a)
{
	return assignment_status_open(a->status) && a->task == NULL &&
	    a->status != ASSIGNMENT_QUEUED && a->worker != NULL;
}

/* That of this worker; NULL = none. */
static struct plan_assignment *
assignment_of(const struct plan_set *set, const char *worker)
{
	for (size_t i = 0; i < set->assignment_count; i++)
		if (is_driven(set->assignments[i]) &&
		    strcmp(set->assignments[i]->worker, worker) == 0)
			return set->assignments[i];
	return NULL;
}

static void
landed(struct plan_floor *floor, const char *worker, const char *commit)
{
	struct plan_set *set = plan_floor_set(floor);
	struct plan_assignment *a = assignment_of(set, worker);
	struct plan_evidence evidence = { 0 };
	struct reconcile_facts facts = {
		.accepted = true, .accepted_by = "person", .evidence = &evidence
	};
	struct reconcile_config config;
	struct reconcile_result result;

	if (a == NULL)
		return;
	facts.assignment_id = a->id;
	strv_add(&evidence.commits, commit);
	reconcile_config_read(floor->core->settings, &config);
	reconcile_now(set, a, &facts, &config, clock_wall_ms(), &result);
	plan_apply(floor, &result);
	reconcile_result_release(&result);
	plan_evidence_release(&evidence);
	plan_floor_changed(floor);
}

/* --- landed before the store knew ------------------------------------- */

#define LOOK_BACK 1000 /* records of auto.log */

/* A landing is in auto.log when it is told; the daemon may have ended before
 * the store had it, or the store was of no use. */
static bool
on_record(struct json_object *record, void *arg)
{
	struct plan_floor *floor = arg;
	struct json_object *event = NULL;
	const struct plan_assignment *a;
	char since[CLOCK_STAMP_SIZE];
	const char *worker, *commit;

	if (!json_object_object_get_ex(record, "event", &event) ||
	    strcmp(json_string_or(event, "type", ""),
		event_row(EVENT_LANDED)->name) != 0 ||
	    json_string_or(event, "task", NULL) != NULL)
		return true;
	worker = json_string_or(event, "worker_name", NULL);
	commit = json_string_or(event, "commit_sha", NULL);
	a = worker != NULL && commit != NULL ?
	    assignment_of(plan_floor_set(floor), worker) :
	    NULL;
	if (a == NULL)
		return true;
	clock_format_stamp(a->last_dispatch_ms, since);
	if (strcmp(json_string_or(record, "timestamp", ""), since) >= 0)
		landed(floor, worker, commit);
	return true;
}

void
plan_landed_catch_up(struct plan_floor *floor)
{
	const struct plan_set *set = plan_floor_set(floor);
	cleanup_free char *file = NULL;
	bool any = false;

	for (size_t i = 0; i < set->assignment_count; i++)
		any |= is_driven(set->assignments[i]);
	if (!any)
		return;
	file = workspace_path(floor->core->workspace, "logs/auto.log");
	jsonl_last(file, LOOK_BACK, on_record, floor, NULL);
}

/* --- taken back ------------------------------------------------------- */

static bool
has_commit(const struct plan_node *node, const char *commit)
{
	for (size_t i = 0; i < strv_count(node->evidence.commits); i++)
		if (strcmp(node->evidence.commits[i], commit) == 0)
			return true;
	return false;
}

static void
reopen(struct plan_floor *floor, struct plan *plan,
    const struct plan_node *node, const struct event *event)
{
	enum goal_status before = plan->goal->status;
	cleanup_free char *why = xasprintf("taken back by %s%s%s",
	    event->commit != NULL ? event->commit : "a commit",
	    event->reason != NULL ? ": " : "",
	    event->reason != NULL ? event->reason : "");
	struct plan_changes changes = { 0 };
	const struct plan_edit edit = { .plan = plan,
		.actor = "landing",
		.why = why,
		.now_ms = clock_wall_ms(),
		.changes = &changes };

	if (plan_edit_reopen(&edit, node->id, NULL) == 0)
		plan_apply_edit(floor, plan, &changes, before);
	plan_changes_release(&changes);
}

static void
taken_back(struct plan_floor *floor, const struct event *event)
{
	const struct plan_set *set = plan_floor_set(floor);

	for (size_t i = 0; i < set->plan_count; i++) {
		struct plan *plan = set->plans[i];

		for (size_t k = 0; k < plan->count; k++)
			if (plan_node_leaf(plan->nodes[k]) &&
			    plan->nodes[k]->status == NODE_DONE &&
			    has_commit(plan->nodes[k], event->ref))
				reopen(floor, plan, plan->nodes[k], event);
	}
	plan_floor_changed(floor);
}

/* --- events ----------------------------------------------------------- */

static void
on_event(const struct event *event, void *arg)
{
	struct plan_floor *floor = arg;

	if (floor->state != PLAN_OPEN)
		return;
	if (event->kind == EVENT_LANDED && event->task == NULL &&
	    event->worker != NULL && event->commit != NULL)
		landed(floor, event->worker, event->commit);
	else if (event->kind == EVENT_REVERTED && event->ref != NULL)
		taken_back(floor, event);
}

void
plan_landed_begin(struct plan_floor *floor)
{
	emit_subscribe(floor->core, on_event, floor);
}

void
plan_landed_end(struct plan_floor *floor)
{
	emit_unsubscribe(floor->core, on_event, floor);
}
