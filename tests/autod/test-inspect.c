/* SPDX-License-Identifier: ISC */

/* Review, accept, reject and pick act on a commit id. */
#include "landing-world.h"
#include "api-work.h"
#include "rpc.h"
#include "schema.h"
#include "worker-op.h"

static const char *
head(void)
{
	return floor_world_wt("adam", "git rev-parse HEAD");
}

static struct floor_call *
call_seen(const char *method, const char *more, const char *seen)
{
	cleanup_free char *params =
	    xasprintf("%s,\"commit\":\"%s\"", more, seen);

	return floor_world_call(method, "adam", params);
}

static struct floor_call *
accept_seen(const char *seen)
{
	return call_seen("worker.accept", "", seen);
}

static void
assert_lands(struct floor_call *call)
{
	const char *error = floor_world_answer(call);

	ck_assert_msg(error == NULL, "%s", error);
}

static void
assert_changed(struct floor_call *call, const char *words)
{
	const char *error = floor_world_answer(call);

	ck_assert_ptr_nonnull(error);
	ck_assert_msg(strstr(error, words) != NULL, "%s", error);
	ck_assert_int_eq(floor_call_code(call), API_CHANGED);
}

/* Nothing has landed, and the worker waits as before. */
static void
assert_waits(const struct agent *adam)
{
	ck_assert_str_eq(worker_status_name(adam->worker->status),
	    worker_status_name(WORKER_NEEDS_REVIEW));
	ck_assert(!adam->worker->accepted);
	ck_assert_ptr_null(adam->op);
	ck_assert_int_eq(adam->worker->session.step, PROMPT_NONE);
	landing_world_main("first,");
	landing_world_told("");
}

static const char *
review(void)
{
	struct floor_call *call = floor_world_call("worker.review", "adam", "");

	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "landing_branch", ""),
	    "main");
	return json_string_or(floor_call_result(call), "commit_sha", "");
}

/* --- review ----------------------------------------------------------- */

/* "STATUS PATH +1 -0 too long" for each file, and the commit. */
static const char *
changes(const char *params, const char **ret_commit)
{
	static char words[1024];
	struct floor_call *call = floor_world_ask("review.get", params);
	const char *error = floor_world_answer(call);
	struct json_object *result = floor_call_result(call), *list;
	struct err err = { 0 };
	size_t len = 0;

	if (error != NULL) {
		snprintf(words, sizeof words, "%s", error);
		return words;
	}
	ck_assert_msg(
	    schema_check(&api_review_get_result, result, "", &err) == 0, "%s",
	    err.msg);
	words[0] = '\0';
	ck_assert_int_eq(json_get_array(result, "", "files", &list, NULL), 0);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *f = json_object_array_get_idx(list, i);

		len += (size_t)snprintf(words + len, sizeof words - len,
		    "%s%s %s +%d -%d%s", i > 0 ? ", " : "",
		    json_string_or(f, "status", ""),
		    json_string_or(f, "path", ""),
		    (int)json_int_or(f, "lines_added", -1),
		    (int)json_int_or(f, "lines_deleted", -1),
		    json_bool_or(f, "too_long", false) ? " too long" : "");
	}
	ck_assert_int_eq(
	    json_get_array(result, "", "conflicts", &list, NULL), 0);
	if (json_object_array_length(list) > 0)
		len += (size_t)snprintf(
		    words + len, sizeof words - len, ", conflict");
	if (!json_bool_or(result, "finished", false))
		snprintf(words + len, sizeof words - len, ", not finished");
	if (ret_commit != NULL)
		*ret_commit = json_string_or(result, "commit", "");
	return words;
}

#define ADAM "{\"worker\":\"adam\"}"

/* What is shown is what lands, without the branch's own news, and nothing is
 * changed by looking. */
