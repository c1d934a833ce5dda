/* SPDX-License-Identifier: ISC */

#include "landing-world.h"
#include "landing-record.h"
#include "worker-op.h"

/* A worker in the middle of its work: a commit and a change. */
static struct agent *
make_worker(const char *name, const char *file)
{
	struct agent *agent = landing_world_work(name, file, "two");
	cleanup_free char *more = xasprintf("echo more >>%s", file);

	agent->worker->status = WORKER_PAUSED;
	floor_world_wt(name, more);
	return agent;
}

static struct floor_call *
pick(const char *worker)
{
	return floor_world_call("worker.pick", worker, "");
}

TEST(lands_what_is_there)
{
	struct floor_call *call;
	struct agent *adam;

	landing_world_begin(NULL);
	adam = make_worker("adam", "b.txt");
	landing_world_meanwhile("c.txt", "three");
	call = pick("adam");
	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "commit_sha", ""),
	    floor_world_sh("git rev-parse main"));
	landing_world_main("Work of adam, picked,meanwhile,first,");
	ck_assert_str_eq(floor_world_sh("cat b.txt"), "two\nmore");
	/* The worker and its worktree are unchanged. */
	ck_assert_int_eq(adam->worker->status, WORKER_PAUSED);
	ck_assert_ptr_null(adam->op);
	ck_assert_str_eq(floor_world_wt("adam",
			     "git log -1 --format=%s; git status --porcelain"),
	    "by adam\n M b.txt");
	landing_world_told("landed adam; ");
}

TEST(what_cannot_be_picked)
{
	landing_world_begin(NULL);
	floor_world_add("eve", WORKER_OFFLINE);
	ck_assert_ptr_nonnull(
	    strstr(floor_world_answer(pick("eve")), "nothing to pick"));
	make_worker("adam", "a.txt");
	landing_world_meanwhile("a.txt", "theirs");
	ck_assert_ptr_nonnull(strstr(floor_world_answer(pick("adam")),
	    "it conflicts with main; its work is in refs/llmc/salvage/"));
	landing_world_main("meanwhile,first,");
}

/* What never lands is not picked either, committed or not. */
static const char *const forbidden_rows[] = {
	"mkdir .llmc; echo x >.llmc/t; git add -f .llmc; git commit -qm x",
	"mkdir .llmc; echo x >.llmc/t; git add -f .llmc",
	"mkdir -p .worktrees; echo x >.worktrees/t; git add -f .worktrees",
};

TEST_ROWS(what_never_lands, nitems(forbidden_rows))
{
	landing_world_begin(NULL);
	make_worker("adam", "b.txt");
	floor_world_wt("adam", forbidden_rows[_i]);
	ck_assert_ptr_nonnull(strstr(
	    floor_world_answer(pick("adam")), "adam must not land on main: ."));
	landing_world_main("first,");
}

/* A change of the judge, committed or not, is judged by the one on main. */
static const char *const judge_rows[] = {
	"echo true >judge; git add judge; git commit -qm judge",
	"echo true >judge",
};

TEST_ROWS(does_not_weaken_its_judge, nitems(judge_rows))
{
	const struct landing_record *record;
	struct floor_call *call;

	landing_world_begin("protected_paths = [\"judge\"]\n");
	make_worker("adam", "b.txt");
	floor_world_wt("adam", judge_rows[_i]);
	landing_world.may_not_begin = true;
	call = pick("adam");
	landing_world_wait(NULL, "queued");
	record = &floor_world.core->state.landings;
	ck_assert(record->items[0]->guarded);
	ck_assert(record->items[0]->approved);
	landing_world.may_not_begin = false;
	landings_kick(landing_world.landings);
	ck_assert_ptr_null(floor_world_answer(call));
}

/* A commit that comes after the person has looked. */
TEST(lands_what_was_shown)
{
	struct floor_call *call;
	struct agent *adam;
	cleanup_free char *seen = NULL;
	const char *error;

	landing_world_begin(NULL);
	adam = make_worker("adam", "b.txt");
	seen = xasprintf(
	    ",\"commit\":\"%s\"", floor_world_wt("adam", "git rev-parse HEAD"));
	call = floor_world_call("worker.pick", "adam", seen);
	floor_world_wait_step(adam, "look");
	floor_world_wt("adam", "git commit -qam later");
	error = floor_world_answer(call);
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(
	    strstr(error, "is not what you were shown") != NULL, "%s", error);
	landing_world_main("first,");
}

/* Both start from the same commit; the queue puts one on top of the other. */
TEST(two_at_once)
{
	struct floor_call *calls[2];

	landing_world_begin(NULL);
	make_worker("adam", "b.txt");
	make_worker("eve", "c.txt");
	calls[0] = pick("adam");
	calls[1] = pick("eve");
	for (size_t i = 0; i < 2; i++)
		ck_assert_ptr_null(floor_world_answer(calls[i]));
	ck_assert_str_eq(floor_world_sh("git rev-list --count main"), "3");
}

TEST(two_of_one_worker)
{
	struct floor_call *first, *second;

	landing_world_begin(NULL);
	make_worker("adam", "b.txt");
	first = pick("adam");
	second = pick("adam");
	floor_world_refused(second, API_BUSY, "");
	ck_assert_ptr_null(floor_world_answer(first));
}

/* A landing waits while its worker is being picked. */
TEST(a_landing_waits_for_it)
{
	struct floor_call *accept, *picked;
	struct agent *adam = landing_world_begin_work(NULL);

	landing_world.may_not_begin = true;
	accept = floor_world_call("worker.accept", "adam", "");
	floor_world_wait_status(adam, WORKER_ACCEPTING);
	floor_world_settle();
	picked = pick("adam");
	floor_world_wait_step(adam, "look");
	landing_world.may_not_begin = false;
	landings_kick(landing_world.landings);
	ck_assert_ptr_null(floor_world_answer(picked));
	ck_assert_ptr_null(floor_world_answer(accept));
}

static const char *const steps[] = { "look", "salvage", "look-again" };

TEST_ROWS(cancelled_at_each_step, nitems(steps))
{
	struct floor_call *call;
	struct agent *adam;

	landing_world_begin(NULL);
	adam = make_worker("adam", "b.txt");
	call = pick("adam");
	floor_world_wait_step(adam, steps[_i]);
	operation_cancel(&adam->op->op, "enough");
	ck_assert_str_eq(floor_world_answer(call), "enough");
	ck_assert_str_eq(floor_world_sh("git rev-list --count main"), "1");
	ck_assert_ptr_null(adam->op);
}

TEST(a_daemon_that_stops)
{
	struct floor_call *call;
	struct agent *adam;

	landing_world_begin(NULL);
	adam = make_worker("adam", "b.txt");
	call = pick("adam");
	floor_world_wait_step(adam, "salvage");
	life_stop(floor_world.core, "the test", false);
	floor_world_wait_stopped();
	ck_assert_str_eq(floor_world_answer(call), "the daemon is stopping");
	ck_assert_ptr_null(adam->op);
}

/* A daemon that dies drops everything. */
TEST(a_daemon_that_dies)
{
	struct agent *adam;

	landing_world_begin(NULL);
	adam = make_worker("adam", "b.txt");
	pick("adam");
	floor_world_wait_step(adam, "salvage");
}
