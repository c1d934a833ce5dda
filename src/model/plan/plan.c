/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>

#include "api-error.h"
#include "plan.h"

/* --- plans ----------------------------------------------------------- */

struct plan *
plan_new(struct plan_goal *goal)
{
	struct plan *plan = xcalloc(1, sizeof *plan);

	plan->goal = goal;
	return plan;
}

void
plan_free(struct plan *plan)
{
	if (plan == NULL)
		return;
	for (size_t i = 0; i < plan->count; i++)
		plan_node_free(plan->nodes[i]);
	free(plan->nodes);
	free(plan->phases);
	strmap_release(&plan->by_id);
	plan_goal_free(plan->goal);
	free(plan);
}

/* --- the tree -------------------------------------------------------- */

/* A list of siblings, wherever it is kept. */
struct siblings {
	struct plan_node ***list;
	size_t *count, *room;
};

static struct siblings
siblings_below(struct plan *plan, struct plan_node *parent)
{
	if (parent == NULL)
		return (struct siblings){ &plan->phases, &plan->phase_count,
			&plan->phase_room };
	return (struct siblings){ &parent->children, &parent->child_count,
		&parent->child_room };
}

/* A list of pointers with room for one more. */
static void *
list_grow(void *list, size_t count, size_t *room)
{
	if (count < *room)
		return list;
	*room = *room == 0 ? 4 : *room * 2;
	return xreallocarray(list, *room, sizeof(struct plan_node *));
}

static void
list_insert(struct siblings s, size_t place, struct plan_node *node)
{
	struct plan_node **list;

	list = *s.list = list_grow(*s.list, *s.count, s.room);
	memmove(&list[place + 1], &list[place],
	    (*s.count - place) * sizeof(struct plan_node *));
	list[place] = node;
	++*s.count;
	for (size_t i = place; i < *s.count; i++)
		list[i]->place = i;
}

static void
list_remove(struct siblings s, size_t place)
{
	struct plan_node **list = *s.list;

	--*s.count;
	memmove(&list[place], &list[place + 1],
	    (*s.count - place) * sizeof(struct plan_node *));
	for (size_t i = place; i < *s.count; i++)
		list[i]->place = i;
}

struct plan_node *
plan_find(const struct plan *plan, const char *id)
{
	return id == NULL ? NULL : strmap_get(&plan->by_id, id);
}

struct plan_node *
plan_named(const struct plan *plan, const char *word)
{
	struct plan_node *node = plan_find(plan, word);

	if (word == NULL || !isdigit((unsigned char)*word))
		return node;
	for (const char *letter = "PTS"; node == NULL && *letter != '\0';
	     letter++) {
		cleanup_free char *id = xasprintf("%c%s", *letter, word);

		node = plan_find(plan, id);
	}
	return node;
}

int
plan_get(const struct plan *plan, const char *id, struct plan_node **ret_node,
    struct err *err)
{
	struct plan_node *node = plan_named(plan, id);

	if (node == NULL)
		return err_set(err, API_E_UNKNOWN, "goal %s has no node %s",
		    plan->goal->id, id == NULL ? "" : id);
	*ret_node = node;
	return 0;
}

static int
check_attach(const struct plan *plan, const struct plan_node *node,
    const struct plan_node *parent, struct err *err)
{
	if (plan->count >= PLAN_NODES_MAX)
		return err_set(err, API_E_LIMIT, "a goal has at most %d nodes",
		    PLAN_NODES_MAX);
	if (strcmp(node->goal_id, plan->goal->id) != 0)
		return err_set(err, API_E_UNKNOWN,
		    "%s belongs to goal %s, not to %s", node->id, node->goal_id,
		    plan->goal->id);
	if (node->parent_id != NULL && parent == NULL)
		return err_set(err, API_E_UNKNOWN,
		    "%s: goal %s has no node %s to put it below", node->id,
		    plan->goal->id, node->parent_id);
	if ((parent == NULL && node->kind != NODE_PHASE) ||
	    (parent != NULL && node->kind != parent->kind + 1))
		return err_set(err, API_E_LEVEL,
		    "%s: a %s cannot be below %s%s", node->id,
		    node_kind_name(node->kind), parent == NULL ? "" : "a ",
		    parent == NULL ? "the goal" : node_kind_name(parent->kind));
	return 0;
}

