/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api-error.h"
#include "plan-node.h"
#include "plan-progress.h"
#include "plan.h"
#include "schema.h"
#include "table.h"

/* --- dependencies ---------------------------------------------------- */

/*
 * Each node has two vertices, its start and its end. The start needs the ends
 * of its dependencies and the start of its parent; the end needs the start and
 * the ends of the children. Nodes wait for each other if and only if there is a
 * cycle among these.
 */

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

/* --- rollup ---------------------------------------------------------- */

/* What the children of a node are. */
struct tally {
	size_t counts[NODE_STATUS_COUNT];
	bool started;
	const struct plan_node *blocked; /* the first one */
};

static struct tally
count_children(struct plan_node *const *nodes, size_t count)
{
	struct tally tally = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct plan_node *n = nodes[i];

		tally.counts[n->status]++;
		if (n->status != NODE_CANCELLED && plan_node_started(n))
			tally.started = true;
		if (n->status == NODE_BLOCKED && tally.blocked == NULL)
			tally.blocked = n;
	}
	return tally;
}

static enum node_status
derive(const struct tally *tally, size_t count)
{
	const size_t *counts = tally->counts;
	size_t left = count - counts[NODE_CANCELLED];

	if (left == 0)
		return NODE_CANCELLED;
	if (counts[NODE_DONE] == left)
		return NODE_DONE;
	if (counts[NODE_IN_PROGRESS] > 0)
		return NODE_IN_PROGRESS;
	if (counts[NODE_BLOCKED] + counts[NODE_DONE] == left)
		return NODE_BLOCKED;
	if (tally->started)
		return NODE_IN_PROGRESS;
	return counts[NODE_QUEUED] > 0 ? NODE_QUEUED : NODE_TODO;
}

static bool
same(const char *a, const char *b)
{
	return a == b || text_is(a, b);
}

static void
roll_node(struct plan_node *node, int64_t now_ms, struct plan_changes *changes)
{
	cleanup_buf struct buf reason = BUF_INIT;
	struct plan_node_move move = { .rolled_up = true };
	struct tally tally;

	if (plan_node_leaf(node) || node->override.actor != NULL)
		return;
	tally = count_children(node->children, node->child_count);
	move.to = derive(&tally, node->child_count);
	if (move.to == NODE_BLOCKED && tally.blocked != NULL) {
		/* Those below say which node it is already. */
		if (plan_node_leaf(tally.blocked))
			buf_addf(&reason, "%s: ", tally.blocked->id);
		buf_adds(&reason,
		    tally.blocked->blocked_reason == NULL ?
			"blocked" :
			tally.blocked->blocked_reason);
		buf_truncate(
		    &reason, text_cut(reason.data, reason.len, PLAN_TEXT_MAX));
		move.reason = reason.data;
	}
	if (tally.started && node->started_ms == 0)
		node->started_ms = now_ms;
	else if (node->status == move.to &&
	    same(node->blocked_reason, move.reason))
		return;
	plan_node_move(node, &move, now_ms, NULL);
	plan_changed(changes, node);
}

static void
roll_goal(struct plan *plan, int64_t now_ms, struct plan_changes *changes)
{
	struct plan_goal *goal = plan->goal;
	struct tally tally = count_children(plan->phases, plan->phase_count);
	enum node_status all = plan->phase_count > 0 ?
	    derive(&tally, plan->phase_count) :
	    NODE_TODO;
	bool done = all == NODE_DONE;
	enum goal_status to = done ? GOAL_COMPLETED : GOAL_ACTIVE;

	if (all == NODE_CANCELLED && plan_goal_delegated(goal) != NULL &&
	    goal_status_open(goal->status)) {
		if (plan_goal_move(
			goal, GOAL_CANCELLED, NULL, NULL, now_ms, NULL) == 0)
			changes->goal = true;
		return;
	}
	if (done ?
		!goal_status_open(goal->status) :
		goal->status != GOAL_COMPLETED || goal->override.actor != NULL)
		return;
	if (plan_goal_move(goal, to, NULL, NULL, now_ms, NULL) == 0)
		changes->goal = true;
}

void
plan_rollup(struct plan *plan, int64_t now_ms, struct plan_changes *changes)
{
	for (size_t i = 0; i < plan->phase_count; i++) {
		struct plan_node *phase = plan->phases[i];

		for (size_t k = 0; k < phase->child_count; k++)
			roll_node(phase->children[k], now_ms, changes);
		roll_node(phase, now_ms, changes);
	}
	roll_goal(plan, now_ms, changes);
}

