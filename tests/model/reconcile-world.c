/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-goal.h"
#include "plan-progress.h"
#include "reconcile-world.h"

static const char *const any_agent[] = { "*", NULL };

const struct reconcile_config reconcile_world_config = {
	.enabled = true,
	.tick_every_ms = 120000,
	.idle_after_ms = 1000,
	.max_retries = 1,
	.min_resend_ms = 0,
	.backoff_base_ms = 1000,
	.backoff_max_ms = 10000,
	.allow_agents = any_agent,
	.allow_cross_agent = true,
};

static void
must(int r, const struct err *err)
{
	if (r < 0)
		fatalx("%s", err->msg);
}

void
reconcile_world_init(struct reconcile_world *world)
{
	*world = (struct reconcile_world){
		.config = reconcile_world_config,
		.now_ms = WORLD_NOW,
	};
}

void
reconcile_world_release(struct reconcile_world *world)
{
	plan_set_release(&world->set);
	free(world->facts);
	strv_free(world->ids);
	*world = (struct reconcile_world){ 0 };
}

static void
add_node(struct plan *plan, enum node_kind kind, const char *parent, char *id)
{
	cleanup_free char *owned = id;
	struct plan_node *node = plan_node_new(
	    plan->goal->id, kind, owned, owned, WORLD_NOW - 1000000);
	struct err err = { 0 };

	xstrset(&node->parent_id, parent);
	node->status = NODE_QUEUED;
	must(plan_attach(plan, node, &err), &err);
}

struct plan *
reconcile_world_goal(struct reconcile_world *world, const char *id, int phases,
    int tasks, int subtasks)
{
	struct plan *plan =
	    plan_new(plan_goal_new(id, "Goal", WORLD_NOW - 1000000));
	struct err err = { 0 };

	for (int p = 1; p <= phases; p++) {
		cleanup_free char *phase = xasprintf("P%d", p);

		add_node(plan, NODE_PHASE, NULL, xstrdup(phase));
		for (int t = 1; t <= tasks; t++) {
			cleanup_free char *task = xasprintf("T%d.%d", p, t);

			add_node(plan, NODE_TASK, phase, xstrdup(task));
			for (int s = 1; s <= subtasks; s++)
				add_node(plan, NODE_SUBTASK, task,
				    xasprintf("S%d.%d.%d", p, t, s));
		}
	}
	must(plan_set_add(&world->set, plan, &err), &err);
	return plan;
}

struct plan_node *
reconcile_world_assign(struct reconcile_world *world, const char *id,
    const char *goal_id, const char *node_id, enum assignment_status status)
{
	struct plan *plan = plan_set_plan(&world->set, goal_id);
	struct plan_node *node = plan_find(plan, node_id);
	struct plan_changes changes = { 0 };
	struct err err = { 0 };

	plan_node_assign(node, id, world->now_ms - 100000);
	xstrset(&node->work.worker, "auto-1");
	xstrset(&node->work.task, "t1");
	node->work.status = status;
	if (status == ASSIGNMENT_BLOCKED)
		xstrset(&node->work.blocked_reason, "by a person");
	if (status != ASSIGNMENT_QUEUED) {
		must(plan_node_move(node,
			 &(struct plan_node_move){ .to = NODE_IN_PROGRESS },
			 world->now_ms - 100000, &err),
		    &err);
		plan_rollup_from(plan, node, world->now_ms - 100000, &changes);
		plan_changes_release(&changes);
	}
	reconcile_world_facts(world, id);
	return node;
}

struct plan_node *
reconcile_world_find(const struct plan_set *set, const char *id)
{
	struct plan_cursor cursor = { 0 };
	struct plan_node *node;

	while ((node = plan_set_next(set, &cursor)) != NULL &&
	    strcmp(node->work.id, id) != 0)
		continue;
	return node;
}

struct reconcile_facts *
reconcile_world_facts(struct reconcile_world *world, const char *id)
{
	for (size_t i = 0; i < world->fact_count; i++)
		if (strcmp(world->facts[i].assignment_id, id) == 0)
			return &world->facts[i];
	world->facts = xreallocarray(
	    world->facts, world->fact_count + 1, sizeof *world->facts);
	strv_add(&world->ids, id);
	world->facts[world->fact_count] =
	    (struct reconcile_facts){ .assignment_id =
					  world->ids[world->fact_count] };
	return &world->facts[world->fact_count++];
}