int
plan_attach(struct plan *plan, struct plan_node *node, struct err *err)
{
	struct plan_node *parent = plan_find(plan, node->parent_id);
	struct siblings s = siblings_below(plan, parent);
	size_t place = *s.count;
	int r = check_attach(plan, node, parent, err);

	if (r < 0)
		return r;
	if (!strmap_add(&plan->by_id, node->id, node))
		return err_set(err, API_E_EXISTS,
		    "%s: goal %s has such a node already", node->id,
		    plan->goal->id);
	while (place > 0 && (*s.list)[place - 1]->order > node->order)
		place--;
	list_insert(s, place, node);
	node->parent = parent;
	plan->nodes = list_grow(plan->nodes, plan->count, &plan->room);
	node->slot = plan->count;
	plan->nodes[plan->count++] = node;
	return 0;
}

void
plan_detach(struct plan *plan, struct plan_node *node)
{
	struct plan_node *last = plan->nodes[--plan->count];

	list_remove(siblings_below(plan, node->parent), node->place);
	plan->nodes[node->slot] = last;
	last->slot = node->slot;
	strmap_remove(&plan->by_id, node->id);
	node->parent = NULL;
}

/* The order of the siblings is their place from now on. */
static void
renumber(struct siblings s, struct plan_changes *changes)
{
	for (size_t i = 0; i < *s.count; i++) {
		struct plan_node *node = (*s.list)[i];

		if (node->order == (int)i)
			continue;
		node->order = (int)i;
		plan_changed(changes, node);
	}
}

void
plan_relocate(struct plan *plan, struct plan_node *node,
    struct plan_node *parent, size_t place)
{
	struct siblings s = siblings_below(plan, parent);

	list_remove(siblings_below(plan, node->parent), node->place);
	list_insert(s, place < *s.count ? place : *s.count, node);
	node->parent = parent;
}

void
plan_put(struct plan *plan, struct plan_node *node, struct plan_node *parent,
    size_t place, struct plan_changes *changes)
{
	plan_relocate(plan, node, parent, place);
	xstrset(&node->parent_id, parent == NULL ? NULL : parent->id);
	plan_changed(changes, node);
	renumber(siblings_below(plan, parent), changes);
}

/* By kind, so that parents come first; then by order. */
static int
compare(const void *a, const void *b)
{
	const struct plan_node *x = *(struct plan_node *const *)a;
	const struct plan_node *y = *(struct plan_node *const *)b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return strcmp(x->id, y->id);
}

static void
sort_siblings(struct siblings s)
{
	if (*s.count > 1)
		qsort(*s.list, *s.count, sizeof(struct plan_node *), compare);
	for (size_t i = 0; i < *s.count; i++)
		(*s.list)[i]->place = i;
}

void
plan_sort(struct plan *plan)
{
	sort_siblings(siblings_below(plan, NULL));
	for (size_t i = 0; i < plan->count; i++)
		sort_siblings(siblings_below(plan, plan->nodes[i]));
}

int
plan_build(struct plan_goal *goal, struct plan_node *const *nodes, size_t count,
    struct plan **ret_plan, struct err *err)
{
	struct plan *plan = plan_new(goal);
	struct plan_node **sorted =
	    xcalloc(count + 1, sizeof(struct plan_node *));
	size_t i;

	for (i = 0; i < count; i++)
		sorted[i] = nodes[i];
	if (count > 0)
		qsort(sorted, count, sizeof(struct plan_node *), compare);
	for (i = 0; i < count; i++)
		if (plan_attach(plan, sorted[i], err) < 0)
			break;
	if (i == count) {
		free(sorted);
		*ret_plan = plan;
		return 0;
	}
	for (; i < count; i++)
		plan_node_free(sorted[i]);
	free(sorted);
	plan_free(plan);
	return -EINVAL;
}

struct plan *
plan_copy(const struct plan *plan)
{
	struct plan *copy =
	    plan_new(schema_clone(&plan_goal_schema, plan->goal));

	for (struct plan_node *n = plan_next(plan, NULL); n != NULL;
	     n = plan_next(plan, n))
		plan_attach(copy, plan_node_copy(n), NULL);
	return copy;
}

struct plan_node *const *
plan_children(
    const struct plan *plan, const struct plan_node *parent, size_t *ret_count)
{
	*ret_count = parent == NULL ? plan->phase_count : parent->child_count;
	return parent == NULL ? plan->phases : parent->children;
}

struct plan_node *
plan_next_beside(const struct plan *plan, const struct plan_node *node)
{
	struct plan_node *const *list;
	size_t count;

	for (; node != NULL; node = node->parent) {
		list = plan_children(plan, node->parent, &count);
		if (node->place + 1 < count)
			return list[node->place + 1];
	}
	return NULL;
}

