/* SPDX-License-Identifier: ISC */

#include "auto.h"
#include "intake.h"
#include "plan-bind.h"
#include "plan-known.h"
#include "plan-node.h"
#include "plan-summary.h"

void
plan_known(const struct plan_set *set, const struct task *task,
    struct auto_known *known)
{
	struct plan_node *node = NULL;
	struct plan *plan = NULL;

	if (!intake_is_planned(task) ||
	    plan_bind_find(set, task->key, &plan, &node, NULL) < 0)
		return;
	known->effort = node->estimated_effort;
	if (!plan_node_leaf(node))
		known->percent = plan_summary(plan, node).percent;
}
