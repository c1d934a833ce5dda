/* SPDX-License-Identifier: ISC */

/* Work that becomes pull requests instead of landing: what the floor above gets
 * of it, and what it does with its task. */
#include "auto-world.h"
#include "landing-record.h"
#include "landing.h"
#include "outcome.h"

/* The floor above. */
static struct {
	const char *wait;
	int proposed;
	char commit[64]; /* the last one */
} above;

static bool
proposes(void *arg, const struct task *task, const char **ret_wait)
{
	(void)arg;
	(void)task;
	*ret_wait = above.wait;
	return true;
}

static void
propose(void *arg, struct task *task, const struct landing_item *item)
{
	(void)arg;
	ck_assert_int_eq(task->step, TASK_QUEUED);
	ck_assert_str_eq(task->from, item->commit);
	above.proposed++;
	strlcpy(above.commit, item->commit, sizeof above.commit);
	xstrset(&task->pull, "it is open");
}

static const struct auto_pulls pulls = { proposes, propose };

/* auto-1 has finished its n-th turn, and its work is handed over. */
static void
work(int n, const char *file)
{
	struct agent *agent = auto_world_turn(n);

	auto_world_work(file);
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_until(
	    above.proposed == n && auto_world.core->state.landings.count == 0);
	floor_world_settle();
}

static void
begin_with(const char *more)
{
	cleanup_free char *settings = xasprintf(
	    "check_command = \"test ! -e bad\"\nmax_attempts = 1\n%s", more);

	memset(&above, 0, sizeof above);
	auto_world_begin(settings);
	auto_world_task("a.md", "First\n");
	auto_set_pulls(auto_world.mode, &pulls, NULL);
	auto_world_live();
}

static void
begin(void)
{
	begin_with("");
}

/* Its files, and its number of commits, on top of main. */
static void
assert_proposed(const char *want)
{
	cleanup_free char *ask = xasprintf(
	    "git diff --name-only main %s | tr '\\n' ' '; git rev-list --count "
	    "main..%s",
	    above.commit, above.commit);

	ck_assert_str_eq(floor_world_sh(ask), want);
}

TEST(work_is_handed_over_and_its_worker_is_free)
{
	begin();
	work(1, "one.txt");
	assert_proposed("one.txt 1");
	ck_assert_str_eq(
	    floor_world_sh("git log -1 --format=%s main"), "first");
	ck_assert_ptr_null(auto_world_agent()->worker->task);
	ck_assert_int_eq(auto_world_agent()->worker->status, WORKER_IDLE);
	/* The next daemon leaves it where it is. */
	auto_world_restart();
	auto_set_pulls(auto_world.mode, &pulls, NULL);
	auto_world_live();
	floor_world_settle();
	ck_assert_int_eq(auto_world_of("t1")->step, TASK_QUEUED);
	ck_assert_str_eq(auto_world_of("t1")->from, above.commit);
	ck_assert_int_eq(auto_pull_merged(auto_world.mode, auto_world_of("t1"),
			     above.commit, true),
	    0);
	auto_world_all_filed("t1 landed; ");
}

/* With auto.review, only what was approved; and again what a person on the
 * forge has asked for. */
TEST(work_is_reviewed_before_it_is_handed_over)
{
	static const char approves[] = "verdict: approve\n";
	struct agent *reviewer;
	int n = 1;

	begin_with("review = \"codex\"\n");
	auto_world_turn(1);
	auto_world_work("one.txt");
	fake_session_turn_ends(auto_world_agent()->session, "Done.");
	reviewer = auto_world_turn_on("t2");
	ck_assert_int_eq(above.proposed, 0);
	fake_session_turn_ends(reviewer->session, approves);
	floor_world_until(
	    above.proposed == n && auto_world.core->state.landings.count == 0);
	assert_proposed("one.txt 1");
	outcome_pull_back(
	    auto_world.mode, auto_world_of("t1"), "Please add a test.", NULL);
	auto_world_turn(2);
	auto_world_work("two.txt");
	fake_session_turn_ends(auto_world_agent()->session, "Done.");
	reviewer = auto_world_turn_on("t3");
	ck_assert_int_eq(above.proposed, n++);
	fake_session_turn_ends(reviewer->session, approves);
	floor_world_until(
	    above.proposed == n && auto_world.core->state.landings.count == 0);
	assert_proposed("one.txt two.txt 1");
}