void
plan_rollup_from(struct plan *plan, struct plan_node *node, int64_t now_ms,
    struct plan_changes *changes)
{
	/* The node itself, too: it may have lost its override, or children. */
	for (; node != NULL; node = node->parent)
		roll_node(node, now_ms, changes);
	roll_goal(plan, now_ms, changes);
}

/* --- ready nodes ----------------------------------------------------- */

/* Does the node keep everything below it from being ready? */
static bool
holds_back(const struct plan *plan, const struct plan_node *node)
{
	if (node->override.actor != NULL &&
	    (node->status == NODE_BLOCKED || !node_status_open(node->status)))
		return true;
	return plan_deps_missing(plan, node) != NULL;
}

static bool
is_waiting(const struct plan_node *node)
{
	return plan_node_leaf(node) && !plan_node_is_assigned(node) &&
	    (node->status == NODE_TODO || node->status == NODE_QUEUED);
}

/* Can it have ready nodes at all? */
static bool
is_active(const struct plan *plan)
{
	return plan->goal->status == GOAL_ACTIVE;
}

bool
plan_node_ready(const struct plan *plan, const struct plan_node *node)
{
	if (!is_active(plan) || !is_waiting(node))
		return false;
	for (; node != NULL; node = node->parent)
		if (holds_back(plan, node))
			return false;
	return true;
}

const char *
plan_why_unwanted(
    const struct plan *plan, const struct plan_node *node, bool assigned)
{
	if (plan == NULL || node == NULL ||
	    !goal_status_open(plan->goal->status))
		return "its goal has ended";
	if (!node_status_open(node->status))
		return "its node has ended";
	if (assigned && !plan_node_is_assigned(node))
		return "its assignment has ended";
	return NULL;
}

bool
plan_node_held_back(const struct plan *plan, const struct plan_node *node)
{
	return plan->goal->status == GOAL_PAUSED ||
	    node->status == NODE_BLOCKED;
}

/* The first ready node from this one on; subtrees that are held back are
 * skipped as a whole. */
static struct plan_node *
find_ready(const struct plan *plan, struct plan_node *node)
{
	while (node != NULL) {
		if (holds_back(plan, node))
			node = plan_next_beside(plan, node);
		else if (is_waiting(node))
			return node;
		else
			node = plan_next(plan, node);
	}
	return NULL;
}

/* The ready nodes of one plan, behind those that are there. */
static size_t
list_plan(struct plan *plan, struct plan_ready *list, size_t count)
{
	struct plan_node *n;

	if (!is_active(plan))
		return count;
	for (n = find_ready(plan, plan_next(plan, NULL)); n != NULL;
	     n = find_ready(plan, plan_next(plan, n)))
		list[count++] =
		    (struct plan_ready){ plan, n, plan_priority(plan, n) };
	return count;
}

size_t
plan_ready_list(const struct plan_set *set, struct plan_ready **ret)
{
	size_t room = 0, count = 0, sorted = 0;
	struct plan_ready *all, *list;

	for (size_t i = 0; i < set->plan_count; i++)
		room += set->plans[i]->count;
	all = xcalloc(room + 1, sizeof *all);
	for (size_t i = 0; i < set->plan_count; i++)
		count = list_plan(set->plans[i], all, count);
	list = xcalloc(count + 1, sizeof *list);
	for (int p = 0; p < PRIORITY_COUNT; p++)
		for (size_t i = 0; i < count; i++)
			if ((int)all[i].priority == p)
				list[sorted++] = all[i];
	free(all);
	*ret = list;
	return sorted;
}

void
plan_ready_queue(
    struct plan *plan, int64_t now_ms, struct plan_changes *changes)
{
	const struct plan_node_move move = { .to = NODE_QUEUED };
	struct plan_node *n;
	bool any = false;

	if (!is_active(plan))
		return;
	for (n = find_ready(plan, plan_next(plan, NULL)); n != NULL;
	     n = find_ready(plan, plan_next(plan, n))) {
		if (n->status != NODE_TODO)
			continue;
		plan_node_move(n, &move, now_ms, NULL);
		plan_changed(changes, n);
		any = true;
	}
	if (any)
		plan_rollup(plan, now_ms, changes);
}

bool
planner_is_due(const struct plan *plan)
{
	const struct plan_goal *goal = plan->goal;

	return goal->status == GOAL_ACTIVE &&
	    (goal->plan_wanted ||
		(plan->count == 0 && goal->plan_fault == NULL &&
		    goal->draft == NULL));
}

