/* SPDX-License-Identifier: ISC */

/* Landing for all hosts: a submits, and lands what b has submitted. */

#include "hosts-world.h"

#include <glob.h>

#include "ask.h"
#include "hosts-private.h"
#include "landing-record.h"
#include "schema.h"

static struct landing_record *
record(void)
{
	return &floor_world.core->state.landings;
}

static void
origin_has(const char *want)
{
	ck_assert_str_eq(
	    floor_world_sh("git --git-dir=\"$B/origin\" log --format='%s "
			   "%(trailers:key=Llmc-Task,valueonly,separator=%x2C)"
			   ";' main | tr -d '\\n'"),
	    want);
}

static bool
is_over(void *arg)
{
	(void)arg;
	return record()->count == 0;
}

/* For what is looked at in each pass: no git is needed for refs that were just
 * pushed. */
static bool
origin_has_ref(const char *pattern)
{
	cleanup_free char *path =
	    xasprintf("%s/origin/refs/llmc/%s", getenv("B"), pattern);
	glob_t found = { 0 };
	bool has = glob(path, 0, NULL, &found) == 0;

	globfree(&found);
	return has;
}

static bool
is_swept(void *arg)
{
	(void)arg;
	return !origin_has_ref("queue/t1-a/*");
}

/* b has done its task: pushed, but not submitted. */
static void
b_works(const char *task, const char *file)
{
	cleanup_free char *make = xasprintf(
	    "test -d \"$B/b\" || git clone -qb main \"$B/origin\" \"$B/b\"; cd "
	    "\"$B/b\"; git checkout -q --detach origin/main; echo b >%s; git "
	    "add .; git -c user.name=b -c user.email=b@b commit -qm 'by b'; "
	    "git push -qf origin HEAD:refs/llmc/queue/%s/1",
	    file, task);

	floor_world_sh(make);
}

static void
b_has_task(const char *task)
{
	const struct shared_call calls[] = {
		SHARED_CALL(SHARED_PUBLISH, BOOK_T(task), BOOK_I(1),
		    BOOK_T(NULL), BOOK_T("main"), BOOK_T("t7"),
		    BOOK_T("{\"title\":\"t7\",\"text\":\"Do\"}"), BOOK_I(0)),
		SHARED_CALL(SHARED_CLAIM_ONE, BOOK_T(B_BOOT), BOOK_T(task)),
	};

	hosts_world_says(calls, nitems(calls));
	ck_assert_str_eq(hosts_world_row(task), "claimed b 1");
}

static const char *
b_head(const char *name)
{
	cleanup_free char *ask =
	    xasprintf("git -C \"$B/b\" rev-parse '%s'", name);

	return floor_world_sh(ask);
}

static void
b_submits(const char *task, const char *attempt)
{
	struct landing_item *item = landing_item_new("q1");
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *ref = NULL;

	xstrset(&item->task, "t7");
	xstrset(&item->title, "by b");
	xstrset(&item->attempt, attempt);
	xstrset(&item->head, b_head("HEAD"));
	xstrset(&item->base, b_head("HEAD~1"));
	item->step = ITEM_SUBMITTED;
	item->message =
	    xasprintf("by b\n\nLlmc-Task: %s\nLlmc-Attempt: %s", task, attempt);
	xstrset(&item->author_name, "b");
	xstrset(&item->author_email, "b@b");
	xstrset(&item->author_date, "1700000000 +0000");
	xstrset(&item->committer_date, "1700000000 +0000");
	json = schema_json(&landing_item_schema, item);
	json_print(json, false, &text);
	ref = xasprintf("refs/llmc/queue/%s/1", task);
	ck_assert_ptr_nonnull(
	    strstr(SAYS(SHARED_SUBMIT, BOOK_T(task), BOOK_I(1), BOOK_T(B_BOOT),
		       BOOK_T(item->head), BOOK_T(ref), BOOK_T(text.data),
		       BOOK_T("{\"last_words\":\"Finished.\",\"tokens\":7}")),
		",b,ready;"));
	schema_free(&landing_item_schema, item);
	hosts_land_hint(hosts_world.floor, false);
}

/* t7-b, with a change of b.txt. */
static void
b_hands_in(void)
{
	b_has_task("t7-b");
	b_works("t7-b", "b.txt");
	b_submits("t7-b", "1/b/boot");
}

