/* SPDX-License-Identifier: ISC */

/*
 * How the agent of a task is launched, who asked for it and below whom it
 * stands, and what must be there when it ends. That of a node of a plan becomes
 * its task's. Pure; all strings, lists and objects are owned. NULL and 0 = as
 * its agent or worker is set.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stdbool.h>

struct json_object;
struct schema;

struct task_launch {
	/* Its place in the tree. */
	char *actor; /* NULL: that of task_actor() */
	char *parent; /* task id of its parent; NULL = it was not spawned */
	char *parent_actor;
	int depth, max_depth, local_max_depth; /* 0 = not asked for */
	char *goal; /* of its children, if it is no node of a goal */

	char *role, *label;
	char *agent; /* the name of a card, [agents.<name>] */
	char *model, *thinking;
	int timeout_s; /* of an attempt */
	char **tools_allow, **tools_deny;
	bool tools_scoped; /* tools_allow counts, even if it is empty */
	char **required_tools; /* it waits for a person if one is missing */
	char **wants; /* words that its host must have (hosts-rules.h) */
	char **confined_by; /* workers of the agents above it, whose settings
			     * limit it too */
	/* As the host has it that spawned it, where that is another one: no
	 * more than this. NULL, 0 = as here. */
	char *permission_mode;
	int64_t budget_tokens, budget_cost, budget_ms;
	int budget_turns;
	char **scope_paths; /* that it may write to; NULL = everywhere */
	bool read_only; /* it changes nothing: its worktree is read-only in a
			 * box */
	bool progress_reporting; /* its prompt asks for it */
	bool report_only; /* its result is what it says at the end, and no
			   * commit: that was asked for, or it has no tool
			   * that changes files */

	char *recovery; /* of a task without a plan: "reassign", ...; NULL = it
			 * has failed with its last attempt */
	struct json_object *contract;
};

extern const struct schema task_launch_schema;

#endif
