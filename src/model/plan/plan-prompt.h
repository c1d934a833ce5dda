/* SPDX-License-Identifier: ISC */

/*
 * The prompt for a node: what to do, when it is done, what it is a part of,
 * what is known from the nodes that it depends on, and how to report. Pure. The
 * same plan gives the same text.
 */
#ifndef PLAN_PROMPT_H
#define PLAN_PROMPT_H

struct buf;
struct plan;
struct plan_node;

/* Append at most PLAN_INSTRUCTION_MAX bytes. If there is more, the least useful
 * parts are left out first: the background of the goal, then what is known from
 * far away, then from near; the objective, the criteria and the contract for
 * reports stay, the first two cut if need be. */
void plan_prompt(
    const struct plan *plan, const struct plan_node *node, struct buf *out);

#endif
