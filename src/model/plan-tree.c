/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-assignment.h"
#include "plan-deps.h"
#include "plan-ready.h"
#include "plan-summary.h"
#include "plan-tree.h"
#include "plan.h"
#include "table.h"

#define COMMIT_LEN 12 /* characters shown of a commit id */

void
plan_tree_head(const struct plan *plan, struct buf *out)
{
	struct plan_summary s = plan_summary(plan, NULL);

	buf_addf(out, "%s (%s): %s, %zu of %zu done (%d%%)", plan->goal->title,
	    plan->goal->id, plan_summary_word(plan->goal->status, s.dropped),
	    s.leaves[NODE_DONE], s.total, s.percent);
	if (s.ready > 0)
		buf_addf(out, ", %zu ready", s.ready);
	if (s.leaves[NODE_BLOCKED] > 0)
		buf_addf(out, ", %zu blocked", s.leaves[NODE_BLOCKED]);
	if (s.leaves[NODE_CANCELLED] > s.replaced)
		buf_addf(out, ", %zu cancelled",
		    s.leaves[NODE_CANCELLED] - s.replaced);
}

static void
add_part(struct buf *out, size_t start, const char *words)
{
	buf_addf(out, "%s%s", out->len == start ? "" : "; ", words);
}

/* What it waits for, unless that is what its parent waits for as well. */
static void
add_waiting(const struct plan *plan, const struct plan_node *node,
    struct buf *out, size_t start)
{
	const struct plan_node *on = plan_deps_missing(plan, node);

	if (!node_status_open(node->status))
		return;
	if (on != NULL && on != node) {
		add_part(out, start, "waits for ");
		buf_adds(out, on->id);
	} else if (on == node) {
		add_part(out, start, "depends on a node that does not exist");
	} else if (plan_node_ready(plan, node)) {
		add_part(out, start, "ready");
	}
}

static void
add_progress(const struct plan *plan, const struct plan_node *node,
    struct buf *out, size_t start)
{
	struct plan_summary s = plan_summary(plan, node);
	cleanup_free char *words = NULL;

	if (s.total == 0 || s.leaves[NODE_DONE] == s.total)
		return;
	words = xasprintf("%zu of %zu", s.leaves[NODE_DONE], s.total);
	add_part(out, start, words);
}

/* Why, if somebody said it. */
static void
add_cancelled(const struct plan *plan, const struct plan_node *node,
    struct buf *out, size_t start)
{
	cleanup_free char *what = xasprintf("cancelled %s", node->id);
	const struct plan_goal *goal = plan->goal;

	for (size_t i = goal->revision_count; i-- > 0;)
		if (strcmp(goal->revisions[i].what, what) == 0) {
			if (goal->revisions[i].why != NULL)
				add_part(out, start, goal->revisions[i].why);
			return;
		}
}

void
plan_tree_note(
    const struct plan *plan, const struct plan_node *node, struct buf *out)
{
	size_t start = out->len;

	if (!plan_node_leaf(node))
		add_progress(plan, node, out, start);
	if (node->assignment != NULL) {
		const struct plan_assignment *a = node->assignment;

		add_part(out, start,
		    a->worker != NULL       ? a->worker :
			a->agent_id != NULL ? a->agent_id :
					      a->id);
		if (a->task != NULL)
			buf_addf(out, " (%s)", a->task);
		buf_addf(out, ", %s", assignment_status_name(a->status));
		if (a->blocked_reason != NULL)
			buf_addf(out, ": %s", a->blocked_reason);
	}
	if (node->blocked_reason != NULL &&
	    (node->assignment == NULL ||
		node->assignment->blocked_reason == NULL ||
		strcmp(node->assignment->blocked_reason,
		    node->blocked_reason) != 0))
		add_part(out, start, node->blocked_reason);
	if (node->status == NODE_CANCELLED && plan_node_leaf(node))
		add_cancelled(plan, node, out, start);
	if (node->replan_why != NULL)
		add_part(out, start, "the planner is asked to plan it anew");
	if (node->override.actor != NULL) {
		add_part(out, start, "overridden by ");
		buf_addf(
		    out, "%s: %s", node->override.actor, node->override.reason);
	}
	add_waiting(plan, node, out, start);
	for (char **id = node->replaced_by; id != NULL && *id != NULL; id++)
		buf_addf(out, "%s%s",
		    id != node->replaced_by ? ", " :
			out->len == start   ? "replaced by " :
					      "; replaced by ",
		    *id);
	if (node->status == NODE_DONE && node->evidence.commits != NULL)
		buf_addf(out, "%s%.*s", out->len == start ? "" : "; ",
		    COMMIT_LEN, node->evidence.commits[0]);
}

struct table *
plan_tree(
    const struct plan *plan, const char *(*colour)(enum node_status status))
{
	static const struct table_column columns[] = {
		{ .title = "node", .flexible = true },
		{ .title = "status" },
		{ .title = "note", .flexible = true },
	};
	struct table *table = table_new(columns, nitems(columns));

	for (struct plan_node *n = plan_next(plan, NULL); n != NULL;
	     n = plan_next(plan, n)) {
		cleanup_buf struct buf name = BUF_INIT, note = BUF_INIT;

		buf_addf(
		    &name, "%*s%s %s", (int)n->kind * 2, "", n->id, n->name);
		plan_tree_note(plan, n, &note);
		table_row(table,
		    (const char *const[]){
			name.data, node_status_name(n->status), note.data });
		if (colour != NULL)
			table_colour(table, 1, colour(n->status));
	}
	return table;
}
