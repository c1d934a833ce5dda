/* SPDX-License-Identifier: ISC */

/* Operations of the fleet that are cut off at each step: cancelled, or dropped
 * by a daemon that dies. The call is answered once, and the worker is free. */
#include "fleet-world.h"
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
begin(const struct row *row)
{
	struct floor_call *call;

	if (strcmp(row->method, "worker.start") == 0)
		fleet_world_begin_idle(NULL);
	else
		fleet_world_begin_working(NULL);
	floor_world_wt("adam", "echo two >b.txt");
	call = floor_world_call(row->method, "adam", row->more);
	floor_world_wait_step(fleet_world.adam, row->step);
	return call;
}

TEST_ROWS(cancelled_at_each_step, nitems(rows))
{
	const struct row *row = &rows[_i];
	struct floor_call *call = begin(row);
	const char *error;

	operation_cancel(&fleet_world.adam->op->op, "enough");
	error = floor_world_answer(call);
	if (row->done) {
		ck_assert_ptr_null(error);
		ck_assert_ptr_null(fleet_find(floor_world.fleet, "adam"));
	} else {
		ck_assert_str_eq(error, "enough");
		ck_assert_ptr_null(fleet_world.adam->op);
		ck_assert_str_eq(
		    worker_status_name(fleet_world.adam->worker->status),
		    worker_status_name(row->status));
	}
}

/* Nothing is leaked, and whoever waits is told. */
TEST_ROWS(a_daemon_that_dies_at_each_step, nitems(rows))
{
	const struct row *row = &rows[_i];
	struct floor_call *call = begin(row);

	floor_world_close();
	ck_assert_ptr_nonnull(floor_world_answer(call));
}

/* A daemon that stops cancels what it has begun itself: a warning would have it
 * repaired. */
TEST_ROWS(what_nobody_called_is_cancelled_without_a_warning, 1)
{
	fleet_world_begin_working(NULL);
	op_reset(fleet_world.adam, NULL);
	floor_world_wait_step(fleet_world.adam, "end-session");
	operation_cancel(&fleet_world.adam->op->op, "the daemon is stopping");
	floor_world_settle();
	ck_assert_ptr_null(fleet_world.adam->op);
	ck_assert_int_eq(fleet_world.told[EVENT_GIT_FAILED], 0);
}
