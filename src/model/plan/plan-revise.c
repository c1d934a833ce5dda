/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api-error.h"
#include "contract.h"
#include "id.h"
#include "plan-edit.h"
#include "plan-file.h"
#include "plan-markdown.h"
#include "plan-progress.h"
#include "plan-revise.h"
#include "plan.h"

/* What was done with nodes: how many, and which ("T1.1 (name), T1.2"). */
enum deed {
	ADDED,
	CHANGED,
	REMOVED,
	DEED_COUNT
};

static const char *const deed_words[DEED_COUNT] = { "added", "changed",
	"removed" };

struct change {
	const struct plan_edit *edit; /* without changes: it is only tried */
	struct plan *plan;
	const struct plan *base; /* an edited text, as it was before that; NULL:
				  * next is a new plan */
	const struct plan *next;
	struct strmap kept; /* ids of nodes that stay as they are */
	struct strmap parents; /* ids of those that had children */
	size_t counts[DEED_COUNT];
	struct buf nodes[DEED_COUNT];
	struct buf goal; /* what is different of the goal, in words */
};

static struct change
change_of(const struct plan_edit *edit)
{
	return (struct change){ .edit = edit,
		.plan = edit->plan,
		.nodes = { BUF_INIT, BUF_INIT, BUF_INIT },
		.goal = BUF_INIT };
}

static void
change_release(struct change *c)
{
	strmap_release(&c->kept);
	strmap_release(&c->parents);
	for (int i = 0; i < DEED_COUNT; i++)
		buf_release(&c->nodes[i]);
	buf_release(&c->goal);
}

static void
add_word(struct buf *out, const char *word)
{
	buf_addf(out, "%s%s", out->len > 0 ? ", " : "", word);
}

static void
note(struct change *c, enum deed deed, const struct plan_node *node)
{
	c->counts[deed]++;
	add_word(&c->nodes[deed], node->id);
}

/* --- what stays ------------------------------------------------------ */

/* The copy that is tried first has no assignments: what is kept was found in
 * the plan itself, by id. */