void
plan_replan_kept(const struct plan *plan, struct strmap *kept)
{
	for (size_t i = 0; i < plan->count; i++) {
		struct plan_node *n = plan->nodes[i];

		if (!plan_node_started(n) && !plan_node_is_assigned(n) &&
		    n->status != NODE_CANCELLED)
			continue;
		while (n != NULL && strmap_add(kept, n->id, n))
			n = n->parent;
	}
}

/* --- the summary ----------------------------------------------------- */

/* forced: the status of an overridden node above; NODE_STATUS_COUNT = none. */
static void
count(const struct plan *plan, const struct plan_node *node,
    enum node_status forced, struct plan_summary *summary)
{
	enum node_status status =
	    forced == NODE_STATUS_COUNT ? node->status : forced;

	if (plan_node_leaf(node)) {
		summary->leaves[status]++;
		if (status == NODE_CANCELLED &&
		    strv_count(node->replaced_by) > 0)
			summary->replaced++;
		if (plan_node_ready(plan, node))
			summary->ready++;
		if (plan_node_is_assigned(node))
			summary->assigned++;
		return;
	}
	if (node->override.actor != NULL && !node_status_open(node->status) &&
	    forced == NODE_STATUS_COUNT)
		forced = node->status;
	for (size_t i = 0; i < node->child_count; i++)
		count(plan, node->children[i], forced, summary);
}

struct plan_summary
plan_summary(const struct plan *plan, const struct plan_node *node)
{
	struct plan_summary s = { .planning =
				      node == NULL && planner_is_due(plan) };

	if (node != NULL)
		count(plan, node, NODE_STATUS_COUNT, &s);
	for (size_t i = 0; node == NULL && i < plan->phase_count; i++)
		count(plan, plan->phases[i], NODE_STATUS_COUNT, &s);
	/* What was cancelled was not done: three of five is not all. Those that
	 * were replaced are done by others. */
	for (int i = 0; i < NODE_STATUS_COUNT; i++)
		s.total += s.leaves[i];
	s.total -= s.replaced;
	s.dropped = s.leaves[NODE_CANCELLED] - s.replaced;
	if (s.total > 0)
		s.percent = (int)(s.leaves[NODE_DONE] * 100 / s.total);
	return s;
}

const char *
plan_summary_word(enum goal_status status, size_t dropped)
{
	return status == GOAL_COMPLETED && dropped > 0 ?
	    "incomplete" :
	    goal_status_name(status);
}

#define UNDONE_MAX 10 /* nodes that are named */

void
plan_summary_undone(const struct plan *plan, struct buf *out)
{
	struct plan_summary s = plan_summary(plan, NULL);
	size_t named = 0;

	if (plan->goal->status != GOAL_COMPLETED || s.dropped == 0)
		return;
	buf_addf(
	    out, "%zu of %zu done; not done: ", s.leaves[NODE_DONE], s.total);
	for (const struct plan_node *n = plan_next(plan, NULL);
	     n != NULL && named < UNDONE_MAX; n = plan_next(plan, n))
		if (plan_node_leaf(n) && n->status == NODE_CANCELLED &&
		    strv_count(n->replaced_by) == 0)
			buf_addf(out, "%s%s", named++ > 0 ? ", " : "", n->id);
	if (named == 0)
		buf_addf(out, "%zu", s.dropped);
	else if (s.dropped > named)
		buf_addf(out, " and %zu more", s.dropped - named);
}

#define COUNT(key, member, words) \
	SCHEMA_FIELD(struct plan_summary, key, member, .help = (words))

static const struct schema_field fields[] = {
	COUNT("total", total,
	    "nodes without children, without those that others have replaced"),
	COUNT("percent", percent, "done of the total"),
	COUNT("planning", planning,
	    "there is no plan, and the planner is to make one"),
	COUNT("ready", ready, "can be worked on now"),
	COUNT("assigned", assigned, "somebody works on them"),
	COUNT("todo", leaves[NODE_TODO], NULL),
	COUNT("queued", leaves[NODE_QUEUED], NULL),
	COUNT("in_progress", leaves[NODE_IN_PROGRESS], NULL),
	COUNT("blocked", leaves[NODE_BLOCKED], NULL),
	COUNT("done", leaves[NODE_DONE], NULL),
	COUNT("cancelled", leaves[NODE_CANCELLED], NULL),
	COUNT(
	    "dropped", dropped, "of those, the ones that nothing has replaced"),
};

const struct schema plan_summary_schema =
    SCHEMA_OF(struct plan_summary, fields);

/* --- the digest ------------------------------------------------------ */

