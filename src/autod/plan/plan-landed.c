/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "emit.h"
#include "log.h"
#include "mem.h"
#include "plan-apply.h"
#include "plan-book.h"
#include "plan-edit.h"
#include "plan-floor.h"
#include "plan-landed.h"
#include "plan-set.h"
#include "reconcile.h"
#include "strv.h"

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

/* commit: as what it landed, or the one of the branch that had it already. */
static void
finish(struct plan_floor *floor, const char *worker, const char *commit,
    bool had_it)
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
	if (had_it)
		strv_add(&evidence.external_refs,
		    "accepted by a person; the branch had it already");
	reconcile_config_read(floor->core->settings, &config);
	reconcile_now(set, a, &facts, &config, clock_wall_ms(), &result);
	plan_apply(floor, &result);
	reconcile_result_release(&result);
	plan_evidence_release(&evidence);
	plan_floor_changed(floor);
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
    const struct plan_node *node, const char *why)
{
	enum goal_status before = plan->goal->status;
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

static bool
reopen_in(struct plan_floor *floor, struct plan *plan, const char *commit,
    const char *why)
{
	bool any = false;

	for (size_t i = 0; i < plan->count; i++) {
		const struct plan_node *node = plan->nodes[i];

		if (!plan_node_leaf(node) || node->status != NODE_DONE ||
		    !has_commit(node, commit))
			continue;
		reopen(floor, plan, node, why);
		any = true;
	}
	return any;
}

static bool
on_node(const struct book_record *record, void *arg)
{
	char ***goals = arg;

	if (!plan_has(*goals, record->goal_id))
		strv_add(goals, record->goal_id);
	return true;
}

/* Also in goals that have ended. */
static void
take_back(struct plan_floor *floor, const char *commit, const char *by,
    const char *reason)
{
	const struct plan_set *set = plan_floor_set(floor);
	cleanup_free char *why =
	    xasprintf("taken back by %s%s%s", by != NULL ? by : "a commit",
		reason != NULL ? ": " : "", reason != NULL ? reason : "");
	cleanup_strv char **goals = NULL;
	struct err err = { 0 };
	bool any = false;

	for (size_t i = 0; i < set->plan_count; i++)
		strv_add(&goals, set->plans[i]->goal->id);
	if (book_find_nodes(floor->core->book, commit, on_node, &goals, &err) <
	    0)
		log_info("goals that have ended are not looked at for %s: %s",
		    commit, err.msg);
	for (size_t i = 0; i < strv_count(goals); i++) {
		struct plan *plan = plan_book_plan(floor, goals[i], &err);

		if (plan != NULL)
			any |= reopen_in(floor, plan, commit, why);
	}
	if (any)
		plan_floor_changed(floor);
}

/* --- events ----------------------------------------------------------- */

static void
on_event(const struct event *event, void *arg)
{
	struct plan_floor *floor = arg;
	bool lands = event->kind == EVENT_LANDED ||
	    event->kind == EVENT_WORK_LANDED_ELSEWHERE;

	if (floor->state != PLAN_OPEN)
		return;
	if (lands && event->task == NULL && event->worker != NULL &&
	    (event->commit != NULL || event->ref != NULL))
		finish(floor, event->worker,
		    event->commit != NULL ? event->commit : event->ref,
		    event->commit == NULL);
	if (event->kind == EVENT_REVERTED && event->ref != NULL)
		take_back(floor, event->ref, event->commit, event->reason);
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
