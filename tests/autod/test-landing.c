/* SPDX-License-Identifier: ISC */

/* How landings end, the queue, and their events. */
#include "landing-world.h"
#include "ask.h"
#include "landing-record.h"
#include "worker-op.h"

static void
assert_is(const struct agent *agent, enum worker_status status, bool accepted)
{
	ck_assert_str_eq(worker_status_name(agent->worker->status),
	    worker_status_name(status));
	ck_assert_int_eq(agent->worker->accepted, accepted);
	ck_assert_ptr_null(agent->op);
}

/* What is done in the worktree while the branch moves stays there, or it is
 * saved where the reset needs the place. */
static const struct late_row {
	const char *change;
	const char *where; /* "late" is found */
} late_rows[] = {
	{ "echo late >>b.txt", "git grep -h late" },
	{ "echo late >c.txt", "git grep -h late $S" },
	{ "echo late >d.txt; git add d.txt; git commit -qm late",
	    "git grep -h late $S" },
};

TEST_ROWS(late_work_is_saved, nitems(late_rows))
{
	cleanup_free char *where = NULL;
	struct agent *adam = landing_world_begin_work(NULL);

	landing_world_meanwhile("c.txt", "three");
	landing_begin(landing_world.landings, adam, NULL, false, NULL);
	landing_world_wait(adam, "moving");
	floor_world_wt("adam", late_rows[_i].change);
	floor_world_settle();
	landing_world_main("by adam,meanwhile,first,");
	where = xasprintf("S=$(git for-each-ref --format='%%(refname)' "
			  "refs/llmc/salvage/adam); %s",
	    late_rows[_i].where);
	ck_assert_str_eq(floor_world_wt("adam", where), "late");
	ck_assert_str_eq(floor_world_wt("adam", "git rev-parse HEAD"),
	    floor_world_sh("git rev-parse main"));
}

TEST(lands_as_one_commit)
{
	struct floor_call *call;
	struct agent *adam = landing_world_begin_work(NULL);

	floor_world_wt("adam",
	    "echo three >c.txt; git add c.txt; git commit -qm second; "
	    "echo left >d.txt");
	floor_world.core->state.landings.window = 4;
	call = floor_world_done(floor_world_call("worker.accept", "adam", ""));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "commit_sha", ""),
	    floor_world_sh("git rev-parse main"));
	landing_world_main("by adam,first,");
	ck_assert_str_eq(
	    floor_world_sh("cat b.txt c.txt d.txt"), "two\nthree\nleft");
	ck_assert_str_eq(floor_world_wt("adam",
			     "git rev-parse HEAD; git status --porcelain"),
	    floor_world_sh("git rev-parse main"));
	assert_is(adam, WORKER_OFFLINE, false);
	landing_world_told("landed adam; ended adam landed; ");
	ck_assert(!landings_busy(landing_world.landings));
	ck_assert_int_eq(floor_world.core->state.landings.window, 5);
}

static void
on_landed(const struct event *event, void *arg)
{
	if (event->kind == EVENT_LANDED)
		xstrset(arg, event->ref);
}

/* A task whose worker did nothing has not landed by its word: no commit of the
 * branch has its work. */
TEST_ROWS(who_has_work_that_changes_nothing, 4)
{
	static const struct {
		const char *work, *task;
		bool held;
	} rows[] = {
		{ ":", NULL, true },
		{ ":", "t1", false },
		{ "git commit -q --allow-empty -m none", "t1", false },
		{ "echo two >b.txt; git add .; git commit -qm same", "t1",
		    true },
	};
	char *holder = NULL;
	struct agent *adam;

	landing_world_begin(NULL);
	adam = floor_world_add("adam", WORKER_NEEDS_REVIEW);
	floor_world_wt("adam", rows[_i].work);
	landing_world_meanwhile("b.txt", "two");
	xstrset(&adam->worker->task, rows[_i].task);
	emit_subscribe(floor_world.core, on_landed, &holder);
	ck_assert_ptr_null(landing_world_accept("adam"));
	emit_unsubscribe(floor_world.core, on_landed, &holder);
	ck_assert_int_eq(holder != NULL, rows[_i].held);
	free(holder);
}

