/* SPDX-License-Identifier: ISC */

/* Operations of the fleet that are cut off at each step: cancelled, or dropped
 * by a daemon that dies. The call is answered once, and the worker is free. */
#include <check.h>
#include <string.h>

#include "fleet-world.h"
#include "mem.h"
#include "op-reset.h"
#include "unit.h"
#include "worker-op.h"

static const struct row {
	const char *method, *more;
	const char *step;
	bool done; /* it is finished all the same */
	enum worker_status status; /* of adam afterwards */
} rows[] = {
	{ "worker.reset", "", "end-session", false, WORKER_WORKING },
	{ "worker.reset", "", "reset", false, WORKER_OFFLINE },
	{ "worker.nuke", "", "end-session", false, WORKER_WORKING },
	{ "worker.nuke", "", "remove", true, WORKER_STATUS_COUNT },
	{ "worker.start", ",\"prompt\":\"do it\"", "write", false,
	    WORKER_STARTING },
	{ "worker.start", ",\"prompt\":\"do it\"", "reset", false,
	    WORKER_STARTING },
};

static struct floor_call *
begin(struct fleet_world *world, const struct row *row)
{
	struct floor_call *call;

	if (strcmp(row->method, "worker.start") == 0)
		fleet_world_begin_idle(world, NULL);
	else
		fleet_world_begin_working(world, NULL);
	floor_world_wt(&world->floor, "adam", "echo two >b.txt");
	call = floor_world_call(&world->floor, row->method, "adam", row->more);
	floor_world_wait_step(&world->floor, world->adam, row->step);
	return call;
}

TEST_ROWS(cancelled_at_each_step, nitems(rows))
{
	const struct row *row = &rows[_i];
	struct fleet_world world;
	struct floor_call *call = begin(&world, row);
	const char *error;

	operation_cancel(&world.adam->op->op, "enough");
	error = floor_world_answer(&world.floor, call);
	if (row->done) {
		ck_assert_ptr_null(error);
		ck_assert_ptr_null(fleet_find(world.floor.fleet, "adam"));
	} else {
		ck_assert_str_eq(error, "enough");
		ck_assert_ptr_null(world.adam->op);
		ck_assert_str_eq(worker_status_name(world.adam->worker->status),
		    worker_status_name(row->status));
	}
	fleet_world_end(&world);
}

/* Nothing is leaked, and whoever waits is told. */
TEST_ROWS(a_daemon_that_dies_at_each_step, nitems(rows))
{
	const struct row *row = &rows[_i];
	struct fleet_world world;
	struct floor_call *call = begin(&world, row);

	floor_world_close(&world.floor);
	ck_assert_ptr_nonnull(floor_world_answer(&world.floor, call));
	fleet_world_end(&world);
}

/* A daemon that stops cancels what it has begun itself: a warning would have it
 * repaired. */
TEST_ROWS(what_nobody_called_is_cancelled_without_a_warning, 1)
{
	struct fleet_world world;

	fleet_world_begin_working(&world, NULL);
	op_reset(world.adam, NULL);
	floor_world_wait_step(&world.floor, world.adam, "end-session");
	operation_cancel(&world.adam->op->op, "the daemon is stopping");
	floor_world_settle(&world.floor);
	ck_assert_ptr_null(world.adam->op);
	ck_assert_int_eq(world.told[EVENT_GIT_FAILED], 0);
	fleet_world_end(&world);
}
