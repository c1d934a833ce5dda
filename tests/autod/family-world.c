/* SPDX-License-Identifier: ISC */

#include "family-world.h"
#include "mail-world.h"
#include "plan-floor.h"
#include "team-private.h"

void
family_world_begin(const char *more)
{
	mail_world_open(NULL, more);
	plan_world_live();
	plan_world_goal("g", 1);
}

void
family_world_spawn(const char *parent, const char *id, const char *more)
{
	family_world_spawn_after(parent, id, more, NULL);
}

void
family_world_spawn_after(
    const char *parent, const char *id, const char *more, const char *after)
{
	struct plan *plan = plan_world_plan("g");
	struct plan_node *node =
	    plan_node_new("g", NODE_TASK, id, id, clock_wall_ms());
	cleanup_free char *spawn = xasprintf(
	    "{\"parent\": \"%s\", \"actor\": \"actor:team:%s:coder-1\", "
	    "\"label\": \"%s\", \"depth\": 2%s}",
	    parent, id, id, more);
	cleanup_json struct json_object *json = NULL;
	struct plan_change change;

	state_task(&auto_world.core->state, parent)->attempt.has_spawned = true;
	persist_changed(auto_world.core);
	plan_change_begin(&change, plan_world.floor, plan, "asked for");
	ck_assert_int_eq(plan_edit_begin(&change.edit, NULL), 0);
	node->order = 100;
	ck_assert_int_eq(
	    json_parse(spawn, strlen(spawn), 4096, &json, NULL), 0);
	node->spawn = schema_make(&task_launch_schema, json, "", NULL);
	ck_assert_ptr_nonnull(node->spawn);
	xstrset(&node->parent_id, "P1");
	ck_assert_int_eq(plan_attach(plan, node, NULL), 0);
	if (after != NULL)
		plan_depend(&change.changes, node, plan_find(plan, after),
		    clock_wall_ms());
	plan_changed(&change.changes, node);
	plan_edit_end(&change.edit, "added");
	plan_change_end(&change);
	plan_floor_changed(plan_world.floor);
	plan_world_settle();
}

void
family_world_turn_ends(struct agent *agent, const char *file)
{
	cleanup_free char *text = file == NULL ?
	    NULL :
	    xasprintf("echo %s >%s; git add %s; git commit -qm 'add %s'",
		agent->worker->name, file, file, file);

	if (text != NULL)
		floor_world_wt(agent->worker->name, text);
	fake_session_turn_ends(agent->session, "Done.");
}

struct look {
	const char *worker;
	enum worker_status status;
};

static bool
has_status(void *arg)
{
	const struct look *look = arg;
	const struct agent *agent = fleet_find(floor_world.fleet, look->worker);

	return agent != NULL && agent->op == NULL &&
	    agent->worker->status == look->status;
}

void
family_world_wait(const char *worker, enum worker_status status)
{
	struct look look = { .worker = worker, .status = status };

	floor_world_wait(has_status, &look);
}

struct task *
family_world_filed(const char *id)
{
	struct task *task = book_find_task(auto_world.core->book, id);

	ck_assert_ptr_nonnull(task);
	return task;
}
