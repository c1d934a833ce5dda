/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>

#include "api-error.h"
#include "plan-edit.h"
#include "plan-node.h"
#include "plan-progress.h"
#include "plan.h"

int
plan_edit_begin(const struct plan_edit *edit, struct err *err)
{
	const struct plan_goal *goal = edit->plan->goal;

	if (goal->status == GOAL_CANCELLED || goal->status == GOAL_ARCHIVED)
		return err_set(err, API_E_CLOSED,
		    "goal %s is %s; its plan cannot be changed", goal->id,
		    goal_status_name(goal->status));
	return 0;
}

void
plan_edit_end(const struct plan_edit *edit, const char *what)
{
	struct plan_revision *revision;
	const struct plan_changes *changes = edit->changes;
	size_t count =
	    changes->count < PLAN_LIST_MAX ? changes->count : PLAN_LIST_MAX;

	plan_rollup(edit->plan, edit->now_ms, edit->changes);
	revision = plan_goal_revise(
	    edit->plan->goal, edit->actor, what, edit->why, edit->now_ms);
	revision->nodes = xcalloc(count + 1, sizeof *revision->nodes);
	for (size_t i = 0; i < count; i++)
		revision->nodes[i] = xstrdup(changes->nodes[i]->id);
	edit->changes->goal = true;
}

/* Both steps that begin every change of one node. */
static int
begin(const struct plan_edit *edit, const char *id, struct plan_node **ret_node,
    struct err *err)
{
	int r = plan_edit_begin(edit, err);

	return r < 0 ? r : plan_get(edit->plan, id, ret_node, err);
}

static int
check_open(const struct plan_node *node, struct err *err)
{
	if (node_status_open(node->status))
		return 0;
	return err_set(err, API_E_CLOSED, "%s is %s already", node->id,
	    node_status_name(node->status));
}

static void
end(const struct plan_edit *edit, struct plan_node *node, const char *what)
{
	cleanup_free char *words = xasprintf("%s %s", what, node->id);

	node->updated_ms = edit->now_ms;
	plan_changed(edit->changes, node);
	plan_edit_end(edit, words);
}

int
plan_edit_priority(const struct plan_edit *edit, const char *id,
    enum priority priority, struct err *err)
{
	cleanup_free char *what = NULL;
	struct plan_node *node;
	int r = begin(edit, id, &node, err);

	if (r < 0)
		return r;
	node->priority = priority;
	what = xasprintf("%s priority for",
	    priority == PRIORITY_COUNT ? "inherited" : priority_name(priority));
	end(edit, node, what);
	return 0;
}

static int
set_done(const struct plan_edit *edit, struct plan_node *node,
    const struct plan_evidence *evidence, struct err *err)
{
	struct plan_node_move move = { .to = NODE_DONE, .evidence = evidence };
	int r;

	if (plan_node_leaf(node)) {
		r = plan_node_move(node, &move, edit->now_ms, err);
		if (r == 0 || plan_blank(edit->why))
			return r;
	} else if (plan_blank(edit->why)) {
		return err_set(err, API_E_CHILDREN,
		    "%s is done when everything below it is; give a reason to "
		    "override that",
		    node->id);
	}
	move.actor = edit->actor;
	move.override_reason = edit->why;
	return plan_node_move(node, &move, edit->now_ms, err);
}

int
plan_edit_done(const struct plan_edit *edit, const char *id,
    const struct plan_evidence *evidence, struct err *err)
{
	struct plan_node *node;
	int r = begin(edit, id, &node, err);

	if (r == 0)
		r = check_open(node, err);
	if (r == 0)
		r = set_done(edit, node, evidence, err);
	if (r == 0)
		end(edit, node, "done:");
	return r;
}

static int
refuse_assigned(const struct plan_node *node, struct err *err)
{
	const struct plan_work *work = &node->work;
	const char *worker = work->worker != NULL ? work->worker : "a worker";

	if (work->task != NULL)
		return err_set(err, API_E_ASSIGNED,
		    "%s has %s; to take it back, type: llmc task drop %s",
		    worker, node->id, work->task);
	return err_set(err, API_E_ASSIGNED,
	    "%s has %s; mark it done, or cancel it and add another", worker,
	    node->id);
}

