/* SPDX-License-Identifier: ISC */

/* Finished work is reviewed by another agent, with the daemon killed at each
 * step, and with a person who does not wait for it. */

#include "auto-world.h"
#include "fleet.h"
#include "review.h"
#include "state.h"

#define APPROVES "It is right.\n\nverdict: approve\n"
#define FINDS    "verdict: findings\nfindings:\n- b.txt:1: wrong\n"

/* The author is in its turn. */
static void
begin_work(const char *more)
{
	cleanup_free char *settings = xasprintf("review = \"codex\"\n%s", more);

	auto_world_begin_turn(settings, "Do it\n");
}

/* It has finished, and the reviewer is in its turn. */
static struct agent *
begin_review(void)
{
	begin_work("");
	auto_world_work("b.txt");
	fake_session_turn_ends(auto_world_agent()->session, "Done.");
	return auto_world_turn_on("t2");
}

/* A person resets or removes a worker. */
static void
person(const char *method, const char *worker)
{
	floor_world_done(floor_world_call(method, worker, ""));
	floor_world_settle();
}

static void
assert_has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "%s: not in %s", part, text);
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
	auto_world_all_filed("t1 landed; ");
	ck_assert_str_eq(
	    floor_world_sh("git log -1 --format=%s main"), subject);
}

TEST(what_is_approved_lands)
{
	struct agent *reviewer = begin_review();
	const char *head = floor_world_wt("auto-1", "git rev-parse HEAD");

	ck_assert_str_eq(reviewer->worker->name, "team-1");
	ck_assert_str_eq(floor_world_wt("team-1", "git rev-parse HEAD"), head);
	ck_assert_str_eq(auto_world_of("t1")->attempt.review_of, head);
	ck_assert_int_eq(auto_world_of("t1")->attempt.review, REVIEW_OPEN);
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
	ck_assert_int_ge(auto_world_of("t1")->tokens, 1000);
	ck_assert_int_eq(auto_world_of("t2")->tokens, 0);
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
	floor_world_until(auto_world_agent()->worker->for_person);
	ck_assert_int_eq(
	    auto_world_of("t1")->attempt.review_rounds, REVIEW_ROUNDS);
	ck_assert_ptr_nonnull(
	    strstr(auto_world_agent()->worker->reason, "b.txt:1: wrong"));
	ck_assert_ptr_nonnull(strstr(
	    auto_world_agent()->worker->reason, "It is right as it is."));
	ck_assert_ptr_null(auto_world_of("t4"));
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

/* What appears beside it afterwards is neither sent back nor lands. */
TEST(leftovers_after_an_approval_do_not_matter)
{
	struct agent *reviewer = begin_review();

	floor_world_wt("auto-1", "echo later >later.txt");
	auto_world_agent()->seen_ms = 0; /* its turn is long over */
	says(reviewer, APPROVES);
	lands("add b.txt");
	ck_assert_int_eq(fake_session_prompts(auto_world_agent()->session), 1);
	ck_assert_str_eq(
	    floor_world_sh("git ls-tree --name-only main later.txt"), "");
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
	seen = xasprintf(
	    ",\"commit\":\"%s\"", auto_world_of("t1")->attempt.review_of);
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
	    auto_world_of("t1")->attempt.review_of);
	call = floor_world_call("worker.reject", "auto-1", seen);
	floor_world_answer(call);
	ck_assert_int_eq(floor_call_code(call), 0);
	auto_world_turn(2);
	auto_world_patrol();
	floor_world_settle();
	ck_assert_ptr_null(auto_world_of("t2"));
	/* The reviewer has not failed. */
	ck_assert_int_eq(auto_world_of("t1")->attempt.review_tries, 0);
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
	ck_assert_int_eq(auto_world_of("t1")->attempt.review_tries, 1);
	says(reviewer, NULL);
	floor_world_until(auto_world_agent()->worker->for_person);
	floor_world_settle();
	ck_assert_uint_eq(auto_world.core->state.task_count, 1);
	ck_assert_uint_eq(auto_world.mode->failed, 0);
	auto_world_filed("");
}

/* The commit is the author's: nothing is saved with the worker that read it,
 * however that ends, but what it has changed. */
static const struct {
	const char *words, *does, *method, *refs;
} left[] = {
	{ APPROVES, NULL, "worker.reset", "0" },
	{ APPROVES, NULL, "worker.nuke", "0" },
	{ NULL, NULL, "worker.reset", "0" }, /* in its turn */
	{ APPROVES, "echo x >mine.txt", NULL, "1" },
	{ APPROVES, "git commit -q --allow-empty -m mine", NULL, "1" },
};

TEST_ROWS(a_review_leaves_no_ref_behind, nitems(left))
{
	struct agent *reviewer = begin_review();

	if (left[_i].does != NULL)
		floor_world_wt("team-1", left[_i].does);
	if (left[_i].words != NULL) {
		says(reviewer, left[_i].words);
		lands("add b.txt");
		ck_assert_uint_eq(auto_world.core->state.task_count, 0);
	}
	floor_world_settle();
	if (left[_i].method != NULL)
		person(left[_i].method, "team-1");
	ck_assert_str_eq(
	    floor_world_sh("git for-each-ref refs/llmc/salvage | wc -l"),
	    left[_i].refs);
}

