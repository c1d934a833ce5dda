/* SPDX-License-Identifier: ISC */

/* Landings interrupted at each step: cancelled, by a daemon that stops or dies,
 * by a state that cannot be saved. */
#include "landing-world.h"
#include "git.h"
#include "worker-op.h"

static void
assert_waits_for_a_person(const struct agent *adam)
{
	ck_assert_int_eq(adam->worker->status, WORKER_NEEDS_REVIEW);
	ck_assert(!adam->worker->accepted);
	ck_assert_ptr_null(adam->op);
	ck_assert_str_eq(floor_world_wt("adam",
			     "git branch --show-current; git log -1 "
			     "--format=%s; git status --porcelain"),
	    "llmc/adam\nby adam");
}

/* --- cancelled ------------------------------------------------------- */

/* Before it is published it ends, and can be accepted again; after that it is
 * finished. */
static const struct cancel_row {
	const char *step;
	bool lands;
} cancel_rows[] = {
	{ "freeze", false },
	{ "reset", true },
};

TEST_ROWS(cancelled_at_each_step, nitems(cancel_rows))
{
	const struct cancel_row *row = &cancel_rows[_i];
	struct floor_call *call;
	struct agent *adam = landing_world_begin_work(NULL);
	const char *error;

	call = floor_world_call("worker.accept", "adam", "");
	floor_world_wait_step(adam, row->step);
	operation_cancel(&adam->op->op, "enough");
	error = floor_world_answer(call);
	if (!row->lands) {
		ck_assert_str_eq(error, "enough");
		ck_assert_str_eq(adam->worker->reason, "enough");
		landing_world_told("ended adam cancelled; ");
		landing_world_main("first,");
		assert_waits_for_a_person(adam);
		error = landing_world_accept("adam");
	}
	ck_assert_msg(error == NULL, "%s: %s", row->step, error);
	landing_world_told("landed adam; ended adam landed; ");
	landing_world_main("by adam,first,");
}

/* A conflict that git has found is not left in the worktree. */
static const struct conflict_row {
	const char *step;
	int conflicts; /* before */
	const char *told;
	enum worker_status status;
} conflict_rows[] = {
	{ "rebase", 0, "not landed adam; ended adam conflict; ",
	    WORKER_REBASING },
	{ "conflict", 0, "not landed adam; ended adam conflict; ",
	    WORKER_REBASING },
	{ "give-up", 3, "not landed adam; ended adam stuck; ",
	    WORKER_NEEDS_REVIEW },
};

TEST_ROWS(cancelled_in_a_conflict, nitems(conflict_rows))
{
	const struct conflict_row *row = &conflict_rows[_i];
	struct floor_call *call;
	struct agent *adam;

	landing_world_begin(NULL);
	adam = landing_world_work("adam", "a.txt", "mine");
	landing_world_meanwhile("a.txt", "theirs");
	adam->worker->conflicts = row->conflicts;
	call = floor_world_call("worker.accept", "adam", "");
	floor_world_wait_step(adam, row->step);
	operation_cancel(&adam->op->op, "enough");
	ck_assert((floor_world_answer(call) == NULL) == (row->conflicts == 0));
	landing_world_told(row->told);
	ck_assert_int_eq(adam->worker->status, row->status);
	if (row->status == WORKER_NEEDS_REVIEW)
		assert_waits_for_a_person(adam);
}

/* --- a daemon that stops, one that dies ------------------------------ */

static bool
is_over(void *arg)
{
	const struct agent *adam = fleet_find(floor_world.fleet, "adam");

	(void)arg;
	return !landings_busy(landing_world.landings) && adam->op == NULL &&
	    adam->worker->status != WORKER_ACCEPTING;
}

/* Calls are answered, and the next daemon continues. What a person accepted
 * lands; what was still being compared with what they saw does not. */
TEST(the_next_daemon_goes_on)
{
	struct floor_call *runs, *waits;
	struct agent *adam = landing_world_begin_work(NULL);

	landing_world_work("eve", "c.txt", "three");
	landing_world.may_not_begin = true;
	waits = floor_world_call("worker.accept", "eve", "");
	landing_world_wait(NULL, "queued");
	runs = floor_world_call("worker.accept", "adam", "");
	floor_world_wait_step(adam, "freeze");
	life_stop(floor_world.core, "the test", false);
	floor_world_wait_stopped();
	ck_assert_ptr_nonnull(strstr(floor_world_answer(waits), "is stopping"));
	ck_assert_ptr_nonnull(strstr(floor_world_answer(runs), "is stopping"));
	landing_world_told("");
	landing_world_main("first,");

	landing_world.may_not_begin = false;
	landing_world_reopen();
	floor_world_wait(is_over, &landing_world);
	landing_world_main("by adam,by eve,first,");
}

/* Without a call, from nothing but the files. */
static const char *const death_rows[] = { "freeze", "queued", "moving",
	"reset" };

TEST_ROWS(what_a_dead_daemon_left_lands_once, nitems(death_rows))
{
	struct agent *adam = landing_world_begin_work(NULL);

	landing_begin(landing_world.landings, adam, NULL, false, NULL);
	landing_world_wait(adam, death_rows[_i]);
	landing_world_reopen();
	floor_world_wait(is_over, &landing_world);
	landing_world_main("by adam,first,");
	adam = fleet_find(floor_world.fleet, "adam");
	ck_assert_int_eq(adam->worker->status, WORKER_OFFLINE);
	landing_world_told("landed adam; ended adam landed; ");
}

