/* SPDX-License-Identifier: ISC */

/* Finished work is reviewed by another agent, with the daemon killed at each
 * step, and with a person who does not wait for it. */

#include "auto-world.h"
#include "fleet.h"
#include "review.h"
#include "state.h"

#define APPROVES "It is right.\n\nverdict: approve\n"
#define FINDS    "verdict: findings\nfindings:\n- b.txt:1: wrong\n"

static const struct task *
task(const char *id)
{
	return state_task(&auto_world.core->state, id);
}

/* The author has finished, and the reviewer is in its turn. */
static struct agent *
begin_review(void)
{
	auto_world_begin("review = \"codex\"\n");
	auto_world_task("a.md", "Do it\n");
	auto_world_live();
	auto_world_turn(1);
	auto_world_work("b.txt");
	fake_session_turn_ends(auto_world_agent()->session, "Done.");
	return auto_world_turn_on("t2");
}

static void
amend(void)
{
	floor_world_wt("auto-1",
	    "echo more >>b.txt; git commit -qa --amend -m 'add b.txt again'");
}

static void
says(struct agent *reviewer, const char *words)
{
	fake_session_turn_ends(reviewer->session, words);
}

static void
lands(const char *subject)
{
	auto_world_wait_done();
	auto_world_filed("t1 landed; ");
	ck_assert_str_eq(
	    floor_world_sh("git log -1 --format=%s main"), subject);
}

static bool
is_for_person(void *arg)
{
	(void)arg;
	return auto_world_agent()->worker->for_person;
}

TEST(what_is_approved_lands)
{
	struct agent *reviewer = begin_review();
	const char *head = floor_world_wt("auto-1", "git rev-parse HEAD");

	ck_assert_str_eq(reviewer->worker->name, "team-1");
	ck_assert_str_eq(floor_world_wt("team-1", "git rev-parse HEAD"), head);
	ck_assert_str_eq(task("t1")->attempt.review_of, head);
	ck_assert_int_eq(task("t1")->attempt.review, REVIEW_OPEN);
	says(reviewer, APPROVES);
	lands("add b.txt");
	ck_assert_ptr_nonnull(
	    strstr(auto_world_record("t1"), "\"review\":\"approved\""));
}

/* What a reviewer uses is paid for by the task that it reviews. */
TEST(a_review_is_paid_for_by_its_task)
{
	struct agent *reviewer = begin_review();

	fake_session_uses(reviewer->session, 1000);
	floor_world_settle();
	ck_assert_int_ge(task("t1")->tokens, 1000);
	ck_assert_int_eq(task("t2")->tokens, 0);
	says(reviewer, APPROVES);
	lands("add b.txt");
}

TEST(findings_are_a_turn_of_the_author)
{
	struct agent *reviewer = begin_review();

	says(reviewer, FINDS);
	auto_world_turn(2);
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(auto_world_agent()->session),
		"- b.txt:1: wrong"));
	amend();
	says(auto_world_agent(), "Done.");
	says(auto_world_turn_on("t3"), FINDS);
	auto_world_turn(3);
	/* It insists: the same commit is not reviewed again. */
	says(auto_world_agent(), "It is right as it is.");
	floor_world_wait(is_for_person, NULL);
	ck_assert_int_eq(task("t1")->attempt.review_rounds, REVIEW_ROUNDS);
	ck_assert_ptr_nonnull(
	    strstr(auto_world_agent()->worker->reason, "b.txt:1: wrong"));
	ck_assert_ptr_nonnull(strstr(
	    auto_world_agent()->worker->reason, "It is right as it is."));
	ck_assert_ptr_null(task("t4"));
}

/* What was approved is not what is there. */
TEST(another_commit_is_reviewed_again)
{
	struct agent *reviewer = begin_review();

	amend();
	says(reviewer, APPROVES);
	says(auto_world_turn_on("t3"), APPROVES);
	lands("add b.txt again");
}

static bool
is_saved(void *arg)
{
	(void)arg;
	return strstr(floor_world_saved(), "\"approved\"") != NULL;
}

TEST_ROWS(a_review_goes_on_in_the_next_daemon, 3)
{
	struct agent *reviewer = begin_review();

	if (_i == 2) {
		/* The verdict is saved, and nothing else is. */
		says(reviewer, APPROVES);
		floor_world_wait_closely(is_saved, NULL);
	}
	if (_i > 0)
		auto_world_reopen();
	else
		auto_world_restart();
	auto_world_live();
	if (_i < 2)
		says(auto_world_turn_on("t2"), APPROVES);
	lands("add b.txt");
}

/* A person need not wait for it. */
TEST(a_person_accepts_it_without_the_review)
{
	cleanup_free char *seen = NULL;
	struct floor_call *call;

	begin_review();
	seen = xasprintf(",\"commit\":\"%s\"", task("t1")->attempt.review_of);
	call = floor_world_call("worker.accept", "auto-1", seen);
	floor_world_answer(call);
	ck_assert_int_eq(floor_call_code(call), 0);
	lands("add b.txt");
}

TEST(a_review_that_nobody_waits_for_is_dropped)
{
	cleanup_free char *seen = NULL;
	struct floor_call *call;

	begin_review();
	seen = xasprintf(",\"text\":\"no\",\"commit\":\"%s\"",
	    task("t1")->attempt.review_of);
	call = floor_world_call("worker.reject", "auto-1", seen);
	floor_world_answer(call);
	ck_assert_int_eq(floor_call_code(call), 0);
	auto_world_turn(2);
	auto_world_patrol();
	floor_world_settle();
	ck_assert_ptr_null(task("t2"));
	amend();
	says(auto_world_agent(), "Done.");
	says(auto_world_turn_on("t3"), APPROVES);
	lands("add b.txt again");
}

/* No other task ends by that, and none is counted. */
TEST(a_reviewer_that_fails_is_replaced)
{
	struct agent *reviewer = begin_review();

	says(reviewer, "Looks good to me.");
	reviewer = auto_world_turn_on("t3");
	ck_assert_int_eq(task("t1")->attempt.review_tries, 1);
	says(reviewer, NULL);
	floor_world_wait(is_for_person, NULL);
	floor_world_settle();
	ck_assert_uint_eq(auto_world.core->state.task_count, 1);
	ck_assert_uint_eq(auto_world.mode->failed, 0);
	auto_world_filed("");
}
