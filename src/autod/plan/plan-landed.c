/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

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
#include "planbook.h"
#include "reconcile.h"
#include "store.h"
#include "strv.h"
#include "workspace.h"

/* A commit that was taken back: goals that have ended are looked for in the
 * store, and read. */
struct taken {
	TAILQ_ENTRY(taken) entry;
	struct plan_landed *landed;
	char *commit;
	char *why;
	char at[CLOCK_STAMP_SIZE];
	bool searched; /* all nodes that it shows are known */
	size_t reading; /* goals */
	char *goal; /* the last one that is read */
};

TAILQ_HEAD(taken_list, taken);

struct plan_landed {
	struct plan_floor *floor;
	struct taken_list taken;
};

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
		.changes = &changes,
		.by_task = true };

	if (plan_edit_reopen(&edit, node->id, NULL) == 0)
		plan_apply_edit(floor, plan, &changes, before);
	plan_changes_release(&changes);
}

/* In the goals that are in memory. What was done later than that was not taken
 * back by it. */
static void
reopen_all(const struct taken *taken)
{
	struct plan_floor *floor = taken->landed->floor;
	const struct plan_set *set = plan_floor_set(floor);
	bool any = false;

	for (size_t i = 0; i < set->plan_count; i++) {
		struct plan *plan = set->plans[i];

		for (size_t k = 0; k < plan->count; k++) {
			const struct plan_node *node = plan->nodes[k];
			char ended[CLOCK_STAMP_SIZE];

			if (!plan_node_leaf(node) ||
			    node->status != NODE_DONE ||
			    !has_commit(node, taken->commit))
				continue;
			clock_format_stamp(node->ended_ms, ended);
			if (strcmp(ended, taken->at) > 0)
				continue;
			reopen(floor, plan, node, taken->why);
			any = true;
		}
	}
	if (any)
		plan_floor_changed(floor);
}

static void
taken_free(struct taken *taken)
{
	TAILQ_REMOVE(&taken->landed->taken, taken, entry);
	free(taken->commit);
	free(taken->why);
	free(taken->goal);
	free(taken);
}

static void
on_read(void *arg)
{
	struct taken *taken = arg;

	taken->reading--;
	reopen_all(taken);
	if (taken->searched && taken->reading == 0)
		taken_free(taken);
}

static void
on_nodes(const struct store_part *part, void *arg)
{
	struct taken *taken = arg;
	struct plan_floor *floor = taken->landed->floor;

	for (size_t i = 0; i < part->record_count; i++) {
		const char *goal = part->records[i].goal_id;

		if (plan_set_plan(plan_floor_set(floor), goal) != NULL ||
		    (taken->goal != NULL && strcmp(taken->goal, goal) == 0))
			continue;
		xstrset(&taken->goal, goal);
		taken->reading++;
		planbook_fetch(floor->book, goal, on_read, taken);
	}
	taken->searched = part->last;
	if (taken->searched && taken->reading == 0)
		taken_free(taken);
}

static void
take_back(struct plan_landed *landed, const char *commit, const char *by,
    const char *reason, const char *at)
{
	struct taken *taken = xcalloc(1, sizeof *taken);

	taken->landed = landed;
	taken->commit = xstrdup(commit);
	taken->why =
	    xasprintf("taken back by %s%s%s", by != NULL ? by : "a commit",
		reason != NULL ? ": " : "", reason != NULL ? reason : "");
	strlcpy(taken->at, at, sizeof taken->at);
	TAILQ_INSERT_TAIL(&landed->taken, taken, entry);
	reopen_all(taken);
	store_find(planbook_store(landed->floor->book), STORE_NODE, commit,
	    on_nodes, taken);
}

/* --- before the store knew -------------------------------------------- */

#define LOOK_BACK 1000 /* records of auto.log */
#define TAKEN_MAX 32 /* commits that were taken back, of those */

struct look_back {
	struct plan_landed *landed;
	int left;
};

static void
look_at_landed(
    struct plan_floor *floor, struct json_object *event, const char *stamp)
{
	const char *worker = json_string_or(event, "worker_name", NULL);
	const char *commit = json_string_or(event, "commit_sha", NULL);
	const char *ref = json_string_or(event, "ref", NULL);
	const struct plan_assignment *a;
	char since[CLOCK_STAMP_SIZE];

	if (worker == NULL || (commit == NULL && ref == NULL) ||
	    json_string_or(event, "task", NULL) != NULL)
		return;
	a = assignment_of(plan_floor_set(floor), worker);
	if (a == NULL)
		return;
	clock_format_stamp(a->last_dispatch_ms, since);
	if (strcmp(stamp, since) >= 0)
		finish(floor, worker, commit != NULL ? commit : ref,
		    commit == NULL);
}

/* What happens is in auto.log when it is told; the daemon may have ended before
 * the store had it, or the store was of no use. */
static bool
on_record(struct json_object *record, void *arg)
{
	struct look_back *back = arg;
	const char *stamp = json_string_or(record, "timestamp", "");
	struct json_object *event = NULL;
	const char *type, *ref;

	if (!json_object_object_get_ex(record, "event", &event))
		return true;
	type = json_string_or(event, "type", "");
	ref = json_string_or(event, "ref", NULL);
	if (strcmp(type, event_row(EVENT_LANDED)->name) == 0)
		look_at_landed(back->landed->floor, event, stamp);
	else if (strcmp(type, event_row(EVENT_REVERTED)->name) == 0 &&
	    ref != NULL && back->left > 0) {
		back->left--;
		take_back(back->landed, ref,
		    json_string_or(event, "commit_sha", NULL),
		    json_string_or(event, "reason", NULL), stamp);
	}
	return true;
}

void
plan_landed_catch_up(struct plan_landed *landed)
{
	struct look_back back = { landed, TAKEN_MAX };
	cleanup_free char *file =
	    workspace_path(landed->floor->core->workspace, "logs/auto.log");

	jsonl_last(file, LOOK_BACK, on_record, &back, NULL);
}

/* --- events ----------------------------------------------------------- */

static void
on_event(const struct event *event, void *arg)
{
	struct plan_landed *landed = arg;
	struct plan_floor *floor = landed->floor;
	bool lands = event->kind == EVENT_LANDED ||
	    event->kind == EVENT_WORK_LANDED_ELSEWHERE;
	char at[CLOCK_STAMP_SIZE];

	if (floor->state != PLAN_OPEN)
		return;
	if (lands && event->task == NULL && event->worker != NULL &&
	    (event->commit != NULL || event->ref != NULL))
		finish(floor, event->worker,
		    event->commit != NULL ? event->commit : event->ref,
		    event->commit == NULL);
	if (event->kind == EVENT_REVERTED && event->ref != NULL) {
		clock_format_stamp(event->at_ms, at);
		take_back(landed, event->ref, event->commit, event->reason, at);
	}
}

/* --- life ------------------------------------------------------------- */

void
plan_landed_closed(struct plan_landed *landed)
{
	struct taken *taken;

	while ((taken = TAILQ_FIRST(&landed->taken)) != NULL)
		taken_free(taken);
}

struct plan_landed *
plan_landed_new(struct plan_floor *floor)
{
	struct plan_landed *landed = xcalloc(1, sizeof *landed);

	landed->floor = floor;
	TAILQ_INIT(&landed->taken);
	emit_subscribe(floor->core, on_event, landed);
	return landed;
}

void
plan_landed_free(struct plan_landed *landed)
{
	if (landed == NULL)
		return;
	emit_unsubscribe(landed->floor->core, on_event, landed);
	plan_landed_closed(landed);
	free(landed);
}
