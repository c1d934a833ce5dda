/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auto.h"
#include "errtext.h"
#include "json.h"
#include "landing-item.h"
#include "landing-record.h"
#include "loop.h"
#include "mem.h"
#include "node-run.h"
#include "outcome.h"
#include "persist.h"
#include "plan-bind.h"
#include "plan-change.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "settings.h"
#include "strv.h"
#include "task-run.h"
#include "team-family.h"
#include "team-floor.h"
#include "team-result.h"
#include "team-unbegun.h"
#include "team-wait.h"

struct team_family {
	struct team_floor *floor;
	struct loop_call *tend;
};

/* --- who belongs to whom ---------------------------------------------- */

static bool
is_child_of(const struct task *t, const char *parent)
{
	return task_run_is_child(t) && strcmp(t->run->parent, parent) == 0;
}

static bool
is_child_node_of(const struct plan_node *node, const char *parent)
{
	const char *of = node_run_parent(node);

	return of != NULL && strcmp(of, parent) == 0;
}

size_t
team_family_open(
    const struct team_floor *floor, const char *task, struct buf *names)
{
	const struct state *state = &floor->core->state;
	const struct task *parent = state_task(state, task);
	size_t count = 0;

	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *t = state->tasks[i];
		cleanup_json struct json_object *run = NULL;

		if (!is_child_of(t, task) ||
		    (t->step == TASK_SETTLING && t->run->announced))
			continue;
		count++;
		if (names == NULL)
			continue;
		run = task_run_to_json(t->run);
		team_unbegun_name(names, run, t->id);
	}
	return parent == NULL ?
	    count :
	    count + team_unbegun_count(floor, parent, names, NULL);
}

/* --- the end of a parent ---------------------------------------------- */

static bool
is_good(const struct task *t)
{
	return t->outcome == OUTCOME_LANDED || t->outcome == OUTCOME_NO_CHANGES;
}

static bool
hands_over(const struct team_floor *floor, const struct task *t)
{
	return is_good(t) ||
	    strcmp(settings_string(floor->core->settings, "team.on_parent_end"),
		"hand_over") == 0;
}

/* Its own parent, if that is still there; NULL = none. */
static struct task *
heir(const struct team_floor *floor, const struct task *t)
{
	struct task *above = task_run_is_child(t) ?
	    state_task(&floor->core->state, t->run->parent) :
	    NULL;

	return above != NULL && above->step != TASK_SETTLING ? above : NULL;
}

static void
give_to(struct task_run *run, struct task *heir)
{
	cleanup_free char *actor =
	    heir != NULL ? task_run_actor(heir) : xstrdup(ACTOR_OVERSEER);

	xstrset(&run->parent, heir != NULL ? heir->id : NULL);
	xstrset(&run->parent_actor, actor);
	if (heir != NULL)
		task_run_of(heir)->has_spawned = true;
}

/* The same in the plan, for a task that begins later. One that cannot be read
 * is nobody's any more. */
static void
give_node_to(struct plan_node *node, struct task *heir)
{
	struct task_run *run = NULL;
	int r = task_run_from_json(node->spawn, "spawn", &run, NULL);

	json_object_put(node->spawn);
	node->spawn = NULL;
	if (r < 0)
		return;
	give_to(run, heir);
	node->spawn = task_run_to_json(run);
	task_run_free(run);
}

static struct task *
task_of(const struct team_floor *floor, const struct plan_node *node)
{
	cleanup_free char *key = xasprintf("%s/%s", node->goal_id, node->id);

	return state_task_by_key(&floor->core->state, AUTO_PLAN_SOURCE, key);
}

/* Is it on the branch, or has its task its outcome? Its own end is recorded,
 * not that of its parent. */
static bool
has_ended(const struct team_floor *floor, const struct plan_node *node)
{
	const struct task *t = task_of(floor, node);

	return t != NULL &&
	    (t->step == TASK_LANDED || t->step == TASK_SETTLING);
}

/* A branch that moves is not stopped: outcome_drop(). */
static bool
is_landing(const struct team_floor *floor, const struct plan_node *node)
{
	const struct task *t = task_of(floor, node);
	const struct landing_item *item = t == NULL ?
	    NULL :
	    landing_record_of_task(&floor->core->state.landings, t->id);

	return item != NULL && item->step == ITEM_QUEUED &&
	    item->commit != NULL;
}

/* Is this node to be ended with its parent? */
static bool
ends_with(const struct team_floor *floor, const struct plan_node *node,
    const char *parent)
{
	return is_child_node_of(node, parent) &&
	    node_status_open(node->status) && !has_ended(floor, node);
}