struct plan_node *
plan_next(const struct plan *plan, const struct plan_node *node)
{
	if (node == NULL)
		return plan->phase_count == 0 ? NULL : plan->phases[0];
	if (node->child_count > 0)
		return node->children[0];
	return plan_next_beside(plan, node);
}

enum priority
plan_priority(const struct plan *plan, const struct plan_node *node)
{
	for (; node != NULL; node = node->parent)
		if (node->priority != PRIORITY_COUNT)
			return node->priority;
	return plan->goal->priority;
}

enum recovery_policy
plan_recovery(const struct plan *plan, const struct plan_node *node)
{
	for (; node != NULL; node = node->parent)
		if (node->recovery_policy != RECOVERY_UNSET)
			return node->recovery_policy;
	return plan->goal->recovery_policy;
}

enum recovery_policy
plan_recovery_next(
    const struct plan *plan, const struct plan_node *node, bool reassigned)
{
	enum recovery_policy policy = plan_recovery(plan, node);

	if ((policy == RECOVERY_REPLAN && node->replans == 0) ||
	    (policy == RECOVERY_REASSIGN && !reassigned))
		return policy;
	return RECOVERY_ESCALATE;
}

const char *
plan_unblocked_why(const struct plan *plan, const char *node_id)
{
	cleanup_free char *what = xasprintf("unblocked %s", node_id);

	for (size_t i = plan != NULL ? plan->goal->revision_count : 0; i-- > 0;)
		if (strcmp(plan->goal->revisions[i].what, what) == 0)
			return plan->goal->revisions[i].why;
	return NULL;
}

/* --- changes --------------------------------------------------------- */

void
plan_changed(struct plan_changes *changes, struct plan_node *node)
{
	if (changes == NULL || node->changed)
		return;
	changes->nodes =
	    list_grow(changes->nodes, changes->count, &changes->room);
	changes->nodes[changes->count++] = node;
	node->changed = true;
}

void
plan_changes_removed(struct plan_changes *changes, struct plan_node *node)
{
	strv_add(&changes->removed, node->id);
	if (!node->changed)
		return;
	for (size_t i = 0; i < changes->count; i++)
		if (changes->nodes[i] == node) {
			changes->count--;
			memmove(&changes->nodes[i], &changes->nodes[i + 1],
			    (changes->count - i) * sizeof(struct plan_node *));
			break;
		}
	node->changed = false;
}

void
plan_changes_release(struct plan_changes *changes)
{
	for (size_t i = 0; i < changes->count; i++)
		changes->nodes[i]->changed = false;
	free(changes->nodes);
	strv_free(changes->removed);
	*changes = (struct plan_changes){ 0 };
}

/* --- dependencies ---------------------------------------------------- */

static void
add_id(char ***list, const char *id, struct plan_node *owner,
    struct plan_changes *changes, int64_t now_ms)
{
	if (plan_has(*list, id))
		return;
	strv_add(list, id);
	owner->updated_ms = now_ms;
	plan_changed(changes, owner);
}

static void
remove_id(char ***list, const char *id, struct plan_node *owner,
    struct plan_changes *changes, int64_t now_ms)
{
	if (!plan_has(*list, id))
		return;
	strv_remove(*list, id);
	if (strv_count(*list) == 0)
		strv_clear(list);
	owner->updated_ms = now_ms;
	plan_changed(changes, owner);
}

void
plan_depend(struct plan_changes *changes, struct plan_node *node,
    struct plan_node *on, int64_t now_ms)
{
	add_id(&node->depends_on, on->id, node, changes, now_ms);
	add_id(&on->blocks, node->id, on, changes, now_ms);
}

void
plan_undepend(struct plan_changes *changes, struct plan_node *node,
    struct plan_node *on, int64_t now_ms)
{
	remove_id(&node->depends_on, on->id, node, changes, now_ms);
	remove_id(&on->blocks, node->id, on, changes, now_ms);
}

/* How many depend on each node, then the lists in one piece: adding to a list
 * one by one takes quadratic time. */