void
reconcile_world_tick(
    struct reconcile_world *world, struct reconcile_result *ret_result)
{
	struct reconcile_telemetry telemetry = {
		.busy = world->busy,
		.facts = world->facts,
		.count = world->fact_count,
	};

	reconcile(
	    &world->set, &telemetry, &world->config, world->now_ms, ret_result);
}

void
reconcile_world_reload(
    const struct reconcile_world *world, struct reconcile_world *copy)
{
	const struct plan_set *set = &world->set;
	struct plan_cursor cursor = { 0 };
	const struct plan_node *node;
	struct err err = { 0 };

	*copy = (struct reconcile_world){
		.config = world->config,
		.busy = world->busy,
		.now_ms = world->now_ms,
	};
	for (size_t i = 0; i < set->plan_count; i++) {
		cleanup_json struct json_object *json =
		    plan_to_json(set->plans[i]);
		struct plan *plan = NULL;

		must(plan_from_json(json, "", &plan, &err), &err);
		must(plan_set_add(&copy->set, plan, &err), &err);
	}
	while ((node = plan_set_next(set, &cursor)) != NULL) {
		cleanup_json struct json_object *json = plan_work_json(node);

		must(plan_set_read_work(&copy->set, json, "", &err), &err);
	}
	for (size_t i = 0; i < set->crystal_count; i++) {
		cleanup_json struct json_object *json =
		    schema_json(&plan_crystal_schema, set->crystals[i]);
		struct plan_crystal *c = NULL;

		c = schema_make(&plan_crystal_schema, json, "", &err);
		must(c == NULL ? -EINVAL : 0, &err);
		must(plan_set_add_crystal(&copy->set, c, &err), &err);
	}
	for (size_t i = 0; i < world->fact_count; i++) {
		struct reconcile_facts *facts =
		    reconcile_world_facts(copy, world->facts[i].assignment_id);
		const char *id = facts->assignment_id;

		*facts = world->facts[i];
		facts->assignment_id = id;
	}
}

void
reconcile_world_dump(const struct reconcile_world *world, struct buf *out)
{
	const struct plan_set *set = &world->set;
	struct plan_cursor cursor = { 0 };
	const struct plan_node *node;

	for (size_t i = 0; i < set->plan_count; i++) {
		cleanup_json struct json_object *json =
		    plan_to_json(set->plans[i]);

		buf_addf(out, "%s\n", json_object_to_json_string(json));
	}
	while ((node = plan_set_next(set, &cursor)) != NULL) {
		cleanup_json struct json_object *json = plan_work_json(node);

		buf_addf(out, "%s\n", json_object_to_json_string(json));
	}
	for (size_t i = 0; i < set->crystal_count; i++) {
		cleanup_json struct json_object *json =
		    schema_json(&plan_crystal_schema, set->crystals[i]);

		buf_addf(out, "%s\n", json_object_to_json_string(json));
	}
}

void
reconcile_result_dump(const struct reconcile_result *result, struct buf *out)
{
	for (size_t i = 0; i < result->decision_count; i++) {
		const struct reconcile_decision *d = &result->decisions[i];

		buf_addf(out, "%s %s %s %s: %s\n%s\n",
		    reconcile_kind_words[d->kind],
		    d->dispatch_id != NULL ? d->dispatch_id : "-",
		    d->assignment_id, d->code,
		    d->reason != NULL ? d->reason : "-",
		    d->text != NULL ? d->text : "-");
	}
	for (size_t i = 0; i < result->event_count; i++) {
		const struct reconcile_event *e = &result->events[i];

		buf_addf(out, "%s %s %s %s\n", e->type,
		    e->assignment_id != NULL ? e->assignment_id : "-",
		    e->node_id != NULL ? e->node_id : "-",
		    json_object_to_json_string(e->data));
	}
	for (size_t i = 0; i < result->worked_count; i++)
		buf_addf(out, "changed %s\n", result->worked[i]->work.id);
	for (size_t i = 0; i < result->crystal_count; i++)
		buf_addf(out, "new %s\n", result->crystals[i]->id);
	for (size_t i = 0; i < result->plan_count; i++)
		buf_addf(out, "plan %s %zu\n", result->plans[i]->plan->goal->id,
		    result->plans[i]->changes.count);
}
