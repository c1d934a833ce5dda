/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api.h"
#include "plan-deps.h"
#include "plan-load.h"
#include "plan-replan.h"
#include "plan.h"
#include "strmap.h"

/* What the replan of one plan is about. */
struct replan {
	struct plan *plan;
	const struct plan *next;
	struct strmap kept; /* ids of the nodes that stay as they are */
	struct strmap parents; /* ids of those that had children */
	struct plan_changes *changes; /* NULL: only to see */
	int64_t now_ms;
	struct buf added, changed, removed; /* words for the revision */
};

/* The copy that is tried first has no assignments: what is kept is found in the
 * plan itself, by id. */
void
plan_replan_kept(const struct plan *plan, struct strmap *kept)
{
	for (size_t i = 0; i < plan->count; i++) {
		struct plan_node *n = plan->nodes[i];

		if (!plan_node_started(n) && n->assignment == NULL &&
		    n->status != NODE_CANCELLED)
			continue;
		while (n != NULL && strmap_add(kept, n->id, n))
			n = n->parent;
	}
}

static bool
is_kept(const struct replan *r, const struct plan_node *node)
{
	return strmap_get(&r->kept, node->id) != NULL;
}

/* --- checks ------------------------------------------------------------ */

/* A kept node that was a leaf would become a parent. */
static int
check_new_parent(const struct plan_node *node, struct err *err)
{
	if (node->status == NODE_CANCELLED)
		return err_set(err, API_E_CLOSED,
		    "%s was cancelled and gets no children", node->id);
	if (node->status == NODE_DONE || node->status == NODE_IN_PROGRESS ||
	    node->assignment != NULL)
		return err_set(err, API_E_STARTED,
		    "%s is %s and gets no children", node->id,
		    node->assignment != NULL ? "assigned" :
					       node_status_name(node->status));
	return 0;
}

static int
check_next(const struct replan *r, struct err *err)
{
	int e = 0;

	for (struct plan_node *n = plan_next(r->next, NULL);
	     n != NULL && e == 0; n = plan_next(r->next, n)) {
		const struct plan_node *old = plan_find(r->plan, n->id);

		if (old == NULL || !is_kept(r, old))
			continue;
		if (old->kind != n->kind)
			e = err_set(err, API_E_STARTED,
			    "%s has started and stays a %s", n->id,
			    node_kind_name(old->kind));
		else if (plan_node_leaf(old) && !plan_node_leaf(n))
			e = check_new_parent(old, err);
	}
	return e;
}

/* --- the change ---------------------------------------------------------- */

static void
remove_node(struct replan *r, struct plan_node *node)
{
	for (char **id = node->blocks; id != NULL && *id != NULL; id++) {
		struct plan_node *waits = plan_find(r->plan, *id);

		if (waits != NULL) {
			char ***list = &waits->depends_on;

			strv_remove(*list, node->id);
			if (strv_count(*list) == 0)
				strv_clear(list);
		}
	}
	if (r->changes != NULL)
		plan_changes_removed(r->changes, node);
	strmap_remove(&r->parents, node->id);
	buf_addf(&r->removed, "%s%s", r->removed.len > 0 ? ", " : "", node->id);
	plan_detach(r->plan, node);
	plan_node_free(node);
}

/* From the last one on: a removal moves only those behind it. */
static void
remove_below(struct replan *r, struct plan_node *parent)
{
	size_t i, count;

	(void)plan_children(r->plan, parent, &i);
	while (i-- > 0) {
		struct plan_node *node =
		    plan_children(r->plan, parent, &count)[i];
		const struct plan_node *in_next = plan_find(r->next, node->id);

		remove_below(r, node);
		if (!is_kept(r, node) && plan_node_leaf(node) &&
		    (in_next == NULL || in_next->kind != node->kind))
			remove_node(r, node);
	}
}

