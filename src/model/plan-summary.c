/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-ready.h"
#include "plan-summary.h"
#include "plan.h"
#include "planner-result.h"

/* forced: the status of an overridden node above; NODE_STATUS_COUNT = none. */
static void
count(const struct plan *plan, const struct plan_node *node,
    enum node_status forced, struct plan_summary *summary)
{
	enum node_status status =
	    forced == NODE_STATUS_COUNT ? node->status : forced;

	if (plan_node_leaf(node)) {
		summary->leaves[status]++;
		if (status == NODE_CANCELLED &&
		    strv_count(node->replaced_by) > 0)
			summary->replaced++;
		if (plan_node_ready(plan, node))
			summary->ready++;
		if (node->assignment != NULL)
			summary->assigned++;
		return;
	}
	if (node->override.actor != NULL && !node_status_open(node->status) &&
	    forced == NODE_STATUS_COUNT)
		forced = node->status;
	for (size_t i = 0; i < node->child_count; i++)
		count(plan, node->children[i], forced, summary);
}

struct plan_summary
plan_summary(const struct plan *plan, const struct plan_node *node)
{
	struct plan_summary s = { .planning =
				      node == NULL && planner_is_due(plan) };

	if (node != NULL)
		count(plan, node, NODE_STATUS_COUNT, &s);
	for (size_t i = 0; node == NULL && i < plan->phase_count; i++)
		count(plan, plan->phases[i], NODE_STATUS_COUNT, &s);
	/* What was cancelled was not done: three of five is not all. Those that
	 * were replaced are done by others. */
	for (int i = 0; i < NODE_STATUS_COUNT; i++)
		s.total += s.leaves[i];
	s.total -= s.replaced;
	s.dropped = s.leaves[NODE_CANCELLED] - s.replaced;
	if (s.total > 0)
		s.percent = (int)(s.leaves[NODE_DONE] * 100 / s.total);
	return s;
}

const char *
plan_summary_word(enum goal_status status, size_t dropped)
{
	return status == GOAL_COMPLETED && dropped > 0 ?
	    "incomplete" :
	    goal_status_name(status);
}

#define UNDONE_MAX 10 /* nodes that are named */

void
plan_summary_undone(const struct plan *plan, struct buf *out)
{
	struct plan_summary s = plan_summary(plan, NULL);
	size_t named = 0;

	if (plan->goal->status != GOAL_COMPLETED || s.dropped == 0)
		return;
	buf_addf(
	    out, "%zu of %zu done; not done: ", s.leaves[NODE_DONE], s.total);
	for (const struct plan_node *n = plan_next(plan, NULL);
	     n != NULL && named < UNDONE_MAX; n = plan_next(plan, n))
		if (plan_node_leaf(n) && n->status == NODE_CANCELLED &&
		    strv_count(n->replaced_by) == 0)
			buf_addf(out, "%s%s", named++ > 0 ? ", " : "", n->id);
	if (named == 0)
		buf_addf(out, "%zu", s.dropped);
	else if (s.dropped > named)
		buf_addf(out, " and %zu more", s.dropped - named);
}

#define COUNT(key, member, words) \
	SCHEMA_FIELD(struct plan_summary, key, member, .help = (words))

static const struct schema_field fields[] = {
	COUNT("total", total,
	    "nodes without children, without those that others have replaced"),
	COUNT("percent", percent, "done of the total"),
	COUNT("planning", planning,
	    "there is no plan, and the planner is to make one"),
	COUNT("ready", ready, "can be worked on now"),
	COUNT("assigned", assigned, "somebody works on them"),
	COUNT("todo", leaves[NODE_TODO], NULL),
	COUNT("queued", leaves[NODE_QUEUED], NULL),
	COUNT("in_progress", leaves[NODE_IN_PROGRESS], NULL),
	COUNT("blocked", leaves[NODE_BLOCKED], NULL),
	COUNT("done", leaves[NODE_DONE], NULL),
	COUNT("cancelled", leaves[NODE_CANCELLED], NULL),
	COUNT(
	    "dropped", dropped, "of those, the ones that nothing has replaced"),
};

const struct schema plan_summary_schema =
    SCHEMA_OF(struct plan_summary, fields);

struct json_object *
plan_summary_to_json(const struct plan_summary *summary)
{
	return schema_json(&plan_summary_schema, summary);
}