void
plan_link_blocks(struct plan *plan)
{
	size_t *counts = xcalloc(plan->count + 1, sizeof *counts);
	struct plan_node *on;

	for (size_t i = 0; i < plan->count; i++)
		for (char **d = plan->nodes[i]->depends_on;
		     d != NULL && *d != NULL; d++)
			if ((on = plan_find(plan, *d)) != NULL)
				counts[on->slot]++;
	for (size_t i = 0; i < plan->count; i++) {
		strv_clear(&plan->nodes[i]->blocks);
		if (counts[i] > 0)
			plan->nodes[i]->blocks = xcalloc(
			    counts[i] + 1, sizeof *plan->nodes[i]->blocks);
		counts[i] = 0;
	}
	for (struct plan_node *n = plan_next(plan, NULL); n != NULL;
	     n = plan_next(plan, n))
		for (char **d = n->depends_on; d != NULL && *d != NULL; d++)
			if ((on = plan_find(plan, *d)) != NULL)
				on->blocks[counts[on->slot]++] = xstrdup(n->id);
	free(counts);
}

/* --- JSON ------------------------------------------------------------ */

struct json_object *
plan_to_json(const struct plan *plan)
{
	struct json_object *json = schema_json(&plan_goal_schema, plan->goal);
	struct json_object *list = json_object_new_array();

	for (struct plan_node *n = plan_next(plan, NULL); n != NULL;
	     n = plan_next(plan, n))
		json_object_array_add(list, plan_node_to_json(n));
	json_set(json, "nodes", list);
	return json;
}

static int
get_nodes(struct json_object *list, const char *at, struct plan_node **nodes,
    struct err *err)
{
	cleanup_buf struct buf item = BUF_INIT;
	size_t count = json_object_array_length(list);

	for (size_t i = 0; i < count; i++) {
		buf_clear(&item);
		json_path_index(&item, at, i);
		if (plan_node_from_json(json_object_array_get_idx(list, i),
			item.data, &nodes[i], err) < 0) {
			while (i > 0)
				plan_node_free(nodes[--i]);
			return -EINVAL;
		}
	}
	return 0;
}

int
plan_from_json(struct json_object *json, const char *at, struct plan **ret_plan,
    struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *list = NULL;
	struct plan_node **nodes;
	struct plan_goal *goal;
	size_t count;
	int r;

	r = json_get_array(json, at, "nodes", &list, err);
	if (r < 0)
		return -EINVAL;
	goal = schema_make(&plan_goal_schema, json, at, err);
	if (goal == NULL)
		return -EINVAL;
	count = json_object_array_length(list);
	nodes = xcalloc(count + 1, sizeof(struct plan_node *));
	json_path_key(&path, at, "nodes");
	r = get_nodes(list, path.data, nodes, err);
	if (r < 0) {
		plan_goal_free(goal);
	} else {
		r = plan_build(goal, nodes, count, ret_plan, err);
		if (r < 0)
			err_prefix(err, "%s", path.data);
	}
	free(nodes);
	return r;
}

/* --- drafts ---------------------------------------------------------- */

void
plan_kept_clear(struct plan_goal *goal)
{
	json_object_put(goal->draft);
	goal->draft = NULL;
}

int
plan_kept_set(
    struct plan_goal *goal, const struct plan_kept *kept, struct err *err)
{
	struct json_object *json = json_object_new_object();
	struct json_object *plan = plan_to_json(kept->next);
	size_t bytes = strlen(
	    json_object_to_json_string_ext(plan, JSON_C_TO_STRING_PLAIN));

	/* A draft of a draft is of no use. */
	json_object_object_del(plan, "draft");
	json_set_int(json, "base", kept->base);
	json_set_int(json, "at", kept->at_ms);
	json_set_string(json, "actor", kept->actor);
	json_set_string(json, "how", kept->how);
	json_set_string(json, "why", kept->why);
	json_set(json, "plan", plan);
	if (bytes > PLAN_KEPT_MAX) {
		json_object_put(json);
		return err_set(err, API_E_LIMIT,
		    "the plan is too large for a draft; apply it from its "
		    "file: llmc goal plan apply %s --plan FILE",
		    goal->id);
	}
	plan_kept_clear(goal);
	goal->draft = json;
	goal->updated_ms = kept->at_ms;
	return 0;
}

int
plan_kept_read(
    const struct plan_goal *goal, struct plan **ret_next, struct err *err)
{
	struct json_object *plan = NULL;
	struct err why = { 0 };

	if (goal->draft == NULL)
		return err_set(err, API_E_NOT_FOUND,
		    "goal %s has no draft; make one with: llmc goal plan draft %s",
		    goal->id, goal->id);
	json_object_object_get_ex(goal->draft, "plan", &plan);
	if (plan == NULL || plan_from_json(plan, "plan", ret_next, &why) < 0)
		return err_set(err, API_E_INVALID_PLAN,
		    "the draft of goal %s cannot be read%s%s", goal->id,
		    why.msg[0] != '\0' ? ": " : "", why.msg);
	return 0;
}

