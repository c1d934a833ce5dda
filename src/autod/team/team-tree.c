/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "clock.h"
#include "hierarchy.h"
#include "json.h"
#include "mem.h"
#include "plan-floor.h"
#include "plan-node.h"
#include "serve.h"
#include "task-run.h"
#include "team-fleet.h"
#include "team-floor.h"
#include "team-kin.h"
#include "team-row.h"
#include "team-tree.h"

/* How long one that has ended is shown. */
#define SHOWN_MS (INT64_C(24) * 60 * 60 * 1000)

struct tree {
	struct team_floor *floor;
	struct team_kins kins;
	bool *shown; /* one for each of the kins */
	struct json_object *rows;
};

static void
load(struct tree *tree, struct team_floor *floor)
{
	*tree =
	    (struct tree){ .floor = floor, .rows = json_object_new_array() };
	if (floor->plan->state == PLAN_OPEN) {
		team_kins_load(floor, &tree->kins);
		team_kins_add_filed(floor, &tree->kins);
	}
	tree->shown = xcalloc(tree->kins.count + 1, sizeof *tree->shown);
}

static void
release(struct tree *tree)
{
	team_kins_release(&tree->kins);
	free(tree->shown);
	json_object_put(tree->rows);
}

static bool
is_worth(const struct team_kin *kin)
{
	return kin->node->ended_ms == 0 ||
	    clock_wall_ms() - kin->node->ended_ms < SHOWN_MS;
}

/* Each is below the one that asked for it. */
static void
add_below(struct tree *tree, const char *actor)
{
	for (size_t i = 0; i < tree->kins.count; i++) {
		const struct team_kin *kin = &tree->kins.list[i];

		if (tree->shown[i] ||
		    strcmp(kin->run->parent_actor, actor) != 0)
			continue;
		tree->shown[i] = true;
		if (is_worth(kin))
			json_object_array_add(
			    tree->rows, team_row_kin(tree->floor, kin, false));
		add_below(tree, kin->run->actor);
	}
}

static bool
is_spawned(const struct task *task)
{
	return task != NULL && task_run_is_spawned(task);
}

static void
add_root(struct tree *tree, struct agent *agent, const struct task *task)
{
	cleanup_free char *actor = task != NULL ? task_run_actor(task) : NULL;

	json_object_array_add(
	    tree->rows, team_row_root(tree->floor, agent, task));
	if (actor != NULL)
		add_below(tree, actor);
}

static bool
has_children(const struct tree *tree, const struct task *task)
{
	cleanup_free char *actor = task_run_actor(task);

	for (size_t i = 0; i < tree->kins.count; i++)
		if (strcmp(tree->kins.list[i].run->parent_actor, actor) == 0)
			return true;
	return false;
}

static void
on_tree(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const struct state *state = &floor->core->state;
	struct tree tree;

	(void)params;
	load(&tree, floor);
	for (size_t i = 0; i < floor->fleet->count; i++) {
		struct agent *agent = floor->fleet->agents[i];
		const struct task *task = auto_task(agent);

		if (!is_spawned(task) &&
		    (task != NULL || agent->worker->prompt != NULL))
			add_root(&tree, agent, task);
	}
	/* Parents whose work waits without a worker. */
	for (size_t i = 0; i < state->task_count; i++)
		if (!is_spawned(state->tasks[i]) &&
		    !auto_is_held(floor->mode, state->tasks[i]) &&
		    has_children(&tree, state->tasks[i]))
			add_root(&tree, NULL, state->tasks[i]);
	/* Those whose parent has ended. */
	for (size_t i = 0; i < tree.kins.count; i++)
		if (!tree.shown[i] &&
		    team_kins_find(&tree.kins,
			tree.kins.list[i].run->parent_actor) == NULL)
			add_below(&tree, tree.kins.list[i].run->parent_actor);
	serve_reply(floor->core, call, json_object_get(tree.rows));
	release(&tree);
}

/* --- agent_status ------------------------------------------------------ */

static struct json_object *
own_place(const struct team_floor *floor, const struct task *task)
{
	struct hierarchy_place place =
	    team_fleet_place(floor->core->settings, task->run);
	cleanup_free char *actor = task_run_actor(task);
	struct json_object *json = json_object_new_object();

	json_set_string(json, "actor_id", actor);
	json_set_int(json, "depth", place.depth);
	json_set_int(json, "max_depth", hierarchy_deepest(&place));
	return json;
}

static void
on_status(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const char *wanted = json_string_or(params, "actor_id", NULL);
	struct task *task = NULL;
	const struct agent *agent =
	    team_floor_speaker(floor, call, params, &task);
	cleanup_free char *actor = NULL;
	struct json_object *result;
	struct tree tree;

	if (agent == NULL)
		return;
	load(&tree, floor);
	actor = task != NULL ? task_run_actor(task) : xstrdup("");
	for (size_t i = 0; i < tree.kins.count; i++) {
		const struct team_kin *kin = &tree.kins.list[i];

		if ((wanted == NULL || strcmp(kin->run->actor, wanted) == 0) &&
		    team_kin_is_below(&tree.kins, kin, actor))
			json_object_array_add(
			    tree.rows, team_row_kin(floor, kin, true));
	}
	if (wanted != NULL && json_object_array_length(tree.rows) == 0) {
		serve_refuse(call, API_E_NOT_FOUND,
		    "%s: no such agent works for you", wanted);
	} else {
		result = json_object_new_object();
		json_set(result, "agents", json_object_get(tree.rows));
		if (task != NULL)
			json_set(result, "you", own_place(floor, task));
		serve_reply(floor->core, call, result);
	}
	release(&tree);
}

void
team_tree_register(struct team_floor *floor)
{
	serve_handle(floor->core, "team.tree", on_tree, floor);
	serve_handle(floor->core, "team.agent_status", on_status, floor);
}
