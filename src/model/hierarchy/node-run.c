/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "node-run.h"
#include "plan-node.h"
#include "task-run.h"

struct task_run *
node_run(const struct plan_node *node)
{
	struct task_run *run = task_run_copy(node->spawn);

	if (run == NULL && node->verification == NULL &&
	    node->scope_paths == NULL && node->required_tools == NULL &&
	    node->result == NODE_RESULT_UNSET)
		return NULL;
	if (run == NULL)
		run = task_run_new();
	if (run->contract == NULL)
		run->contract = json_object_get(node->verification);
	if (run->contract != NULL)
		run->verification = VERIFICATION_PENDING;
	if (run->scope_paths == NULL)
		run->scope_paths = strv_copy(strv_const(node->scope_paths));
	run->required_tools = strv_copy(strv_const(node->required_tools));
	run->report_only |= node->result == NODE_RESULT_REPORT;
	return run;
}

const char *
node_run_parent(const struct plan_node *node)
{
	return node->spawn != NULL ? node->spawn->parent : NULL;
}

bool
node_run_is_spawned(const struct plan_node *node)
{
	return node_run_parent(node) != NULL ||
	    (node->spawn != NULL && node->spawn->depth > 0);
}