TEST(nothing_is_left_to_land)
{
	struct floor_call *call;

	landing_world_begin_work(NULL);
	landing_world_meanwhile("b.txt", "two");
	call = floor_world_done(floor_world_call("worker.accept", "adam", ""));
	ck_assert(json_bool_or(
	    floor_call_result(call), "already_incorporated", false));
	landing_world_main("meanwhile,first,");
	landing_world_told("nothing of adam; ended adam landed; ");
}

TEST(a_branch_that_moves_is_followed)
{
	struct floor_call *call;
	struct agent *adam = landing_world_begin_work(NULL);

	call = floor_world_call("worker.accept", "adam", "");
	landing_world_wait(adam, "moving");
	landing_world_meanwhile("c.txt", "three");
	ck_assert_ptr_null(floor_world_answer(call));
	landing_world_main("by adam,meanwhile,first,");
	landing_world_told("landed adam; ended adam landed; ");
}

/* --- conflicts, a checkout in the way -------------------------------- */

TEST(a_conflict_is_resolved_by_its_worker)
{
	struct floor_call *call;
	struct agent *adam;

	landing_world_begin(NULL);
	adam = landing_world_work("adam", "a.txt", "mine");
	landing_world_meanwhile("a.txt", "theirs");
	call = floor_world_done(floor_world_call("worker.accept", "adam", ""));
	ck_assert(json_bool_or(
	    floor_call_result(call), "needs_conflict_resolution", false));
	/* The landing continues when the worker has finished. */
	assert_is(adam, WORKER_REBASING, true);
	ck_assert_int_eq(adam->worker->session.step != PROMPT_NONE, true);
	ck_assert_ptr_nonnull(strstr(adam->worker->session.pending, "a.txt"));
	landing_world_told("not landed adam; ended adam conflict; ");

	floor_world_wt("adam",
	    "echo both >a.txt; git add a.txt; "
	    "GIT_EDITOR=true git rebase --continue >/dev/null 2>&1");
	adam->worker->session.step = PROMPT_NONE;
	agent_finish(adam, "");
	floor_world_wait_status(adam, WORKER_OFFLINE);
	floor_world_settle();
	assert_is(adam, WORKER_OFFLINE, false);
	landing_world_main("by adam,meanwhile,first,");
	ck_assert_str_eq(floor_world_sh("cat a.txt"), "both");
	landing_world_told("landed adam; ended adam landed; ");
}

TEST(too_many_conflicts_are_for_a_person)
{
	struct agent *adam;

	landing_world_begin(NULL);
	adam = landing_world_work("adam", "a.txt", "mine");
	adam->worker->conflicts = 3;
	landing_world_meanwhile("a.txt", "theirs");
	ck_assert_ptr_nonnull(
	    strstr(landing_world_accept("adam"), "resolve them by"));
	assert_is(adam, WORKER_NEEDS_REVIEW, false);
	ck_assert_ptr_nonnull(strstr(adam->worker->reason, "resolve them by"));
	landing_world_main("meanwhile,first,");
	/* No unfinished rebase is left. */
	ck_assert_str_eq(
	    floor_world_wt("adam", "git log -1 --format=%s"), "by adam");
	ck_assert_str_eq(
	    floor_world_wt("adam", "git branch --show-current"), "llmc/adam");
	landing_world_told("not landed adam; ended adam stuck; ");
}

TEST(a_dirty_checkout_is_waited_for)
{
	struct agent *adam;

	landing_world_begin(NULL);
	adam = landing_world_work("adam", "a.txt", "mine");
	floor_world_sh("echo dirt >a.txt");
	ck_assert_ptr_nonnull(
	    strstr(landing_world_accept("adam"), "your checkout of main is"));
	assert_is(adam, WORKER_NEEDS_REVIEW, false);
	landing_world_told("not landed adam; ended adam failed; ");
	floor_world_sh("git checkout -q a.txt");
	ck_assert_ptr_null(landing_world_accept("adam"));
	landing_world_main("by adam,first,");
	landing_world_told("landed adam; ended adam landed; ");
}

/* What a user has begun and not finished on the branch: its end could take back
 * what landed meanwhile. */
