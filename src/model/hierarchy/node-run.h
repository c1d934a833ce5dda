/* SPDX-License-Identifier: ISC */

/* What a node of a plan says about the run of its task: who asked for it, how
 * its agent is launched, its contract, where it may write. Pure. */
#ifndef NODE_RUN_H
#define NODE_RUN_H

struct plan_node;
struct task_run;

/* For the task of the node; the caller frees it. NULL = nothing. */
struct task_run *node_run(const struct plan_node *node);

/* The task whose agent asked for the node; NULL = none did; borrowed. */
const char *node_run_parent(const struct plan_node *node);
/* Did one, even if nobody is left above it? */
bool node_run_is_spawned(const struct plan_node *node);

#endif
