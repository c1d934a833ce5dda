/* SPDX-License-Identifier: ISC */

/* One operation at a time: a second command for a worker is refused, and the
 * first one is answered. What a worker leaves is removed. */
#include "fleet-world.h"

static const char *const first_methods[] = { "worker.reset", "worker.nuke" };
static const char *const second_methods[] = { "worker.reset", "worker.nuke",
	"worker.message", "worker.reject" };

static struct floor_call *
command(const char *method)
{
	bool text = strcmp(method, "worker.message") == 0 ||
	    strcmp(method, "worker.reject") == 0;

	return floor_world_call(
	    method, "adam", text ? ",\"text\":\"go on\"" : "");
}

TEST_ROWS(two_commands_for_one_worker, 8)
{
	const char *first = first_methods[_i / 4];
	const char *second = second_methods[_i % 4];
	struct floor_call *calls[2];

	fleet_world_begin_working(NULL);
	calls[0] = command(first);
	calls[1] = command(second);
	floor_world_refused(calls[1], API_BUSY, "");
	ck_assert_ptr_null(floor_world_answer(calls[0]));
}

/* The session of a worker that is parked ends; whoever asks for its end too is
 * answered, now or then. */
TEST_ROWS(a_command_during_parking, 4)
{
	const char *method = second_methods[_i % 2];
	struct floor_call *call;

	fleet_world_begin_working(NULL);
	agent_park(fleet_world.adam, "the test");
	floor_world_wait_step(fleet_world.adam, _i < 2 ? "screen" : "pause");
	call = command(method);
	floor_world_refused(call, API_BUSY, "");
	floor_world_settle();
	ck_assert_int_eq(fleet_world.adam->worker->status, WORKER_PAUSED);
	ck_assert_int_eq(fleet_world.told[EVENT_WORKER_PARKED], 1);
	call = command(method);
	ck_assert_ptr_null(floor_world_answer(call));
}

TEST(nuke_removes_what_the_sandbox_kept)
{
	fleet_world_begin_idle(NULL);
	floor_world_sh(
	    "mkdir -p .llmc/box/adam/claude .llmc/box/eve; "
	    "echo a >.llmc/box/adam/claude/b; echo c >.llmc/box/eve/d; "
	    "ln -s ../eve .llmc/box/adam/e");
	floor_world_done(command("worker.nuke"));
	ck_assert_str_eq(
	    floor_world_sh("cd .llmc/box; find . | sort | tr '\\n' ' '"),
	    ". ./eve ./eve/d ");
}

static const struct {
	const char *make; /* in the worktree */
	const char *words;
} helped[] = {
	{ "git init -q in; cd in; echo two >b.txt; git add b.txt; "
	  "git commit -qm inside",
	    "in" },
	/* Somebody is making another one. */
	{ "echo two >b.txt; d=$(git rev-parse --git-common-dir)/worktrees/new; "
	  "mkdir \"$d\"; >\"$d/commondir\"; echo x >\"$d/gitdir\"; "
	  "echo 'ref: refs/heads/x' >\"$d/HEAD\"",
	    "commondir" },
};

/* Where a person can help, a worktree is not put aside. */
TEST_ROWS(nuke_leaves_a_worktree_that_a_person_can_help, nitems(helped))
{
	fleet_world_begin_idle(NULL);
	floor_world_wt("adam", helped[_i].make);
	floor_world_refused(
	    command("worker.nuke"), API_FAILED, helped[_i].words);
	ck_assert_int_eq(fleet_world.adam->worker->status, WORKER_ERROR);
	ck_assert_int_eq(fleet_world.told[EVENT_WORKTREE_BROKEN], 0);
	ck_assert_str_eq(
	    floor_world_wt("adam", "cat b.txt in/b.txt 2>/dev/null || :"),
	    "two");
}
