/* SPDX-License-Identifier: ISC */

/*
 * A plan for people: one line per node with its progress, what blocks it and
 * who works on it. Pure.
 */
#ifndef PLAN_TREE_H
#define PLAN_TREE_H

#include "plan-status.h"

struct buf;
struct plan;
struct plan_node;
struct table;

/* "Ship it (goal_1): active, 3 of 10 done (30%), 2 ready, 1 blocked". */
void plan_tree_head(const struct plan *plan, struct buf *out);

/* What there is to say about a node beside its status: why it is blocked, who
 * works on it, what it waits for, how far it is, its commit. */
void plan_tree_note(
    const struct plan *plan, const struct plan_node *node, struct buf *out);

/* All nodes, to be printed at the width of the terminal (table.h); the caller
 * frees it. colour: the SGR parameters of a status, NULL = none. */
struct table *plan_tree(
    const struct plan *plan, const char *(*colour)(enum node_status status));

#endif
