/* SPDX-License-Identifier: ISC */

/*
 * A plan as Markdown, for a person to edit: what plan-markdown.h reads, with
 * the ids of the nodes. Pure. Names and entries of lists are printed on one
 * line; what Markdown has no place for, such as a hint for workers, is left
 * out.
 */
#ifndef PLAN_PRINT_H
#define PLAN_PRINT_H

struct buf;
struct plan;

/* Append it. notes: with comments that say how it is edited, and which nodes
 * stay as they are (plan-revise.h). */
void plan_print(const struct plan *plan, bool notes, struct buf *out);

#endif