int
plan_edit_block(const struct plan_edit *edit, const char *id, struct err *err)
{
	struct plan_node_move move = { .to = NODE_BLOCKED,
		.reason = edit->why };
	struct plan_node *node;
	int r = begin(edit, id, &node, err);

	if (r < 0)
		return r;
	if (plan_blank(edit->why))
		return err_set(
		    err, API_E_REASON, "%s: say why it is blocked", node->id);
	r = check_open(node, err);
	if (r < 0)
		return r;
	/* Its worker's next sign of life would unblock it. */
	if (node->status == NODE_IN_PROGRESS && plan_node_is_assigned(node))
		return refuse_assigned(node, err);
	if (!plan_node_leaf(node)) {
		move.rolled_up = true;
		move.actor = edit->actor;
		move.override_reason = edit->why;
	}
	r = plan_node_move(node, &move, edit->now_ms, err);
	if (r == 0)
		end(edit, node, "blocked");
	return r;
}

int
plan_edit_cancel(const struct plan_edit *edit, const char *id, struct err *err)
{
	const struct plan_node_move move = { .to = NODE_CANCELLED };
	struct plan_node *node, *last;
	bool any = false;
	int r = begin(edit, id, &node, err);

	if (r < 0)
		return r;
	last = plan_next_beside(edit->plan, node);
	for (struct plan_node *n = node; n != last;
	     n = plan_next(edit->plan, n)) {
		if (!node_status_open(n->status))
			continue;
		any = true;
		/* A parent follows, also one that was overridden. */
		plan_override_release(&n->override);
		if (plan_node_leaf(n))
			plan_node_move(n, &move, edit->now_ms, NULL);
		plan_changed(edit->changes, n);
	}
	if (!any)
		return err_set(err, API_E_CLOSED, "%s is %s already", node->id,
		    node_status_name(node->status));
	end(edit, node, "cancelled");
	return 0;
}

/* A blocked or done node waits for a worker again. */
static int
queue_again(const struct plan_edit *edit, const char *id, enum node_status from,
    const char *what, struct err *err)
{
	const struct plan_node_move move = { .to = NODE_QUEUED };
	struct plan_node *node;
	int r = begin(edit, id, &node, err);

	if (r < 0)
		return r;
	if (node->status != from)
		return err_set(err, API_E_TRANSITION, "%s is %s, not %s",
		    node->id, node_status_name(node->status),
		    node_status_name(from));
	if (plan_node_leaf(node))
		plan_node_move(node, &move, edit->now_ms, NULL);
	else if (node->override.actor != NULL)
		plan_override_release(&node->override);
	else if (from == NODE_BLOCKED)
		return err_set(err, API_E_CHILDREN,
		    "%s is blocked by what is below it (%s)", node->id,
		    node->blocked_reason);
	else
		return err_set(err, API_E_CHILDREN,
		    "%s is done because everything below it is; open a node "
		    "below it",
		    node->id);
	end(edit, node, what);
	return 0;
}

int
plan_edit_unblock(const struct plan_edit *edit, const char *id, struct err *err)
{
	return queue_again(edit, id, NODE_BLOCKED, "unblocked", err);
}

int
plan_edit_reopen(const struct plan_edit *edit, const char *id, struct err *err)
{
	return queue_again(edit, id, NODE_DONE, "opened again:", err);
}

/* --- checks ---------------------------------------------------------- */

/* It has no worker, and has not ended. */
static int
check_idle(const struct plan_node *node, struct err *err)
{
	if (!node_status_open(node->status))
		return err_set(err, API_E_CLOSED, "%s is %s", node->id,
		    node_status_name(node->status));
	if (plan_node_is_assigned(node))
		return refuse_assigned(node, err);
	if (node->status == NODE_IN_PROGRESS)
		return err_set(
		    err, API_E_STARTED, "%s is in progress", node->id);
	return 0;
}

int
plan_edit_check_parent(const struct plan_node *parent, struct err *err)
{
	if (parent == NULL)
		return 0;
	if (parent->kind == NODE_SUBTASK)
		return err_set(err, API_E_LEVEL,
		    "%s is a subtask and cannot have children; split it "
		    "instead",
		    parent->id);
	if (plan_node_leaf(parent))
		return check_idle(parent, err);
	if (parent->status == NODE_CANCELLED ||
	    (parent->override.actor != NULL && parent->status == NODE_DONE))
		return err_set(err, API_E_CLOSED, "%s is %s", parent->id,
		    node_status_name(parent->status));
	return 0;
}

