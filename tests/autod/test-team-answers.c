/* SPDX-License-Identifier: ISC */

/* Questions whose call is made again, and those whose caller is gone. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "api.h"
#include "json.h"
#include "mem.h"
#include "records.h"
#include "run-dir.h"
#include "team-private.h"
#include "team-request.h"
#include "family-world.h"
#include "unit.h"

#define CHILD "actor:team:coder:coder-1"

static struct floor_call *
use(struct family_world *world, const char *worker, const char *tool,
    const char *params)
{
	struct floor_world *floor = &world->world->floor;
	cleanup_free char *socket = run_dir_socket(&floor->workspace, worker);
	cleanup_free char *method = xasprintf("team.%s", tool);

	return floor_world_ask_at(floor, socket, method, params);
}

static struct json_object *
answer(struct family_world *world, struct floor_call *call)
{
	const char *error = floor_world_answer(&world->world->floor, call);

	ck_assert_msg(error == NULL, "%s", error);
	return floor_call_result(call);
}

/* auto-1 is at work, and team-1 for it. */
static void
begin(struct family_world *world)
{
	family_world_begin(world, NULL);
	family_world_turn(world, "t1");
	answer(world,
	    use(world, "auto-1", "agent_spawn",
		"{\"spawn_reason\":\"x\",\"requested_subagents\":["
		"{\"role\":\"coder\",\"task\":\"x\"}]}"));
	family_world_turn(world, "t2");
	plan_world_settle(&world->plan);
}

static struct floor_call *
ask(struct family_world *world, const char *call)
{
	cleanup_free char *params =
	    xasprintf("{\"message\":\"A or B?\",\"call\":\"%s\"}", call);

	return use(world, "team-1", "request_orchestrator", params);
}

static bool
is_stored(void *arg)
{
	const struct family_world *world = arg;

	return records_open(world->floor->core, BOOK_REQUEST, NULL) > 0;
}

/* auto-1 answers the only open question. */
static struct floor_call *
respond(struct family_world *world)
{
	cleanup_free char *params = NULL;
	cleanup_json struct json_object *question = NULL;

	floor_world_wait(&world->world->floor, is_stored, world);
	question = records_first(world->floor->core, BOOK_REQUEST, NULL);
	params = xasprintf("{\"requestId\":\"%s\",\"response\":\"B\"}",
	    json_string_or(question, "id", ""));
	return use(world, "auto-1", "respond_orchestrator_request", params);
}

static void
is_b(struct family_world *world, struct floor_call *call)
{
	ck_assert_str_eq(
	    json_string_or(answer(world, call), "response", "none"), "B");
}

TEST(a_restart_does_not_forget_how_many_were_asked)
{
	static const char *const calls[] = { "c1", "c2", "c3", "c4", "c5" };
	struct family_world world;
	struct floor_call *sixth;

	begin(&world);
	for (size_t i = 0; i < nitems(calls); i++) {
		struct floor_call *asked = ask(&world, calls[i]);

		answer(&world, respond(&world));
		is_b(&world, asked);
	}
	floor_world_settle(&world.world->floor);
	family_world_die(&world);
	sixth = ask(&world, "c6");
	floor_world_answer(&world.world->floor, sixth);
	ck_assert_int_eq(floor_call_code(sixth), API_E_RATE);
	family_world_end(&world);
}

/* The call is made again while its question is being answered. */
TEST(an_answer_that_is_being_given_is_not_lost)
{
	struct family_world world;

	begin(&world);
	ask(&world, "c1");
	respond(&world);
	is_b(&world, ask(&world, "c1"));
	family_world_end(&world);
}

static bool
nobody_waits(void *arg)
{
	struct family_world *world = arg;

	return !team_requests_asks(
	    world->floor->requests, fleet_find(world->floor->fleet, "team-1"));
}

TEST(whoever_hangs_up_does_not_wait_any_more)
{
	struct family_world world;
	struct floor_call *asked;

	begin(&world);
	asked = ask(&world, "c1");
	floor_world_wait(&world.world->floor, is_stored, &world);
	ck_assert(!nobody_waits(&world));
	floor_call_hang_up(asked);
	floor_world_wait(&world.world->floor, nobody_waits, &world);
	/* Its question is still there. */
	ck_assert_uint_eq(
	    team_requests_pending(world.floor->requests, CHILD), 1);
	asked = ask(&world, "c1");
	answer(&world, respond(&world));
	is_b(&world, asked);
	family_world_end(&world);
}

TEST(whoever_asked_an_earlier_daemon_waits)
{
	struct family_world world;

	begin(&world);
	ask(&world, "c1");
	floor_world_wait(&world.world->floor, is_stored, &world);
	floor_world_settle(&world.world->floor);
	family_world_die(&world);
	ck_assert(!nobody_waits(&world));
	family_world_end(&world);
}
