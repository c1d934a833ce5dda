/* SPDX-License-Identifier: ISC */

/*
 * The file of a plan. A new plan is read from the JSON that planners write, or
 * from a file: that JSON, or Markdown (plan-markdown.h); a plan is printed as
 * Markdown. Pure.
 *
 *   { "planVersion": 1,
 *     "goal": { "title", "successCriteria", "constraints", ... },
 *     "phases": [ { "id", "name", "objective", "acceptance", "deps", "tasks":
 *       [ { "id", "name", "outcome", "acceptance", "deps", "subtasks":
 *         [ { "id", "name", "acceptance", "deps" } ] } ] } ] }
 *
 * Unknown keys are refused.
 */
#ifndef PLAN_FILE_H
#define PLAN_FILE_H

#include "plan-check.h"

struct buf;
struct err;
struct json_object;
struct plan;
struct plan_node;

/* -EINVAL; the message has the path of the first problem. ret_problems (may be
 * NULL) gets all of them, up to PLAN_PROBLEMS_MAX, with their paths, for a
 * repair prompt; the caller frees it (buf.h). */
int plan_load(struct json_object *json, const struct plan_source *source,
    struct plan **ret_plan, char ***ret_problems, struct err *err);

/* What a plan says about the node: the members that are set, as plan_load()
 * reads them, without the nodes below it. Owned by the caller. */
struct json_object *plan_load_words(const struct plan_node *node);
/* Append the names of the members that are not as they were, with ", " between
 * them and what is there. */
void plan_load_changed(
    struct json_object *before, const struct plan_node *node, struct buf *out);

/* A file: JSON if the first character is '{', else Markdown. */
int plan_load_text(const char *text, size_t len,
    const struct plan_source *source, struct plan **ret_plan, struct err *err);

/* --- as text ------------------------------------------------------------- */

/*
 * A plan as Markdown, for a person to edit: what plan-markdown.h reads, with
 * the ids of the nodes. Pure. Names and entries of lists are printed on one
 * line; what Markdown has no place for, such as a hint for workers, is left
 * out.
 */

/* Append it. notes: with comments that say how it is edited, and which nodes
 * stay as they are (plan-revise.h). */
void plan_print(const struct plan *plan, bool notes, struct buf *out);

#endif