static int
check_list(const char *id, const char *what, const char *const *list,
    size_t size, struct err *err)
{
	size_t count = 0;

	for (; list != NULL && list[count] != NULL; count++)
		if (strlen(list[count]) > size)
			return err_set(err, API_E_LIMIT,
			    "%s: %s: longer than %zu bytes", id, what, size);
	if (count > PLAN_LIST_MAX)
		return err_set(err, API_E_LIMIT, "%s: %s: more than %d entries",
		    id, what, PLAN_LIST_MAX);
	return 0;
}

static int
check_text(const char *id, const char *what, const char *text, size_t size,
    struct err *err)
{
	if (text == NULL || strlen(text) <= size)
		return 0;
	return err_set(
	    err, API_E_LIMIT, "%s: %s: longer than %zu bytes", id, what, size);
}

static int
check_spec(const struct plan_spec *spec, const char *id, struct err *err)
{
	int r;

	if (plan_id_fault(id) != NULL)
		return err_set(err, API_E_LIMIT, "id \"%.8s\"...: %s", id,
		    plan_id_fault(id));
	if (spec->name == NULL || *spec->name == '\0')
		return err_set(err, API_E_LIMIT, "%s: a node needs a name", id);
	r = check_text(id, "name", spec->name, PLAN_NAME_MAX, err);
	if (r == 0)
		r = check_text(
		    id, "objective", spec->objective, PLAN_TEXT_MAX, err);
	if (r == 0)
		r = check_text(
		    id, "outcome", spec->outcome, PLAN_TEXT_MAX, err);
	if (r == 0)
		r = check_list(
		    id, "acceptance", spec->acceptance, PLAN_LINE_MAX, err);
	if (r == 0)
		r = check_list(
		    id, "dependencies", spec->depends_on, PLAN_ID_MAX, err);
	return r;
}

static int
check_known(
    const struct plan *plan, const struct plan_node *node, struct err *err)
{
	for (char **d = node->depends_on; d != NULL && *d != NULL; d++)
		if (plan_find(plan, *d) == NULL)
			return err_set(err, API_E_UNKNOWN,
			    "%s depends on %s, which goal %s does not have",
			    node->id, *d, plan->goal->id);
	return 0;
}

/* --- new nodes ------------------------------------------------------- */

/* The next free id below a parent: "P3", "T1.2" below P1, "S1.2.3". */
static char *
next_id(const struct plan *plan, const struct plan_node *parent)
{
	static const char letters[] = "PTS";
	size_t count;

	(void)plan_children(plan, parent, &count);
	for (;;) {
		char *id;

		count++;
		if (parent == NULL)
			id = xasprintf("P%zu", count);
		else if (parent->id[0] == letters[parent->kind] &&
		    isdigit((unsigned char)parent->id[1]))
			id = xasprintf("%c%s.%zu", letters[parent->kind + 1],
			    parent->id + 1, count);
		else
			id = xasprintf("%s.%zu", parent->id, count);
		if (plan_find(plan, id) == NULL)
			return id;
		free(id);
	}
}

static struct plan_node *
node_from(const struct plan_edit *edit, const struct plan_node *parent,
    const struct plan_spec *spec, const char *id)
{
	struct plan_node *node = plan_node_new(edit->plan->goal->id,
	    parent == NULL ? NODE_PHASE : parent->kind + 1, id, spec->name,
	    edit->now_ms);

	xstrset(&node->parent_id, parent == NULL ? NULL : parent->id);
	xstrset(&node->objective, spec->objective);
	xstrset(&node->expected_outcome, spec->outcome);
	if (spec->acceptance != NULL)
		strv_add_all(&node->acceptance, spec->acceptance);
	for (const char *const *d = spec->depends_on; d != NULL && *d != NULL;
	     d++)
		strv_add(&node->depends_on, *d);
	if (spec->priority != NULL)
		node->priority = *spec->priority;
	return node;
}

/* Make a node, last among its siblings. Nothing else is changed yet. */
static int
make(const struct plan_edit *edit, struct plan_node *parent,
    const struct plan_spec *spec, struct plan_node **ret_node, struct err *err)
{
	cleanup_free char *free_id =
	    spec->id == NULL ? next_id(edit->plan, parent) : NULL;
	const char *id = spec->id == NULL ? free_id : spec->id;
	struct plan_node *node, *last;
	struct plan_node *const *siblings;
	size_t count;
	int r = check_spec(spec, id, err);

	if (r < 0)
		return r;
	siblings = plan_children(edit->plan, parent, &count);
	last = count == 0 ? NULL : siblings[count - 1];
	node = node_from(edit, parent, spec, id);
	node->order = last == NULL ? 0 : last->order + 1;
	r = plan_attach(edit->plan, node, err);
	if (r < 0) {
		plan_node_free(node);
		return r;
	}
	*ret_node = node;
	return 0;
}

