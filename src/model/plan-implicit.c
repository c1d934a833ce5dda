/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "api.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "plan-edit.h"
#include "plan-implicit.h"
#include "plan-set.h"
#include "task.h"

/* Not the ids of plans that people write: those mean their nodes. */
#define PHASE "POOL"
#define NODE  "TASK"

char *
plan_implicit_key(const struct task *task, bool planned)
{
	if (planned)
		return task->key != NULL ? xstrdup(task->key) : NULL;
	return task->goal != NULL ? xasprintf("%s/%s", task->goal, NODE) : NULL;
}

/* --- making ------------------------------------------------------------ */

static void
add(struct plan *plan, struct plan_node *node, const char *parent)
{
	xstrset(&node->parent_id, parent);
	plan_attach(plan, node, NULL);
}

struct plan *
plan_implicit_new(const struct task *task, const char *goal_id, int64_t now_ms)
{
	struct plan_goal *goal = plan_goal_new(goal_id, task->title, now_ms);
	struct plan *plan = plan_new(goal);
	struct plan_node *node =
	    plan_node_new(goal_id, NODE_TASK, NODE, task->title, now_ms);

	goal->implicit = true;
	goal->priority = task->priority;
	goal->planner_inputs = json_object_new_object();
	json_set_string(goal->planner_inputs, "task", task->id);
	json_set_string(goal->planner_inputs, "source", task->source);
	json_set_string(goal->planner_inputs, "key", task->key);
	plan_cut(&node->objective, task->text, PLAN_TEXT_MAX);
	add(plan,
	    plan_node_new(goal_id, NODE_PHASE, PHASE, task->title, now_ms),
	    NULL);
	add(plan, node, PHASE);
	return plan;
}

/* --- finding ------------------------------------------------------------ */

struct plan_node *
plan_implicit_node(const struct plan *plan)
{
	return plan->goal->implicit ? plan_find(plan, NODE) : NULL;
}

bool
plan_implicit_is(
    const struct plan_set *set, const struct plan_assignment *assignment)
{
	const struct plan *plan = plan_set_plan(set, assignment->goal_id);

	return plan != NULL && plan->goal->implicit;
}

static bool
is_made_for(const struct plan_goal *goal, const struct task *task)
{
	struct json_object *from = goal->planner_inputs;

	return task->source != NULL && task->key != NULL &&
	    strcmp(json_string_or(from, "source", ""), task->source) == 0 &&
	    strcmp(json_string_or(from, "key", ""), task->key) == 0;
}

struct plan *
plan_implicit_reuse(const struct plan_set *set, const struct task *task)
{
	for (size_t i = set->plan_count; i-- > 0;) {
		struct plan *plan = set->plans[i];
		const struct plan_node *node = plan_implicit_node(plan);

		if (node != NULL && node->assignment == NULL &&
		    goal_status_open(plan->goal->status) &&
		    is_made_for(plan->goal, task))
			return plan;
	}
	return NULL;
}

/* --- ending ------------------------------------------------------------- */

int
plan_implicit_cancel(const struct plan_edit *edit, struct err *err)
{
	int r = plan_edit_cancel(edit, PHASE, err);

	return r < 0 ? r :
		       plan_goal_move(edit->plan->goal, GOAL_CANCELLED, NULL,
			   NULL, edit->now_ms, err);
}

bool
plan_implicit_may(const struct plan *plan, enum goal_status to)
{
	const struct plan_node *node = plan_implicit_node(plan);

	return to == GOAL_ARCHIVED ||
	    (to == GOAL_CANCELLED && node != NULL && node->assignment == NULL);
}

int
plan_implicit_refuse(const struct plan_goal *goal, struct err *err)
{
	const char *task = json_string_or(goal->planner_inputs, "task", "ID");

	return err_set(err, API_E_CLOSED,
	    "goal %s only records a task that is no part of a plan; change the "
	    "task instead: llmc task drop %s, or: llmc task retry %s",
	    goal->id, task, task);
}