/* "T1.1 (name, acceptance)": which members are not as they were. */
static void
note_changes(struct replan *r, struct json_object *before,
    const struct plan_node *node, bool moved)
{
	cleanup_buf struct buf keys = BUF_INIT;

	if (moved)
		buf_adds(&keys, "place");
	plan_load_changed(before, node, &keys);
	if (keys.len > 0)
		buf_addf(&r->changed, "%s%s (%s)",
		    r->changed.len > 0 ? ", " : "", node->id, keys.data);
}

static void
change_node(struct plan_node *node, const struct plan_node *to, int64_t now_ms)
{
	xstrset(&node->name, to->name);
	xstrset(&node->objective, to->objective);
	xstrset(&node->expected_outcome, to->expected_outcome);
	xstrset(&node->definition_of_done, to->definition_of_done);
	xstrset(&node->suggested_agent_id, to->suggested_agent_id);
	xstrset(&node->estimated_effort, to->estimated_effort);
	plan_set_list(&node->acceptance, to->acceptance);
	plan_set_list(&node->depends_on, to->depends_on);
	plan_set_list(&node->required_tools, to->required_tools);
	/* What a person set stays, unless the new plan says otherwise. */
	if (to->priority != PRIORITY_COUNT)
		node->priority = to->priority;
	if (to->recovery_policy != RECOVERY_UNSET)
		node->recovery_policy = to->recovery_policy;
	if (to->result != NODE_RESULT_UNSET)
		node->result = to->result;
	if (strv_count(to->scope_paths) > 0)
		plan_set_list(&node->scope_paths, to->scope_paths);
	if (to->verification != NULL) {
		json_object_put(node->verification);
		node->verification = json_object_get(to->verification);
	}
	node->updated_ms = now_ms;
}

static int
add_new(struct replan *r, const struct plan_node *from,
    struct plan_node **ret_node, struct err *err)
{
	struct plan_node *node = plan_node_copy(from);
	int e;

	node->order = INT_MAX; /* last, until all are sorted */
	node->created_ms = node->updated_ms = r->now_ms;
	e = plan_attach(r->plan, node, err);
	if (e < 0) {
		plan_node_free(node);
		return e;
	}
	buf_addf(&r->added, "%s%s", r->added.len > 0 ? ", " : "", node->id);
	*ret_node = node;
	return 0;
}

/* The nodes of the next plan, parents first. Those that are kept stand before
 * the others. */
static int
put_nodes(struct replan *r, struct err *err)
{
	for (size_t i = 0; i < r->plan->count; i++)
		r->plan->nodes[i]->order = (int)r->plan->nodes[i]->place;
	for (struct plan_node *n = plan_next(r->next, NULL); n != NULL;
	     n = plan_next(r->next, n)) {
		struct plan_node *node = plan_find(r->plan, n->id);
		struct plan_node *parent = plan_find(r->plan, n->parent_id);
		int e = 0;

		if (node != NULL && is_kept(r, node))
			continue;
		if (node == NULL) {
			e = add_new(r, n, &node, err);
		} else {
			cleanup_json struct json_object *before =
			    plan_load_words(node);
			bool moved = node->parent != parent;

			change_node(node, n, r->now_ms);
			if (moved) {
				plan_relocate(
				    r->plan, node, parent, r->plan->count);
				xstrset(&node->parent_id, n->parent_id);
			}
			note_changes(r, before, node, moved);
		}
		if (e < 0)
			return e;
		node->order = PLAN_NODES_MAX + (int)n->place;
	}
	plan_sort(r->plan);
	return 0;
}