TEST(a_change_is_shown_as_it_would_land)
{
	const struct agent *adam;
	const char *seen = "", *before;

	adam = landing_world_begin_work(NULL);
	before = head();
	landing_world_meanwhile("c.txt", "three");
	ck_assert_str_eq(changes(ADAM, &seen), "added b.txt +1 -0");
	ck_assert_str_eq(seen, before);
	ck_assert_str_eq(head(), before);
	ck_assert_ptr_null(adam->worker->reviewed);
	/* What is not committed does not land. */
	floor_world_wt("adam", "seq 1001 >long");
	ck_assert_str_eq(changes(ADAM, NULL), "added b.txt +1 -0");
	floor_world_wt("adam", "git add -A; git commit -qm more");
	ck_assert_str_eq(changes(ADAM, NULL),
	    "added b.txt +1 -0, added long +1001 -0 too long");
	ck_assert_str_eq(
	    changes("{\"worker\":\"adam\",\"file\":\"long\"}", NULL),
	    "added long +1001 -0");
	/* Nobody can hide lines from a person. */
	floor_world_wt("adam",
	    "echo '* -diff' >.gitattributes; git add -A; git commit -qm more");
	ck_assert_str_eq(changes(ADAM, NULL),
	    "added .gitattributes +1 -0, added b.txt +1 -0, added long +1001 "
	    "-0 too long");
	floor_world_wt("adam", "git reset -q --hard HEAD^");
	/* Another one by now. */
	assert_changed(accept_seen(seen), "not exactly commit");
	landing_world_meanwhile("b.txt", "theirs");
	ck_assert_str_eq(changes(ADAM, NULL),
	    "added b.txt +1 -0, added long +1001 -0 too long, conflict");
}

TEST(a_change_that_is_not_finished_is_shown_as_it_is_now)
{
	struct agent *adam = landing_world_begin_work(NULL);

	adam->worker->status = WORKER_WORKING;
	landing_world_meanwhile("c.txt", "three");
	floor_world_wt("adam", "echo more >>b.txt; >new");
	ck_assert_str_eq(changes(ADAM, NULL),
	    "added b.txt +2 -0, added new +0 -0, not finished");
	ck_assert_str_eq(changes("{}", NULL), "name a worker or a task");
	ck_assert_str_eq(changes("{\"task\":\"t1\"}", NULL),
	    "there is no task t1; see: llmc task list");
}

TEST(a_review_tells_the_commit_and_remembers_it)
{
	const struct agent *adam;
	const char *before, *seen;

	adam = landing_world_begin_work(NULL);
	ck_assert_ptr_null(adam->worker->reviewed);
	before = head();
	ck_assert_str_eq(review(), before);
	ck_assert_str_eq(adam->worker->reviewed, before);
	/* After the rebase, not before it. */
	landing_world_meanwhile("c.txt", "three");
	seen = review();
	ck_assert_str_eq(seen, head());
	ck_assert_str_ne(head(), before);
	ck_assert_str_eq(adam->worker->reviewed, head());
}

TEST(a_conflict_is_not_reviewed)
{
	const char *seen;
	struct agent *adam;

	landing_world_begin(NULL);
	adam = landing_world_work("adam", "a.txt", "mine");
	seen = review();
	ck_assert_str_eq(seen, head());
	landing_world_meanwhile("a.txt", "theirs");
	ck_assert_str_eq(review(), "");
	ck_assert_ptr_null(adam->worker->reviewed);
	ck_assert_str_eq(floor_world.core->state.last_reviewed, "adam");
}

TEST(a_forced_review_tells_what_is_not_committed)
{
	struct floor_call *call;
	struct agent *adam = landing_world_begin_work(NULL);

	adam->worker->status = WORKER_PAUSED;
	floor_world_wt("adam", "echo more >>b.txt; >new");
	call = floor_world_done(
	    floor_world_call("worker.review", "adam", ",\"force\":true"));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "commit_sha", ""), head());
	ck_assert_int_eq(
	    json_int_or(floor_call_result(call), "uncommitted_files", 0), 2);
	ck_assert_str_eq(adam->worker->reviewed, head());
}

