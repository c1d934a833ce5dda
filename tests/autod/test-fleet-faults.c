/* SPDX-License-Identifier: ISC */

/* The fleet's operations: two at once, cancelled at each step, dropped at each
 * step, with a git that is killed, with a state that cannot be saved. */
#include "base.h"
#include "fleet.h"
#include "worker-op.h"

#include "floor-world.h"

#define SAMPLE_STEP 3 /* commands; UNIT_WHOLE: every one */

static const char start_more[] = ", \"prompt\": \"do it\"";

/* A worker with a commit and a change of its own. */
static struct agent *
make_worker(const char *name)
{
	struct agent *agent = floor_world_add(name, WORKER_IDLE);

	floor_world_wt(name,
	    "echo one >b.txt; git add b.txt; git commit -qm work; "
	    "echo two >>b.txt");
	persist_changed(floor_world.core);
	floor_world_settle();
	return agent;
}

static void
begin(void)
{
	floor_world_begin(NULL);
	floor_world_live();
}

static struct floor_call *
call_op(const char *method)
{
	return floor_world_call(method, "adam",
	    strcmp(method, "worker.start") == 0 ? start_more : "");
}

static bool
is_added(void *world)
{
	return fleet_find(((struct floor_world *)world)->fleet, "adam") != NULL;
}

/* Run to that step of the operation on adam; a write waits there until
 * finish_write(). */
static struct agent *
run_to(const char *method, const char *step, struct floor_call **ret_call)
{
	floor_world.store_held = strcmp(step, "write") == 0;
	*ret_call = call_op(method);
	if (!is_added(&floor_world))
		floor_world_wait_closely(is_added, &floor_world);
	floor_world_wait_step(fleet_find(floor_world.fleet, "adam"), step);
	return fleet_find(floor_world.fleet, "adam");
}

static void
finish_write(void)
{
	floor_world_store_answer();
}

static void
assert_salvaged(const char *count)
{
	ck_assert_str_eq(
	    floor_world_sh(
		"git for-each-ref --format=x refs/llmc/salvage | wc -l | "
		"tr -d ' '"),
	    count);
}

/* The change is in a salvaged commit, however often it was saved, or in a
 * folder that git could not save. */
static void
assert_kept(void)
{
	ck_assert_str_eq(
	    floor_world_sh(
		"{ git rev-list --glob=refs/llmc/salvage | while read -r id; "
		"do git show \"$id:b.txt\" 2>/dev/null; done; "
		"cat .worktrees/*.broken-*/b.txt 2>/dev/null; } | "
		"sort -u | grep two"),
	    "two");
}

/* --- cancelled ------------------------------------------------------- */

/* Where the operation stops at once, or is finished (firm). */
static const struct cancel_row {
	const char *method, *step;
	bool finishes;
	const char *salvaged; /* refs when it has ended */
} cancel_rows[] = {
	{ "worker.reset", "end-session", false, "0" },
	{ "worker.reset", "reset", false, "1" },
	{ "worker.nuke", "end-session", false, "0" },
	{ "worker.nuke", "remove", true, "1" },
	{ "worker.start", "write", false, "0" },
	{ "worker.start", "reset", false, "1" },
};

const int unit_timeout = 120; /* seconds, each */

TEST_ROWS(cancelled_at_each_step, nitems(cancel_rows))
{
	const struct cancel_row *row = &cancel_rows[_i];
	struct floor_call *call;
	struct agent *adam;
	const char *error;

	begin();
	make_worker("adam");
	adam = run_to(row->method, row->step, &call);
	operation_cancel(&adam->op->op, "enough");
	finish_write();
	error = floor_world_answer(call);
	floor_world_settle();
	assert_salvaged(row->salvaged);
	if (row->finishes) {
		ck_assert_ptr_null(error);
		ck_assert_ptr_null(fleet_find(floor_world.fleet, "adam"));
		floor_world_end();
		return;
	}
	ck_assert_str_eq(error, "enough");
	ck_assert_ptr_null(adam->op);
	ck_assert_int_ne(adam->worker->status, WORKER_ERROR);
	/* Nothing stays behind that would be in the way of the next one. */
	floor_world_done(floor_world_call("worker.reset", "adam", ""));
	ck_assert_str_eq(floor_world_wt("adam",
			     "git log -1 --format=%s; git status --porcelain"),
	    "first");
	assert_kept();
}

/* The worker stays; its worktree is made when it is missing. */
TEST_ROWS(add_cancelled_at_each_step, 2)
{
	static const char *const steps[] = { "write", "worktree" };
	struct floor_call *call;
	struct agent *adam;

	begin();
	adam = run_to("worker.add", steps[_i], &call);
	operation_cancel(&adam->op->op, "enough");
	finish_write();
	ck_assert_str_eq(floor_world_answer(call), "enough");
	ck_assert_ptr_eq(fleet_find(floor_world.fleet, "adam"), adam);
	ck_assert_ptr_null(adam->op);
	floor_world_done(floor_world_call("worker.reset", "adam", ""));
	ck_assert_str_eq(
	    floor_world_wt("adam", "git branch --show-current"), "llmc/adam");
}

/* --- dropped --------------------------------------------------------- */