TEST(a_host_lands_its_own_work)
{
	unit_hurry(6);
	hosts_world_begin(NULL);
	auto_world_task("a.md", "Do it\n");
	hosts_world_live();
	auto_world_turn_on("t1-a");
	hosts_world_work_ends(auto_world_agent(), "one");
	hosts_world_wait_row("t1-a", "landed a 1");
	auto_world_wait_step("t1-a", -1);
	auto_world_filed("t1-a landed; ");
	auto_world_folder("done: a.md; ");
	origin_has("add one t1-a;first ;");
	floor_world_wait(is_over, &hosts_world);
	/* What is not needed any more is removed: here, and by the next
	 * lander. */
	floor_world_wait(is_swept, &hosts_world);
	floor_world_sh("git -C \"$B/origin\" update-ref "
		       "refs/llmc/queue/t1-a/2 main");
	hosts_world_reopen();
	hosts_world_live();
	b_hands_in();
	hosts_world_wait_row("t7-b", "landed b 1");
	floor_world_wait(is_swept, &hosts_world);
}

TEST(the_owner_knows_how_work_went_that_another_host_did)
{
	hosts_world_begin(NULL);
	auto_world_task("a.md", "Do it\n");
	auto_world_task("b.md", "Do that\n");
	hosts_world_live();
	auto_world_turn_on("t1-a");
	hosts_world_wait_row("t2-a", "queued - 0");
	ck_assert_str_ne(
	    SAYS(SHARED_CLAIM_ONE, BOOK_T(B_BOOT), BOOK_T("t2-a")), "");
	b_works("t2-a", "b.txt");
	b_submits("t2-a", "1/b/boot");
	hosts_world_wait_row("t2-a", "landed b 1");
	auto_world_wait_step("t2-a", -1);
	auto_world_filed("t2-a landed; ");
	ck_assert_ptr_nonnull(strstr(auto_world_record("t2-a"), "Finished."));
}

static bool
has_shared(void *arg)
{
	for (size_t i = 0; i < record()->count; i++)
		if (record()->items[i]->kind == ITEM_SHARED &&
		    (arg == NULL || record()->items[i]->step == ITEM_LANDED))
			return true;
	return false;
}

static bool
is_moving(void *arg)
{
	(void)arg;
	return record()->to != NULL;
}

/* The lander is killed before its push, around it, and before the others know:
 * the next one goes on, and it lands once. */
TEST_ROWS(a_lander_that_is_killed_lands_once, 4)
{
	hosts_world_run();
	b_hands_in();
	if (_i == 1)
		floor_world_wait_closely(has_shared, NULL);
	else if (_i == 2)
		floor_world_wait_closely(is_moving, &hosts_world);
	else if (_i == 3)
		floor_world_wait_closely(has_shared, &hosts_world);
	if (_i > 0) {
		hosts_world_reopen();
		hosts_world_live();
	}
	hosts_world_wait_row("t7-b", "landed b 1");
	origin_has("by b t7-b;first ;");
	floor_world_wait(is_over, &hosts_world);
}

/* b was the lander: it has pushed its work, as another commit than it was
 * submitted, and was lost before the row said so. Somebody has changed the same
 * file since. The control: without trailers it is not found, and conflicts. */
TEST_ROWS(what_a_lost_lander_has_pushed_is_found, 2)
{
	cleanup_free char *push = xasprintf(
	    "cd \"$B/b\"; git tag work; export GIT_AUTHOR_NAME=b "
	    "GIT_AUTHOR_EMAIL=b@b GIT_COMMITTER_NAME=b GIT_COMMITTER_EMAIL=b@b "
	    "; git commit -q --amend -m 'by b' %s; git push -q origin "
	    "HEAD:main; echo c >b.txt; git commit -qam later; git push -q "
	    "origin HEAD:main; git reset -q --hard work",
	    _i == 0 ? "-m 'Llmc-Task: t7-b\nLlmc-Attempt: 1/b/boot'" :
		      "-m 'of nobody'");

	hosts_world_begin(NULL);
	b_has_task("t7-b");
	b_works("t7-b", "b.txt");
	ck_assert_str_ne(
	    SAYS(SHARED_LANDER_TAKE, BOOK_T("main"), BOOK_T(B_BOOT)), "");
	floor_world_sh(push);
	hosts_world_live();
	hosts_world_sql("update lander set lease_until=0");
	b_submits("t7-b", "1/b/boot");
	hosts_world_wait_row("t7-b", _i == 0 ? "landed b 1" : "claimed b 1");
	origin_has(
	    _i == 0 ? "later ;by b t7-b;first ;" : "later ;by b ;first ;");
}