/* Tell the nodes that a new one depends on. */
static void
link_new(const struct plan_edit *edit, struct plan_node *node)
{
	cleanup_strv char **ids = take_ptr(&node->depends_on);

	plan_changed(edit->changes, node);
	for (char **d = ids; d != NULL && *d != NULL; d++)
		plan_depend(edit->changes, node, plan_find(edit->plan, *d),
		    edit->now_ms);
}

/* The parts, all or none, checked for cycles. as_one: what they replace, NULL
 * terminated with room for them behind it, or NULL. */
static int
make_all(const struct plan_edit *edit, struct plan_node *parent,
    const struct plan_spec *specs, size_t count, struct plan_node **nodes,
    struct plan_node **as_one, struct err *err)
{
	size_t made = 0;
	int r = 0;

	while (made < count && r == 0) {
		r = make(edit, parent, &specs[made], &nodes[made], err);
		if (r == 0)
			made++;
	}
	for (size_t i = 0; i < made && r == 0; i++)
		r = check_known(edit->plan, nodes[i], err);
	if (r == 0)
		r = plan_deps_check(edit->plan, NULL, err);
	if (r == 0 && as_one != NULL) {
		memcpy(&as_one[1], nodes, count * sizeof(struct plan_node *));
		r = plan_deps_check(edit->plan, as_one, err);
	}
	while (r < 0 && made > 0) {
		plan_detach(edit->plan, nodes[--made]);
		plan_node_free(nodes[made]);
	}
	return r;
}

int
plan_edit_add(const struct plan_edit *edit, const char *parent_id, size_t place,
    const struct plan_spec *spec, struct plan_node **ret_node, struct err *err)
{
	cleanup_free char *what = NULL;
	struct plan_node *parent = NULL, *node;
	int r = plan_edit_begin(edit, err);

	if (r == 0 && parent_id != NULL)
		r = plan_get(edit->plan, parent_id, &parent, err);
	if (r == 0)
		r = plan_edit_check_parent(parent, err);
	if (r == 0)
		r = make_all(edit, parent, spec, 1, &node, NULL, err);
	if (r != 0)
		return r;
	link_new(edit, node);
	if (place != PLAN_LAST)
		plan_put(edit->plan, node, parent, place, edit->changes);
	what = xasprintf("added %s", node->id);
	plan_edit_end(edit, what);
	if (ret_node != NULL)
		*ret_node = node;
	return 0;
}

/* --- split ----------------------------------------------------------- */

static void
replace(const struct plan_edit *edit, struct plan_node *node,
    struct plan_node *const *by, size_t count)
{
	const struct plan_node_move move = { .to = NODE_CANCELLED };
	char **ids = strv_copy(strv_const(node->blocks));

	/* What waited for the node waits for the others now. */
	for (char **id = ids; id != NULL && *id != NULL; id++) {
		struct plan_node *waits = plan_find(edit->plan, *id);

		if (waits == NULL)
			continue;
		plan_undepend(edit->changes, waits, node, edit->now_ms);
		for (size_t i = 0; i < count; i++)
			if (waits != by[i])
				plan_depend(
				    edit->changes, waits, by[i], edit->now_ms);
	}
	strv_free(ids);
	plan_node_move(node, &move, edit->now_ms, NULL);
	for (size_t i = 0; i < count; i++)
		strv_add(&node->replaced_by, by[i]->id);
	plan_changed(edit->changes, node);
}

static void
end_with_ids(const struct plan_edit *edit, const char *verb, const char *id,
    struct plan_node *const *others, size_t count)
{
	cleanup_buf struct buf what = BUF_INIT;

	buf_addf(&what, "%s %s:", verb, id);
	for (size_t i = 0; i < count; i++)
		buf_addf(&what, "%s %s", i == 0 ? "" : ",", others[i]->id);
	plan_edit_end(edit, what.data);
}

