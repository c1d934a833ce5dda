/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api.h"
#include "contract.h"
#include "id.h"
#include "plan-edit.h"
#include "plan-load.h"
#include "plan-markdown.h"
#include "plan-print.h"
#include "plan-replan.h"
#include "plan-revise.h"
#include "plan.h"

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
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

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
	if (!same_text(a->parent_id, b->parent_id))
		return "parent";
	if (!same_text(a->name, b->name))
		return "name";
	if (!same_text(a->objective, b->objective))
		return "text";
	if (!same_text(a->expected_outcome, b->expected_outcome))
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

		if (old == NULL || !same_text(old->parent_id, n->parent_id))
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
	if (same_text(base, next))
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
change_node(struct revise *r, struct plan_node *node,
    const struct plan_node *base, const struct plan_node *next)
{
	bool any = kept_difference(base, next) != NULL ||
	    base->priority != next->priority ||
	    base->recovery_policy != next->recovery_policy;

	if (!any)
		return;
	if (!same_text(base->name, next->name))
		xstrset(&node->name, next->name);
	if (!same_text(base->objective, next->objective))
		xstrset(&node->objective, next->objective);
	if (!same_text(base->expected_outcome, next->expected_outcome))
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
remove_below(struct revise *r, struct plan_node *parent)
{
	size_t i, count;

	(void)plan_children(r->plan, parent, &i);
	while (i-- > 0) {
		struct plan_node *node =
		    plan_children(r->plan, parent, &count)[i];

		remove_below(r, node);
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
			change_node(&r, node, plan_find(r.base, n->id), n);
			if (!same_text(node->parent_id, n->parent_id))
				plan_put(r.plan, node,
				    plan_find(r.plan, n->parent_id),
				    r.plan->count, r.edit->changes);
		}
		remove_below(&r, NULL);
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