static void
end_nodes_of(struct team_floor *floor, struct plan *plan, const struct task *t,
    const char *why)
{
	struct task *to = heir(floor, t);
	bool over = hands_over(floor, t), any = false;
	struct plan_change change;

	plan_change_begin(&change, floor->plan, plan, why);
	change.edit.actor = ACTOR_OVERSEER;
	for (size_t i = 0; i < plan->count; i++) {
		struct plan_node *node = plan->nodes[i];

		if (!ends_with(floor, node, t->id))
			continue;
		if (!over && !is_landing(floor, node)) {
			any |=
			    plan_edit_cancel(&change.edit, node->id, NULL) == 0;
		} else if (plan_edit_begin(&change.edit, NULL) == 0) {
			give_node_to(node, to);
			plan_changed(&change.changes, node);
			plan_edit_end(&change.edit, "handed over");
			any = true;
		}
	}
	if (any)
		plan_change_end(&change);
	else
		plan_change_drop(&change);
}

static bool
has_node_of(
    const struct team_floor *floor, const struct plan *plan, const char *parent)
{
	for (size_t i = 0;
	     goal_status_open(plan->goal->status) && i < plan->count; i++)
		if (ends_with(floor, plan->nodes[i], parent))
			return true;
	return false;
}

/* One whose work is just landing is not stopped: it goes on by itself. */
static void
end_task(struct team_floor *floor, struct task *child, const struct task *t,
    const char *why)
{
	if (hands_over(floor, t) ||
	    outcome_drop(floor->mode, child, true, why, NULL) == -EINPROGRESS)
		give_to(child->run, heir(floor, t));
	persist_changed(floor->core);
}

static void
end_children(struct team_floor *floor, const struct task *t)
{
	struct state *state = &floor->core->state;
	const struct plan_set *set = plan_floor_set(floor->plan);
	cleanup_free char *why =
	    xasprintf("%s, which spawned it, has ended: %s", t->id,
		task_outcome_name(t->outcome));

	/* Without their nodes nobody begins them again. */
	for (size_t i = set->plan_count; i-- > 0;)
		if (has_node_of(floor, set->plans[i], t->id))
			end_nodes_of(floor, set->plans[i], t, why);
	for (size_t i = state->task_count; i-- > 0;)
		if (i < state->task_count &&
		    state->tasks[i]->step != TASK_SETTLING &&
		    is_child_of(state->tasks[i], t->id))
			end_task(floor, state->tasks[i], t, why);
}

static bool
has_child_task(const struct team_floor *floor, const char *parent)
{
	const struct state *state = &floor->core->state;

	for (size_t i = 0; i < state->task_count; i++)
		if (is_child_of(state->tasks[i], parent) &&
		    state->tasks[i]->step != TASK_SETTLING)
			return true;
	return false;
}

static bool
has_children(const struct team_floor *floor, const struct task *t)
{
	const struct plan_set *set = plan_floor_set(floor->plan);

	if (has_child_task(floor, t->id))
		return true;
	for (size_t i = 0;
	     t->run != NULL && t->run->has_spawned && i < set->plan_count; i++)
		if (has_node_of(floor, set->plans[i], t->id))
			return true;
	return false;
}

/* Tasks may leave the state here: nobody goes through them now. */
static void
tend(void *arg)
{
	const struct team_family *family = arg;
	struct team_floor *floor = family->floor;
	const struct state *state = &floor->core->state;
	cleanup_strv char **ids = NULL;
	bool left = false;

	if (floor->plan->state != PLAN_OPEN || floor->core->stopping)
		return;
	for (size_t i = 0; i < state->task_count; i++)
		if (state->tasks[i]->step == TASK_SETTLING &&
		    has_children(floor, state->tasks[i]))
			strv_add(&ids, state->tasks[i]->id);
	for (char **id = ids; id != NULL && *id != NULL; id++) {
		const struct task *t = state_task(state, *id);

		if (t != NULL)
			end_children(floor, t);
		left |= t != NULL && has_children(floor, t);
	}
	/* Otherwise a worker is busy, and the next patrol asks again. */
	if (!left)
		auto_plan_changed(floor->mode);
}

/* --- life ---------------------------------------------------------------- */

int
team_family_settle(void *arg, const struct task *task, struct err *err)
{
	struct team_floor *floor = arg;
	struct task *t = state_task(&floor->core->state, task->id);

	if (t == NULL)
		return 0;
	if (floor->plan->state == PLAN_OFF || floor->plan->state == PLAN_SAFE) {
		if (task_run_is_child(t))
			team_result_tell_without_mail(floor, t);
		return 0;
	}
	if (floor->plan->state != PLAN_OPEN)
		return task_run_is_child(t) ||
			(t->run != NULL && t->run->has_spawned) ||
			has_child_task(floor, t->id) ?
		    err_set(err, -EINPROGRESS, "plans are being imported") :
		    0;
	if (has_children(floor, t)) {
		loop_call_request(floor->family->tend);
		return err_set(err, -EINPROGRESS,
		    "the agents that it spawned are being ended");
	}
	if (task_run_is_child(t))
		team_result_tell(floor, t);
	return 0;
}

struct team_family *
team_family_new(struct team_floor *floor)
{
	struct team_family *family = xcalloc(1, sizeof *family);

	family->floor = floor;
	family->tend = loop_call_new(floor->core->loop, tend, family);
	return family;
}

void
team_family_free(struct team_family *family)
{
	loop_call_free(family->tend);
	free(family);
}
