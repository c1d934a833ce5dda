/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-assignment.h"
#include "plan-summary.h"
#include "plan.h"
#include "view-goal.h"
#include "view-private.h"
#include "view-row.h"

#define PRIME UINT64_C(1099511628211)

/* FNV-1a */
void
view_mark_bytes(uint64_t *mark, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < len; i++)
		*mark = (*mark ^ at[i]) * PRIME;
}

void
view_mark_int(uint64_t *mark, int64_t number)
{
	view_mark_bytes(mark, &number, sizeof number);
}

void
view_mark_text(uint64_t *mark, const char *text, size_t max)
{
	size_t len = text != NULL ? strnlen(text, max) : 0;

	view_mark_int(mark, text != NULL ? (int64_t)len : -1);
	view_mark_bytes(mark, text != NULL ? text : "", len);
}

uint64_t
view_mark_end(uint64_t mark)
{
	return mark != 0 ? mark : 1;
}

static const char *
worker_of(const struct plan_node *node)
{
	return node->assignment != NULL ? node->assignment->worker : NULL;
}

static struct json_object *
node_row(const struct plan_node *node)
{
	struct json_object *row = json_object_new_object();

	json_set_string(row, "id", node->id);
	json_set_string(row, "parent", node->parent_id);
	json_set_string(row, "kind", node_kind_name(node->kind));
	view_row_line(row, "title", node->name, VIEW_TITLE_MAX);
	json_set_string(row, "status", node_status_name(node->status));
	json_set_string(row, "worker", worker_of(node));
	view_row_line(row, "reason", node->blocked_reason, VIEW_TITLE_MAX);
	return row;
}

static void
add_nodes(struct json_object *list, struct plan_node *const *nodes,
    size_t count, size_t room)
{
	for (size_t i = 0; i < count; i++) {
		if (json_object_array_length(list) >= room)
			return;
		json_object_array_add(list, node_row(nodes[i]));
		add_nodes(
		    list, nodes[i]->children, nodes[i]->child_count, room);
	}
}

struct json_object *
view_goal_row(const struct plan *plan, size_t room)
{
	struct plan_summary s = plan_summary(plan, NULL);
	struct json_object *row = json_object_new_object();
	struct json_object *nodes = json_object_new_array();

	json_set_string(row, "id", plan->goal->id);
	view_row_line(row, "title", plan->goal->title, VIEW_TITLE_MAX);
	json_set_string(row, "status", goal_status_name(plan->goal->status));
	json_set_int(row, "done", (int64_t)s.leaves[NODE_DONE]);
	json_set_int(row, "total", (int64_t)s.total);
	json_set_int(row, "ready", (int64_t)s.ready);
	json_set_int(row, "blocked", (int64_t)s.leaves[NODE_BLOCKED]);
	json_set_int(row, "percent", s.percent);
	add_nodes(nodes, plan->phases, plan->phase_count,
	    room < VIEW_NODES_MAX ? room : VIEW_NODES_MAX);
	json_set_int(row, "nodes_more",
	    (int64_t)(plan->count - json_object_array_length(nodes)));
	json_set(row, "nodes", nodes);
	return row;
}

/* --- has it changed? ------------------------------------------------- */

/* Cut between characters: a few bytes more count. */
#define MARK_MAX (VIEW_TITLE_MAX + 4)

uint64_t
view_goal_mark(const struct plan *plan, size_t room)
{
	uint64_t mark = VIEW_MARK_INIT;

	view_mark_int(
	    &mark, (int64_t)(room < VIEW_NODES_MAX ? room : VIEW_NODES_MAX));
	view_mark_text(&mark, plan->goal->id, MARK_MAX);
	view_mark_text(&mark, plan->goal->title, MARK_MAX);
	view_mark_int(&mark, plan->goal->status);
	view_mark_int(&mark, plan->goal->version);
	for (size_t i = 0; i < plan->count; i++) {
		const struct plan_node *node = plan->nodes[i];

		view_mark_text(&mark, node->id, MARK_MAX);
		view_mark_text(&mark, node->parent_id, MARK_MAX);
		view_mark_int(&mark, node->order);
		view_mark_int(&mark, node->status);
		view_mark_int(&mark, node->updated_ms);
		view_mark_text(&mark, node->name, MARK_MAX);
		view_mark_text(&mark, worker_of(node), MARK_MAX);
		view_mark_text(&mark, node->blocked_reason, MARK_MAX);
	}
	return view_mark_end(mark);
}