/* A daemon that dies between the review and the decision. */
TEST(the_next_daemon_knows_what_was_reviewed)
{
	const struct agent *adam;
	const char *seen;

	landing_world_begin_work(NULL);
	seen = review();
	landing_world_reopen();
	adam = fleet_find(floor_world.fleet, "adam");
	ck_assert_str_eq(adam->worker->reviewed, seen);
	ck_assert_str_eq(floor_world.core->state.last_reviewed, "adam");
}

/* --- accept ----------------------------------------------------------- */

TEST(what_was_seen_lands)
{
	struct floor_call *call;
	const char *seen;

	landing_world_begin_work(NULL);
	seen = review();
	call = accept_seen(seen);
	assert_lands(call);
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "head_sha", ""), seen);
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "landing_branch", ""),
	    "main");
	landing_world_main("by adam,first,");
	landing_world_told("landed adam; ended adam landed; ");
}

TEST(an_id_may_be_shortened)
{
	struct floor_call *call;
	const char *whole;

	landing_world_begin_work(NULL);
	whole = head();
	call =
	    accept_seen(floor_world_wt("adam", "git rev-parse --short=7 HEAD"));
	assert_lands(call);
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "head_sha", ""), whole);
}

TEST(what_is_no_id_is_refused)
{
	static const char *const words[] = { "--output=x", "HEAD~1~1",
		"ABCDEF12" };
	const struct agent *adam;
	struct floor_call *call;

	adam = landing_world_begin_work(NULL);
	for (size_t i = 0; i < nitems(words); i++) {
		call = accept_seen(words[i]);
		floor_world_refused(call, RPC_INVALID_PARAMS, "");
	}
	assert_changed(accept_seen("0123456789"), "HEAD was 0123456, now ");
	assert_waits(adam);
}

TEST(a_head_that_moved_does_not_land)
{
	const struct agent *adam;
	const char *seen;

	adam = landing_world_begin_work(NULL);
	seen = review();
	floor_world_wt(
	    "adam", "echo x >x.txt; git add .; git commit -qm unseen");
	assert_changed(accept_seen(seen), "(1 commit, 1 file: x.txt)");
	assert_changed(accept_seen(seen),
	    "the work of adam is not what you reviewed: HEAD was ");
	assert_waits(adam);
	/* Seen now. */
	assert_lands(accept_seen(review()));
	landing_world_main("by adam,first,");
}

TEST(uncommitted_changes_do_not_land_unseen)
{
	const struct agent *adam;
	const char *seen;

	adam = landing_world_begin_work(NULL);
	seen = review();
	floor_world_wt("adam", "echo more >>b.txt; >new.txt");
	assert_changed(accept_seen(seen),
	    "there are uncommitted changes in 2 files: b.txt, new.txt");
	assert_waits(adam);
	/* The next review shows them too. */
	assert_lands(accept_seen(review()));
	ck_assert_str_eq(floor_world_sh("cat b.txt"), "two\nmore");
}

TEST(another_branch_does_not_land)
{
	const struct agent *adam;
	const char *seen;

	adam = landing_world_begin_work(NULL);
	seen = review();
	floor_world_wt("adam", "git checkout -q -b mine");
	assert_changed(
	    accept_seen(seen), "mine is checked out, instead of llmc/adam");
	floor_world_wt("adam", "git checkout -q --detach");
	assert_changed(accept_seen(seen),
	    "no branch is checked out, instead of llmc/adam");
	assert_waits(adam);
	floor_world_wt("adam", "git checkout -q llmc/adam");
	assert_lands(accept_seen(seen));
}

