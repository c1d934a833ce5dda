/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-node.h"
#include "plan-ready.h"
#include "plan-set.h"
#include "plan-summary.h"
#include "plan.h"
#include "planner-prompt.h"
#include "schema.h"
#include "table.h"

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
	/* Left out if it is not so: another digest than the last one of an
	 * earlier version would be a change of the state. */
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

	for (struct plan_node *n = plan_next(plan, NULL); n != NULL;
	     n = plan_next(plan, n)) {
		cleanup_buf struct buf name = BUF_INIT, note = BUF_INIT;

		buf_addf(
		    &name, "%*s%s %s", (int)n->kind * 2, "", n->id, n->name);
		plan_tree_note(plan, n, &note);
		table_row(table,
		    (const char *const[]){
			name.data, node_status_name(n->status), note.data });
		if (colour != NULL)
			table_colour(table, 1, colour(n->status));
	}
	return table;
}
