/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "auto.h"
#include "buf.h"
#include "escalation.h"
#include "json.h"
#include "mem.h"
#include "node-run.h"
#include "persist.h"
#include "person.h"
#include "plan-bind.h"
#include "plan-deps.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "plan-tasks.h"
#include "strv.h"
#include "task-run.h"
#include "task.h"
#include "team-floor.h"
#include "team-unbegun.h"

enum fate {
	FATE_BEGUN, /* it has a task, or had one that has ended */
	FATE_BEGINS,
	FATE_HELD, /* it begins, but something has to happen first */
	FATE_HELP, /* likewise, and only a person can do that */
	FATE_LOST, /* it does not begin */
};

/* --- what becomes of a node ------------------------------------------- */

static char *
key_of(const struct plan_node *node)
{
	return xasprintf("%s/%s", node->goal_id, node->id);
}

/* What keeps it from beginning, now or for ever. */
static enum fate
hindrance(const struct plan *plan, const struct plan_node *node,
    const char *asker, struct buf *why)
{
	const struct plan_node *above = node, *on;
	cleanup_free char *on_key = NULL;

	while ((above = above->parent) != NULL)
		if (above->override.actor != NULL &&
		    (above->status == NODE_BLOCKED ||
			!node_status_open(above->status))) {
			buf_addf(why, "%s, which it is a part of, is %s",
			    above->id, node_status_name(above->status));
			return FATE_LOST;
		}
	if (plan->goal->status != GOAL_ACTIVE) {
		buf_addf(why, "goal %s is %s", plan->goal->id,
		    goal_status_name(plan->goal->status));
		return FATE_HELP;
	}
	on = plan_deps_waits(plan, node);
	if (on == NULL)
		return FATE_BEGINS;
	on_key = key_of(on);
	buf_addf(why, "it depends on %s, which is %s", on->id,
	    node_status_name(on->status));
	return on->status == NODE_BLOCKED || strcmp(on_key, asker) == 0 ?
	    FATE_HELP :
	    FATE_HELD;
}

/* asker: the key of the task that asked for it; why: appended, unless it begins
 * or has begun. */
static enum fate
fate_of(const struct team_floor *floor, const struct plan *plan,
    const struct plan_node *node, const char *asker, struct buf *why)
{
	cleanup_free char *key = key_of(node);
	bool waits = node->status == NODE_TODO || node->status == NODE_QUEUED;

	if (state_task_by_key(&floor->core->state, AUTO_PLAN_SOURCE, key) !=
		NULL ||
	    (node->assignment != NULL &&
		!plan_bind_wants_worker(
		    plan_floor_set(floor->plan), node->assignment)) ||
	    (node->assignment == NULL && !waits && node->started_ms != 0))
		return FATE_BEGUN;
	if (!plan_tasks_allowed(floor->plan))
		buf_adds(why,
		    "goals are off, or not for agents (plan.enabled, "
		    "plan.allow_agents)");
	else if (node->assignment != NULL)
		return FATE_BEGINS;
	else if (!goal_status_open(plan->goal->status))
		buf_addf(why, "goal %s is %s", plan->goal->id,
		    goal_status_name(plan->goal->status));
	else if (!waits)
		buf_addf(why, "it is %s", node_status_name(node->status));
	else if (!plan_node_leaf(node))
		buf_adds(why, "it was split into other tasks");
	else
		return hindrance(plan, node, asker, why);
	if (node->override.reason != NULL || node->blocked_reason != NULL)
		buf_addf(why, ": %s",
		    node->override.reason != NULL ? node->override.reason :
						    node->blocked_reason);
	return FATE_LOST;
}

/* --- all of a task ---------------------------------------------------- */

typedef void fate_fn(
    const struct plan_node *node, enum fate fate, const char *why, void *arg);