/* What the first one has said does not count for the next one. */
TEST(a_reviewer_that_a_person_resets_is_replaced)
{
	static const char approves[] =
	    "{\"summary\":\"good\",\"verdict\":\"approve\"}";
	struct task *review;

	begin_review();
	review = auto_world_of("t2");
	ck_assert_int_eq(json_parse(approves, strlen(approves), 4096,
			     &review->attempt.report, NULL),
	    0);
	review->attempt.report_by_tool = true;
	review->nudges = 9;
	person("worker.reset", "team-1");
	says(auto_world_turn_on("t2"), FINDS);
	auto_world_turn(2);
	ck_assert_int_eq(auto_world_of("t1")->attempt.review, REVIEW_FINDINGS);
	ck_assert_int_eq(auto_world_of("t1")->attempt.review_tries, 0);
}

/* Killed again and again, like its successor: then a person decides. */
static bool
dies_on(void *arg)
{
	struct agent *reviewer = fleet_find(floor_world.fleet, "team-1");

	(void)arg;
	/* One without a task that dies is a failure of the daemon. */
	if (reviewer != NULL && reviewer->op == NULL &&
	    auto_task(reviewer) != NULL) {
		reviewer->retry_ms = 0;
		fake_session_exits(reviewer->session);
	}
	return auto_world_agent()->worker->for_person;
}

TEST(reviewers_that_die_on_and_on_are_asked_about)
{
	begin_review();
	floor_world_wait(dies_on, NULL);
	ck_assert_int_eq(
	    auto_world_of("t1")->attempt.review_tries, REVIEW_TRIES);
	assert_has(auto_world_agent()->worker->reason, "llmc accept t1");
}

/* Before it begins, and when the sandbox was turned off meanwhile. */
static bool
has_review(void *arg)
{
	struct task *review = auto_world_of("t2");

	(void)arg;
	if (review != NULL)
		xstrset(&review->sandbox, "strict");
	return review != NULL;
}

TEST_ROWS(a_review_that_no_sandbox_fits_is_asked_about, 2)
{
	begin_work("");
	auto_world_work("b.txt");
	if (_i == 0)
		xstrset(&auto_world_of("t1")->sandbox, "strict");
	fake_session_turn_ends(auto_world_agent()->session, "Done.");
	if (_i == 1) {
		floor_world_wait_closely(has_review, NULL);
		xstrset(&auto_world_of("t1")->sandbox, "strict");
	}
	floor_world_until(auto_world_agent()->worker->for_person);
	assert_has(auto_world_agent()->worker->reason,
	    "llmc config set defaults.sandbox strict");
}

/* Nobody reads nothing, and nobody says that it was read. */
TEST(an_empty_change_is_not_reviewed)
{
	begin_work("");
	floor_world_wt("auto-1", "git commit -q --allow-empty -m nothing");
	fake_session_turn_ends(auto_world_agent()->session,
	    "status: complete\nsummary: nothing was needed\n");
	auto_world_wait_done();
	assert_has(auto_world_record("t1"), "its change is empty");
	ck_assert_ptr_null(strstr(auto_world.told.data, "t2"));
}

/* A review that has used up the budget of the task: its author gets no other
 * turn for the findings. */
TEST(findings_wait_for_the_budget)
{
	struct agent *reviewer;

	begin_work("[budget]\ntask_tokens = 1000\n");
	auto_world_work("b.txt");
	fake_session_turn_ends(auto_world_agent()->session, "Done.");
	reviewer = auto_world_turn_on("t2");
	fake_session_uses(reviewer->session, 2000);
	floor_world_settle();
	says(reviewer, FINDS);
	while (auto_world_of("t1")->step != TASK_PARKED)
		floor_world_settle();
	ck_assert_int_eq(auto_world_of("t1")->ask, ASK_BUDGET);
	ck_assert_int_eq(fake_session_prompts(auto_world_agent()->session), 1);
}

/* There is no turn to send them back with. */
TEST(findings_without_a_turn_left_are_for_a_person)
{
	begin_work("max_turns = 1\n");
	auto_world_work("b.txt");
	fake_session_turn_ends(auto_world_agent()->session, "Done.");
	says(auto_world_turn_on("t2"), FINDS);
	floor_world_until(auto_world_agent()->worker->for_person);
	ck_assert_int_eq(auto_world_of("t1")->attempt.review_rounds, 0);
}

TEST(a_reviewer_whose_worker_fails_is_replaced)
{
	agent_move(begin_review(), WORKER_ERROR, "it broke");
	auto_world_patrol();
	says(auto_world_turn_on("t3"), APPROVES);
	lands("add b.txt");
}