TEST(an_unfinished_rebase_holds_what_would_land)
{
	static const char *const names[] = { "adam", "eve", "kim", "ann" };

	landing_world_begin(NULL);
	floor_world_sh("git rebase -q --exec false --root 2>/dev/null; "
		       "git checkout -q main");
	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *file = xasprintf("%s.txt", names[i]);
		struct agent *agent =
		    landing_world_work(names[i], file, "text");

		floor_has(landing_world_accept(names[i]),
		    "a rebase of the branch is in progress");
		assert_is(agent, WORKER_NEEDS_REVIEW, false);
	}
	floor_world_sh("git rebase --abort");
	landing_world_main("first,");
	for (size_t i = 0; i < nitems(names); i++)
		ck_assert_ptr_null(landing_world_accept(names[i]));
	landing_world_main("by ann,by kim,by eve,by adam,first,");
}

static const struct ask *
lost_ask(void)
{
	return state_ask(&floor_world.core->state, ASKS_LOST);
}

/* The ref of what has landed as this item. The caller frees it. */
static char *
kept_as(const char *item)
{
	cleanup_free char *refs = xasprintf(
	    "git for-each-ref --format='%%(refname)' 'refs/llmc/landed/%s-*' | "
	    "tr -d '\n'",
	    item);

	return xstrdup(floor_world_sh(refs));
}

static void
land_three(void)
{
	static const char *const names[] = { "adam", "eve", "kim" };

	landing_world_begin(NULL);
	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *file = xasprintf("%s.txt", names[i]);

		landing_world_work(names[i], file, "text");
		ck_assert_ptr_null(landing_world_accept(names[i]));
	}
	landing_world_main("by kim,by eve,by adam,first,");
	floor_world_settle();
}

TEST(what_is_taken_off_the_branch_is_one_ask_until_it_is_back)
{
	cleanup_free char *command = NULL, *words = NULL, *picks = NULL;
	cleanup_free char *eve = NULL, *kim = NULL;

	land_three();
	life_patrol(floor_world.core);
	floor_world_settle();
	ck_assert_ptr_null(lost_ask());
	floor_world_sh("git reset -q --hard HEAD~2; echo u >u; git add u; "
		       "git commit -qm mine");
	life_patrol(floor_world.core);
	floor_world_until(lost_ask() != NULL);
	floor_has(lost_ask()->words,
	    "2 commits that had landed are no longer on main");
	eve = kept_as("q2");
	kim = kept_as("q3");
	words = xasprintf("%s (by eve), %s (by kim)", eve, kim);
	floor_has(lost_ask()->words, words);
	picks = xasprintf("git cherry-pick %s %s", eve, kim);
	ck_assert_str_eq(lost_ask()->command, picks);
	/* The next daemon asks it no second time. */
	floor_world_settle();
	landing_world_reopen();
	floor_world_settle();
	ck_assert_ptr_nonnull(lost_ask());
	ck_assert_int_eq(lost_ask()->count, 1);
	command = xasprintf("%s 2>/dev/null", lost_ask()->command);
	floor_world_sh(command);
	life_patrol(floor_world.core);
	floor_world_until(lost_ask() == NULL);
	landing_world_main("by kim,by eve,mine,by adam,first,");
}

/* While no daemon runs. */
TEST(what_a_person_lets_go_is_not_asked_about_again)
{
	cleanup_free char *params = NULL, *words = NULL, *adam = NULL;

	land_three();
	floor_world_sh("git reset -q --hard HEAD~2");
	landing_world_reopen();
	floor_world_until(lost_ask() != NULL);
	params = xasprintf("{\"ask\":\"%s\"}", lost_ask()->id);
	floor_world_done(floor_world_ask("ask.end", params));
	ck_assert_ptr_null(lost_ask());
	life_patrol(floor_world.core);
	floor_world_until(floor_world.core->state.landings.let_go != NULL);
	landing_world_reopen();
	floor_world_settle();
	life_patrol(floor_world.core);
	floor_world_settle();
	ck_assert_ptr_null(lost_ask());
	/* Another one is. */
	floor_world_sh("git reset -q --hard HEAD~1");
	life_patrol(floor_world.core);
	floor_world_until(lost_ask() != NULL);
	floor_has(lost_ask()->words, "1 commit that had landed is no longer");
	adam = kept_as("q1");
	words = xasprintf("%s (by adam)", adam);
	floor_has(lost_ask()->words, words);
}