/* The daemon is freed meanwhile; the next one finds a worker it can use. */
TEST_ROWS(dropped_at_each_step, nitems(cancel_rows))
{
	const struct cancel_row *row = &cancel_rows[_i];
	struct floor_call *call;
	struct agent *adam;

	begin();
	make_worker("adam");
	run_to(row->method, row->step, &call);
	floor_world.store_held = false;
	floor_world_close();
	floor_world_open();
	floor_world_live();
	ck_assert(!floor_call_is_answered(call) ||
	    floor_call_code(call) == API_FAILED);
	adam = fleet_find(floor_world.fleet, "adam");
	ck_assert_ptr_nonnull(adam);
	floor_world_done(floor_world_call("worker.reset", "adam", ""));
	ck_assert_str_eq(floor_world_wt("adam",
			     "git log -1 --format=%s; git status --porcelain"),
	    "first");
}

/* --- two at once ----------------------------------------------------- */

static const struct pair_row {
	const char *first, *second;
	int code; /* of the second */
} pair_rows[] = {
	{ "worker.reset", "worker.reset", API_BUSY },
	{ "worker.reset", "worker.nuke", API_BUSY },
	/* It waits for the reset, whose session cannot start here. */
	{ "worker.reset", "worker.start", API_STATUS },
	{ "worker.nuke", "worker.reset", API_BUSY },
	{ "worker.nuke", "worker.nuke", API_BUSY },
	{ "worker.start", "worker.reset", API_BUSY },
	{ "worker.start", "worker.nuke", API_BUSY },
	{ "worker.start", "worker.start", API_STATUS },
};

TEST_ROWS(two_at_once, nitems(pair_rows))
{
	const struct pair_row *row = &pair_rows[_i];
	struct floor_call *first, *second;

	begin();
	make_worker("adam");
	first = call_op(row->first);
	second = call_op(row->second);
	ck_assert_ptr_nonnull(floor_world_answer(second));
	ck_assert_int_eq(floor_call_code(second), row->code);
	ck_assert_ptr_null(floor_world_answer(first));
	assert_salvaged("1");
}

/* While a worker is being parked, a reset is refused, and works afterwards. */
TEST(reset_while_parking)
{
	struct floor_call *call;
	struct agent *adam;

	begin();
	adam = make_worker("adam");
	agent_park(adam, "look at it");
	ck_assert_str_eq(operation_step_name(&adam->op->op), "screen");
	call = call_op("worker.reset");
	floor_world_refused(call, API_BUSY, "operation on adam");
	floor_world_settle();
	ck_assert_int_eq(adam->worker->status, WORKER_PAUSED);
	ck_assert_ptr_nonnull(strstr(adam->worker->reason, "look at it"));
	ck_assert_ptr_null(floor_world_answer(call_op("worker.reset")));
}

TEST_ROWS(park_cancelled_at_each_step, 2)
{
	static const char *const steps[] = { "screen", "pause" };
	struct agent *adam;

	begin();
	adam = make_worker("adam");
	agent_park(adam, "look at it");
	floor_world_wait_step(adam, steps[_i]);
	operation_cancel(&adam->op->op, "enough");
	floor_world_settle();
	ck_assert_ptr_null(adam->op);
	ck_assert_int_eq(
	    adam->worker->status, _i == 0 ? WORKER_IDLE : WORKER_PAUSED);
	ck_assert_ptr_null(floor_world_answer(call_op("worker.reset")));
}

/* --- what fails ------------------------------------------------------ */

/* Whichever git is killed: the call is answered, the work is not lost, and a
 * further reset succeeds. */
TEST_ROWS(git_killed_at_each_command, 3)
{
	static const char *const methods[] = { "worker.reset", "worker.start",
		"worker.nuke" };
	struct floor_call *call;
	const char *error = "";
	int nth, step = getenv("UNIT_WHOLE") != NULL ? 1 : SAMPLE_STEP;
	/* A worker is removed whatever git does, so that no error ends it. */
	int least = strcmp(methods[_i], "worker.nuke") == 0 ? 20 : 4;

	begin();
	for (nth = 1; (error != NULL || nth <= least) && nth < 100;
	     nth += step) {
		make_worker("adam");
		floor_world_trap(nth, "before");
		call = call_op(methods[_i]);
		error = floor_world_answer(call);
		floor_world_settle();
		floor_world_trap(0, "before");
		if (fleet_find(floor_world.fleet, "adam") != NULL)
			ck_assert_ptr_null(
			    floor_world_answer(call_op("worker.nuke")));
		assert_kept();
		floor_world_sh(
		    "rm -rf .worktrees/*.broken-*; git worktree prune; "
		    "git branch -q -D llmc/adam 2>/dev/null; "
		    "git for-each-ref --format='delete %(refname)' "
		    "refs/llmc/salvage | git update-ref --stdin");
	}
	ck_assert_int_gt(nth, least);
}

/* Nothing is answered, and nothing that must be written first is done. */
TEST(state_cannot_be_saved)
{
	struct floor_call *call;
	struct agent *adam;

	begin();
	adam = make_worker("adam");
	floor_world.store_fails = true;
	call = call_op("worker.start");
	floor_world_wait_step(adam, "write");
	floor_world.store_fails = false;
	ck_assert(!floor_call_is_answered(call));
	assert_salvaged("0");
	ck_assert_ptr_null(floor_world_answer(call));
	assert_salvaged("1");
	ck_assert_int_eq(adam->worker->status, WORKER_STARTING);
	ck_assert_int_eq(adam->worker->session.step, PROMPT_PARKED);
}
