/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-effort.h"
#include "plan-insights.h"
#include "plan-ready.h"
#include "plan.h"
#include "schema.h"

/*
 * The graph has two vertices for each node, its start (2 * slot) and its end
 * (2 * slot + 1), and an edge from each vertex to what follows it: the start of
 * a node to the starts of its children, or to its own end; the end of a node to
 * the end of its parent, and to the starts of those that depend on it. Only the
 * way through a leaf has a length.
 */
struct graph {
	const struct plan *plan;
	size_t count; /* of vertices */
	size_t *first; /* of the edges of each vertex; count + 1 entries */
	size_t *to;
	size_t *order; /* topological */
	size_t reached; /* vertices in it */
	int64_t *before; /* the longest way to a vertex */
	int64_t *after; /* the longest way from it */
	size_t *from; /* the vertex before it on that way; itself = none */
};

#define START(node)  (2 * (node)->slot)
#define FINISH(node) (2 * (node)->slot + 1)

static bool
is_open(const struct plan_node *node)
{
	return node_status_open(node->status);
}

static int64_t
effort_of(const struct plan_node *node)
{
	int64_t effort = plan_effort_iterations(node->estimated_effort);

	if (!is_open(node))
		return 0;
	return effort >= 0 ? effort : PLAN_INSIGHT_EFFORT;
}

static int64_t
length_of(const struct graph *g, size_t from, size_t to)
{
	const struct plan_node *node = g->plan->nodes[from / 2];

	return from % 2 == 0 && to == from + 1 && plan_node_leaf(node) ?
	    effort_of(node) :
	    0;
}

typedef void edge_fn(struct graph *g, size_t from, size_t to);

/* A cancelled node keeps nobody waiting. */
static void
each_edge(struct graph *g, edge_fn *fn)
{
	for (size_t i = 0; i < g->plan->count; i++) {
		const struct plan_node *node = g->plan->nodes[i];

		if (plan_node_leaf(node))
			fn(g, START(node), FINISH(node));
		if (node->parent != NULL) {
			fn(g, START(node->parent), START(node));
			fn(g, FINISH(node), FINISH(node->parent));
		}
		for (char **id = node->depends_on; id != NULL && *id != NULL;
		     id++) {
			const struct plan_node *on = plan_find(g->plan, *id);

			if (on != NULL && on->status != NODE_CANCELLED)
				fn(g, FINISH(on), START(node));
		}
	}
}

static void
count_edge(struct graph *g, size_t from, size_t to)
{
	(void)to;
	g->first[from + 1]++;
}

static void
add_edge(struct graph *g, size_t from, size_t to)
{
	g->to[g->order[from]++] = to;
}

/* Every vertex after all that it waits for; those of a cycle are left out. */
static void
sort(struct graph *g)
{
	cleanup_free size_t *waits = xcalloc(g->count + 1, sizeof *waits);

	for (size_t e = 0; e < g->first[g->count]; e++)
		waits[g->to[e]]++;
	g->reached = 0;
	for (size_t v = 0; v < g->count; v++)
		if (waits[v] == 0)
			g->order[g->reached++] = v;
	for (size_t i = 0; i < g->reached; i++) {
		size_t v = g->order[i];

		for (size_t e = g->first[v]; e < g->first[v + 1]; e++)
			if (--waits[g->to[e]] == 0)
				g->order[g->reached++] = g->to[e];
	}
}

static void
measure(struct graph *g)
{
	sort(g);
	for (size_t i = 0; i < g->reached; i++) {
		size_t v = g->order[i];

		for (size_t e = g->first[v]; e < g->first[v + 1]; e++) {
			size_t to = g->to[e];
			int64_t way = g->before[v] + length_of(g, v, to);

			if (way > g->before[to]) {
				g->before[to] = way;
				g->from[to] = v;
			}
		}
	}
	for (size_t i = g->reached; i-- > 0;) {
		size_t v = g->order[i];

		for (size_t e = g->first[v]; e < g->first[v + 1]; e++) {
			size_t to = g->to[e];
			int64_t way = g->after[to] + length_of(g, v, to);

			if (way > g->after[v])
				g->after[v] = way;
		}
	}
}

/* --- leaves ----------------------------------------------------------- */

static size_t
direct_of(const struct plan_node *node)
{
	size_t count = 0;

	for (; node != NULL; node = node->parent)
		for (char **id = node->blocks; id != NULL && *id != NULL; id++)
			count++;
	return count;
}