static int
apply(struct replan *r, struct err *err)
{
	int e;

	for (size_t i = 0; i < r->plan->count; i++)
		if (!plan_node_leaf(r->plan->nodes[i]))
			strmap_add(&r->parents, r->plan->nodes[i]->id,
			    r->plan->nodes[i]);
	remove_below(r, NULL);
	e = put_nodes(r, err);
	if (e == 0) {
		const struct plan_node_move move = { .to = NODE_TODO,
			.rolled_up = true };

		/* Orders are places again; parents that lost their children
		 * have a status of their own. */
		for (size_t i = 0; i < r->plan->count; i++) {
			struct plan_node *n = r->plan->nodes[i];

			n->order = (int)n->place;
			if (plan_node_leaf(n) && node_status_open(n->status) &&
			    n->override.actor == NULL &&
			    strmap_get(&r->parents, n->id) != NULL)
				plan_node_move(n, &move, r->now_ms, NULL);
			if (r->changes != NULL)
				plan_changed(r->changes, n);
		}
		plan_link_blocks(r->plan);
	}
	strmap_release(&r->parents);
	return e == 0 ? plan_deps_check(r->plan, NULL, err) : e;
}

/* "planned: 4 nodes", "replanned: added T1.3; changed T1.1 (name); removed
 * T1.2" */
static void
add_words(const struct replan *r, bool first, struct buf *out)
{
	const struct {
		const char *word;
		const struct buf *ids;
	} parts[] = {
		{ "added", &r->added },
		{ "changed", &r->changed },
		{ "removed", &r->removed },
	};
	size_t start;

	if (first) {
		buf_addf(out, "planned: %zu nodes", r->plan->count);
		return;
	}
	buf_adds(out, "replanned: ");
	start = out->len;
	for (size_t i = 0; i < nitems(parts); i++)
		if (parts[i].ids->len > 0)
			buf_addf(out, "%s%s %s", out->len > start ? "; " : "",
			    parts[i].word, parts[i].ids->data);
	if (out->len == start)
		buf_adds(out, "nothing is different");
	buf_truncate(out, text_cut(out->data, out->len, PLAN_LINE_MAX));
}

int
plan_replan(
    const struct plan_edit *edit, const struct plan *next, struct err *err)
{
	return plan_replan_node(edit, next, NULL, err);
}

int
plan_replan_node(const struct plan_edit *edit, const struct plan *next,
    const char *node_id, struct err *err)
{
	cleanup_buf struct buf what = BUF_INIT;
	struct replan r = { .plan = edit->plan,
		.next = next,
		.now_ms = edit->now_ms,
		.added = BUF_INIT,
		.changed = BUF_INIT,
		.removed = BUF_INIT };
	bool first = edit->plan->count == 0;
	int e = plan_edit_begin(edit, err);

	if (e < 0)
		return e;
	plan_replan_kept(edit->plan, &r.kept);
	if (node_id != NULL && plan_find(next, node_id) != NULL)
		strmap_remove(&r.kept, node_id);
	e = check_next(&r, err);
	if (e == 0) {
		r.plan = plan_copy(edit->plan);
		e = apply(&r, err);
		plan_free(r.plan);
	}
	if (e == 0) {
		struct plan_goal *goal;
		const struct plan_goal *from;

		r.plan = edit->plan;
		r.changes = edit->changes;
		buf_clear(&r.added);
		buf_clear(&r.changed);
		buf_clear(&r.removed);
		apply(&r, NULL);
		goal = edit->plan->goal;
		from = next->goal;
		xstrset(&goal->model_ref, from->model_ref);
		xstrset(&goal->template_id, from->template_id);
		xstrset(&goal->template_hash, from->template_hash);
		plan_set_list(
		    &goal->validation_errors, from->validation_errors);
		xstrset(&goal->plan_fault, NULL);
		goal->plan_wanted = false;
		goal->plan_attempts = 0;
		json_object_put(goal->planner_inputs);
		goal->planner_inputs = json_object_get(from->planner_inputs);
		json_object_put(goal->planner_output);
		goal->planner_output = json_object_get(from->planner_output);
		add_words(&r, first, &what);
		plan_edit_end(edit, what.data);
	}
	strmap_release(&r.kept);
	buf_release(&r.added);
	buf_release(&r.changed);
	buf_release(&r.removed);
	return e;
}