int
plan_edit_split(const struct plan_edit *edit, const char *id,
    const struct plan_spec *parts, size_t count, struct err *err)
{
	cleanup_free struct plan_node **nodes = NULL, **as_one = NULL;
	struct plan_node *node = NULL;
	bool subtask;
	int r = plan_edit_begin(edit, err);

	if (r == 0)
		r = plan_get(edit->plan, id, &node, err);
	if (r == 0)
		r = check_idle(node, err);
	if (r == 0 && !plan_node_leaf(node))
		r = err_set(err, API_E_CHILDREN,
		    "%s has children; split one of those", node->id);
	if (r == 0 && count == 0)
		r = err_set(err, API_E_LIMIT, "%s: into which parts?", id);
	if (r != 0)
		return r;
	subtask = node->kind == NODE_SUBTASK;
	nodes = xcalloc(count + 1, sizeof(struct plan_node *));
	as_one = xcalloc(count + 2, sizeof(struct plan_node *));
	as_one[0] = node;
	r = make_all(edit, subtask ? node->parent : node, parts, count, nodes,
	    subtask ? as_one : NULL, err);
	if (r != 0)
		return r;
	for (size_t i = 0; i < count; i++)
		link_new(edit, nodes[i]);
	if (subtask) {
		/* The parts of a subtask stand behind it, and inherit from
		 * it. */
		for (size_t i = 0; i < count; i++) {
			if (nodes[i]->priority == PRIORITY_COUNT)
				nodes[i]->priority = node->priority;
			for (char **d = node->depends_on;
			     d != NULL && *d != NULL; d++) {
				struct plan_node *on =
				    plan_find(edit->plan, *d);

				if (on != NULL)
					plan_depend(edit->changes, nodes[i], on,
					    edit->now_ms);
			}
			plan_put(edit->plan, nodes[i], node->parent,
			    node->place + 1 + i, edit->changes);
		}
		replace(edit, node, nodes, count);
	}
	plan_changed(edit->changes, node);
	end_with_ids(edit, "split", node->id, nodes, count);
	return 0;
}

int
plan_edit_spawn(const struct plan_edit *edit, const char *parent_id,
    const char *from_id, const struct plan_spec *specs, size_t count,
    struct plan_node **ret_nodes, struct err *err)
{
	struct plan_node *parent = NULL, *from = NULL;
	int r = plan_edit_begin(edit, err);

	if (r == 0 && parent_id != NULL)
		r = plan_get(edit->plan, parent_id, &parent, err);
	if (r == 0 && from_id != NULL)
		r = plan_get(edit->plan, from_id, &from, err);
	if (r == 0)
		r = plan_edit_check_parent(parent, err);
	if (r == 0)
		r = make_all(edit, parent, specs, count, ret_nodes, NULL, err);
	if (r != 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		link_new(edit, ret_nodes[i]);
		if (from != NULL && ret_nodes[i]->priority == PRIORITY_COUNT)
			ret_nodes[i]->priority = from->priority;
	}
	end_with_ids(edit, "spawned from",
	    from_id != NULL ? from_id : "another goal", ret_nodes, count);
	return 0;
}

/* --- merge ----------------------------------------------------------- */

static int
check_merged(const struct plan_node *first, const struct plan_node *node,
    struct err *err)
{
	int r = check_idle(node, err);

	if (r < 0)
		return r;
	if (!plan_node_leaf(node))
		return err_set(err, API_E_CHILDREN,
		    "%s has children; only nodes without any can be merged",
		    node->id);
	if (plan_node_started(node))
		return err_set(
		    err, API_E_STARTED, "%s has started already", node->id);
	if (node->parent != first->parent)
		return err_set(err, API_E_LEVEL,
		    "%s and %s have different parents; move one first",
		    first->id, node->id);
	return 0;
}

static int
get_merged(const struct plan_edit *edit, const char *const *ids,
    struct plan_node **nodes, struct err *err)
{
	size_t criteria = 0;
	int r = 0;

	for (size_t i = 0; ids[i] != NULL && r == 0; i++) {
		r = plan_get(edit->plan, ids[i], &nodes[i], err);
		if (r == 0)
			r = check_merged(nodes[0], nodes[i], err);
		if (r < 0)
			break;
		criteria += strv_count(nodes[i]->acceptance);
		for (size_t k = 0; k < i; k++)
			if (nodes[k] == nodes[i])
				return err_set(err, API_E_EXISTS,
				    "%s is named twice", ids[i]);
	}
	if (r == 0 && criteria > PLAN_LIST_MAX)
		r = err_set(err, API_E_LIMIT,
		    "%s would have more than %d criteria", ids[0],
		    PLAN_LIST_MAX);
	return r;
}