TEST(one_that_is_too_many_waits_without_its_worker)
{
	begin();
	above.wait = "too many";
	auto_world_turn(1);
	auto_world_work("one.txt");
	fake_session_turn_ends(auto_world_agent()->session, "Done.");
	floor_world_wait_status(auto_world_agent(), WORKER_ACCEPTING);
	floor_world_settle();
	ck_assert_int_eq(above.proposed, 0);
	auto_world_task("b.md", "Second\n");
	auto_world_patrol();
	auto_world_turn_on("t2");
	ck_assert_int_eq(auto_world_of("t1")->step, TASK_QUEUED);
	above.wait = NULL;
	landings_kick(auto_world.landings);
	floor_world_until(above.proposed == (int){ 1 } &&
	    auto_world.core->state.landings.count == 0);
	assert_proposed("one.txt 1");
}

TEST(what_comes_back_goes_on_from_there)
{
	const char *prompt;

	begin();
	work(1, "one.txt");
	floor_world_sh("echo m >m.txt; git add m.txt; git commit -qm theirs");
	outcome_pull_back(
	    auto_world.mode, auto_world_of("t1"), "The job unit is red.", NULL);
	work(2, "two.txt");
	prompt = fake_session_prompt(auto_world_agent()->session);
	ck_assert_ptr_nonnull(strstr(prompt, "The job unit is red."));
	assert_proposed("one.txt two.txt 1"); /* on top of theirs */
	/* Enough: a person is asked, and says no. */
	outcome_pull_back(
	    auto_world.mode, auto_world_of("t1"), "Red.", "Again?");
	ck_assert_int_eq(auto_world_of("t1")->step, TASK_PARKED);
	ck_assert_int_eq(
	    outcome_drop(auto_world.mode, auto_world_of("t1"), "closed", NULL),
	    0);
	auto_world_all_filed("t1 aborted; ");
	ck_assert_str_eq(floor_world_sh("git for-each-ref "
					"--format='%(objectname)' "
					"refs/llmc/salvage | tail -1"),
	    above.commit);
}

/* Its branch at origin goes with the task. */
TEST_ROWS(what_was_not_merged_is_salvaged, 2)
{
	begin();
	work(1, "one.txt");
	outcome_pull_back(
	    auto_world.mode, auto_world_of("t1"), "The job unit is red.", NULL);
	if (_i == 0) {
		outcome_attempt_failed(
		    auto_world.mode, auto_world_turn(2), "no idea");
	} else { /* merged as it was before */
		work(2, "two.txt");
		ck_assert_int_eq(auto_pull_merged(auto_world.mode,
				     auto_world_of("t1"), "main", false),
		    0);
	}
	auto_world_all_filed(_i == 0 ? "t1 failed; " : "t1 landed; ");
	ck_assert_str_eq(floor_world_sh("git for-each-ref "
					"--format='%(objectname)' "
					"refs/llmc/salvage | tail -1"),
	    above.commit);
}

/* A pull request would show them. */
TEST(what_somebody_has_not_pushed_holds_it_back)
{
	const struct state *state;
	struct push_record *push;

	memset(&above, 0, sizeof above);
	auto_world_begin("land = \"pull-request\"\n");
	state = &auto_world.core->state;
	push = &auto_world.core->state.landings.push;
	floor_world_sh("git init -q --bare -b main \"$B/origin\" && git remote "
		       "add origin \"$B/origin\" && git push -q origin main; "
		       "echo m >m.txt; git add m.txt; git commit -qm mine");
	auto_world_task("a.md", "First\n");
	auto_set_pulls(auto_world.mode, &pulls, NULL);
	auto_world_live();
	auto_world_turn(1);
	auto_world_work("one.txt");
	fake_session_turn_ends(auto_world_agent()->session, "Done.");
	floor_world_wait_status(auto_world_agent(), WORKER_ACCEPTING);
	floor_world_settle();
	ck_assert_int_eq(above.proposed, 0);
	/* After a while it is asked about, until it is pushed. */
	floor_world_until(push->blocked != NULL);
	push->blocked_ms -= FOLLOW_PATIENCE_MS;
	persist_changed(auto_world.core);
	floor_world_settle();
	ck_assert_ptr_nonnull(state_ask(state, "follow"));
	floor_world_sh("git push -q origin main");
	ck_assert(landings_retry(auto_world.landings));
	floor_world_until(above.proposed == (int){ 1 } &&
	    auto_world.core->state.landings.count == 0);
	assert_proposed("one.txt 1");
	ck_assert_ptr_null(push->blocked);
	ck_assert_ptr_null(state_ask(state, "follow"));
}
