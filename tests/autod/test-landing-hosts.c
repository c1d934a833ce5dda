/* SPDX-License-Identifier: ISC */

/* The landing queue of a host that is one of several: what it submits, and what
 * it lands for the others. */

#include "landing-world.h"
#include "landing-list.h"
#include "landing-record.h"
#include "landing-private.h"

static int changes;

static char *
attempt(void *arg, const char *task, char **ret_id)
{
	(void)arg;
	*ret_id = xasprintf("%s-ant", task);
	return xstrdup("3/ant/b1");
}

static bool
lands(void *arg)
{
	(void)arg;
	return true;
}

static void
changed(void *arg)
{
	(void)arg;
	changes++;
}

static const struct landing_hosts hosts = {
	.attempt = attempt, .lands = lands, .changed = changed
};

static struct landing_record *
record(void)
{
	return &floor_world.core->state.landings;
}

static void
begin(const char *settings)
{
	changes = 0;
	landing_world_begin(settings);
	landings_set_hosts(landing_world.landings, &hosts, NULL);
	floor_world_sh("git init -q --bare \"$B/origin\"; git remote add "
		       "origin \"$B/origin\"; git push -q origin main");
}

/* Work of another host, with this content of file. */
static struct landing_item *
share(const char *task, const char *file, const char *text)
{
	cleanup_free char *make = xasprintf(
	    "git checkout -q --detach main && echo %s >%s && git add %s && "
	    "git commit -qm '%s' && git update-ref refs/llmc/queue/%s HEAD && "
	    "git rev-parse HEAD && git checkout -q main",
	    text, file, file, task, task);
	struct landing_item *item = landing_record_new_item(record());

	xstrset(&item->head, floor_world_sh(make));
	xstrset(&item->base, floor_world_sh("git rev-parse main"));
	xstrset(&item->task, task);
	xstrset(&item->title, task);
	xstrset(&item->attempt, "3/ant/b1");
	item->message = xasprintf(
	    "%s\n\nLlmc-Task: %s\nLlmc-Attempt: %s", task, task, item->attempt);
	xstrset(&item->author_date, "1700000000 +0000");
	xstrset(&item->committer_date, "1700000000 +0000");
	landings_share(landing_world.landings, item);
	return item;
}

static void
origin_has(const char *want)
{
	ck_assert_str_eq(
	    floor_world_sh("git --git-dir=\"$B/origin\" log --format=%s, main "
			   "| tr -d '\\n'"),
	    want);
}

TEST(submitted_work_waits_for_the_host_that_lands)
{
	struct agent *agent;
	struct landing_item *item;
	struct floor_call *call;

	begin("upstream = \"push\"");
	agent = landing_world_work("adam", "b.txt", "two");
	xstrset(&agent->worker->task, "t1");
	call = floor_world_call("worker.accept", "adam", "");
	landing_world_wait(agent, "queued");
	item = record()->items[0];
	ck_assert_int_eq(item->step, ITEM_SUBMITTED);
	ck_assert_str_eq(item->attempt, "3/ant/b1");
	ck_assert_ptr_nonnull(strstr(
	    item->message, "\n\nLlmc-Task: t1-ant\nLlmc-Attempt: 3/ant/b1"));
	ck_assert_int_eq(changes, 1);
	floor_world_settle();
	ck_assert(!floor_call_is_answered(call));
	ck_assert(!landings_withdraw(landing_world.landings, "t1"));
	landing_world_main("first,");
	landings_landed_elsewhere(
	    landing_world.landings, item, floor_world_sh("git rev-parse main"));
	ck_assert_ptr_null(floor_world_answer(call));
	floor_world_wait_status(agent, WORKER_OFFLINE);
	landing_world_told("landed adam; ended adam landed; ");
	ck_assert_uint_eq(record()->count, 0);
}

static int wanted;

static bool
frees(void *arg, struct agent *agent, const char *task)
{
	(void)arg;
	ck_assert_str_eq(agent->worker->name, "adam");
	ck_assert_str_eq(task, "t1");
	wanted++;
	return false;
}

/* Auto mode is asked whether it needs the worker for another task. */
TEST(worker_of_work_that_waits_for_five_minutes_could_do_something_else)
{
	static const struct landing_policy policy = { .frees = frees };
	struct agent *agent;
	struct landing_item *item;
	struct floor_call *call;

	begin("upstream = \"push\"");
	agent = landing_world_work("adam", "b.txt", "two");
	xstrset(&agent->worker->task, "t1");
	call = floor_world_call("worker.accept", "adam", "");
	landing_world_wait(agent, "queued");
	floor_world_settle();
	landings_set_policy(landing_world.landings, &policy, NULL);
	item = record()->items[0];
	item->approved = false; /* as work of auto mode */
	item->queued_ms = clock_wall_ms() - LANDING_HOLD_MS + 60000;
	landings_kick(landing_world.landings);
	floor_world_settle();
	ck_assert_int_eq(wanted, 0);
	item->queued_ms -= 60001;
	landings_kick(landing_world.landings);
	floor_world_settle();
	ck_assert_int_gt(wanted, 0);
	ck_assert_int_eq(item->step, ITEM_SUBMITTED);
	floor_call_hang_up(call);
}

