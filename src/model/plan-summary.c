/* SPDX-License-Identifier: ISC */

#include "json.h"
#include "plan-ready.h"
#include "plan-summary.h"
#include "plan.h"
#include "strv.h"

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
	struct plan_summary s = { 0 };

	if (node != NULL)
		count(plan, node, NODE_STATUS_COUNT, &s);
	for (size_t i = 0; node == NULL && i < plan->phase_count; i++)
		count(plan, plan->phases[i], NODE_STATUS_COUNT, &s);
	/* What was cancelled was not done: three of five is not all. Those that
	 * were replaced are done by others. */
	for (int i = 0; i < NODE_STATUS_COUNT; i++)
		s.total += s.leaves[i];
	s.total -= s.replaced;
	if (s.total > 0)
		s.percent = (int)(s.leaves[NODE_DONE] * 100 / s.total);
	return s;
}

struct json_object *
plan_summary_to_json(const struct plan_summary *summary)
{
	struct json_object *json = json_object_new_object();

	json_set_int(json, "total", (int64_t)summary->total);
	json_set_int(json, "percent", summary->percent);
	json_set_int(json, "ready", (int64_t)summary->ready);
	json_set_int(json, "assigned", (int64_t)summary->assigned);
	for (int i = 0; i < NODE_STATUS_COUNT; i++)
		json_set_int(
		    json, node_status_words[i], (int64_t)summary->leaves[i]);
	json_set_int(json, "dropped",
	    (int64_t)(summary->leaves[NODE_CANCELLED] - summary->replaced));
	return json;
}