static void
add_leaf(struct plan_insights *all, const struct graph *g,
    const struct plan_node *node)
{
	struct plan_insight *leaf = &all->leaves[all->open++];

	*leaf = (struct plan_insight){ .node = node,
		.id = node->id,
		.name = node->name,
		.status = node->status,
		.effort = effort_of(node),
		.start = g->before[START(node)],
		.after = g->after[FINISH(node)],
		.direct = direct_of(node),
		.ready = plan_node_ready(g->plan, node) };
	all->effort += leaf->effort;
	all->ready += leaf->ready;
	all->blocked += node->status == NODE_BLOCKED;
	if (leaf->start + leaf->effort + leaf->after > all->length)
		all->length = leaf->start + leaf->effort + leaf->after;
}

/* The open leaves behind a vertex. seen: marks of this and earlier walks. */
static size_t
count_waiting(const struct graph *g, const struct plan_node *node,
    size_t *stack, unsigned *seen, unsigned mark)
{
	size_t depth = 0, waiting = 0;

	stack[depth++] = FINISH(node);
	seen[FINISH(node)] = mark;
	while (depth > 0) {
		size_t v = stack[--depth];
		const struct plan_node *at = g->plan->nodes[v / 2];

		if (v % 2 == 0 && plan_node_leaf(at) && is_open(at))
			waiting++;
		for (size_t e = g->first[v]; e < g->first[v + 1]; e++) {
			if (seen[g->to[e]] == mark)
				continue;
			seen[g->to[e]] = mark;
			stack[depth++] = g->to[e];
		}
	}
	return waiting;
}

/* --- lists ------------------------------------------------------------ */

static int
compare(int64_t a, int64_t b)
{
	return a > b ? -1 : a < b;
}

/* By the way behind it, then by the place in the plan. */
static int
by_after(const void *a, const void *b)
{
	const struct plan_insight *x = *(struct plan_insight *const *)a;
	const struct plan_insight *y = *(struct plan_insight *const *)b;
	int r = compare(x->after, y->after);

	return r != 0 ? r : x < y ? -1 : x > y;
}

static int
by_direct(const void *a, const void *b)
{
	const struct plan_insight *x = *(struct plan_insight *const *)a;
	const struct plan_insight *y = *(struct plan_insight *const *)b;
	int r = compare((int64_t)x->direct, (int64_t)y->direct);

	return r != 0 ? r : x < y ? -1 : x > y;
}

static int
by_waiting(const void *a, const void *b)
{
	const struct plan_insight *x = *(struct plan_insight *const *)a;
	const struct plan_insight *y = *(struct plan_insight *const *)b;
	int r = compare((int64_t)x->waiting, (int64_t)y->waiting);

	if (r == 0)
		r = compare(x->effort, y->effort);
	return r != 0 ? r : x < y ? -1 : x > y;
}

/* Count for those that are likely to have many. */
static void
count_likely(struct plan_insights *all, const struct graph *g,
    struct plan_insight **sorted)
{
	cleanup_free size_t *stack = xcalloc(g->count + 1, sizeof *stack);
	cleanup_free unsigned *seen = xcalloc(g->count + 1, sizeof *seen);
	unsigned mark = 0;

	for (int pass = 0; pass < 2; pass++) {
		qsort(sorted, all->open, sizeof(struct plan_insight *),
		    pass == 0 ? by_after : by_direct);
		for (size_t i = 0; i < all->open && i < PLAN_INSIGHTS_TRIED / 2;
		     i++)
			if (sorted[i]->waiting == 0)
				sorted[i]->waiting = count_waiting(
				    g, sorted[i]->node, stack, seen, ++mark);
	}
}

static void
fill_lists(struct plan_insights *all, const struct graph *g)
{
	cleanup_free struct plan_insight **sorted =
	    xcalloc(all->open + 1, sizeof(struct plan_insight *));

	for (size_t i = 0; i < all->open; i++) {
		struct plan_insight *leaf = &all->leaves[i];

		leaf->slack =
		    all->length - leaf->start - leaf->effort - leaf->after;
		sorted[i] = leaf;
	}
	count_likely(all, g, sorted);
	qsort(sorted, all->open, sizeof(struct plan_insight *), by_waiting);
	for (size_t i = 0; i < all->open && sorted[i]->waiting > 0; i++) {
		size_t index = (size_t)(sorted[i] - all->leaves);

		if (all->blocker_count < PLAN_INSIGHTS_MAX)
			all->blockers[all->blocker_count++] = index;
		if (sorted[i]->slack == 0 &&
		    all->bottleneck_count < PLAN_INSIGHTS_MAX)
			all->bottlenecks[all->bottleneck_count++] = index;
	}
}

