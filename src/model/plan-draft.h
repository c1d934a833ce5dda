/* SPDX-License-Identifier: ISC */

/*
 * A plan while it is read from lines of text: nodes with the lines they came
 * from, ids made by counting, and dependencies in words that are resolved at
 * the end. Pure. Errors name the line: -EINVAL.
 */
#ifndef PLAN_DRAFT_H
#define PLAN_DRAFT_H

#include <stddef.h>

#include "errtext.h"
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

void
plan_draft_init(struct plan_draft *draft, const struct plan_source *source);
void plan_draft_release(struct plan_draft *draft);

int plan_draft_fail(struct plan_draft *draft, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Add the last child of a parent (NULL: a phase). The text is its name, perhaps
 * with its id: "T1.2: name", "T1.2 name", or "name {#id}". Otherwise the id is
 * made of the numbers of the nodes above, and is one that the known plan
 * (source->limits) does not have. */
int plan_draft_add(struct plan_draft *draft, struct plan_node *parent,
    const char *text, struct plan_node **ret_node);

/* The node depends on what these words mean: an id, or the name of one node. */
void plan_draft_wish(struct plan_draft *draft, struct plan_node *node,
    const char *words, size_t len);

/* Resolve the words, and check the plan. It is the caller's then. */
int plan_draft_finish(struct plan_draft *draft, struct plan **ret_plan);

/* Append an id with a name, so that plan_draft_add() reads them. */
void plan_draft_print(const char *id, const char *name, struct buf *out);

/* Without blanks at both ends; the caller frees it. */
char *plan_draft_trim(const char *s, size_t len);

#endif
