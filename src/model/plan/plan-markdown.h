/* SPDX-License-Identifier: ISC */

/*
 * A new plan from Markdown. Pure.
 *
 *   # Title of the goal           optional if the caller knows the title
 *   What is to be solved.
 *   Constraints:                  and Acceptance:, the criteria of the goal
 *   - no new dependency
 *   ## A phase                    its text is the objective
 *   ### T1.1: A task              an id of its own, or the next one
 *   Acceptance:
 *   - what can be verified
 *   Depends: P1, another task     ids or names; a list as well
 *   Priority: high
 *   Recovery: replan              what is done about it when it has stalled
 *   Subtasks:                     optional; or a blank line ends a list
 *   - a subtask
 *     Acceptance: what can be verified
 *
 * A subtask without criteria has those of its task. Lists begin with '-', '*'
 * or '+'. Text inside fences is text; so is a line that begins with a
 * backslash, without it. An id that is not like T1.1 stands at the end: "A task
 * {#any-id}". Comments (<!-- -->) have lines of their own.
 */
#ifndef PLAN_MARKDOWN_H
#define PLAN_MARKDOWN_H

#include "plan-node.h"

struct buf;
struct plan;
struct plan_source;

/* What a node depends on, in the words of the file. */
struct plan_wish {
	struct plan_node *node;
	char *words;
	int line;
};

struct plan_draft {
	const struct plan_source *source;
	struct plan *plan;
	struct err err;
	int line; /* the current one */
	int *lines; /* of each node, by its slot */
	struct plan_wish *wishes;
	size_t wish_count, wish_room;
};

/* Append an id with a name, so that plan_draft_add() reads them. */
void plan_draft_print(const char *id, const char *name, struct buf *out);

/* Without blanks at both ends; the caller frees it. */
char *plan_draft_trim(const char *s, size_t len);

/* -EINVAL; the message names the line. */
int plan_markdown(const char *text, size_t len,
    const struct plan_source *source, struct plan **ret_plan, struct err *err);

/* Is this line, without the blanks in front of it, read as text? bullets: they
 * are text where it stands. */
bool plan_markdown_plain(const char *text, bool bullets);

#endif
