/* SPDX-License-Identifier: ISC */

/* One operation at a time: a second command for a worker is refused, and the
 * first one is answered. What a worker leaves is removed. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "fleet-world.h"
#include "serve.h"
#include "unit.h"

static const char *const first_methods[] = { "worker.reset", "worker.nuke" };
static const char *const second_methods[] = { "worker.reset", "worker.nuke",
	"worker.message", "worker.reject" };

static struct floor_call *
command(struct fleet_world *world, const char *method)
{
	bool text = strcmp(method, "worker.message") == 0 ||
	    strcmp(method, "worker.reject") == 0;

	return floor_world_call(
	    &world->floor, method, "adam", text ? ",\"text\":\"go on\"" : "");
}

TEST_ROWS(two_commands_for_one_worker, 8)
{
	const char *first = first_methods[_i / 4];
	const char *second = second_methods[_i % 4];
	struct fleet_world world;
	struct floor_call *calls[2];

	fleet_world_begin_working(&world, NULL);
	calls[0] = command(&world, first);
	calls[1] = command(&world, second);
	ck_assert_ptr_nonnull(floor_world_answer(&world.floor, calls[1]));
	ck_assert_int_eq(floor_call_code(calls[1]), API_BUSY);
	ck_assert_ptr_null(floor_world_answer(&world.floor, calls[0]));
	fleet_world_end(&world);
}

/* The session of a worker that is parked ends; whoever asks for its end too is
 * answered, now or then. */
TEST_ROWS(a_command_during_parking, 4)
{
	const char *method = second_methods[_i % 2];
	struct fleet_world world;
	struct floor_call *call;

	fleet_world_begin_working(&world, NULL);
	agent_park(world.adam, "the test");
	floor_world_wait_step(
	    &world.floor, world.adam, _i < 2 ? "screen" : "pause");
	call = command(&world, method);
	ck_assert_ptr_nonnull(floor_world_answer(&world.floor, call));
	ck_assert_int_eq(floor_call_code(call), API_BUSY);
	floor_world_settle(&world.floor);
	ck_assert_int_eq(world.adam->worker->status, WORKER_PAUSED);
	ck_assert_int_eq(world.told[EVENT_WORKER_PARKED], 1);
	call = command(&world, method);
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	fleet_world_end(&world);
}

TEST(nuke_removes_what_the_sandbox_kept)
{
	struct fleet_world world;

	fleet_world_begin_idle(&world, NULL);
	floor_world_sh(&world.floor,
	    "mkdir -p .llmc/box/adam/claude .llmc/box/eve; "
	    "echo a >.llmc/box/adam/claude/b; echo c >.llmc/box/eve/d; "
	    "ln -s ../eve .llmc/box/adam/e");
	ck_assert_ptr_null(
	    floor_world_answer(&world.floor, command(&world, "worker.nuke")));
	ck_assert_str_eq(floor_world_sh(&world.floor,
			     "cd .llmc/box; find . | sort | tr '\\n' ' '"),
	    ". ./eve ./eve/d ");
	fleet_world_end(&world);
}
