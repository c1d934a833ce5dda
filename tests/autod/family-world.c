/* SPDX-License-Identifier: ISC */

#include <check.h>
#include <string.h>

#include "book-history.h"
#include "agent.h"
#include "clock.h"
#include "json.h"
#include "mem.h"
#include "persist.h"
#include "plan-change.h"
#include "task-run.h"
#include "team-private.h"
#include "family-world.h"

static void
open_floor(struct family_world *world)
{
	world->floor = team_floor_new(world->plan.floor);
}

void
family_world_begin(struct family_world *world, const char *more)
{
	memset(world, 0, sizeof *world);
	world->world = &world->plan.world;
	plan_world_begin(&world->plan, NULL, more);
	open_floor(world);
	plan_world_live(&world->plan);
	plan_world_goal(&world->plan, "g", 1);
}

void
family_world_end(struct family_world *world)
{
	team_floor_free(world->floor);
	plan_world_end(&world->plan);
}

void
family_world_die(struct family_world *world)
{
	team_floor_free(world->floor);
	plan_world_reopen(&world->plan);
	open_floor(world);
	plan_world_live(&world->plan);
}

void
family_world_spawn(struct family_world *world, const char *parent,
    const char *id, const char *more)
{
	family_world_spawn_after(world, parent, id, more, NULL);
}

void
family_world_spawn_after(struct family_world *world, const char *parent,
    const char *id, const char *more, const char *after)
{
	struct plan *plan = plan_world_plan(&world->plan, "g");
	struct plan_node *node =
	    plan_node_new("g", NODE_TASK, id, id, clock_wall_ms());
	cleanup_free char *spawn = xasprintf(
	    "{\"parent\": \"%s\", \"actor\": \"actor:team:%s:coder-1\", "
	    "\"label\": \"%s\", \"depth\": 2%s}",
	    parent, id, id, more);
	struct plan_change change;

	task_run_of(state_task(&world->world->core->state, parent))
	    ->has_spawned = true;
	persist_changed(world->world->core);
	plan_change_begin(&change, world->plan.floor, plan, "asked for");
	ck_assert_int_eq(plan_edit_begin(&change.edit, NULL), 0);
	node->order = 100;
	ck_assert_int_eq(
	    json_parse(spawn, strlen(spawn), 4096, &node->spawn, NULL), 0);
	xstrset(&node->parent_id, "P1");
	ck_assert_int_eq(plan_attach(plan, node, NULL), 0);
	if (after != NULL)
		plan_depend(&change.changes, node, plan_find(plan, after),
		    clock_wall_ms());
	plan_changed(&change.changes, node);
	plan_edit_end(&change.edit, "added");
	plan_change_end(&change);
	plan_world_settle(&world->plan);
}

struct agent *
family_world_turn(struct family_world *world, const char *task)
{
	return auto_world_turn_on(world->world, task);
}

void
family_world_turn_ends(
    struct family_world *world, struct agent *agent, const char *file)
{
	cleanup_free char *text = file == NULL ?
	    NULL :
	    xasprintf("echo %s >%s; git add %s; git commit -qm 'add %s'",
		agent->worker->name, file, file, file);

	if (text != NULL)
		floor_world_wt(&world->world->floor, agent->worker->name, text);
	fake_session_turn_ends(agent->session, "Done.");
}

struct look {
	struct family_world *world;
	const char *worker, *task;
	enum worker_status status;
};

static bool
has_status(void *arg)
{
	const struct look *look = arg;
	const struct agent *agent =
	    fleet_find(look->world->world->floor.fleet, look->worker);

	return agent != NULL && agent->op == NULL &&
	    agent->worker->status == look->status;
}

void
family_world_wait(
    struct family_world *world, const char *worker, enum worker_status status)
{
	struct look look = {
		.world = world, .worker = worker, .status = status
	};

	floor_world_wait(&world->world->floor, has_status, &look);
}

static bool
is_filed(void *arg)
{
	const struct look *look = arg;

	return state_task(&look->world->world->core->state, look->task) == NULL;
}

void
family_world_wait_filed(struct family_world *world, const char *task)
{
	struct look look = { .world = world, .task = task };

	floor_world_wait(&world->world->floor, is_filed, &look);
}

struct task *
family_world_filed(struct family_world *world, const char *id)
{
	struct task *task = book_find_task(world->world->core->book, id);

	ck_assert_ptr_nonnull(task);
	return task;
}
