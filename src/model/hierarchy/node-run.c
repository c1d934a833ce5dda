/* SPDX-License-Identifier: ISC */

#include <stddef.h>

#include "json.h"
#include "node-run.h"
#include "plan-node.h"
#include "strv.h"
#include "task-run.h"

struct task_run *
node_run(const struct plan_node *node)
{
	struct task_run *run = NULL;

	/* It was checked when it was stored. */
	if (node->spawn != NULL &&
	    task_run_from_json(node->spawn, "spawn", &run, NULL) < 0)
		run = NULL;
	if (run == NULL && node->verification == NULL &&
	    node->scope_paths == NULL)
		return NULL;
	if (run == NULL)
		run = task_run_new();
	if (run->contract == NULL)
		run->contract = json_object_get(node->verification);
	if (run->contract != NULL)
		run->verification = VERIFICATION_PENDING;
	if (run->scope_paths == NULL)
		run->scope_paths = strv_copy(strv_const(node->scope_paths));
	return run;
}

const char *
node_run_parent(const struct plan_node *node)
{
	return node->spawn == NULL ?
	    NULL :
	    json_string_or(node->spawn, "parent", NULL);
}

bool
node_run_is_spawned(const struct plan_node *node)
{
	return node_run_parent(node) != NULL ||
	    (node->spawn != NULL && json_int_or(node->spawn, "depth", 0) > 0);
}