/* With force, uncommitted changes land too, but still no other commit. */
TEST(force_takes_changes_along)
{
	struct agent *adam = landing_world_begin_work(NULL);
	const char *seen;

	adam->worker->status = WORKER_PAUSED;
	adam->worker->before = WORKER_WORKING;
	seen = head();
	floor_world_wt("adam",
	    "echo x >x.txt; git add .; git commit -qm unseen; echo y >y.txt");
	assert_changed(call_seen("worker.accept", ",\"force\":true", seen),
	    "the work of adam is not exactly commit ");
	assert_lands(call_seen("worker.accept", ",\"force\":true", head()));
	ck_assert_str_eq(floor_world_sh("cat y.txt"), "y");
}

/* The status is looked at first and again at the end. */
TEST(a_worker_that_begins_to_work_again)
{
	struct floor_call *call;
	struct agent *adam = landing_world_begin_work(NULL);

	call = accept_seen(head());
	floor_world_wait_step(adam, "inspect");
	adam->worker->status = WORKER_WORKING;
	ck_assert_ptr_nonnull(strstr(
	    floor_world_answer(call), "only finished work can be accepted"));
	ck_assert_int_eq(floor_call_code(call), API_STATUS);
	call = accept_seen("0123456789");
	floor_world_refused(call, API_STATUS, "");
	landing_world_main("first,");
}

/* --- reject and pick --------------------------------------------------- */

TEST(only_what_was_seen_is_rejected)
{
	const struct agent *adam;
	struct floor_call *call;
	const char *seen;

	adam = landing_world_begin_work(NULL);
	seen = review();
	floor_world_wt(
	    "adam", "echo x >x.txt; git add .; git commit -qm unseen");
	assert_changed(call_seen("worker.reject", ",\"text\":\"no\"", seen),
	    "(1 commit, 1 file: x.txt)");
	assert_waits(adam);
	call = call_seen("worker.reject", ",\"text\":\"no\"", review());
	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert_int_eq(adam->worker->status, WORKER_REJECTED);
	ck_assert_ptr_nonnull(adam->worker->session.pending);
}

TEST(only_what_was_seen_is_picked)
{
	struct floor_call *call;
	struct agent *adam = landing_world_begin_work(NULL);
	const char *seen;

	adam->worker->status = WORKER_PAUSED;
	seen = head();
	floor_world_wt("adam",
	    "echo x >x.txt; git add .; git commit -qm unseen; "
	    "echo y >y.txt; git checkout -q --detach");
	assert_changed(call_seen("worker.pick", "", seen), "HEAD was ");
	landing_world_main("first,");
	call = call_seen("worker.pick", "", head());
	assert_lands(call);
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "head_sha", ""), head());
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "landing_branch", ""),
	    "main");
	ck_assert_int_eq(
	    json_int_or(floor_call_result(call), "uncommitted_files", 0), 1);
}

/* --- ends ------------------------------------------------------------- */

static const char *const steps[] = { "inspect", "compare" };

TEST_ROWS(cancelled_at_each_step, nitems(steps))
{
	struct floor_call *call;
	struct agent *adam = landing_world_begin_work(NULL);

	call = accept_seen("0123456789");
	floor_world_wait_step(adam, steps[_i]);
	operation_cancel(&adam->op->op, "enough");
	ck_assert_str_eq(floor_world_answer(call), "enough");
	assert_waits(adam);
	/* And a daemon that dies drops it. */
	accept_seen("0123456789");
	floor_world_wait_step(adam, steps[_i]);
}

TEST(a_daemon_that_stops)
{
	struct floor_call *call;
	struct agent *adam = landing_world_begin_work(NULL);

	call = floor_world_call("worker.review", "adam", "");
	floor_world_wait_step(adam, "head");
	life_stop(floor_world.core, "the test", false);
	floor_world_wait_stopped();
	ck_assert_str_eq(floor_world_answer(call), "the daemon is stopping");
	ck_assert_ptr_null(adam->worker->reviewed);
}

TEST(a_lost_worktree)
{
	struct floor_call *call;

	landing_world_begin_work(NULL);
	call = accept_seen(head());
	floor_world_sh("mv .worktrees/adam gone");
	floor_world_refused(call, API_FAILED, "");
}
