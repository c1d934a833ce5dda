/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "errtext.h"
#include "mem.h"
#include "plan-edit.h"
#include "plan-rollup.h"
#include "plan.h"

int
plan_edit_begin(const struct plan_edit *edit, struct err *err)
{
	const struct plan_goal *goal = edit->plan->goal;

	if (goal->status == GOAL_CANCELLED || goal->status == GOAL_ARCHIVED)
		return err_set(err, API_E_CLOSED,
		    "goal %s is %s; its plan cannot be changed", goal->id,
		    goal_status_name(goal->status));
	return 0;
}

void
plan_edit_end(const struct plan_edit *edit, const char *what)
{
	struct plan_revision *revision;
	const struct plan_changes *changes = edit->changes;
	size_t count =
	    changes->count < PLAN_LIST_MAX ? changes->count : PLAN_LIST_MAX;

	plan_rollup(edit->plan, edit->now_ms, edit->changes);
	revision = plan_goal_revise(
	    edit->plan->goal, edit->actor, what, edit->why, edit->now_ms);
	revision->nodes = xcalloc(count + 1, sizeof *revision->nodes);
	for (size_t i = 0; i < count; i++)
		revision->nodes[i] = xstrdup(changes->nodes[i]->id);
	edit->changes->goal = true;
}

/* Both steps that begin every change of one node. */
static int
begin(const struct plan_edit *edit, const char *id, struct plan_node **ret_node,
    struct err *err)
{
	int r = plan_edit_begin(edit, err);

	return r < 0 ? r : plan_get(edit->plan, id, ret_node, err);
}

static int
check_open(const struct plan_node *node, struct err *err)
{
	if (node_status_open(node->status))
		return 0;
	return err_set(err, API_E_CLOSED, "%s is %s already", node->id,
	    node_status_name(node->status));
}

static void
end(const struct plan_edit *edit, struct plan_node *node, const char *what)
{
	cleanup_free char *words = xasprintf("%s %s", what, node->id);

	node->updated_ms = edit->now_ms;
	plan_changed(edit->changes, node);
	plan_edit_end(edit, words);
}

int
plan_edit_priority(const struct plan_edit *edit, const char *id,
    enum priority priority, struct err *err)
{
	cleanup_free char *what = NULL;
	struct plan_node *node;
	int r = begin(edit, id, &node, err);

	if (r < 0)
		return r;
	node->priority = priority;
	what = xasprintf("%s priority for",
	    priority == PRIORITY_COUNT ? "inherited" : priority_name(priority));
	end(edit, node, what);
	return 0;
}

static int
set_done(const struct plan_edit *edit, struct plan_node *node,
    const struct plan_evidence *evidence, struct err *err)
{
	struct plan_node_move move = { .to = NODE_DONE, .evidence = evidence };
	int r;

	if (plan_node_leaf(node)) {
		r = plan_node_move(node, &move, edit->now_ms, err);
		if (r == 0 || plan_blank(edit->why))
			return r;
	} else if (plan_blank(edit->why)) {
		return err_set(err, API_E_CHILDREN,
		    "%s is done when everything below it is; give a reason to "
		    "override that",
		    node->id);
	}
	move.actor = edit->actor;
	move.override_reason = edit->why;
	return plan_node_move(node, &move, edit->now_ms, err);
}

int
plan_edit_done(const struct plan_edit *edit, const char *id,
    const struct plan_evidence *evidence, struct err *err)
{
	struct plan_node *node;
	int r = begin(edit, id, &node, err);

	if (r == 0)
		r = check_open(node, err);
	if (r == 0)
		r = set_done(edit, node, evidence, err);
	if (r == 0)
		end(edit, node, "done:");
	return r;
}

int
plan_edit_block(const struct plan_edit *edit, const char *id, struct err *err)
{
	struct plan_node_move move = { .to = NODE_BLOCKED,
		.reason = edit->why };
	struct plan_node *node;
	int r = begin(edit, id, &node, err);

	if (r < 0)
		return r;
	if (plan_blank(edit->why))
		return err_set(
		    err, API_E_REASON, "%s: say why it is blocked", node->id);
	r = check_open(node, err);
	if (r < 0)
		return r;
	if (!plan_node_leaf(node)) {
		move.rolled_up = true;
		move.actor = edit->actor;
		move.override_reason = edit->why;
	}
	r = plan_node_move(node, &move, edit->now_ms, err);
	if (r == 0)
		end(edit, node, "blocked");
	return r;
}

int
plan_edit_cancel(const struct plan_edit *edit, const char *id, struct err *err)
{
	const struct plan_node_move move = { .to = NODE_CANCELLED };
	struct plan_node *node, *last;
	bool any = false;
	int r = begin(edit, id, &node, err);

	if (r < 0)
		return r;
	last = plan_next_beside(edit->plan, node);
	for (struct plan_node *n = node; n != last;
	     n = plan_next(edit->plan, n)) {
		if (!node_status_open(n->status))
			continue;
		any = true;
		/* A parent follows, also one that was overridden. */
		plan_override_release(&n->override);
		if (plan_node_leaf(n))
			plan_node_move(n, &move, edit->now_ms, NULL);
		plan_changed(edit->changes, n);
	}
	if (!any)
		return err_set(err, API_E_CLOSED, "%s is %s already", node->id,
		    node_status_name(node->status));
	end(edit, node, "cancelled");
	return 0;
}

/* What is blocked or done waits for somebody again. */
static int
queue_again(const struct plan_edit *edit, const char *id, enum node_status from,
    const char *what, struct err *err)
{
	const struct plan_node_move move = { .to = NODE_QUEUED };
	struct plan_node *node;
	int r = begin(edit, id, &node, err);

	if (r < 0)
		return r;
	if (node->status != from)
		return err_set(err, API_E_TRANSITION, "%s is %s, not %s",
		    node->id, node_status_name(node->status),
		    node_status_name(from));
	if (plan_node_leaf(node))
		plan_node_move(node, &move, edit->now_ms, NULL);
	else if (node->override.actor != NULL)
		plan_override_release(&node->override);
	else if (from == NODE_BLOCKED)
		return err_set(err, API_E_CHILDREN,
		    "%s is blocked by what is below it (%s)", node->id,
		    node->blocked_reason);
	else
		return err_set(err, API_E_CHILDREN,
		    "%s is done because everything below it is; open a node "
		    "below it",
		    node->id);
	end(edit, node, what);
	return 0;
}

int
plan_edit_unblock(const struct plan_edit *edit, const char *id, struct err *err)
{
	return queue_again(edit, id, NODE_BLOCKED, "unblocked", err);
}

int
plan_edit_reopen(const struct plan_edit *edit, const char *id, struct err *err)
{
	return queue_again(edit, id, NODE_DONE, "opened again:", err);
}
