/* SPDX-License-Identifier: ISC */

/*
 * Which node waits for which: its own dependencies, those of the nodes above
 * it, and, if it has children, all of them. Pure. A dependency on a cancelled
 * node is fulfilled, as a cancelled child is ignored; one on a node that does
 * not exist is not.
 */
#ifndef PLAN_DEPS_H
#define PLAN_DEPS_H

struct err;
struct plan;
struct plan_node;

/* API_E_CYCLE with the nodes that wait for each other; O(nodes and
 * dependencies). The nodes of `as_one` (NULL terminated, may be NULL) count as
 * one node whose dependencies inside do not matter: would it be a cycle if they
 * were merged? */
int plan_deps_check(
    const struct plan *plan, struct plan_node *const *as_one, struct err *err);

/* The first dependency of the node itself that is not fulfilled; NULL = none.
 * One that does not exist gives the node itself. */
const struct plan_node *
plan_deps_missing(const struct plan *plan, const struct plan_node *node);

/* The same for the node and all above it. */
const struct plan_node *
plan_deps_waits(const struct plan *plan, const struct plan_node *node);

#endif