int64_t
plan_kept_base(const struct plan_goal *goal)
{
	return json_int_or(goal->draft, "base", 0);
}

int
plan_kept_check(const struct plan_goal *goal, int64_t version, struct err *err)
{
	if (goal->version == version)
		return 0;
	return err_set(err, API_E_CONFLICT,
	    "the plan of goal %s has version %" PRId64 " by now, and this was "
	    "made for version %" PRId64
	    "; look at it with: llmc goal show %s, and to apply it "
	    "nevertheless, add: --version %" PRId64,
	    goal->id, goal->version, version, goal->id, goal->version);
}

struct json_object *
plan_kept_view(const struct plan_goal *goal)
{
	static const char *const texts[] = { "actor", "how", "why" };
	struct json_object *json = json_object_new_object(), *plan = NULL;

	json_set_string(json, "goal", goal->id);
	json_set_int(json, "version", goal->version);
	json_set_string(json, "state",
	    goal->plan_wanted && goal->plan_drafts ? "asked" :
		goal->draft != NULL                ? "ready" :
						     "none");
	json_set(json, "base",
	    goal->draft != NULL ? json_object_new_int64(plan_kept_base(goal)) :
				  NULL);
	json_set(json, "made_ms",
	    goal->draft != NULL ?
		json_object_new_int64(json_int_or(goal->draft, "at", 0)) :
		NULL);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		json_set_string(json, texts[i],
		    json_string_or(goal->draft, texts[i], NULL));
	if (goal->draft != NULL)
		json_object_object_get_ex(goal->draft, "plan", &plan);
	json_set(json, "record", json_object_get(plan));
	return json;
}

/* --- all plans ----------------------------------------------------------- */

#define NAMED_MAX 4 /* goals in a message */

void
plan_set_release(struct plan_set *set)
{
	for (size_t i = 0; i < set->plan_count; i++)
		plan_free(set->plans[i]);
	for (size_t i = 0; i < set->crystal_count; i++)
		plan_crystal_free(set->crystals[i]);
	free(set->plans);
	free(set->crystals);
	strmap_release(&set->by_goal);
	strmap_release(&set->by_crystal);
	*set = (struct plan_set){ 0 };
}

struct plan *
plan_set_plan(const struct plan_set *set, const char *goal_id)
{
	return goal_id == NULL ? NULL : strmap_get(&set->by_goal, goal_id);
}

struct plan_crystal *
plan_set_crystal(const struct plan_set *set, const char *id)
{
	return id == NULL ? NULL : strmap_get(&set->by_crystal, id);
}

static struct plan_node *
find_node(const struct plan_set *set, const char *goal_id, const char *node_id)
{
	struct plan *plan = plan_set_plan(set, goal_id);

	return plan == NULL ? NULL : plan_find(plan, node_id);
}

struct plan_node *
plan_set_assigned(const struct plan_set *set, const char *goal_id,
    const char *node_id, const char *assignment_id)
{
	struct plan_node *node =
	    node_id == NULL ? NULL : find_node(set, goal_id, node_id);

	return node != NULL && text_is(node->work.id, assignment_id) ? node :
								       NULL;
}

struct plan_node *
plan_set_next(const struct plan_set *set, struct plan_cursor *cursor)
{
	for (; cursor->plan < set->plan_count; cursor->plan++) {
		const struct plan *plan = set->plans[cursor->plan];

		while (cursor->node < plan->count) {
			struct plan_node *node = plan->nodes[cursor->node++];

			if (node->work.id != NULL)
				return node;
		}
		cursor->node = 0;
	}
	return NULL;
}

static int
in_use(const char *id, struct err *err)
{
	return err_set(err, API_E_EXISTS, "%s: the id is in use", id);
}

int
plan_set_add(struct plan_set *set, struct plan *plan, struct err *err)
{
	if (!strmap_add(&set->by_goal, plan->goal->id, plan))
		return in_use(plan->goal->id, err);
	set->plans = list_grow(set->plans, set->plan_count, &set->plan_room);
	set->plans[set->plan_count++] = plan;
	return 0;
}