TEST(what_has_landed_is_kept_beside_that_of_a_new_book)
{
	land_three();
	floor_world.core->state.landings.ids = 0;
	landing_world_work("ann", "ann.txt", "text");
	ck_assert_ptr_null(landing_world_accept("ann"));
	floor_world_settle();
	ck_assert_str_eq(
	    floor_world_sh("git for-each-ref refs/llmc/landed "
			   "--format='%(contents:subject)' | sort"),
	    "by adam\nby ann\nby eve\nby kim");
}

/* --- the queue ------------------------------------------------------- */

/* While they wait they do not hold their workers; then they land together. */
TEST(in_their_order)
{
	struct floor_call *first, *second;
	struct agent *adam, *eve;

	adam = landing_world_begin_work(NULL);
	eve = landing_world_work("eve", "c.txt", "three");
	landing_world.may_not_begin = true;
	first = floor_world_call("worker.accept", "adam", "");
	floor_world_wait_status(adam, WORKER_ACCEPTING);
	floor_world_settle();
	second = floor_world_call("worker.accept", "eve", "");
	floor_world_wait_status(eve, WORKER_ACCEPTING);
	floor_world_settle();
	assert_is(eve, WORKER_ACCEPTING, true);
	landing_world.may_not_begin = false;
	landings_kick(landing_world.landings);
	ck_assert_ptr_null(floor_world_answer(first));
	ck_assert_ptr_null(floor_world_answer(second));
	landing_world_main("by eve,by adam,first,");
}

TEST(a_policy_says_no_then_yes)
{
	struct floor_call *call;
	struct agent *adam = landing_world_begin_work(NULL);

	landing_world.may_not_begin = true;
	call = floor_world_call("worker.accept", "adam", "");
	floor_world_wait_status(adam, WORKER_ACCEPTING);
	floor_world_settle();
	assert_is(adam, WORKER_ACCEPTING, true);
	ck_assert(landings_busy(landing_world.landings));
	ck_assert(!floor_call_is_answered(call));
	landings_kick(landing_world.landings); /* still not allowed */
	floor_world_settle();
	ck_assert(!floor_call_is_answered(call));
	landing_world.may_not_begin = false;
	landings_kick(landing_world.landings);
	ck_assert_ptr_null(floor_world_answer(call));
	landing_world_told("landed adam; ended adam landed; ");
}

TEST(a_waiting_one_loses_its_worker)
{
	struct floor_call *accept, *reset;
	struct agent *adam = landing_world_begin_work(NULL);

	landing_world.may_not_begin = true;
	accept = floor_world_call("worker.accept", "adam", "");
	floor_world_wait_status(adam, WORKER_ACCEPTING);
	floor_world_settle();
	reset = floor_world_call("worker.reset", "adam", "");
	ck_assert_str_eq(floor_world_answer(accept),
	    "the landing is cancelled: its worker was reset");
	ck_assert_ptr_null(floor_world_answer(reset));
	landing_world_told("ended adam cancelled; ");
	ck_assert(!landings_busy(landing_world.landings));
	ck_assert_int_ne(adam->worker->status, WORKER_ACCEPTING);
	ck_assert_int_eq(adam->worker->accepted, false);
	landing_world.may_not_begin = false;
	landings_kick(landing_world.landings);
	floor_world_settle();
	landing_world_main("first,");
	landing_world_told("");
}

TEST(two_commands_for_one_worker)
{
	struct floor_call *first, *second, *third;
	struct agent *adam = landing_world_begin_work(NULL);

	first = floor_world_call("worker.accept", "adam", "");
	second = floor_world_call("worker.accept", "adam", "");
	ck_assert_ptr_nonnull(floor_world_answer(second));
	ck_assert(floor_call_code(second) == API_STATUS ||
	    floor_call_code(second) == API_BUSY);
	floor_world_wait_step(adam, "freeze");
	second = floor_world_call("worker.reset", "adam", "");
	third = floor_world_call("worker.pick", "adam", "");
	floor_world_refused(second, API_BUSY, "");
	floor_world_refused(third, API_BUSY, "");
	ck_assert_ptr_null(floor_world_answer(first));
	landing_world_told("landed adam; ended adam landed; ");
}