static bool
is_kept(const struct change *c, const struct plan_node *node)
{
	return strmap_get(&c->kept, node->id) != NULL;
}

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
check_new_plan(const struct change *c, struct err *err)
{
	int e = 0;

	for (struct plan_node *n = plan_next(c->next, NULL);
	     n != NULL && e == 0; n = plan_next(c->next, n)) {
		const struct plan_node *old = plan_find(c->plan, n->id);

		if (old == NULL || !is_kept(c, old))
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

/* --- what a node says ------------------------------------------------ */

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

/* The texts and lists of a record, in the order in which a difference is named.
 * A new plan says all of a node; a text only those with a word. */
struct part {
	const char *word;
	size_t offset;
	bool list;
};

#define NODE(word, member, list)                               \
	{                                                      \
		word, offsetof(struct plan_node, member), list \
	}
#define GOAL(word, member, list)                               \
	{                                                      \
		word, offsetof(struct plan_goal, member), list \
	}

static const struct part node_parts[] = {
	NODE("name", name, false),
	NODE("text", objective, false),
	NODE("outcome", expected_outcome, false),
	NODE("acceptance", acceptance, true),
	NODE("dependencies", depends_on, true),
	NODE("scope paths", scope_paths, true),
	NODE("required tools", required_tools, true),
	NODE(NULL, definition_of_done, false),
	NODE(NULL, suggested_agent_id, false),
	NODE(NULL, estimated_effort, false),
};

static const struct part goal_parts[] = {
	GOAL("title", title, false),
	GOAL("problem", problem_statement, false),
	GOAL("success criteria", success_criteria, true),
	GOAL("constraints", constraints, true),
};

static const void *
at(const struct part *part, const void *record)
{
	return (const char *)record + part->offset;
}

static bool
same_part(const struct part *part, const void *a, const void *b)
{
	char *const *x = at(part, a), *const *y = at(part, b);
	char **const *list = at(part, a), **const *other = at(part, b);

	return part->list ? same_list(*list, *other) : text_same(*x, *y);
}

static void
copy_part(const struct part *part, void *to, const void *from)
{
	void *into = (char *)to + part->offset;

	if (part->list)
		plan_set_list(into, *(char **const *)at(part, from));
	else
		xstrset(into, *(char *const *)at(part, from));
}

/* The first of what a node that is kept keeps; NULL = nothing. */
static const char *
kept_difference(const struct plan_node *a, const struct plan_node *b)
{
	if (!text_same(a->parent_id, b->parent_id))
		return "parent";
	for (size_t i = 0; i < nitems(node_parts); i++)
		if (node_parts[i].word != NULL &&
		    !same_part(&node_parts[i], a, b))
			return node_parts[i].word;
	if (a->result != b->result)
		return "result";
	if (!contract_equal(a->verification, b->verification))
		return "verification";
	return NULL;
}

/* Of a text, the node takes what was edited, but its dependencies later. base
 * NULL: all that a new plan says; what a person set stays, unless it says
 * otherwise. */
static void
change_node(struct plan_node *node, const struct plan_node *base,
    const struct plan_node *to, int64_t now_ms)
{
	static const struct plan_node blank = { .priority = PRIORITY_COUNT,
		.recovery_policy = RECOVERY_UNSET,
		.result = NODE_RESULT_UNSET };
	const struct plan_node *was = base != NULL ? base : &blank;

	for (size_t i = 0; i < nitems(node_parts); i++) {
		const struct part *part = &node_parts[i];
		bool linked =
		    part->offset == offsetof(struct plan_node, depends_on);
		bool scope =
		    part->offset == offsetof(struct plan_node, scope_paths);

		if (base != NULL ? part->word != NULL && !linked &&
			    !same_part(part, base, to) :
				   !scope || strv_count(to->scope_paths) > 0)
			copy_part(part, node, to);
	}
	if (to->priority != was->priority)
		node->priority = to->priority;
	if (to->recovery_policy != was->recovery_policy)
		node->recovery_policy = to->recovery_policy;
	if (to->result != was->result)
		node->result = to->result;
	if (!contract_equal(was->verification, to->verification)) {
		json_object_put(node->verification);
		node->verification = json_object_get(to->verification);
	}
	node->updated_ms = now_ms;
}

/* --- the tree -------------------------------------------------------- */

static void
set_depends(struct change *c, struct plan_node *node, char *const *ids)
{
	cleanup_strv char **old = take_ptr(&node->depends_on);
	struct plan_changes *changes = c->edit->changes;

	plan_set_list(&node->depends_on, old);
	for (char **d = old; d != NULL && *d != NULL; d++)
		if (plan_find(c->plan, *d) != NULL)
			plan_undepend(changes, node, plan_find(c->plan, *d),
			    c->edit->now_ms);
	for (; ids != NULL && *ids != NULL; ids++)
		plan_depend(
		    changes, node, plan_find(c->plan, *ids), c->edit->now_ms);
}

/* Last among its siblings. Of a text, it depends on nothing yet. */
static int
add_node(struct change *c, const struct plan_node *from,
    struct plan_node **ret_node, struct err *err)
{
	struct plan_node *node = plan_node_copy(from);
	struct plan_node *const *siblings;
	size_t count;
	int e;

	siblings =
	    plan_children(c->plan, plan_find(c->plan, node->parent_id), &count);
	node->order = count > 0 ? siblings[count - 1]->order + 1 : 0;
	node->created_ms = node->updated_ms = c->edit->now_ms;
	if (c->base != NULL) {
		strv_clear(&node->depends_on);
		strv_clear(&node->blocks);
	}
	e = plan_attach(c->plan, node, err);
	if (e < 0) {
		plan_node_free(node);
		return e;
	}
	note(c, ADDED, node);
	plan_changed(c->edit->changes, node);
	*ret_node = node;
	return 0;
}

static void
remove_node(struct change *c, struct plan_node *node)
{
	if (c->base != NULL)
		set_depends(c, node, NULL);
	for (char **id = node->blocks; id != NULL && *id != NULL; id++) {
		struct plan_node *waits = plan_find(c->plan, *id);
		char ***list = waits != NULL ? &waits->depends_on : NULL;

		if (list == NULL || *list == NULL)
			continue;
		strv_remove(*list, node->id);
		if (strv_count(*list) == 0)
			strv_clear(list);
	}
	note(c, REMOVED, node);
	if (c->edit->changes != NULL)
		plan_changes_removed(c->edit->changes, node);
	strmap_remove(&c->parents, node->id);
	plan_detach(c->plan, node);
	plan_node_free(node);
}

/* Children before their parents, and from the last one on: a removal moves only
 * those behind it. */
static void
remove_below(struct change *c, struct plan_node *parent)
{
	size_t i, count;

	(void)plan_children(c->plan, parent, &i);
	while (i-- > 0) {
		struct plan_node *node =
		    plan_children(c->plan, parent, &count)[i];
		const struct plan_node *in_next = plan_find(c->next, node->id);

		remove_below(c, node);
		if (!is_kept(c, node) && plan_node_leaf(node) &&
		    (in_next == NULL || in_next->kind != node->kind))
			remove_node(c, node);
	}
}

static void
find_parents(struct change *c)
{
	for (size_t i = 0; i < c->plan->count; i++)
		if (!plan_node_leaf(c->plan->nodes[i]))
			strmap_add(&c->parents, c->plan->nodes[i]->id,
			    c->plan->nodes[i]);
}

/* Parents that lost their children have a status of their own. */
static void
leave_parents(struct change *c)
{
	for (size_t i = 0; i < c->plan->count; i++)
		if (strmap_get(&c->parents, c->plan->nodes[i]->id) != NULL)
			plan_edit_left_alone(c->edit, c->plan->nodes[i]);
}

/* --- a new plan ------------------------------------------------------ */

/* Which of its members are not as they were: "T1.1 (name, acceptance)". */
static void
replace_node(
    struct change *c, struct plan_node *node, const struct plan_node *to)
{
	bool trial = c->edit->changes == NULL;
	cleanup_json struct json_object *before =
	    trial ? NULL : plan_load_words(node);
	struct plan_node *parent = plan_find(c->plan, to->parent_id);
	cleanup_buf struct buf keys = BUF_INIT;

	change_node(node, NULL, to, c->edit->now_ms);
	if (node->parent != parent) {
		plan_relocate(c->plan, node, parent, c->plan->count);
		xstrset(&node->parent_id, to->parent_id);
		buf_adds(&keys, "place");
	}
	if (trial)
		return;
	plan_load_changed(before, node, &keys);
	if (keys.len == 0)
		return;
	note(c, CHANGED, node);
	buf_addf(&c->nodes[CHANGED], " (%s)", keys.data);
}

/* The nodes of the next plan, parents first. Those that are kept stand before
 * the others. */
static int
put_nodes(struct change *c, struct err *err)
{
	for (size_t i = 0; i < c->plan->count; i++)
		c->plan->nodes[i]->order = (int)c->plan->nodes[i]->place;
	for (struct plan_node *n = plan_next(c->next, NULL); n != NULL;
	     n = plan_next(c->next, n)) {
		struct plan_node *node = plan_find(c->plan, n->id);
		int e = 0;

		if (node != NULL && is_kept(c, node))
			continue;
		if (node == NULL)
			e = add_node(c, n, &node, err);
		else
			replace_node(c, node, n);
		if (e < 0)
			return e;
		node->order = PLAN_NODES_MAX + (int)n->place;
	}
	/* Those whose last children moved elsewhere. */
	remove_below(c, NULL);
	plan_sort(c->plan);
	for (size_t i = 0; i < c->plan->count; i++) {
		c->plan->nodes[i]->order = (int)c->plan->nodes[i]->place;
		plan_changed(c->edit->changes, c->plan->nodes[i]);
	}
	return 0;
}

static int
replace(struct change *c, struct err *err)
{
	int e;

	find_parents(c);
	remove_below(c, NULL);
	e = put_nodes(c, err);
	if (e < 0)
		return e;
	leave_parents(c);
	plan_link_blocks(c->plan);
	return plan_deps_check(c->plan, NULL, err);
}

/* The same on a copy, which is thrown away. */
static int
try_replace(const struct change *c, struct err *err)
{
	struct plan_edit edit = { .plan = plan_copy(c->plan),
		.now_ms = c->edit->now_ms };
	struct change trial = change_of(&edit);
	int e;

	trial.next = c->next;
	trial.kept = c->kept;
	e = replace(&trial, err);
	trial.kept = (struct strmap){ 0 };
	plan_free(trial.plan);
	change_release(&trial);
	return e;
}

/* "planned: 4 nodes", "replanned: added T1.3; changed T1.1 (name); removed
 * T1.2" */
static void
add_words(const struct change *c, bool first, struct buf *out)
{
	size_t start;

	if (first) {
		buf_addf(out, "planned: %zu nodes", c->plan->count);
		return;
	}
	buf_adds(out, "replanned: ");
	start = out->len;
	for (int i = 0; i < DEED_COUNT; i++)
		if (c->counts[i] > 0)
			buf_addf(out, "%s%s %s", out->len > start ? "; " : "",
			    deed_words[i], c->nodes[i].data);
	if (out->len == start)
		buf_adds(out, "nothing is different");
	buf_truncate(out, text_cut(out->data, out->len, PLAN_LINE_MAX));
}

/* Nobody waits for a plan any more. */
static void
end_waiting(struct plan_goal *goal)
{
	xstrset(&goal->plan_fault, NULL);
	goal->plan_wanted = false;
	goal->plan_attempts = 0;
}

int
plan_replan_check(
    const struct plan *plan, const struct plan *next, struct err *err)
{
	struct strmap kept = { 0 };
	int r = 0;

	plan_replan_kept(plan, &kept);
	for (size_t i = 0; i < plan->count && r == 0; i++) {
		const struct plan_node *is = plan->nodes[i];
		const struct plan_node *to = plan_find(next, is->id);

		if (to != NULL && strmap_get(&kept, is->id) != NULL &&
		    !text_same(to->name, is->name))
			r = err_set(err, API_E_STARTED,
			    "%s is \"%.100s\", which has begun and stays; for "
			    "\"%.100s\", write a free id, such as T9.9: NAME",
			    is->id, is->name, to->name);
	}
	strmap_release(&kept);
	return r;
}

int
plan_replan(const struct plan_edit *edit, const struct plan *next,
    const char *node_id, struct err *err)
{
	struct change c = change_of(edit);
	struct plan_goal *goal = edit->plan->goal;
	const struct plan_goal *from = next->goal;
	bool first = edit->plan->count == 0;
	int e = plan_edit_begin(edit, err);

	if (e < 0)
		return e;
	c.next = next;
	plan_replan_kept(edit->plan, &c.kept);
	if (node_id != NULL && plan_find(next, node_id) != NULL)
		strmap_remove(&c.kept, node_id);
	e = check_new_plan(&c, err);
	if (e == 0)
		e = try_replace(&c, err);
	if (e == 0) {
		cleanup_buf struct buf what = BUF_INIT;

		replace(&c, NULL);
		xstrset(&goal->model_ref, from->model_ref);
		xstrset(&goal->template_id, from->template_id);
		xstrset(&goal->template_hash, from->template_hash);
		plan_set_list(
		    &goal->validation_errors, from->validation_errors);
		end_waiting(goal);
		json_object_put(goal->planner_inputs);
		goal->planner_inputs = json_object_get(from->planner_inputs);
		json_object_put(goal->planner_output);
		goal->planner_output = json_object_get(from->planner_output);
		add_words(&c, first, &what);
		plan_edit_end(edit, what.data);
	}
	change_release(&c);
	return e;
}

/* --- an edited text -------------------------------------------------- */

#define KEPT \
	"it, or something below it, has started, is assigned or was cancelled"

static int
check_old(const struct change *c, const struct plan_node *node, struct err *err)
{
	const struct plan_node *to = plan_find(c->next, node->id);
	bool kept = is_kept(c, node);
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
	what = kept_difference(plan_find(c->base, node->id), to);
	if (kept && what != NULL)
		return err_set(err, API_E_STARTED,
		    "%s: its %s cannot be changed any more: " KEPT, node->id,
		    what);
	return 0;
}

static int
check_text(const struct change *c, struct err *err)
{
	int e = 0;

	for (const struct plan_node *n = plan_next(c->plan, NULL);
	     n != NULL && e == 0; n = plan_next(c->plan, n))
		e = check_old(c, n, err);
	for (const struct plan_node *n = plan_next(c->next, NULL);
	     n != NULL && e == 0; n = plan_next(c->next, n)) {
		const struct plan_node *old = plan_find(c->plan, n->id);

		if (old == NULL || !text_same(old->parent_id, n->parent_id))
			e = plan_edit_check_parent(
			    plan_find(c->plan, n->parent_id), err);
	}
	return e;
}

static void
change_goal(struct change *c)
{
	struct plan_goal *goal = c->plan->goal;
	const struct plan_goal *base = c->base->goal, *next = c->next->goal;

	for (size_t i = 0; i < nitems(goal_parts); i++)
		if (!same_part(&goal_parts[i], base, next)) {
			copy_part(&goal_parts[i], goal, next);
			add_word(&c->goal, goal_parts[i].word);
		}
	if (base->priority != next->priority) {
		goal->priority = next->priority;
		add_word(&c->goal, "priority");
	}
	if (base->recovery_policy != next->recovery_policy) {
		goal->recovery_policy = next->recovery_policy;
		add_word(&c->goal, "recovery");
	}
}

/* What is different of a node in the text. */
static void
revise_node(
    struct change *c, struct plan_node *node, const struct plan_node *next)
{
	const struct plan_node *base = plan_find(c->base, node->id);

	if (kept_difference(base, next) != NULL ||
	    base->priority != next->priority ||
	    base->recovery_policy != next->recovery_policy) {
		change_node(node, base, next, c->edit->now_ms);
		plan_changed(c->edit->changes, node);
		note(c, CHANGED, node);
	}
	if (!text_same(node->parent_id, next->parent_id))
		plan_put(c->plan, node, plan_find(c->plan, next->parent_id),
		    c->plan->count, c->edit->changes);
}

/* Its dependencies, and its place: everything that the plan shall have is in
 * it by now, and only that. */
static void
place_nodes(struct change *c)
{
	for (const struct plan_node *n = plan_next(c->next, NULL); n != NULL;
	     n = plan_next(c->next, n)) {
		struct plan_node *node = plan_find(c->plan, n->id);
		const struct plan_node *base = plan_find(c->base, n->id);

		if (!same_list(
			base == NULL ? NULL : base->depends_on, n->depends_on))
			set_depends(c, node, n->depends_on);
		if (node->place == n->place)
			continue;
		if (base != NULL && kept_difference(base, n) == NULL)
			note(c, CHANGED, node);
		plan_put(
		    c->plan, node, node->parent, n->place, c->edit->changes);
	}
}

static void
revise(struct change *c)
{
	size_t *counts = c->counts;
	bool any;
	cleanup_buf struct buf what = BUF_INIT;

	find_parents(c);
	change_goal(c);
	for (const struct plan_node *n = plan_next(c->next, NULL); n != NULL;
	     n = plan_next(c->next, n)) {
		struct plan_node *node = plan_find(c->plan, n->id);

		/* The text was read with the same bounds and the same ids. */
		if (node == NULL)
			(void)add_node(c, n, &node, NULL);
		else
			revise_node(c, node, n);
	}
	remove_below(c, NULL);
	place_nodes(c);
	leave_parents(c);
	any = counts[ADDED] + counts[CHANGED] + counts[REMOVED] > 0;
	if (!any && c->goal.len == 0)
		return;
	buf_adds(&what, "edited");
	if (c->goal.len > 0)
		buf_addf(&what, " the goal's %s", c->goal.data);
	if (any)
		buf_addf(&what,
		    "%s the plan: %zu added, %zu changed, %zu removed",
		    c->goal.len > 0 ? " and" : "", counts[ADDED],
		    counts[CHANGED], counts[REMOVED]);
	/* A goal without a plan has waited for the planner. */
	if (c->base->count == 0 && counts[ADDED] > 0)
		end_waiting(c->plan->goal);
	plan_edit_end(c->edit, what.data);
}

void
plan_revise_hash(const struct plan *plan, char out[PLAN_HASH_SIZE])
{
	cleanup_buf struct buf text = BUF_INIT;

	plan_print(plan, false, &text);
	id_hash(text.data, out, PLAN_HASH_SIZE - 1);
}

int
plan_revise(const struct plan_edit *edit, const char *text, const char *before,
    struct err *err)
{
	const struct plan_source source = { .goal_id = edit->plan->goal->id,
		.now_ms = edit->now_ms,
		.limits = { .known = edit->plan } };
	struct change c = change_of(edit);
	cleanup_buf struct buf now = BUF_INIT;
	struct plan *base = NULL, *next = NULL;
	char hash[PLAN_HASH_SIZE];
	int e = plan_edit_begin(edit, err);

	if (e < 0)
		return e;
	plan_revise_hash(edit->plan, hash);
	if (before != NULL && strcmp(before, hash) != 0)
		return err_set(err, API_CHANGED,
		    "the goal or its plan was changed while you edited it; "
		    "begin again, and copy from your text");
	plan_print(edit->plan, false, &now);
	e = plan_markdown(now.data, now.len, &source, &base, err);
	if (e < 0) {
		err_prefix(err, "the plan cannot be edited as text");
		return API_FAILED;
	}
	e = plan_markdown(text, strlen(text), &source, &next, err);
	c.base = base;
	c.next = next;
	if (e == 0) {
		plan_replan_kept(c.plan, &c.kept);
		e = check_text(&c, err);
	}
	if (e == 0)
		revise(&c);
	plan_free(base);
	plan_free(next);
	change_release(&c);
	return e;
}