/* The next daemon lands what a person was shown, and nothing else. */
static const struct shown_row {
	const char *script; /* between the daemons */
	const char *reason; /* why it does not land, NULL = it does */
} shown_rows[] = {
	{ ":", NULL },
	{ "git commit -q --allow-empty -m more", "is not what you were shown" },
	{ "echo x >left", "adam has uncommitted changes: left" },
};

TEST_ROWS(the_next_daemon_lands_what_was_shown, nitems(shown_rows))
{
	const struct shown_row *row = &shown_rows[_i];
	cleanup_free char *seen = NULL;
	struct agent *adam =
	    landing_world_begin_work("protected_paths = [\"b.txt\"]\n");

	seen = xasprintf(
	    ",\"commit\":\"%s\"", floor_world_wt("adam", "git rev-parse HEAD"));
	floor_world_call("worker.accept", "adam", seen);
	floor_world_wait_step(adam, "freeze");
	floor_world_wt("adam", row->script);
	landing_world_reopen();
	floor_world_wait(is_over, &landing_world);
	adam = fleet_find(floor_world.fleet, "adam");
	if (row->reason == NULL) {
		landing_world_main("by adam,first,");
	} else {
		landing_world_main("first,");
		ck_assert_int_eq(adam->worker->status, WORKER_NEEDS_REVIEW);
		ck_assert_ptr_nonnull(
		    strstr(adam->worker->reason, row->reason));
	}
}

/* A rebase that was not accepted must not land after a restart. */
TEST(a_rebase_stays_a_rebase)
{
	struct agent *adam = landing_world_begin_work(NULL);

	landing_world_meanwhile("c.txt", "three");
	landing_rebase(landing_world.landings, adam, NULL);
	floor_world_wait_step(adam, "rebase");
	landing_world_reopen();
	floor_world_wait(is_over, &landing_world);
	adam = fleet_find(floor_world.fleet, "adam");
	assert_waits_for_a_person(adam);
	landing_world_main("meanwhile,first,");
	landing_world_told("");
}

/* Something was left of its session when the daemon began. */
TEST(one_that_is_cleared_late_goes_on_then)
{
	struct agent *adam = landing_world_begin_work(NULL);

	agent_move(adam, WORKER_ACCEPTING, NULL);
	adam->worker->accepted = true;
	emit(floor_world.core,
	    &(struct event){ .kind = EVENT_CLEARED, .worker = "adam" });
	floor_world_wait(is_over, &landing_world);
	landing_world_main("by adam,first,");
}

/* --- a state that cannot be written ---------------------------------- */

/* Nothing is done that is not saved; it continues when it is. */
static const struct write_row {
	const char *step; /* saving fails from this step on, NULL = from the
			   * start */
	const char *stays; /* the landing stays there, NULL = it waits */
	const char *branch, *told;
} write_rows[] = {
	{ NULL, "write", "first,", "" },
	{ "freeze", NULL, "first,", "" },
	{ "moving", NULL, "first,", "" },
};

TEST_ROWS(the_state_cannot_be_written, nitems(write_rows))
{
	const struct write_row *row = &write_rows[_i];
	struct floor_call *call;
	struct agent *adam = landing_world_begin_work(NULL);

	floor_world_settle();
	floor_world.store_fails = row->step == NULL;
	call = floor_world_call("worker.accept", "adam", "");
	if (row->step != NULL)
		landing_world_wait(adam, row->step);
	floor_world.store_fails = true;
	floor_world_until(
	    landing_world.unwritten > 0 && !git_busy(floor_world.core->git));
	if (row->stays != NULL)
		ck_assert_str_eq(
		    operation_step_name(&adam->op->op), row->stays);
	else
		ck_assert_ptr_null(adam->op);
	ck_assert(!floor_call_is_answered(call));
	landing_world_main(row->branch);
	landing_world_told(row->told);
	floor_world.store_fails = false;
	ck_assert_ptr_null(floor_world_answer(call));
	landing_world_main("by adam,first,");
}

/* One of an item that is gone, and one of another name. */
TEST(refs_that_a_dead_daemon_left_are_removed)
{
	struct floor_call *call;
	struct agent *eve;

	landing_world_begin_work("");
	ck_assert_ptr_null(landing_world_accept("adam"));
	eve = landing_world_work("eve", "c.txt", "three");
	call = floor_world_call("worker.accept", "eve", "");
	landing_world_wait(eve, "queued");
	floor_world_sh(
	    "for id in q1 q77 mine; do git update-ref refs/llmc/queue/$id "
	    "main; done; "
	    ">.git/refs/llmc/queue/q1.lock; >.git/refs/llmc/queue/q5.lock");
	ck_assert(!floor_call_is_answered(call));
	landing_world_reopen();
	floor_world_settle();
	ck_assert_str_eq(
	    floor_world_sh("git for-each-ref --format='%(refname)' "
			   "refs/llmc/queue"),
	    "refs/llmc/queue/mine\nrefs/llmc/queue/q77");
	floor_world_sh("test -z \"$(find .git -name '*.lock')\"");
	landing_world_main("by eve,by adam,first,");
}