static void
absorb(const struct plan_edit *edit, struct plan_node *into,
    struct plan_node *node)
{
	char **ids = strv_copy(strv_const(node->depends_on));

	for (char **a = node->acceptance; a != NULL && *a != NULL; a++)
		if (!plan_has(into->acceptance, *a))
			strv_add(&into->acceptance, *a);
	for (char **d = ids; d != NULL && *d != NULL; d++) {
		struct plan_node *on = plan_find(edit->plan, *d);

		if (on == NULL)
			continue;
		plan_undepend(edit->changes, node, on, edit->now_ms);
		if (on != into)
			plan_depend(edit->changes, into, on, edit->now_ms);
	}
	strv_free(ids);
	if (into->objective == NULL)
		xstrset(&into->objective, node->objective);
	if (into->expected_outcome == NULL)
		xstrset(&into->expected_outcome, node->expected_outcome);
	replace(edit, node, &into, 1);
}

int
plan_edit_merge(const struct plan_edit *edit, const char *const *ids,
    const char *name, struct err *err)
{
	cleanup_free struct plan_node **nodes = NULL;
	size_t count = 0;
	int r = plan_edit_begin(edit, err);

	while (ids[count] != NULL)
		count++;
	if (r == 0 && count < 2)
		r = err_set(err, API_E_LIMIT, "name at least two nodes");
	if (r < 0)
		return r;
	nodes = xcalloc(count + 1, sizeof(struct plan_node *));
	r = get_merged(edit, ids, nodes, err);
	if (r == 0)
		r = check_text(ids[0], "name", name, PLAN_NAME_MAX, err);
	if (r == 0)
		r = plan_deps_check(edit->plan, nodes, err);
	if (r < 0)
		return r;
	if (name != NULL)
		xstrset(&nodes[0]->name, name);
	for (size_t i = 1; i < count; i++)
		absorb(edit, nodes[0], nodes[i]);
	nodes[0]->updated_ms = edit->now_ms;
	plan_changed(edit->changes, nodes[0]);
	end_with_ids(edit, "merged into", ids[0], &nodes[1], count - 1);
	return 0;
}

/* --- move ------------------------------------------------------------ */

static int
check_target(const struct plan_node *node, const struct plan_node *parent,
    struct err *err)
{
	if (parent == NULL ? node->kind != NODE_PHASE :
			     node->kind != parent->kind + 1)
		return err_set(err, API_E_LEVEL,
		    "%s is a %s and cannot be below %s%s", node->id,
		    node_kind_name(node->kind),
		    parent == NULL ? "the goal" : parent->id,
		    parent == NULL ? "; name a parent" : "");
	return parent == node->parent ? 0 : plan_edit_check_parent(parent, err);
}

void
plan_edit_left_alone(const struct plan_edit *edit, struct plan_node *parent)
{
	const struct plan_node_move move = { .to = NODE_TODO,
		.rolled_up = true };

	if (parent == NULL || !plan_node_leaf(parent) ||
	    parent->override.actor != NULL || !node_status_open(parent->status))
		return;
	plan_node_move(parent, &move, edit->now_ms, NULL);
	plan_changed(edit->changes, parent);
}

int
plan_edit_move(const struct plan_edit *edit, const char *id,
    const char *parent_id, size_t place, struct err *err)
{
	cleanup_free char *what = NULL;
	struct plan_node *node = NULL, *parent = NULL, *old;
	size_t old_place;
	int r = plan_edit_begin(edit, err);

	if (r == 0)
		r = plan_get(edit->plan, id, &node, err);
	if (r == 0 && parent_id != NULL)
		r = plan_get(edit->plan, parent_id, &parent, err);
	if (r == 0)
		r = check_target(node, parent, err);
	if (r != 0)
		return r;
	old = node->parent;
	old_place = node->place;
	plan_relocate(edit->plan, node, parent, place);
	r = plan_deps_check(edit->plan, NULL, err);
	plan_relocate(edit->plan, node, old, old_place);
	if (r != 0)
		return r;
	plan_put(edit->plan, node, parent, place, edit->changes);
	node->updated_ms = edit->now_ms;
	plan_edit_left_alone(edit, old);
	what = xasprintf("moved %s below %s", node->id,
	    parent == NULL ? "the goal" : parent->id);
	plan_edit_end(edit, what);
	return 0;
}