/* b lands what a has submitted: the commit. */
static const char *
b_lands(void)
{
	return floor_world_sh(
	    "git clone -qb main \"$B/origin\" \"$B/b\"; cd \"$B/b\"; git "
	    "fetch -q origin refs/llmc/queue/t1-a/1; git merge -q --ff-only "
	    "FETCH_HEAD; git -c user.name=b -c user.email=b@b commit -q "
	    "--amend -m 'by a' -m 'Llmc-Task: t1-a\nLlmc-Attempt: 1/a/x'; git "
	    "push -q origin HEAD:main; git rev-parse HEAD");
}

/* b is the lander, and lies: what it names is not there, is no commit, is of
 * another task, or is on no branch. The work waits as before, and lands when it
 * does. */
TEST_ROWS(what_is_not_on_the_branch_has_not_landed, 4)
{
	static const char *const lies[] = {
		"printf %040d 1",
		"printf -- --output=/tmp/x",
		"git --git-dir=\"$B/origin\" rev-parse main",
		"cd \"$B/origin\"; git -c user.name=b -c user.email=b@b "
		"commit-tree 'main^{tree}' -p main -m 'by b' -m 'Llmc-Task: "
		"t1-a'",
	};
	const char *commit;

	hosts_world_begin(NULL);
	ck_assert_str_ne(
	    SAYS(SHARED_LANDER_TAKE, BOOK_T("main"), BOOK_T(B_BOOT)), "");
	auto_world_task("a.md", "Do it\n");
	hosts_world_live();
	auto_world_turn_on("t1-a");
	hosts_world_work_ends(auto_world_agent(), "one");
	hosts_world_wait_row("t1-a", "ready a 1");
	commit = floor_world_sh(lies[_i]);
	ck_assert_str_eq(
	    SAYS(SHARED_LAND, BOOK_T("t1-a"), BOOK_T(commit), BOOK_T("main"),
		BOOK_I(1), BOOK_T(B_BOOT), BOOK_I(1)),
	    "t1-a,1,a,a,landed;");
	hosts_world_polls();
	hosts_world_wait_row("t1-a", "ready a 1");
	ck_assert_uint_eq(auto_world.core->state.ask_count, 1);
	ck_assert_str_eq(auto_world.core->state.asks[0]->key, "denied");
	ck_assert_ptr_nonnull(state_task(&auto_world.core->state, "t1-a"));
	ck_assert_int_eq(record()->items[0]->step, ITEM_SUBMITTED);
	commit = b_lands();
	ck_assert_str_eq(
	    SAYS(SHARED_LAND, BOOK_T("t1-a"), BOOK_T(commit), BOOK_T("main"),
		BOOK_I(1), BOOK_T(B_BOOT), BOOK_I(1)),
	    "t1-a,1,a,a,landed;");
	hosts_world_polls();
	auto_world_wait_step("t1-a", -1);
	auto_world_filed("t1-a landed; ");
}

/* b lands; a is the runner. Its work conflicts, and lands the second time. */
TEST_ROWS(a_runner_hears_how_its_work_ended, 3)
{
	const char *commit;
	struct agent *agent;

	hosts_world_begin(NULL);
	ck_assert_str_ne(
	    SAYS(SHARED_LANDER_TAKE, BOOK_T("main"), BOOK_T(B_BOOT)), "");
	auto_world_task("a.md", "Do it\n");
	hosts_world_live();
	agent = auto_world_turn_on("t1-a");
	hosts_world_work_ends(auto_world_agent(), "one");
	hosts_world_wait_row("t1-a", "ready a 1");
	ck_assert_int_eq(record()->items[0]->step, ITEM_SUBMITTED);
	if (_i == 1) {
		ck_assert_str_eq(SAYS(SHARED_EJECT, BOOK_T("t1-a"), BOOK_I(1),
				     BOOK_T("main"), BOOK_I(1), BOOK_T(B_BOOT),
				     BOOK_T("The check fails.")),
		    "t1-a,1,a,a,claimed;");
		hosts_world_polls();
		agent = auto_world_turn(2);
		ck_assert_ptr_nonnull(strstr(
		    fake_session_prompt(agent->session), "The check fails."));
		hosts_world_work_ends(agent, "two");
		hosts_world_wait_row("t1-a", "ready a 1");
	} else if (_i == 2) {
		hosts_world_reopen();
		hosts_world_live();
	}
	commit = b_lands();
	ck_assert_str_eq(
	    SAYS(SHARED_LAND, BOOK_T("t1-a"), BOOK_T(commit), BOOK_T("main"),
		BOOK_I(1), BOOK_T(B_BOOT), BOOK_I(1)),
	    "t1-a,1,a,a,landed;");
	hosts_world_polls();
	auto_world_wait_step("t1-a", -1);
	auto_world_filed("t1-a landed; ");
	auto_world_folder("done: a.md; ");
	ck_assert_ptr_nonnull(strstr(auto_world_record("t1-a"), commit));
	/* The branch has followed. */
	ck_assert_str_eq(floor_world_sh("git rev-parse main"), commit);
	ck_assert_uint_eq(hosts_world.floor->share_count, 0);
}

