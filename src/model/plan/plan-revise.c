/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api-error.h"
#include "contract.h"
#include "id.h"
#include "plan-edit.h"
#include "plan-load.h"
#include "plan-markdown.h"
#include "plan-print.h"
#include "plan-ready.h"
#include "plan-revise.h"
#include "plan.h"
#include "strmap.h"

/* --- a new plan ------------------------------------------------------ */

/* What the replan of one plan is about. */
struct replan {
	struct plan *plan;
	const struct plan *next;
	struct strmap kept; /* ids of the nodes that stay as they are */
	struct strmap parents; /* ids of those that had children */
	struct plan_changes *changes; /* NULL: only to see */
	bool trial; /* on a copy: no words are needed */
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

		if (!plan_node_started(n) && !plan_node_is_assigned(n) &&
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
	    plan_node_is_assigned(node))
		return err_set(err, API_E_STARTED,
		    "%s is %s and gets no children", node->id,
		    plan_node_is_assigned(node) ?
			"assigned" :
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
			    r->trial ? NULL : plan_load_words(node);
			bool moved = node->parent != parent;
			cleanup_buf struct buf keys = BUF_INIT;

			change_node(node, n, r->now_ms);
			if (moved) {
				plan_relocate(
				    r->plan, node, parent, r->plan->count);
				xstrset(&node->parent_id, n->parent_id);
			}
			/* "T1.1 (name, acceptance)": which members are not as
			 * they were. */
			if (moved)
				buf_adds(&keys, "place");
			if (!r->trial)
				plan_load_changed(before, node, &keys);
			if (keys.len > 0)
				buf_addf(&r->changed, "%s%s (%s)",
				    r->changed.len > 0 ? ", " : "", node->id,
				    keys.data);
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
		.trial = true,
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
		r.trial = false;
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

/* --- an edited text -------------------------------------------------- */

struct revise {
	const struct plan_edit *edit;
	struct plan *plan;
	struct plan *base; /* as the text was, before it was edited */
	struct plan *next; /* as it is now */
	struct strmap kept; /* ids of nodes that stay as they are */
	struct buf goal; /* what is different of the goal, in words */
	size_t added, changed, removed;
};

/* --- what is different ------------------------------------------------ */

static bool
same_list(char *const *a, char *const *b)
{
	if (strv_count(a) != strv_count(b))
		return false;
	for (; a != NULL && b != NULL && *a != NULL; a++, b++)
		if (strcmp(*a, *b) != 0)
			return false;
	return true;
}

/* The first of what a node that is kept keeps; NULL = nothing. */
static const char *
kept_difference(const struct plan_node *a, const struct plan_node *b)
{
	if (!text_same(a->parent_id, b->parent_id))
		return "parent";
	if (!text_same(a->name, b->name))
		return "name";
	if (!text_same(a->objective, b->objective))
		return "text";
	if (!text_same(a->expected_outcome, b->expected_outcome))
		return "outcome";
	if (!same_list(a->acceptance, b->acceptance))
		return "acceptance";
	if (!same_list(a->depends_on, b->depends_on))
		return "dependencies";
	if (!same_list(a->scope_paths, b->scope_paths))
		return "scope paths";
	if (!same_list(a->required_tools, b->required_tools))
		return "required tools";
	if (a->result != b->result)
		return "result";
	if (!contract_equal(a->verification, b->verification))
		return "verification";
	return NULL;
}

/* --- checks ----------------------------------------------------------- */

#define KEPT \
	"it, or something below it, has started, is assigned or was cancelled"

static int
check_old(const struct revise *r, const struct plan_node *node, struct err *err)
{
	const struct plan_node *to = plan_find(r->next, node->id);
	bool kept = strmap_get(&r->kept, node->id) != NULL;
	const char *what;

	if (to == NULL && kept)
		return err_set(err, API_E_STARTED,
		    "%s is missing in the text, but cannot be removed any "
		    "more: " KEPT,
		    node->id);
	if (to == NULL)
		return 0;
	if (to->kind != node->kind)
		return err_set(err, API_E_LEVEL,
		    "%s is a %s and stays one; without its id, it becomes a "
		    "new %s",
		    node->id, node_kind_name(node->kind),
		    node_kind_name(to->kind));
	what = kept_difference(plan_find(r->base, node->id), to);
	if (kept && what != NULL)
		return err_set(err, API_E_STARTED,
		    "%s: its %s cannot be changed any more: " KEPT, node->id,
		    what);
	return 0;
}

static int
check(const struct revise *r, struct err *err)
{
	int e = 0;

	for (const struct plan_node *n = plan_next(r->plan, NULL);
	     n != NULL && e == 0; n = plan_next(r->plan, n))
		e = check_old(r, n, err);
	for (const struct plan_node *n = plan_next(r->next, NULL);
	     n != NULL && e == 0; n = plan_next(r->next, n)) {
		const struct plan_node *old = plan_find(r->plan, n->id);

		if (old == NULL || !text_same(old->parent_id, n->parent_id))
			e = plan_edit_check_parent(
			    plan_find(r->plan, n->parent_id), err);
	}
	return e;
}

/* --- the change -------------------------------------------------------- */

static void
set_text(struct revise *r, const char *word, char **to, const char *base,
    const char *next)
{
	if (text_same(base, next))
		return;
	xstrset(to, next);
	buf_addf(&r->goal, "%s%s", r->goal.len > 0 ? ", " : "", word);
}

static void
set_list(struct revise *r, const char *word, char ***to, char *const *base,
    char *const *next)
{
	if (same_list(base, next))
		return;
	plan_set_list(to, next);
	buf_addf(&r->goal, "%s%s", r->goal.len > 0 ? ", " : "", word);
}

static void
change_goal(struct revise *r)
{
	struct plan_goal *goal = r->plan->goal;
	const struct plan_goal *base = r->base->goal, *next = r->next->goal;

	set_text(r, "title", &goal->title, base->title, next->title);
	set_text(r, "problem", &goal->problem_statement,
	    base->problem_statement, next->problem_statement);
	set_list(r, "success criteria", &goal->success_criteria,
	    base->success_criteria, next->success_criteria);
	set_list(r, "constraints", &goal->constraints, base->constraints,
	    next->constraints);
	if (base->priority != next->priority) {
		goal->priority = next->priority;
		buf_addf(&r->goal, "%spriority", r->goal.len > 0 ? ", " : "");
	}
	if (base->recovery_policy != next->recovery_policy) {
		goal->recovery_policy = next->recovery_policy;
		buf_addf(&r->goal, "%srecovery", r->goal.len > 0 ? ", " : "");
	}
}

static void
set_depends(struct revise *r, struct plan_node *node, char *const *ids)
{
	cleanup_strv char **old = take_ptr(&node->depends_on);
	struct plan_changes *changes = r->edit->changes;

	plan_set_list(&node->depends_on, old);
	for (char **d = old; d != NULL && *d != NULL; d++)
		if (plan_find(r->plan, *d) != NULL)
			plan_undepend(changes, node, plan_find(r->plan, *d),
			    r->edit->now_ms);
	for (; ids != NULL && *ids != NULL; ids++)
		plan_depend(
		    changes, node, plan_find(r->plan, *ids), r->edit->now_ms);
}

static void
add_node(struct revise *r, const struct plan_node *from)
{
	struct plan_node *node = plan_node_copy(from);

	strv_clear(&node->depends_on);
	strv_clear(&node->blocks);
	node->order = 0;
	/* The text was read with the same bounds and the same ids. */
	if (plan_attach(r->plan, node, NULL) < 0) {
		plan_node_free(node);
		return;
	}
	plan_changed(r->edit->changes, node);
	r->added++;
}

static void
revise_node(struct revise *r, struct plan_node *node,
    const struct plan_node *base, const struct plan_node *next)
{
	bool any = kept_difference(base, next) != NULL ||
	    base->priority != next->priority ||
	    base->recovery_policy != next->recovery_policy;

	if (!any)
		return;
	if (!text_same(base->name, next->name))
		xstrset(&node->name, next->name);
	if (!text_same(base->objective, next->objective))
		xstrset(&node->objective, next->objective);
	if (!text_same(base->expected_outcome, next->expected_outcome))
		xstrset(&node->expected_outcome, next->expected_outcome);
	if (!same_list(base->acceptance, next->acceptance))
		plan_set_list(&node->acceptance, next->acceptance);
	if (!same_list(base->scope_paths, next->scope_paths))
		plan_set_list(&node->scope_paths, next->scope_paths);
	if (!same_list(base->required_tools, next->required_tools))
		plan_set_list(&node->required_tools, next->required_tools);
	if (base->result != next->result)
		node->result = next->result;
	if (!contract_equal(base->verification, next->verification)) {
		json_object_put(node->verification);
		node->verification = json_object_get(next->verification);
	}
	if (base->priority != next->priority)
		node->priority = next->priority;
	if (base->recovery_policy != next->recovery_policy)
		node->recovery_policy = next->recovery_policy;
	node->updated_ms = r->edit->now_ms;
	plan_changed(r->edit->changes, node);
	r->changed++;
}

/* Children before their parents. */
static void
remove_gone(struct revise *r, struct plan_node *parent)
{
	size_t i, count;

	(void)plan_children(r->plan, parent, &i);
	while (i-- > 0) {
		struct plan_node *node =
		    plan_children(r->plan, parent, &count)[i];

		remove_gone(r, node);
		if (plan_find(r->next, node->id) != NULL)
			continue;
		set_depends(r, node, NULL);
		plan_changes_removed(r->edit->changes, node);
		plan_detach(r->plan, node);
		plan_node_free(node);
		r->removed++;
	}
}

/* Its dependencies, and its place: everything that the plan shall have is in
 * it by now, and only that. */
static void
place_nodes(struct revise *r)
{
	for (const struct plan_node *n = plan_next(r->next, NULL); n != NULL;
	     n = plan_next(r->next, n)) {
		struct plan_node *node = plan_find(r->plan, n->id);
		const struct plan_node *base = plan_find(r->base, n->id);

		if (!same_list(
			base == NULL ? NULL : base->depends_on, n->depends_on))
			set_depends(r, node, n->depends_on);
		if (node->place == n->place)
			continue;
		if (base != NULL && kept_difference(base, n) == NULL)
			r->changed++;
		plan_put(
		    r->plan, node, node->parent, n->place, r->edit->changes);
	}
}

static void
end(struct revise *r)
{
	struct plan_goal *goal = r->plan->goal;
	cleanup_buf struct buf what = BUF_INIT;

	if (r->added + r->changed + r->removed == 0 && r->goal.len == 0)
		return;
	buf_adds(&what, "edited");
	if (r->goal.len > 0)
		buf_addf(&what, " the goal's %s", r->goal.data);
	if (r->added + r->changed + r->removed > 0)
		buf_addf(&what,
		    "%s the plan: %zu added, %zu changed, %zu removed",
		    r->goal.len > 0 ? " and" : "", r->added, r->changed,
		    r->removed);
	/* A goal without a plan has waited for the planner. */
	if (r->base->count == 0 && r->added > 0) {
		xstrset(&goal->plan_fault, NULL);
		goal->plan_wanted = false;
		goal->plan_attempts = 0;
	}
	plan_edit_end(r->edit, what.data);
}

/* --- reading ----------------------------------------------------------- */

void
plan_revise_hash(const struct plan *plan, char out[PLAN_HASH_SIZE])
{
	cleanup_buf struct buf text = BUF_INIT;

	plan_print(plan, false, &text);
	id_hash(text.data, out, PLAN_HASH_SIZE - 1);
}

static int
read_both(struct revise *r, const char *text, struct err *err)
{
	const struct plan_source source = { .goal_id = r->plan->goal->id,
		.now_ms = r->edit->now_ms,
		.limits = { .known = r->plan } };
	cleanup_buf struct buf now = BUF_INIT;
	int e;

	plan_print(r->plan, false, &now);
	e = plan_markdown(now.data, now.len, &source, &r->base, err);
	if (e < 0) {
		err_prefix(err, "the plan cannot be edited as text");
		return API_FAILED;
	}
	return plan_markdown(text, strlen(text), &source, &r->next, err);
}

int
plan_revise(const struct plan_edit *edit, const char *text, const char *before,
    struct err *err)
{
	struct revise r = {
		.edit = edit, .plan = edit->plan, .goal = BUF_INIT
	};
	char hash[PLAN_HASH_SIZE];
	int e = plan_edit_begin(edit, err);

	if (e < 0)
		return e;
	plan_revise_hash(edit->plan, hash);
	if (before != NULL && strcmp(before, hash) != 0)
		return err_set(err, API_CHANGED,
		    "the goal or its plan was changed while you edited it; "
		    "begin again, and copy from your text");
	e = read_both(&r, text, err);
	if (e == 0) {
		plan_replan_kept(r.plan, &r.kept);
		e = check(&r, err);
	}
	if (e == 0) {
		struct strmap parents = { 0 };

		for (size_t i = 0; i < r.plan->count; i++)
			if (!plan_node_leaf(r.plan->nodes[i]))
				strmap_add(&parents, r.plan->nodes[i]->id,
				    r.plan->nodes[i]);
		change_goal(&r);
		for (const struct plan_node *n = plan_next(r.next, NULL);
		     n != NULL; n = plan_next(r.next, n)) {
			struct plan_node *node = plan_find(r.plan, n->id);

			if (node == NULL) {
				add_node(&r, n);
				continue;
			}
			revise_node(&r, node, plan_find(r.base, n->id), n);
			if (!text_same(node->parent_id, n->parent_id))
				plan_put(r.plan, node,
				    plan_find(r.plan, n->parent_id),
				    r.plan->count, r.edit->changes);
		}
		remove_gone(&r, NULL);
		place_nodes(&r);
		for (size_t i = 0; i < r.plan->count; i++)
			if (strmap_get(&parents, r.plan->nodes[i]->id) != NULL)
				plan_edit_left_alone(r.edit, r.plan->nodes[i]);
		strmap_release(&parents);
		end(&r);
	}
	plan_free(r.base);
	plan_free(r.next);
	strmap_release(&r.kept);
	buf_release(&r.goal);
	return e;
}