static void
each(const struct team_floor *floor, const struct task *t, fate_fn *fn,
    void *arg)
{
	const struct plan_set *set;

	/* Most have never asked for anyone. */
	if (t->run == NULL || !t->run->has_spawned ||
	    floor->plan->state != PLAN_OPEN)
		return;
	set = plan_floor_set(floor->plan);
	for (size_t i = 0; i < set->plan_count; i++)
		for (size_t n = 0; n < set->plans[i]->count; n++) {
			const struct plan_node *node = set->plans[i]->nodes[n];
			const char *of = node_run_parent(node);
			cleanup_buf struct buf why = BUF_INIT;
			enum fate fate;

			if (of == NULL || strcmp(of, t->id) != 0)
				continue;
			fate =
			    fate_of(floor, set->plans[i], node, t->key, &why);
			fn(node, fate, why.data, arg);
		}
}

void
team_unbegun_name(struct buf *names, struct json_object *spawn, const char *id)
{
	const char *label = json_string_or(spawn, "label", NULL);
	const char *actor = json_string_or(spawn, "actor", NULL);
	const char *colon = actor != NULL ? strrchr(actor, ':') : NULL;

	if (label == NULL && colon != NULL)
		label = colon + 1;
	if (names->len > 0)
		buf_adds(names, ", ");
	if (label != NULL)
		buf_addf(names, "%s (%s)", label, id);
	else
		buf_adds(names, id);
}

struct counted {
	struct buf *names;
	size_t all, held;
};

static void
count_one(
    const struct plan_node *node, enum fate fate, const char *why, void *arg)
{
	struct counted *counted = arg;

	if (fate == FATE_BEGUN || fate == FATE_LOST)
		return;
	counted->all++;
	counted->held += fate != FATE_BEGINS;
	if (counted->names == NULL)
		return;
	team_unbegun_name(counted->names, node->spawn, node->id);
	if (fate != FATE_BEGINS)
		buf_addf(counted->names, " (held: %s)", why);
}

size_t
team_unbegun_count(const struct team_floor *floor, const struct task *task,
    struct buf *names, size_t *ret_held)
{
	struct counted counted = { .names = names };

	each(floor, task, count_one, &counted);
	if (ret_held != NULL)
		*ret_held = counted.held;
	return counted.all;
}

size_t
team_unbegun_policy(void *arg, const struct task *task, size_t *ret_held)
{
	return team_unbegun_count(arg, task, NULL, ret_held);
}

/* --- telling ---------------------------------------------------------- */

struct looked {
	struct team_floor *floor;
	struct task *task;
};

static bool
is_listed(char *const *list, const char *s)
{
	for (; list != NULL && *list != NULL; list++)
		if (strcmp(*list, s) == 0)
			return true;
	return false;
}

/* Told once. */
static void
tell_person(const struct looked *looked, const struct plan_node *node,
    const char *key, const char *why)
{
	const struct task *t = looked->task;
	cleanup_free char *event = xasprintf("held/%s/%s", t->id, key);
	cleanup_free char *text =
	    xasprintf("%s waits for %s, which cannot begin: %s; look at it "
		      "with: llmc work show %s",
		t->worker != NULL ? t->worker : t->id, node->name, why, key);

	person_escalate(looked->floor->core,
	    &(struct escalation){ .level = ESCALATION_WARNING,
		.event = event,
		.title = "an agent cannot begin",
		.text = text,
		.signature = event,
		.worker = t->worker,
		.task = t->id,
		.task_title = t->title,
		.goal = node->goal_id,
		.node = node->id },
	    NOTICE_WORKER);
}

static void
look_at(
    const struct plan_node *node, enum fate fate, const char *why, void *arg)
{
	const struct looked *looked = arg;
	struct task_run *run = looked->task->run;
	cleanup_free char *key = key_of(node);
	cleanup_buf struct buf name = BUF_INIT;
	bool lost = fate == FATE_LOST;

	if (fate == FATE_HELP)
		tell_person(looked, node, key, why);
	if (is_listed(run->lost, key) == lost)
		return;
	if (lost) {
		team_unbegun_name(&name, node->spawn, node->id);
		strv_add(&run->lost, key);
		strv_take(&run->untold,
		    xasprintf(
			"%s has not begun, and will not: %s", name.data, why));
	} else {
		strv_remove(run->lost, key);
	}
	persist_changed(looked->floor->core);
}

void
team_unbegun_look(struct team_floor *floor, struct task *task)
{
	struct looked looked = { .floor = floor, .task = task };

	if (task->step != TASK_SETTLING)
		each(floor, task, look_at, &looked);
}
