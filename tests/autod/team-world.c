/* SPDX-License-Identifier: ISC */

#include <check.h>
#include <string.h>

#include "agent.h"
#include "mem.h"
#include "plan-floor.h"
#include "run-dir.h"
#include "team-private.h"
#include "team-world.h"

static void
open_floors(struct team_world *w)
{
	w->plan = plan_floor_new(w->world.mode);
	w->team = team_floor_new(w->plan);
}

static void
close_floors(struct team_world *w)
{
	team_floor_free(w->team);
	plan_floor_free(w->plan);
}

void
team_world_begin(struct team_world *w, const char *settings)
{
	cleanup_free char *off =
	    settings != NULL && strstr(settings, "[plan]") ?
	    NULL :
	    xasprintf("%s[plan]\nenabled = false\n",
		settings != NULL ? settings : "");

	memset(w, 0, sizeof *w);
	auto_world_begin(&w->world, off != NULL ? off : settings);
	open_floors(w);
}

void
team_world_end(struct team_world *w)
{
	close_floors(w);
	auto_world_end(&w->world);
}

void
team_world_die(struct team_world *w)
{
	close_floors(w);
	auto_world_reopen(&w->world);
	open_floors(w);
	auto_world_live(&w->world);
}

struct floor_call *
team_world_call(struct team_world *w, const char *worker, const char *tool,
    const char *params)
{
	cleanup_free char *socket =
	    run_dir_socket(&w->world.floor.workspace, worker);
	cleanup_free char *method = xasprintf("team.%s", tool);

	return floor_world_ask_at(&w->world.floor, socket, method, params);
}

const char *
team_world_tool(struct team_world *w, const char *worker, const char *tool,
    const char *params)
{
	return floor_world_answer(
	    &w->world.floor, team_world_call(w, worker, tool, params));
}

void
team_world_hook(struct team_world *w, const struct agent *agent,
    const char *event, const char *data)
{
	static int ids;
	const char *worker = agent->worker->name;
	cleanup_free char *socket =
	    run_dir_socket(&w->world.floor.workspace, worker);
	cleanup_free char *params = xasprintf(
	    "{\"event\": \"%s\", \"worker\": \"%s\", \"generation\": "
	    "%d, \"id\": \"h%d\", \"data\": %s}",
	    event, worker, (int)agent->worker->session.generation, ++ids, data);

	ck_assert_ptr_null(floor_world_answer(&w->world.floor,
	    floor_world_ask_at(&w->world.floor, socket, "hook.event", params)));
}