TEST(submitted_work_that_is_sent_back_is_at_its_worker_again)
{
	struct agent *agent;
	struct floor_call *call;

	begin("upstream = \"push\"");
	agent = landing_world_work("adam", "b.txt", "two");
	xstrset(&agent->worker->task, "t1");
	call = floor_world_call("worker.accept", "adam", "");
	landing_world_wait(agent, "queued");
	landing_world_reopen();
	landings_set_hosts(landing_world.landings, &hosts, NULL);
	agent = fleet_find(floor_world.fleet, "adam");
	floor_world_settle();
	ck_assert_int_eq(record()->items[0]->step, ITEM_SUBMITTED);
	landings_returned(
	    landing_world.landings, record()->items[0], false, "it fails");
	floor_world_wait_status(agent, WORKER_NEEDS_REVIEW);
	ck_assert_str_eq(floor_world_wt("adam", "cat b.txt"), "two");
	ck_assert_uint_eq(record()->count, 0);
	floor_call_hang_up(call);
}

TEST(work_of_other_hosts_lands_with_the_attempt_in_its_commit)
{
	struct landing_item *one, *two;

	begin("upstream = \"push\"");
	one = share("t1", "b.txt", "two");
	two = share("t2", "c.txt", "three");
	floor_world_until(two->step != ITEM_QUEUED);
	ck_assert_int_eq(one->step, ITEM_LANDED);
	ck_assert_int_eq(two->step, ITEM_LANDED);
	landing_world_main("t2,t1,first,");
	origin_has("t2,t1,first,");
	ck_assert_str_eq(
	    floor_world_sh("git log --format='%(trailers:key=Llmc-Attempt,"
			   "valueonly,separator=%x2C)' main~2..main"),
	    "3/ant/b1\n3/ant/b1");
	/* They stay until the others know. */
	floor_world_settle();
	landing_world_reopen();
	floor_world_settle();
	ck_assert_uint_eq(record()->count, 2);
	while (record()->count > 0)
		landings_unshare(landing_world.landings, record()->items[0]);
	landing_world_told("");
}

/* A lander was killed after its push, which nobody knows of. The look at the
 * trailers is what keeps it from landing twice: without it, it does. */
TEST_ROWS(what_the_branch_has_does_not_land_twice, 2)
{
	struct landing_item *item;

	begin("upstream = \"push\"");
	item = share("t1", "b.txt", "two");
	floor_world_until(item->step != ITEM_QUEUED);
	landings_unshare(landing_world.landings, item);
	floor_world_settle(); /* the next item reads the branch again */
	landing_world_meanwhile("b.txt", "three");
	floor_world_sh("git push -q origin main");
	item = share("t1", "b.txt", "two");
	if (_i == 1)
		xstrset(&landing_world.landings->queue->read, item->base);
	floor_world_until(item->step != ITEM_QUEUED);
	ck_assert_int_eq(item->step, ITEM_LANDED);
	landing_world_main(
	    _i == 0 ? "meanwhile,t1,first," : "t1,meanwhile,t1,first,");
	if (_i == 0)
		ck_assert_str_eq(
		    item->commit, floor_world_sh("git rev-parse main~1"));
}

/* Another lander was faster: it has landed one of two. */
TEST(two_landers_land_each_work_once)
{
	struct landing_item *one, *two;

	begin("upstream = \"push\"");
	floor_world_sh("git clone -qb main \"$B/origin\" \"$B/other\"; cd "
		       "\"$B/other\"; echo two >b.txt; git add b.txt; git -c "
		       "user.name=o -c user.email=o@o commit -qm 'else' -m "
		       "'Llmc-Task: t1\nLlmc-Attempt: 3/ant/b1'; cd \"$R\"; "
		       "git config remote.origin.receivepack \"git -C "
		       "'$B/other' push -q '$B/origin' HEAD:main 2>&-; "
		       "git-receive-pack\"");
	one = share("t1", "b.txt", "two");
	two = share("t2", "c.txt", "three");
	floor_world_until(two->step != ITEM_QUEUED);
	ck_assert_int_eq(one->step, ITEM_LANDED);
	ck_assert_int_eq(two->step, ITEM_LANDED);
	landing_world_main("t2,else,first,");
	origin_has("t2,else,first,");
}

TEST(nothing_lands_while_origin_is_away)
{
	struct landing_item *item;

	unit_hurry(30);
	begin("upstream = \"push\"");
	floor_world_sh("mv \"$B/origin\" \"$B/away\"");
	item = share("t1", "b.txt", "two");
	floor_world_settle();
	ck_assert_int_eq(item->step, ITEM_QUEUED);
	landing_world_main("first,");
	floor_world_sh("mv \"$B/away\" \"$B/origin\"");
	floor_world_until(item->step != ITEM_QUEUED);
	origin_has("t1,first,");
}

TEST(work_that_conflicts_is_sent_back_with_words)
{
	struct landing_item *item;

	begin("upstream = \"push\"");
	item = share("t1", "b.txt", "two");
	landing_world_meanwhile("b.txt", "three");
	floor_world_until(item->step != ITEM_QUEUED);
	ck_assert_int_eq(item->step, ITEM_EJECTED);
	ck_assert(item->conflict);
	ck_assert_str_eq(item->words, "b.txt");
}