/* From the vertex that is reached last, back to the beginning. */
static void
find_path(struct plan_insights *all, const struct graph *g)
{
	cleanup_free size_t *index = xcalloc(g->plan->count + 1, sizeof *index);
	size_t at = 0, v;

	for (size_t i = 0; i < all->open; i++)
		index[all->leaves[i].node->slot] = i + 1;
	for (v = 1; v < g->count; v++)
		if (g->before[v] > g->before[at])
			at = v;
	all->path = xcalloc(all->open + 1, sizeof *all->path);
	if (all->open == 0 || g->before[at] == 0)
		return;
	for (v = at;; v = g->from[v]) {
		if (v % 2 == 1 && g->from[v] == v - 1 && index[v / 2] > 0 &&
		    all->leaves[index[v / 2] - 1].effort > 0)
			all->path[all->path_count++] = index[v / 2] - 1;
		if (g->from[v] == v)
			break;
	}
	for (size_t i = 0; i < all->path_count / 2; i++) {
		size_t other = all->path_count - 1 - i, swap = all->path[i];

		all->path[i] = all->path[other];
		all->path[other] = swap;
	}
}

void
plan_insights(const struct plan *plan, struct plan_insights *ret_insights)
{
	struct plan_insights all = { .goal = plan->goal->id,
		.version = plan->goal->version };
	struct graph graph;
	struct graph *g = &graph;
	size_t room = plan->count * 2;

	*g = (struct graph){ .plan = plan, .count = room };
	g->first = xcalloc(room + 1, sizeof *g->first);
	g->order = xcalloc(room + 1, sizeof *g->order);
	g->before = xcalloc(room + 1, sizeof *g->before);
	g->after = xcalloc(room + 1, sizeof *g->after);
	g->from = xcalloc(room + 1, sizeof *g->from);
	each_edge(g, count_edge);
	for (size_t v = 0; v < room; v++) {
		g->first[v + 1] += g->first[v];
		g->order[v] = g->first[v];
		g->from[v] = v;
	}
	g->to = xcalloc(g->first[room] + 1, sizeof *g->to);
	each_edge(g, add_edge);
	measure(&graph);
	all.leaves = xcalloc(plan->count + 1, sizeof *all.leaves);
	for (const struct plan_node *node = plan_next(plan, NULL); node != NULL;
	     node = plan_next(plan, node))
		if (plan_node_leaf(node) && is_open(node))
			add_leaf(&all, &graph, node);
	fill_lists(&all, &graph);
	find_path(&all, &graph);
	free(graph.first);
	free(graph.to);
	free(graph.order);
	free(graph.before);
	free(graph.after);
	free(graph.from);
	*ret_insights = all;
}

void
plan_insights_release(struct plan_insights *insights)
{
	free(insights->leaves);
	free(insights->path);
	*insights = (struct plan_insights){ 0 };
}

/* --- JSON ------------------------------------------------------------- */

#define LEAF(key, member, ...) \
	SCHEMA_FIELD(struct plan_insight, key, member, ##__VA_ARGS__)
#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct plan_insights, key, member, ##__VA_ARGS__)
#define LEAVES(key)                                             \
	{                                                       \
		.name = (key), .type = SCHEMA_ROWS, .of = &leaf \
	}

static const struct schema_field leaf_fields[] = {
	LEAF("node", id, .flags = SCHEMA_REQUIRED),
	LEAF("name", name, .flags = SCHEMA_REQUIRED),
	LEAF("status", status, .words = node_status_words),
	LEAF("effort", effort, .help = "turns"),
	LEAF("start", start, .help = "turns of others before it can begin"),
	LEAF("slack", slack,
	    .help = "turns later that change nothing; 0: critical"),
	LEAF("waiting", waiting,
	    .help = "open nodes that wait for it; 0 if it was not counted"),
};
static const struct schema leaf = SCHEMA_OF(struct plan_insight, leaf_fields);

static const struct schema_field fields[] = {
	FIELD("goal", goal, .flags = SCHEMA_REQUIRED),
	FIELD("version", version),
	FIELD("open", open),
	FIELD("ready", ready),
	FIELD("blocked", blocked),
	FIELD("effort", effort, .help = "of all"),
	FIELD("critical_effort", length),
	LEAVES("critical_path"),
	LEAVES("bottlenecks"),
	LEAVES("blockers"),
};

const struct schema plan_insights_schema =
    SCHEMA_OF(struct plan_insights, fields);

static struct json_object *
list_json(const struct plan_insights *all, const size_t *list, size_t count)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < count; i++)
		json_object_array_add(
		    array, schema_json(&leaf, &all->leaves[list[i]]));
	return array;
}

struct json_object *
plan_insights_to_json(const struct plan_insights *all)
{
	struct json_object *json = schema_json(&plan_insights_schema, all);

	json_set(
	    json, "critical_path", list_json(all, all->path, all->path_count));
	json_set(json, "bottlenecks",
	    list_json(all, all->bottlenecks, all->bottleneck_count));
	json_set(json, "blockers",
	    list_json(all, all->blockers, all->blocker_count));
	return json;
}