int
plan_set_read_work(struct plan_set *set, struct json_object *json,
    const char *at, struct err *err)
{
	const char *goal_id = NULL, *node_id = NULL;
	struct plan_node *node;

	if (json_get_string(json, at, "goalId", &goal_id, err) < 0 ||
	    json_get_string(json, at, "workNodeId", &node_id, err) < 0)
		return -EINVAL;
	node = find_node(set, goal_id, node_id);
	if (node == NULL)
		return err_set(
		    err, -ENOENT, "goal %s has no node %s", goal_id, node_id);
	return plan_work_read(json, at, node, err);
}

int
plan_set_add_crystal(
    struct plan_set *set, struct plan_crystal *crystal, struct err *err)
{
	struct plan_node *node =
	    find_node(set, crystal->goal_id, crystal->node_id);

	if (!strmap_add(&set->by_crystal, crystal->id, crystal))
		return in_use(crystal->id, err);
	set->crystals =
	    list_grow(set->crystals, set->crystal_count, &set->crystal_room);
	set->crystals[set->crystal_count++] = crystal;
	if (node != NULL &&
	    (node->crystal == NULL ||
		node->crystal->created_ms <= crystal->created_ms))
		node->crystal = crystal;
	return 0;
}

void
plan_set_copy(const struct plan_set *set, struct plan_set *ret_copy)
{
	struct plan_cursor cursor = { 0 };
	const struct plan_node *node;

	*ret_copy = (struct plan_set){ 0 };
	for (size_t i = 0; i < set->plan_count; i++)
		plan_set_add(ret_copy, plan_copy(set->plans[i]), NULL);
	while ((node = plan_set_next(set, &cursor)) != NULL)
		schema_copy(&plan_work_schema, &node->work,
		    &find_node(ret_copy, node->goal_id, node->id)->work);
	for (size_t i = 0; i < set->crystal_count; i++)
		plan_set_add_crystal(ret_copy,
		    schema_clone(&plan_crystal_schema, set->crystals[i]), NULL);
}

static void
drop_crystals(struct plan_set *set, const char *goal_id)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->crystal_count; i++) {
		struct plan_crystal *c = set->crystals[i];

		if (strcmp(c->goal_id, goal_id) != 0) {
			set->crystals[kept++] = c;
			continue;
		}
		strmap_remove(&set->by_crystal, c->id);
		plan_crystal_free(c);
	}
	set->crystal_count = kept;
}

bool
plan_set_drop(struct plan_set *set, const char *goal_id)
{
	struct plan *plan = strmap_remove(&set->by_goal, goal_id);
	size_t kept = 0;

	if (plan == NULL)
		return false;
	drop_crystals(set, plan->goal->id);
	for (size_t i = 0; i < set->plan_count; i++)
		if (set->plans[i] != plan)
			set->plans[kept++] = set->plans[i];
	set->plan_count = kept;
	plan_free(plan);
	return true;
}

/* How many plans have the node; the first one, and their names in words. */
static size_t
count_plans(const struct plan_set *set, const char *node_id, bool listed,
    struct plan **ret_plan, struct buf *names)
{
	size_t count = 0;

	for (size_t i = 0; i < set->plan_count; i++) {
		struct plan *plan = set->plans[i];

		if (plan_named(plan, node_id) == NULL ||
		    (listed && !goal_status_open(plan->goal->status)))
			continue;
		if (count++ == 0)
			*ret_plan = plan;
		if (count <= NAMED_MAX)
			buf_addf(names, "%s%s", count == 1 ? "" : ", ",
			    plan->goal->id);
	}
	return count;
}

int
plan_set_find(const struct plan_set *set, const char *goal_id,
    const char *node_id, struct plan **ret_plan, struct plan_node **ret_node,
    struct err *err)
{
	cleanup_buf struct buf names = BUF_INIT;
	struct plan *plan = plan_set_plan(set, goal_id);
	size_t count;
	int r;

	if (goal_id != NULL && plan == NULL)
		return err_set(
		    err, API_E_UNKNOWN, "there is no goal %s", goal_id);
	if (plan == NULL) {
		count = count_plans(set, node_id, true, &plan, &names);
		if (count == 0)
			count = count_plans(set, node_id, false, &plan, &names);
		if (count == 0)
			return err_set(err, API_E_UNKNOWN,
			    "no goal has a node %s", node_id);
		if (count > 1)
			return err_set(err, API_E_UNKNOWN,
			    "%zu goals have a node %s; name the goal: %s%s",
			    count, node_id, names.data,
			    count > NAMED_MAX ? ", ..." : "");
	}
	r = plan_get(plan, node_id, ret_node, err);
	if (r == 0)
		*ret_plan = plan;
	return r;
}
