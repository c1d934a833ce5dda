/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-private.h"
#include "plan-progress.h"
#include "plan.h"
#include "settings.h"

#define STALLED_MAX 100

/* --- changes --------------------------------------------------------- */

struct json_object *
plan_view_changed(const struct plan *plan)
{
	const struct plan_goal *goal = plan->goal;
	struct json_object *json = json_object_new_object();

	json_set_string(json, "goal", goal->id);
	json_set_string(json, "title", goal->title);
	json_set_string(json, "status", goal_status_name(goal->status));
	json_set_int(json, "version", goal->version);
	json_set_int(json, "nodes", (int64_t)plan->count);
	return json;
}

struct json_object *
plan_view_node_changed(const struct plan *plan, const struct plan_node *node)
{
	const struct plan_goal *goal = plan->goal;
	const struct plan_revision *last = goal->revision_count > 0 ?
	    &goal->revisions[goal->revision_count - 1] :
	    NULL;
	struct json_object *json = json_object_new_object();

	json_set_string(json, "goal", goal->id);
	json_set_string(json, "node", node->id);
	json_set_string(json, "status", node_status_name(node->status));
	json_set_int(json, "version", goal->version);
	json_set_string(json, "text", last != NULL ? last->what : "");
	json_set(
	    json, "changed", strv_to_json(last != NULL ? last->nodes : NULL));
	json_set_string(json, "goal_status", goal_status_name(goal->status));
	return json;
}

/* --- goals ----------------------------------------------------------- */

static struct json_object *
summary_of(const struct plan *plan, const struct plan_node *node)
{
	struct plan_summary summary = plan_summary(plan, node);

	return schema_json(&plan_summary_schema, &summary);
}

static struct json_object *
entry_of(const struct plan_goal *goal, struct json_object *summary)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "goal", goal->id);
	json_set_int(json, "number", goal->number);
	json_set_string(json, "title", goal->title);
	json_set_string(json, "status", goal_status_name(goal->status));
	json_set_string(json, "priority", priority_name(goal->priority));
	json_set(json, "tags", strv_to_json(goal->tags));
	json_set_int(json, "version", goal->version);
	json_set_int(json, "created_ms", goal->created_ms);
	json_set(json, "ended_ms",
	    goal->ended_ms > 0 ? json_object_new_int64(goal->ended_ms) : NULL);
	json_set(json, "summary", summary);
	return json;
}

struct json_object *
plan_view_ended(struct json_object *record, struct json_object *nodes)
{
	struct json_object *entry = NULL;
	struct plan_goal *goal = NULL;
	struct plan *plan = NULL;

	goal = schema_make(&plan_goal_schema, record, "", NULL);
	if (goal == NULL)
		return NULL;
	json_set(record, "nodes", json_object_get(nodes));
	if (!goal_status_open(goal->status))
		entry = entry_of(goal,
		    plan_from_json(record, "", &plan, NULL) == 0 ?
			summary_of(plan, NULL) :
			NULL);
	plan_free(plan);
	plan_goal_free(goal);
	return entry;
}

struct json_object *
plan_view_list(const struct plan_set *set)
{
	struct json_object *json = json_object_new_object();
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < set->plan_count; i++) {
		const struct plan *plan = set->plans[i];

		if (goal_status_open(plan->goal->status))
			json_object_array_add(
			    list, entry_of(plan->goal, summary_of(plan, NULL)));
	}
	json_set(json, "goals", list);
	return json;
}

/* What is sent to workers is long; work.show has it. */
static struct json_object *
short_assignment(const struct plan_node *node)
{
	struct json_object *json = plan_work_json(node);

	json_object_object_del(json, "lastInstructionText");
	json_object_object_del(json, "dispatchHistory");
	return json;
}

struct json_object *
plan_view_show(const struct plan *plan)
{
	struct json_object *json = json_object_new_object(), *record;
	struct json_object *list = json_object_new_array();

	for (const struct plan_node *n = plan_next(plan, NULL); n != NULL;
	     n = plan_next(plan, n))
		if (plan_node_is_assigned(n))
			json_object_array_add(list, short_assignment(n));
	record = plan_to_json(plan);
	json_object_object_del(record, "draft"); /* overseer.plan.draft */
	json_set(json, "record", record);
	json_set(json, "summary", summary_of(plan, NULL));
	json_set(json, "assignments", list);
	return json;
}

/* --- status ---------------------------------------------------------- */

static const char *
state_word(enum plan_state state)
{
	switch (state) {
	case PLAN_OPEN:
		return "open";
	case PLAN_SAFE:
		return "safe";
	case PLAN_OFF:
		break;
	}
	return "off";
}

static void
add_summary(struct plan_summary *sum, const struct plan_summary *more)
{
	for (int i = 0; i < NODE_STATUS_COUNT; i++)
		sum->leaves[i] += more->leaves[i];
	sum->total += more->total;
	sum->replaced += more->replaced;
	sum->dropped += more->dropped;
	sum->ready += more->ready;
	sum->assigned += more->assigned;
	if (sum->total > 0)
		sum->percent = (int)(sum->leaves[NODE_DONE] * 100 / sum->total);
}