/* One check at a time, which ends when the file "wait" is gone. */
static void
begin_with_slow_check(void)
{
	cleanup_free char *settings = xasprintf(
	    "check_slots = 1\ncheck_command = \"while test -e '%s'; do sleep "
	    "0.1; done\"\n",
	    unit_path("wait"));

	ck_assert_int_eq(file_replace(unit_path("wait"), "", 0, 0600, NULL), 0);
	hosts_world_begin(settings);
	hosts_world_live();
}

/* Somebody else has the lease now: what is not landed is theirs. */
TEST(a_host_without_the_lease_lands_nothing)
{
	begin_with_slow_check();
	b_hands_in();
	floor_world_wait(has_shared, NULL);
	hosts_world_sql("update lander set host='b', boot='" B_BOOT
			"', fence=9, lease_until=lease_until+3600000");
	hosts_land_hint(hosts_world.floor, false);
	while (has_shared(NULL)) {
		hosts_land_hint(hosts_world.floor, false);
		hosts_world_row("t7-b");
	}
	ck_assert_int_eq(unlink(unit_path("wait")), 0);
	ck_assert_str_eq(hosts_world_row("t7-b"), "ready b 1");
	origin_has("first ;");
}

/* Words of a host that does not say what it may say. */
TEST_ROWS(what_was_submitted_must_be_of_its_attempt, 2)
{
	hosts_world_run();
	b_has_task("t7-b");
	b_works("t7-b", "b.txt");
	if (_i == 1)
		floor_world_sh("git --git-dir=\"$B/origin\" update-ref -d "
			       "refs/llmc/queue/t7-b/1");
	b_submits("t7-b", _i == 0 ? "1/a/boot" : "1/b/boot");
	hosts_world_wait_row("t7-b", "claimed b 1");
	origin_has("first ;");
}

/* b is lost after it has submitted: its work does not pass, and a goes on with
 * it. */
TEST(work_of_a_lost_host_goes_on_elsewhere)
{
	const struct task *t;

	hosts_world_begin("check_command = \"test ! -e b.txt\"\n");
	hosts_world_live();
	b_hands_in();
	hosts_world_sql("update host set state='lost' where host='b'");
	auto_world_turn_on("t7-b");
	ck_assert_str_eq(hosts_world_row("t7-b"), "claimed a 3");
	t = state_task(&auto_world.core->state, "t7-b");
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(
	    floor_world_wt("auto-1", "git log -1 --format=%s"), "by b");
}

/* A daemon that stops leaves the landing to others at once. */
TEST(a_stopped_daemon_gives_up_the_lease)
{
	hosts_world_run();
	b_hands_in();
	hosts_world_wait_row("t7-b", "landed b 1");
	auto_world_stop();
	ck_assert_str_ne(
	    SAYS(SHARED_LANDER_TAKE, BOOK_T("main"), BOOK_T(B_BOOT)), "");
}

static bool
is_left_to_others(void *arg)
{
	(void)arg;
	hosts_world.floor->asked_ms = 0;
	hosts_world_polls();
	return !hosts_land_has_lease(hosts_world.floor);
}

TEST(a_host_that_drains_or_doubts_leaves_the_landing_to_others)
{
	hosts_world_run();
	b_hands_in();
	hosts_world_wait_row("t7-b", "landed b 1");
	hosts_world.floor->doubt = true;
	ck_assert(!hosts_land_has_lease(hosts_world.floor));
	hosts_world.floor->doubt = false;
	ck_assert(hosts_land_has_lease(hosts_world.floor));
	hosts_world_sql("update host set draining=1 where host='a'");
	floor_world_wait(is_left_to_others, NULL);
	ck_assert_str_ne(
	    SAYS(SHARED_LANDER_TAKE, BOOK_T("main"), BOOK_T(B_BOOT)), "");
}
