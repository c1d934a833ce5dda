/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-insights.h"
#include "plan-node.h"
#include "plan-progress.h"
#include "plan.h"
#include "schema.h"

/* --- insights -------------------------------------------------------- */

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

/* Nothing waits for a cancelled node. */
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

static void
measure(struct graph *g)
{
	cleanup_free size_t *waits = xcalloc(g->count + 1, sizeof *waits);

	/* Every vertex after all that it waits for; those of a cycle are left
	 * out. */
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

static void
fill_lists(struct plan_insights *all, const struct graph *g)
{
	cleanup_free struct plan_insight **sorted =
	    xcalloc(all->open + 1, sizeof(struct plan_insight *));
	cleanup_free size_t *stack = NULL;
	cleanup_free unsigned *seen = NULL;
	unsigned mark = 0;

	for (size_t i = 0; i < all->open; i++) {
		struct plan_insight *leaf = &all->leaves[i];

		leaf->slack =
		    all->length - leaf->start - leaf->effort - leaf->after;
		sorted[i] = leaf;
	}
	/* Count for those that are likely to have many. */
	stack = xcalloc(g->count + 1, sizeof *stack);
	seen = xcalloc(g->count + 1, sizeof *seen);
	for (int pass = 0; pass < 2; pass++) {
		qsort(sorted, all->open, sizeof(struct plan_insight *),
		    pass == 0 ? by_after : by_direct);
		for (size_t i = 0; i < all->open && i < PLAN_INSIGHTS_TRIED / 2;
		     i++)
			if (sorted[i]->waiting == 0)
				sorted[i]->waiting = count_waiting(
				    g, sorted[i]->node, stack, seen, ++mark);
	}
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
#define LEAVES(key)                                                    \
	{                                                              \
		.name = (key), .type = SCHEMA_ROWS, .of = &leaf_schema \
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
static const struct schema leaf_schema =
    SCHEMA_OF(struct plan_insight, leaf_fields);

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
		    array, schema_json(&leaf_schema, &all->leaves[list[i]]));
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

/* --- recommendations ------------------------------------------------- */

const char *const recommend_kind_words[] = { "start", "unblock", "split",
	"merge", "reorder", NULL };

/* What each reason is worth; together at most 100. */
#define CRITICAL_SCORE 30
#define WAITING_SCORE  20 /* at most */
#define AFTER_SCORE    10 /* at most */
#define UNBLOCK_SCORE  10
#define SPLIT_SCORE    20
#define MERGE_SCORE    15
#define REORDER_SCORE  40
#define SHARE_SCORE    40 /* of the critical path, at most */
#define MERGED_MAX     10

static const int priority_scores[PRIORITY_COUNT] = { [PRIORITY_URGENT] = 30,
	[PRIORITY_HIGH] = 20,
	[PRIORITY_NORMAL] = 10,
	[PRIORITY_LOW] = 1 };

struct maker {
	const struct plan *plan;
	const struct plan_insights *all;
	struct recommendations out;
	size_t room;
	/* The best priority of a ready node that is not critical. */
	enum priority easy;
	const struct plan_node *easy_node;
};

static struct recommendation *
add(struct maker *m, enum recommend_kind kind, const struct plan_node *node)
{
	struct recommendation *r;

	if (m->out.count == m->room) {
		m->room = m->room * 2 + 16;
		m->out.list =
		    xreallocarray(m->out.list, m->room, sizeof *m->out.list);
	}
	r = &m->out.list[m->out.count++];
	*r = (struct recommendation){ .kind = kind };
	strv_add(&r->nodes, node->id);
	return r;
}

/* Appends to what its kind and other reasons are worth. */
static void
because(struct recommendation *r, int score, char *words)
{
	r->score += score;
	strv_take(&r->reasons, words);
}

static int
at_most(int64_t score, int most)
{
	return score > most ? most : (int)score;
}

static void
add_urgency(
    struct maker *m, const struct plan_insight *leaf, struct recommendation *r)
{
	enum priority priority = plan_priority(m->plan, leaf->node);

	because(r, priority_scores[priority],
	    xasprintf("its priority is %s", priority_name(priority)));
	if (leaf->slack == 0 && m->all->length > leaf->effort)
		because(
		    r, CRITICAL_SCORE, xstrdup("it is on the critical path"));
	if (leaf->waiting > 0)
		because(r, at_most((int64_t)leaf->waiting * 2, WAITING_SCORE),
		    xasprintf("%zu node%s wait%s for it", leaf->waiting,
			leaf->waiting == 1 ? "" : "s",
			leaf->waiting == 1 ? "s" : ""));
	if (m->all->length > 0)
		r->score += (int)(leaf->after * AFTER_SCORE / m->all->length);
}

static bool
is_untouched(const struct plan_node *node)
{
	return !plan_node_is_assigned(node) &&
	    (node->status == NODE_TODO || node->status == NODE_QUEUED);
}

static void
look_blocked(struct maker *m, const struct plan_insight *leaf)
{
	struct recommendation *r;

	if (leaf->node->status != NODE_BLOCKED)
		return;
	r = add(m, RECOMMEND_UNBLOCK, leaf->node);
	because(r, UNBLOCK_SCORE,
	    xasprintf("it is blocked: %s",
		leaf->node->blocked_reason != NULL ?
		    leaf->node->blocked_reason :
		    "no reason is given"));
	add_urgency(m, leaf, r);
	r->command = xasprintf("llmc goal node unblock %s/%s --reason TEXT",
	    m->plan->goal->id, leaf->node->id);
}

static void
look_split(struct maker *m, const struct plan_insight *leaf)
{
	struct recommendation *r;
	bool large = leaf->effort >= RECOMMEND_LARGE;

	if (!is_untouched(leaf->node) || (!large && leaf->node->attempts < 2))
		return;
	r = add(m, RECOMMEND_SPLIT, leaf->node);
	r->score = SPLIT_SCORE;
	if (large)
		because(r, 0,
		    xasprintf("its effort is %" PRId64 " turns", leaf->effort));
	if (leaf->node->attempts >= 2)
		because(r, 10,
		    xasprintf("%d attempts at it have not ended well",
			leaf->node->attempts));
	if (large && leaf->slack == 0 && m->all->length > 0)
		because(r, (int)(leaf->effort * SHARE_SCORE / m->all->length),
		    xasprintf("it is %" PRId64 "%% of the critical path",
			leaf->effort * 100 / m->all->length));
	r->command = xasprintf("llmc goal node split %s/%s NAME NAME ...",
	    m->plan->goal->id, leaf->node->id);
}

static void
look_order(struct maker *m, const struct plan_insight *leaf)
{
	enum priority own = plan_priority(m->plan, leaf->node);
	struct recommendation *r;

	if (!leaf->ready || leaf->slack > 0 || m->easy_node == NULL ||
	    priority_compare(own, m->easy) <= 0)
		return;
	r = add(m, RECOMMEND_REORDER, leaf->node);
	because(r, REORDER_SCORE,
	    xasprintf("it is on the critical path with priority %s, and %s, "
		      "which is not, comes first with %s",
		priority_name(own), m->easy_node->id, priority_name(m->easy)));
	r->command = xasprintf("llmc goal node priority %s/%s %s",
	    m->plan->goal->id, leaf->node->id, priority_name(m->easy));
}

/* --- siblings --------------------------------------------------------- */

/* Only what says that it is small. */
static bool
is_small(const struct plan_node *node)
{
	int64_t effort = plan_effort_iterations(node->estimated_effort);

	return plan_node_leaf(node) && is_untouched(node) && effort >= 0 &&
	    effort <= RECOMMEND_SMALL && node->depends_on == NULL &&
	    node->blocks == NULL;
}

static void
look_siblings(struct maker *m, const struct plan_node *parent)
{
	struct recommendation *r = NULL;
	cleanup_buf struct buf words = BUF_INIT;
	size_t count = 0;

	for (size_t i = 0; i < parent->child_count; i++)
		count += is_small(parent->children[i]);
	if (count < 2)
		return;
	for (size_t i = 0; i < parent->child_count; i++) {
		const struct plan_node *node = parent->children[i];

		if (!is_small(node) ||
		    (r != NULL && strv_count(r->nodes) == MERGED_MAX))
			continue;
		if (r == NULL)
			r = add(m, RECOMMEND_MERGE, node);
		else
			strv_add(&r->nodes, node->id);
		buf_addf(&words, " %s/%s", m->plan->goal->id, node->id);
	}
	because(r, MERGE_SCORE + at_most((int64_t)count, 10),
	    xasprintf("%zu nodes of %s are small (at most %d turns), and "
		      "nothing stands between them",
		count, parent->id, RECOMMEND_SMALL));
	r->command = xasprintf("llmc goal node merge%s", words.data);
}

/* --- all -------------------------------------------------------------- */

static int
by_score(const void *a, const void *b)
{
	const struct recommendation *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->nodes[0], y->nodes[0]);
}

static void
release(struct recommendation *r)
{
	strv_free(r->nodes);
	strv_free(r->reasons);
	free(r->command);
}

void
plan_recommend(const struct plan *plan, const struct plan_insights *insights,
    struct recommendations *ret_recommendations)
{
	struct maker m = { .plan = plan, .all = insights };

	m.easy = PRIORITY_COUNT;
	for (size_t i = 0; i < m.all->open; i++) {
		const struct plan_insight *leaf = &m.all->leaves[i];
		enum priority priority;

		if (!leaf->ready || leaf->slack == 0)
			continue;
		priority = plan_priority(m.plan, leaf->node);
		if (m.easy == PRIORITY_COUNT ||
		    priority_compare(priority, m.easy) < 0) {
			m.easy = priority;
			m.easy_node = leaf->node;
		}
	}
	for (size_t i = 0; i < insights->open; i++) {
		if (insights->leaves[i].ready)
			add_urgency(&m, &insights->leaves[i],
			    add(&m, RECOMMEND_START, insights->leaves[i].node));
		look_blocked(&m, &insights->leaves[i]);
		look_split(&m, &insights->leaves[i]);
		look_order(&m, &insights->leaves[i]);
	}
	for (size_t i = 0; i < plan->count; i++)
		if (!plan_node_leaf(plan->nodes[i]))
			look_siblings(&m, plan->nodes[i]);
	if (m.out.count > 0)
		qsort(m.out.list, m.out.count, sizeof *m.out.list, by_score);
	while (m.out.count > RECOMMEND_MAX)
		release(&m.out.list[--m.out.count]);
	*ret_recommendations = m.out;
}

void
recommendations_release(struct recommendations *recommendations)
{
	for (size_t i = 0; i < recommendations->count; i++)
		release(&recommendations->list[i]);
	free(recommendations->list);
	*recommendations = (struct recommendations){ 0 };
}

#define ADVICE(key, member, ...) \
	SCHEMA_FIELD(struct recommendation, key, member, ##__VA_ARGS__)

static const struct schema_field advice_fields[] = {
	ADVICE("kind", kind, .words = recommend_kind_words),
	ADVICE("score", score, .help = "1 to 100"),
	ADVICE("nodes", nodes),
	ADVICE("reasons", reasons),
	ADVICE("command", command, .help = "what to type"),
};

const struct schema recommendation_schema =
    SCHEMA_OF(struct recommendation, advice_fields);

struct json_object *
recommendations_to_json(const struct recommendations *recommendations)
{
	return schema_list(&recommendation_schema, recommendations->list,
	    recommendations->count);
}