static void
set_assignments(struct json_object *json, const struct plan_set *set)
{
	int64_t counts[ASSIGNMENT_STATUS_COUNT] = { 0 };
	struct json_object *object = json_object_new_object();
	struct json_object *stalled = json_object_new_array();
	struct plan_cursor cursor = { 0 };
	const struct plan_node *node;

	while ((node = plan_set_next(set, &cursor)) != NULL) {
		enum assignment_status status = node->work.status;

		counts[status]++;
		if ((status == ASSIGNMENT_STALLED ||
			status == ASSIGNMENT_BLOCKED) &&
		    json_object_array_length(stalled) < STALLED_MAX)
			json_object_array_add(stalled, short_assignment(node));
	}
	for (int i = 0; i < ASSIGNMENT_STATUS_COUNT; i++)
		if (assignment_status_open((enum assignment_status)i))
			json_set_int(
			    object, assignment_status_words[i], counts[i]);
	json_set(json, "assignments", object);
	json_set(json, "stalled", stalled);
}

struct json_object *
plan_view_status(const struct plan_floor *floor)
{
	static const struct plan_set none;
	const struct plan_set *set =
	    floor->state == PLAN_OPEN ? plan_floor_set(floor) : &none;
	struct json_object *json = json_object_new_object();
	struct plan_summary sum = { 0 };
	int64_t counts[GOAL_STATUS_COUNT] = { 0 };
	struct json_object *goals;

	json_set_string(json, "state", state_word(floor->state));
	json_set_string(json, "reason",
	    floor->state == PLAN_OFF ?
		"turn them on with: llmc config set plan.enabled true" :
		floor->why);
	json_set_bool(json, "enabled",
	    settings_bool(floor->core->settings, "plan.enabled"));
	goals = json_object_new_object();
	for (size_t i = 0; i < set->plan_count; i++) {
		const struct plan *plan = set->plans[i];
		struct plan_summary one;

		if (!goal_status_open(plan->goal->status))
			continue;
		one = plan_summary(plan, NULL);
		add_summary(&sum, &one);
		counts[plan->goal->status]++;
	}
	json_set_int(goals, "active", counts[GOAL_ACTIVE]);
	json_set_int(goals, "paused", counts[GOAL_PAUSED]);
	json_set(json, "goals", goals);
	json_set(json, "summary", schema_json(&plan_summary_schema, &sum));
	set_assignments(json, set);
	return json;
}

/* --- nodes ----------------------------------------------------------- */

static void
set_note(struct json_object *json, const struct plan *plan,
    const struct plan_node *node)
{
	cleanup_buf struct buf note = BUF_INIT;

	plan_tree_note(plan, node, &note);
	json_set_string(json, "note", note.data);
	json_set_bool(json, "ready", plan_node_ready(plan, node));
}

static struct json_object *
node_entry(const struct plan *plan, const struct plan_node *node)
{
	bool assigned = plan_node_is_assigned(node);
	struct json_object *json = json_object_new_object();

	json_set_string(json, "goal", plan->goal->id);
	json_set_string(json, "node", node->id);
	json_set_string(json, "kind", node_kind_name(node->kind));
	json_set_string(json, "name", node->name);
	json_set_string(json, "status", node_status_name(node->status));
	json_set_string(
	    json, "priority", priority_name(plan_priority(plan, node)));
	json_set_string(json, "worker", assigned ? node->work.worker : NULL);
	json_set_string(json, "task", assigned ? node->work.task : NULL);
	set_note(json, plan, node);
	return json;
}

static void
add_nodes(struct json_object *list, const struct plan *plan, bool all)
{
	for (const struct plan_node *n = plan_next(plan, NULL); n != NULL;
	     n = plan_next(plan, n))
		if (all || (plan_node_leaf(n) && node_status_open(n->status)))
			json_object_array_add(list, node_entry(plan, n));
}

struct json_object *
plan_view_nodes(const struct plan_set *set, const struct plan *plan, bool all)
{
	struct json_object *json = json_object_new_object();
	struct json_object *list = json_object_new_array();

	if (plan != NULL)
		add_nodes(list, plan, all);
	for (size_t i = 0; plan == NULL && i < set->plan_count; i++)
		if (goal_status_open(set->plans[i]->goal->status))
			add_nodes(list, set->plans[i], all);
	json_set(json, "nodes", list);
	return json;
}

struct json_object *
plan_view_node(const struct plan *plan, const struct plan_node *node)
{
	struct json_object *json = json_object_new_object();

	json_set(json, "record", plan_node_to_json(node));
	json_set(json, "summary", summary_of(plan, node));
	json_set(json, "assignment",
	    plan_node_is_assigned(node) ? plan_work_json(node) : NULL);
	set_note(json, plan, node);
	return json;
}
