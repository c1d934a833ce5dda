/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-rollup.h"
#include "plan.h"

/* What the children of a node are. */
struct tally {
	size_t counts[NODE_STATUS_COUNT];
	bool started;
	const struct plan_node *blocked; /* the first one */
};

static struct tally
count_children(struct plan_node *const *nodes, size_t count)
{
	struct tally tally = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct plan_node *n = nodes[i];

		tally.counts[n->status]++;
		if (n->status != NODE_CANCELLED && plan_node_started(n))
			tally.started = true;
		if (n->status == NODE_BLOCKED && tally.blocked == NULL)
			tally.blocked = n;
	}
	return tally;
}

static enum node_status
derive(const struct tally *tally, size_t count)
{
	const size_t *counts = tally->counts;
	size_t left = count - counts[NODE_CANCELLED];

	if (left == 0)
		return NODE_CANCELLED;
	if (counts[NODE_DONE] == left)
		return NODE_DONE;
	if (counts[NODE_IN_PROGRESS] > 0)
		return NODE_IN_PROGRESS;
	if (counts[NODE_BLOCKED] + counts[NODE_DONE] == left)
		return NODE_BLOCKED;
	if (tally->started)
		return NODE_IN_PROGRESS;
	return counts[NODE_QUEUED] > 0 ? NODE_QUEUED : NODE_TODO;
}

static bool
same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void
roll_node(struct plan_node *node, int64_t now_ms, struct plan_changes *changes)
{
	cleanup_buf struct buf reason = BUF_INIT;
	struct plan_node_move move = { .rolled_up = true };
	struct tally tally;

	if (plan_node_leaf(node) || node->override.actor != NULL)
		return;
	tally = count_children(node->children, node->child_count);
	move.to = derive(&tally, node->child_count);
	if (move.to == NODE_BLOCKED && tally.blocked != NULL) {
		/* Those below say which node it is already. */
		if (plan_node_leaf(tally.blocked))
			buf_addf(&reason, "%s: ", tally.blocked->id);
		buf_adds(&reason,
		    tally.blocked->blocked_reason == NULL ?
			"blocked" :
			tally.blocked->blocked_reason);
		buf_truncate(
		    &reason, text_cut(reason.data, reason.len, PLAN_TEXT_MAX));
		move.reason = reason.data;
	}
	if (tally.started && node->started_ms == 0)
		node->started_ms = now_ms;
	else if (node->status == move.to &&
	    same(node->blocked_reason, move.reason))
		return;
	plan_node_move(node, &move, now_ms, NULL);
	plan_changed(changes, node);
}

static void
roll_goal(struct plan *plan, int64_t now_ms, struct plan_changes *changes)
{
	struct plan_goal *goal = plan->goal;
	struct tally tally = count_children(plan->phases, plan->phase_count);
	enum node_status all = plan->phase_count > 0 ?
	    derive(&tally, plan->phase_count) :
	    NODE_TODO;
	bool done = all == NODE_DONE;
	enum goal_status to = done ? GOAL_COMPLETED : GOAL_ACTIVE;

	if (all == NODE_CANCELLED && plan_goal_delegated(goal) != NULL &&
	    goal_status_open(goal->status)) {
		if (plan_goal_move(
			goal, GOAL_CANCELLED, NULL, NULL, now_ms, NULL) == 0)
			changes->goal = true;
		return;
	}
	if (done ?
		!goal_status_open(goal->status) :
		goal->status != GOAL_COMPLETED || goal->override.actor != NULL)
		return;
	if (plan_goal_move(goal, to, NULL, NULL, now_ms, NULL) == 0)
		changes->goal = true;
}

void
plan_rollup(struct plan *plan, int64_t now_ms, struct plan_changes *changes)
{
	for (size_t i = 0; i < plan->phase_count; i++) {
		struct plan_node *phase = plan->phases[i];

		for (size_t k = 0; k < phase->child_count; k++)
			roll_node(phase->children[k], now_ms, changes);
		roll_node(phase, now_ms, changes);
	}
	roll_goal(plan, now_ms, changes);
}

void
plan_rollup_from(struct plan *plan, struct plan_node *node, int64_t now_ms,
    struct plan_changes *changes)
{
	/* The node itself, too: it may have lost its override, or children. */
	for (; node != NULL; node = node->parent)
		roll_node(node, now_ms, changes);
	roll_goal(plan, now_ms, changes);
}