/* --- commands -------------------------------------------------------- */

TEST(only_finished_work_is_accepted)
{
	struct floor_call *call;
	struct agent *adam = landing_world_begin_work(NULL);

	adam->worker->status = WORKER_PAUSED;
	adam->worker->before = WORKER_WORKING;
	call = floor_world_call("worker.accept", "adam", "");
	ck_assert_ptr_nonnull(strstr(
	    floor_world_answer(call), "only finished work can be accepted"));
	ck_assert_int_eq(floor_call_code(call), API_STATUS);
	call = floor_world_call("worker.rebase", "adam", "");
	ck_assert_ptr_nonnull(strstr(
	    floor_world_answer(call), "only finished work can be rebased"));
	call = floor_world_call("worker.review", "adam", "");
	ck_assert_ptr_nonnull(
	    strstr(floor_world_answer(call), "nothing to review yet"));
	call = floor_world_done(
	    floor_world_call("worker.review", "adam", ",\"force\":true"));
	ck_assert_str_eq(floor_world.core->state.last_reviewed, "adam");
	call = floor_world_done(
	    floor_world_call("worker.accept", "adam", ",\"force\":true"));
	landing_world_told("landed adam; ended adam landed; ");
}

/* It was not accepted: there are no events of a landing. */
TEST(a_rebase_is_no_landing)
{
	struct floor_call *call;
	struct agent *adam = landing_world_begin_work(NULL);

	landing_world_meanwhile("c.txt", "three");
	call = floor_world_done(floor_world_call("worker.review", "adam", ""));
	assert_is(adam, WORKER_NEEDS_REVIEW, false);
	ck_assert_str_eq(floor_world_wt("adam", "git log --format=%s,"),
	    "by adam,\nmeanwhile,\nfirst,");

	landing_world_meanwhile("b.txt", "theirs");
	call = floor_world_done(floor_world_call("worker.rebase", "adam", ""));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "status", ""), "rebasing");
	assert_is(adam, WORKER_REBASING, false);
	landing_world_told("");
	landing_world_main("meanwhile,meanwhile,first,");
}

/* The title is for people, and part of the state; the commit keeps its own. */
TEST(a_long_title_is_cut)
{
	struct floor_call *call;

	landing_world_begin(NULL);
	landing_world_work("adam", "b.txt", "mine");
	floor_world_wt(
	    "adam", "git commit -q --amend -m \"$(printf '%0300d' 0)\"");
	landing_world.may_not_begin = true;
	call = floor_world_call("worker.accept", "adam", "");
	landing_world_wait(NULL, "queued");
	ck_assert_uint_eq(
	    strlen(floor_world.core->state.landings.items[0]->title), 200);
	landing_world.may_not_begin = false;
	landings_kick(landing_world.landings);
	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert_uint_eq(
	    strlen(floor_world_sh("git log -1 --format=%s main")), 300);
}

/* A person is told of the files, and where the work is. */
TEST(a_conflict_without_a_worker)
{
	struct floor_call *call;
	struct agent *adam;
	cleanup_free char *want = NULL;
	const char *error;

	landing_world_begin(NULL);
	adam = landing_world_work("adam", "b.txt", "mine");
	want = xasprintf("it conflicts with main: b.txt; its commit is %.12s",
	    floor_world_wt("adam", "git rev-parse HEAD"));
	call = floor_world_call("worker.accept", "adam", "");
	landing_world_wait(adam, "moving");
	floor_world.store_held = true;
	op_reset(adam, NULL);
	landing_world_meanwhile("b.txt", "theirs");
	floor_world_store_answer();
	error = floor_world_answer(call);
	ck_assert_ptr_nonnull(error);
	ck_assert_str_eq(error, want);
	landing_world_told("not landed nobody; ended nobody conflict; ");
}
