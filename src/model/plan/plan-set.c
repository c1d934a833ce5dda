/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api-error.h"
#include "plan-set.h"

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

static size_t
next_room(size_t room)
{
	return room == 0 ? 16 : room * 2;
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
	if (set->plan_count == set->plan_room) {
		set->plan_room = next_room(set->plan_room);
		set->plans = xreallocarray(
		    set->plans, set->plan_room, sizeof(struct plan *));
	}
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
	if (set->crystal_count == set->crystal_room) {
		set->crystal_room = next_room(set->crystal_room);
		set->crystals = xreallocarray(set->crystals, set->crystal_room,
		    sizeof(struct plan_crystal *));
	}
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