struct entry {
	char *id, *title; /* of the goal */
	enum goal_status status;
	struct plan_summary summary;
};

struct digest {
	const char *off;
	int64_t goals[GOAL_STATUS_COUNT];
	struct plan_summary sum;
	int64_t stalled, more;
	struct entry list[PLAN_DIGEST_GOALS];
	size_t count;
};

#define ENTRY(key, member, ...) \
	SCHEMA_FIELD(struct entry, key, member, ##__VA_ARGS__)
#define FIELD(key, member, words) \
	SCHEMA_FIELD(struct digest, key, member, .help = (words))

static const struct schema_field entry_fields[] = {
	ENTRY("goal", id, .flags = SCHEMA_REQUIRED),
	ENTRY("title", title, .flags = SCHEMA_REQUIRED | SCHEMA_CUT,
	    .max = PLAN_DIGEST_TITLE),
	ENTRY("status", status, .words = goal_status_words),
	ENTRY("done", summary.leaves[NODE_DONE]),
	ENTRY("total", summary.total),
	ENTRY("planning", summary.planning, .flags = SCHEMA_OMIT_UNSET,
	    .help = "there is no plan, and the planner is to make one"),
	ENTRY("ready", summary.ready),
	ENTRY("blocked", summary.leaves[NODE_BLOCKED]),
};
static const struct schema entry = SCHEMA_OF(struct entry, entry_fields);

static const struct schema_field digest_fields[] = {
	FIELD("off", off, "why nothing is planned, although goals are enabled"),
	FIELD("active", goals[GOAL_ACTIVE], "goals"),
	FIELD("paused", goals[GOAL_PAUSED], "goals"),
	FIELD("done", sum.leaves[NODE_DONE], "nodes without children"),
	FIELD(
	    "total", sum.total, "of them, without those that others replaced"),
	FIELD("ready", sum.ready, NULL),
	FIELD("blocked", sum.leaves[NODE_BLOCKED], NULL),
	FIELD("stalled", stalled, "assignments"),
	SCHEMA_PARTS(struct digest, "goals", SLOTS, list, count, entry,
	    .help = "the first 20"),
	FIELD("more", more, "goals that are not listed"),
};

const struct schema plan_digest_shape = SCHEMA_OF(struct digest, digest_fields);

static void
add_plan(struct digest *digest, const struct plan *plan)
{
	struct plan_summary s = plan_summary(plan, NULL);

	digest->goals[plan->goal->status]++;
	digest->sum.leaves[NODE_DONE] += s.leaves[NODE_DONE];
	digest->sum.leaves[NODE_BLOCKED] += s.leaves[NODE_BLOCKED];
	digest->sum.total += s.total;
	digest->sum.ready += s.ready;
	if (digest->count < PLAN_DIGEST_GOALS)
		digest->list[digest->count++] =
		    (struct entry){ .id = plan->goal->id,
			    .title = plan->goal->title,
			    .status = plan->goal->status,
			    .summary = s };
	else
		digest->more++;
}

struct json_object *
plan_digest(const struct plan_set *set, const char *reason)
{
	struct digest digest = { .off = set == NULL ? reason : NULL };
	struct plan_cursor cursor = { 0 };
	const struct plan_node *node;

	for (size_t i = 0; set != NULL && i < set->plan_count; i++)
		if (goal_status_open(set->plans[i]->goal->status))
			add_plan(&digest, set->plans[i]);
	while (set != NULL && (node = plan_set_next(set, &cursor)) != NULL)
		digest.stalled += node->work.status == ASSIGNMENT_STALLED;
	return schema_json(&plan_digest_shape, &digest);
}

/* --- the tree -------------------------------------------------------- */

#define COMMIT_LEN 12 /* characters shown of a commit id */

void
plan_tree_head(const struct plan *plan, struct buf *out)
{
	struct plan_summary s = plan_summary(plan, NULL);

	buf_addf(out, "%s (%s): %s, %zu of %zu done (%d%%)", plan->goal->title,
	    plan->goal->id, plan_summary_word(plan->goal->status, s.dropped),
	    s.leaves[NODE_DONE], s.total, s.percent);
	if (s.ready > 0)
		buf_addf(out, ", %zu ready", s.ready);
	if (s.leaves[NODE_BLOCKED] > 0)
		buf_addf(out, ", %zu blocked", s.leaves[NODE_BLOCKED]);
	if (s.leaves[NODE_CANCELLED] > s.replaced)
		buf_addf(out, ", %zu cancelled",
		    s.leaves[NODE_CANCELLED] - s.replaced);
}

static void
add_part(struct buf *out, size_t start, const char *words)
{
	buf_addf(out, "%s%s", out->len == start ? "" : "; ", words);
}

/* What it waits for, unless that is what its parent waits for as well. */
static void
add_waiting(const struct plan *plan, const struct plan_node *node,
    struct buf *out, size_t start)
{
	const struct plan_node *on = plan_deps_missing(plan, node);

	if (!node_status_open(node->status))
		return;
	if (on != NULL && on != node) {
		add_part(out, start, "waits for ");
		buf_adds(out, on->id);
	} else if (on == node) {
		add_part(out, start, "depends on a node that does not exist");
	} else if (plan_node_ready(plan, node)) {
		add_part(out, start, "ready");
	}
}

static void
add_progress(const struct plan *plan, const struct plan_node *node,
    struct buf *out, size_t start)
{
	struct plan_summary s = plan_summary(plan, node);
	cleanup_free char *words = NULL;

	if (s.total == 0 || s.leaves[NODE_DONE] == s.total)
		return;
	words = xasprintf("%zu of %zu", s.leaves[NODE_DONE], s.total);
	add_part(out, start, words);
}

/* Why, if there is a reason. */
static void
add_cancelled(const struct plan *plan, const struct plan_node *node,
    struct buf *out, size_t start)
{
	cleanup_free char *what = xasprintf("cancelled %s", node->id);
	const struct plan_goal *goal = plan->goal;

	for (size_t i = goal->revision_count; i-- > 0;)
		if (strcmp(goal->revisions[i].what, what) == 0) {
			if (goal->revisions[i].why != NULL)
				add_part(out, start, goal->revisions[i].why);
			return;
		}
}

void
plan_tree_note(
    const struct plan *plan, const struct plan_node *node, struct buf *out)
{
	const struct plan_work *work = &node->work;
	size_t start = out->len;

	if (!plan_node_leaf(node))
		add_progress(plan, node, out, start);
	if (plan_node_is_assigned(node)) {
		add_part(out, start,
		    work->worker != NULL ? work->worker : AGENT_MAIN);
		if (work->task != NULL)
			buf_addf(out, " (%s)", work->task);
		buf_addf(out, ", %s", assignment_status_name(work->status));
		if (work->blocked_reason != NULL)
			buf_addf(out, ": %s", work->blocked_reason);
	}
	if (node->blocked_reason != NULL &&
	    (!plan_node_is_assigned(node) ||
		!text_is(work->blocked_reason, node->blocked_reason)))
		add_part(out, start, node->blocked_reason);
	if (node->status == NODE_CANCELLED && plan_node_leaf(node))
		add_cancelled(plan, node, out, start);
	if (node->replan_why != NULL)
		add_part(out, start, "the planner is asked to plan it anew");
	if (node->override.actor != NULL) {
		add_part(out, start, "overridden by ");
		buf_addf(
		    out, "%s: %s", node->override.actor, node->override.reason);
	}
	add_waiting(plan, node, out, start);
	for (char **id = node->replaced_by; id != NULL && *id != NULL; id++)
		buf_addf(out, "%s%s",
		    id != node->replaced_by ? ", " :
			out->len == start   ? "replaced by " :
					      "; replaced by ",
		    *id);
	if (node->status == NODE_DONE && node->evidence.commits != NULL)
		buf_addf(out, "%s%.*s", out->len == start ? "" : "; ",
		    COMMIT_LEN, node->evidence.commits[0]);
}

struct table *
plan_tree(
    const struct plan *plan, const char *(*colour)(enum node_status status))
{
	static const struct table_column columns[] = {
		{ .title = "node", .flexible = true },
		{ .title = "status" },
		{ .title = "note", .flexible = true },
	};
	struct table *table = table_new(columns, nitems(columns));
	bool open = goal_status_open(plan->goal->status);

	for (struct plan_node *n = plan_next(plan, NULL); n != NULL;
	     n = plan_next(plan, n)) {
		cleanup_buf struct buf name = BUF_INIT, note = BUF_INIT;
		/* Nobody works on what is left of a goal that has ended. */
		const char *status = open || !node_status_open(n->status) ?
		    node_status_name(n->status) :
		    "not done";

		buf_addf(
		    &name, "%*s%s %s", (int)n->kind * 2, "", n->id, n->name);
		plan_tree_note(plan, n, &note);
		table_row(table,
		    (const char *const[]){ name.data, status, note.data });
		if (colour != NULL)
			table_colour(table, 1, colour(n->status));
	}
	return table;
}
