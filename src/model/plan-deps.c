/* SPDX-License-Identifier: ISC */

/*
 * Each node has two vertices, its start and its end. The start needs the ends
 * of its dependencies and the start of its parent; the end needs the start and
 * the ends of the children. Nodes wait for each other if and only if there is a
 * cycle among these.
 */

#include "base.h"
#include "api.h"
#include "plan-deps.h"
#include "plan.h"

#define NAMED_MAX 8 /* nodes of a cycle in a message */

enum colour {
	WHITE,
	GREY,
	BLACK
};

/* A vertex on the way, and the next of its edges to follow. */
struct step {
	size_t vertex;
	size_t member; /* of as_one */
	size_t edge;
};

struct walk {
	const struct plan *plan;
	struct plan_node *const *as_one;
	unsigned char *colours;
	struct step *steps;
	size_t depth;
};

static bool
is_merged(const struct walk *w, const struct plan_node *node)
{
	for (size_t i = 0; w->as_one != NULL && w->as_one[i] != NULL; i++)
		if (w->as_one[i] == node)
			return true;
	return false;
}

static size_t
vertex_of(const struct walk *w, const struct plan_node *node, bool end)
{
	if (is_merged(w, node))
		node = w->as_one[0];
	return node->slot * 2 + (end ? 1 : 0);
}

/* The edge of a vertex: the start of its parent or itself first, then the ends
 * of dependencies or children. 1 and the vertex, 0 if there is no such edge
 * here, -1 after the last one. */
static int
edge_of(const struct walk *w, const struct plan_node *node, bool end,
    size_t edge, size_t *ret_vertex)
{
	const struct plan_node *to;

	/* Nothing waits for it, and it waits for nothing. */
	if (node->status == NODE_CANCELLED)
		return -1;
	if (edge == 0) {
		to = end ? node : node->parent;
		if (to != NULL)
			*ret_vertex = vertex_of(w, to, false);
		return to != NULL;
	}
	edge--;
	if (end) {
		if (edge >= node->child_count)
			return -1;
		*ret_vertex = vertex_of(w, node->children[edge], true);
		return 1;
	}
	if (node->depends_on == NULL || node->depends_on[edge] == NULL)
		return -1;
	to = plan_find(w->plan, node->depends_on[edge]);
	if (to == NULL || (is_merged(w, to) && is_merged(w, node)))
		return 0;
	*ret_vertex = vertex_of(w, to, true);
	return 1;
}

/* The next edge of the step, over all nodes that are its vertex. */
static bool
next_edge(const struct walk *w, struct step *step, size_t *ret_vertex)
{
	for (;;) {
		const struct plan_node *node = w->plan->nodes[step->vertex / 2];
		int r;

		if (is_merged(w, node))
			node = w->as_one[step->member];
		if (node == NULL)
			return false;
		r = edge_of(
		    w, node, step->vertex % 2 == 1, step->edge, ret_vertex);
		if (r >= 0)
			step->edge++;
		if (r > 0)
			return true;
		if (r == 0)
			continue;
		if (!is_merged(w, node))
			return false;
		step->member++;
		step->edge = 0;
	}
}

static int
report(const struct walk *w, size_t vertex, struct err *err)
{
	cleanup_buf struct buf names = BUF_INIT;
	const struct plan_node *last = NULL;
	size_t from = w->depth, count = 0;

	while (w->steps[from - 1].vertex != vertex)
		from--;
	for (size_t i = from - 1; i < w->depth; i++) {
		const struct plan_node *node =
		    w->plan->nodes[w->steps[i].vertex / 2];

		if (node == last)
			continue;
		last = node;
		if (++count <= NAMED_MAX)
			buf_addf(&names, "%s -> ", node->id);
	}
	buf_addf(&names, "%s%s", count > NAMED_MAX ? "... -> " : "",
	    w->plan->nodes[vertex / 2]->id);
	return err_set(
	    err, API_E_CYCLE, "nodes wait for each other: %s", names.data);
}

static int
walk_from(struct walk *w, size_t first, struct err *err)
{
	size_t next;

	w->depth = 0;
	w->steps[w->depth++] = (struct step){ .vertex = first };
	w->colours[first] = GREY;
	while (w->depth > 0) {
		struct step *top = &w->steps[w->depth - 1];

		if (!next_edge(w, top, &next)) {
			w->colours[top->vertex] = BLACK;
			w->depth--;
		} else if (w->colours[next] == GREY) {
			return report(w, next, err);
		} else if (w->colours[next] == WHITE) {
			w->colours[next] = GREY;
			w->steps[w->depth++] = (struct step){ .vertex = next };
		}
	}
	return 0;
}

int
plan_deps_check(
    const struct plan *plan, struct plan_node *const *as_one, struct err *err)
{
	size_t vertices = plan->count * 2;
	struct walk w = { .plan = plan, .as_one = as_one };
	int r = 0;

	w.colours = xcalloc(vertices + 1, sizeof *w.colours);
	w.steps = xcalloc(vertices + 1, sizeof *w.steps);
	/* In the order of the plan, so that the message is always the same. */
	for (struct plan_node *n = plan_next(plan, NULL); n != NULL && r == 0;
	     n = plan_next(plan, n)) {
		size_t end = vertex_of(&w, n, true);

		if (w.colours[end] == WHITE)
			r = walk_from(&w, end, err);
	}
	free(w.colours);
	free(w.steps);
	return r;
}

const struct plan_node *
plan_deps_missing(const struct plan *plan, const struct plan_node *node)
{
	for (char **d = node->depends_on; d != NULL && *d != NULL; d++) {
		const struct plan_node *on = plan_find(plan, *d);

		if (on == NULL)
			return node;
		if (on->status != NODE_DONE && on->status != NODE_CANCELLED)
			return on;
	}
	return NULL;
}

const struct plan_node *
plan_deps_waits(const struct plan *plan, const struct plan_node *node)
{
	const struct plan_node *missing = NULL;

	for (; node != NULL && missing == NULL; node = node->parent)
		missing = plan_deps_missing(plan, node);
	return missing;
}
