/* SPDX-License-Identifier: ISC */

#include "team-world.h"
#include "plan-floor.h"
#include "team-private.h"

struct team_world team_world;

static void
open_floors(void)
{
	team_world.plan = plan_floor_new(auto_world.mode);
	team_world.team = team_floor_new(team_world.plan);
}

static void
close_floors(void)
{
	team_floor_free(team_world.team);
	plan_floor_free(team_world.plan);
}

void
team_world_begin(const char *settings)
{
	cleanup_free char *off =
	    settings != NULL && strstr(settings, "[plan]") ?
	    NULL :
	    xasprintf("%s[plan]\nenabled = false\n",
		settings != NULL ? settings : "");

	memset(&team_world, 0, sizeof team_world);
	auto_world_begin(off != NULL ? off : settings);
	open_floors();
	unit_at_end(team_world_end);
}

void
team_world_end(void)
{
	if (floor_world.repo == NULL)
		return;
	close_floors();
	auto_world_end();
}

void
team_world_die(void)
{
	close_floors();
	auto_world_reopen();
	open_floors();
	auto_world_live();
}

struct floor_call *
team_world_call(const char *worker, const char *tool, const char *params)
{
	cleanup_free char *method = xasprintf("team.%s", tool);

	return floor_world_ask_as(worker, method, params);
}

const char *
team_world_tool(const char *worker, const char *tool, const char *params)
{
	return floor_world_answer(team_world_call(worker, tool, params));
}

void
team_world_hook(const struct agent *agent, const char *event, const char *data)
{
	static int ids;
	const char *worker = agent->worker->name;
	cleanup_free char *params = xasprintf(
	    "{\"event\": \"%s\", \"worker\": \"%s\", \"generation\": "
	    "%d, \"id\": \"h%d\", \"data\": %s}",
	    event, worker, (int)agent->worker->session.generation, ++ids, data);

	ck_assert_ptr_null(floor_world_answer(
	    floor_world_ask_as(worker, "hook.event", params)));
}
