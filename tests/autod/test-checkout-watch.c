/* SPDX-License-Identifier: ISC */

/* When a checkout that is in the way is looked at again: the rules in virtual
 * time, and the queue that follows them. */
#include "landing-world.h"
#include "landing-private.h"
#include "settings.h"
#include "watch.h"

/* --- the rules -------------------------------------------------------- */

static struct {
	struct loop *loop;
	struct checkout_watch *watch;
	const char *places[3];
	int looks;
	int64_t looked_ms;
	bool dirty; /* what a look finds */
} rule;

static void
rule_look(void *arg)
{
	(void)arg;
	rule.looks++;
	rule.looked_ms = clock_mono_ms();
	if (rule.dirty)
		checkout_watch_wait(rule.watch, rule.places);
	else
		checkout_watch_end(rule.watch);
}

static void
stop(void *arg)
{
	loop_stop(arg, 0);
}

/* The looks while that time passes. */
static int
pass(int64_t ms)
{
	struct loop_timer *timer = loop_after(rule.loop, ms, stop, rule.loop);

	rule.looks = 0;
	loop_run(rule.loop);
	loop_timer_free(timer);
	return rule.looks;
}

static void
write_text(const char *path, const char *text)
{
	ck_assert_int_eq(
	    file_append(path, text, strlen(text), 0600, false, NULL), 0);
}

/* Two files are in the way; they have been looked at. */
static void
rule_begin(int without)
{
	clock_virtual_begin(1000000, 1000000);
	watch_disable_inotify(without == 1);
	memset(&rule, 0, sizeof rule);
	rule.loop = loop_new();
	rule.dirty = true;
	rule.places[0] = unit_path("index");
	rule.places[1] = unit_path("deep/er/file");
	write_text(rule.places[0], "x");
	rule.watch = checkout_watch_new(rule.loop, rule_look, NULL);
	checkout_watch_looks(rule.watch);
	checkout_watch_wait(rule.watch, rule.places);
	/* They may have changed just before they were watched. */
	ck_assert_int_eq(pass(5 * CHECKOUT_WATCH_SPACE_MS), 1);
}

static void
rule_end(void)
{
	checkout_watch_free(rule.watch);
	loop_free(rule.loop);
	watch_disable_inotify(false);
	clock_virtual_end();
}

TEST_ROWS(a_change_is_looked_at_soon, 2)
{
	int64_t begun;

	rule_begin(_i);
	begun = clock_mono_ms();
	write_text(rule.places[0], "y");
	rule.dirty = false;
	ck_assert_int_eq(pass(CHECKOUT_WATCH_LOOK_MS), 1);
	if (_i == 0)
		ck_assert_int_le(
		    rule.looked_ms - begun, CHECKOUT_WATCH_SETTLE_MS);
	/* Nobody waits any more. */
	ck_assert(!checkout_watch_waits(rule.watch));
	write_text(rule.places[0], "z");
	ck_assert_int_eq(pass(2 * CHECKOUT_WATCH_LOOK_MS), 0);
	rule_end();
}

TEST_ROWS(without_a_change_it_is_looked_at_at_times, 2)
{
	rule_begin(_i);
	ck_assert_int_eq(pass(CHECKOUT_WATCH_LOOK_MS * 7 / 2), 3);
	rule_end();
}

static void
scribble(void *arg)
{
	(void)arg;
	write_text(rule.places[0], "more");
}

/* Changes without end neither put it off nor make more of them. */
TEST(many_changes_make_a_look_a_second)
{
	struct loop_timer *timer;

	rule_begin(0);
	timer = loop_every(
	    rule.loop, CHECKOUT_WATCH_SETTLE_MS / 10, scribble, NULL);
	ck_assert_int_le(pass(20 * CHECKOUT_WATCH_SPACE_MS), 20);
	ck_assert_int_ge(pass(20 * CHECKOUT_WATCH_SPACE_MS), 18);
	loop_timer_free(timer);
	rule_end();
}

/* It may lie in a folder that is not there either. */
TEST_ROWS(a_file_that_appears_is_a_change, 2)
{
	rule_begin(_i);
	ck_assert_int_eq(mkdir(unit_path("deep"), 0700), 0);
	ck_assert_int_ge(pass(5 * CHECKOUT_WATCH_SPACE_MS), 1);
	ck_assert_int_eq(mkdir(unit_path("deep/er"), 0700), 0);
	ck_assert_int_ge(pass(5 * CHECKOUT_WATCH_SPACE_MS), 1);
	ck_assert_int_eq(pass(5 * CHECKOUT_WATCH_SPACE_MS), 0);
	write_text(rule.places[1], "x");
	ck_assert_int_eq(pass(5 * CHECKOUT_WATCH_SPACE_MS), 1);
	ck_assert_int_eq(unlink(rule.places[1]), 0);
	rmdir(unit_path("deep/er"));
	rmdir(unit_path("deep"));
	ck_assert_int_ge(pass(5 * CHECKOUT_WATCH_SPACE_MS), 1);
	rule_end();
}

/* The look may have seen it as it was before. */
TEST(a_change_during_a_look_is_not_missed)
{
	rule_begin(0);
	checkout_watch_looks(rule.watch);
	ck_assert(!checkout_watch_waits(rule.watch));
	write_text(rule.places[0], "y");
	ck_assert_int_eq(pass(CHECKOUT_WATCH_LOOK_MS), 0);
	checkout_watch_wait(rule.watch, rule.places);
	ck_assert_int_eq(pass(CHECKOUT_WATCH_SPACE_MS), 1);
	ck_assert_int_eq(pass(CHECKOUT_WATCH_LOOK_MS / 2), 0);
	rule_end();
}

/* --- the queue -------------------------------------------------------- */

static bool
may_move(void *arg)
{
	return !((struct landing_world *)arg)->may_not_begin;
}

/* As auto mode does with its tasks. */
static bool
keeps(void *arg, const char *task)
{
	(void)arg;
	(void)task;
	return true;
}

static void
begin(const char *settings)
{
	static const struct landing_policy policy = { .may_move = may_move,
		.keeps = keeps };

	landing_world_begin(settings);
	ck_assert_int_eq(settings_override(floor_world.core->settings,
			     "repo.dirty_checkout", "wait", NULL),
	    0);
	landings_set_policy(landing_world.landings, &policy, &landing_world);
}

/* The accepts of this many workers meet the checkout. */
static void
accept_all(int count)
{
	struct floor_call *calls[10];

	ck_assert_int_le(count, (int)nitems(calls));
	for (int i = 0; i < count; i++) {
		cleanup_free char *name = xasprintf("w%d", i);
		cleanup_free char *file = xasprintf("new%d.txt", i);

		xstrset(
		    &landing_world_work(name, file, "two")->worker->task, name);
	}
	landing_world.may_not_begin = true;
	for (int i = 0; i < count; i++) {
		cleanup_free char *name = xasprintf("w%d", i);

		calls[i] = floor_world_call("worker.accept", name, "");
		landing_world_wait(
		    fleet_find(floor_world.fleet, name), "queued");
	}
	landing_world.may_not_begin = false;
	landings_kick(landing_world.landings);
	for (int i = 0; i < count; i++)
		ck_assert_ptr_nonnull(
		    strstr(floor_world_answer(calls[i]), "stays in the queue"));
}

/* Everything lands long before the next look that nothing has caused. */
static void
lands_at_once(void)
{
	int64_t begun = clock_mono_ms();

	floor_world_until(floor_world.core->state.landings.count == 0);
	ck_assert_int_lt(clock_mono_ms() - begun, CHECKOUT_WATCH_LOOK_MS / 2);
	landing_world_end();
}

static const char *const ways[][2] = {
	{ "echo mine >new0.txt", "rm new0.txt" },
	{ "echo mine >a.txt", "echo one >a.txt" },
	{ "mv a.txt ..", "mv ../a.txt ." },
	{ "git checkout -q -b other; git worktree add -q \"$B/x\" main; "
	  "echo mine >\"$B/x/new0.txt\"",
	    "rm \"$B/x/new0.txt\"" },
	{ "git checkout -q -b other; git worktree add -q \"$B/x\" main; "
	  "echo mine >>\"$B/x/a.txt\"",
	    "git -C \"$B/x\" checkout -q a.txt" },
	{ "echo mine >a.txt", "git checkout -q -b other" },
	{ "git checkout -q -b side; echo s >s; git add s; git commit -qm s; "
	  "git checkout -q main; git merge -q --no-ff --no-commit side",
	    "git merge --abort" },
};

TEST_ROWS(a_checkout_that_is_clean_again_is_noticed, nitems(ways))
{
	begin(NULL);
	floor_world_sh(ways[_i][0]);
	accept_all(1);
	floor_world_settle();
	floor_world_sh(ways[_i][1]);
	lands_at_once();
}

static void
let_pass(int64_t ms)
{
	int64_t end = clock_mono_ms() + ms;

	floor_world_until(clock_mono_ms() >= end);
}

/* Without a change there is none. */
TEST(all_who_wait_cause_one_look)
{
	int gits;

	begin(NULL);
	floor_world_sh("echo mine >>a.txt");
	accept_all(10);
	let_pass(2 * CHECKOUT_WATCH_SPACE_MS);
	floor_world_trap(0, "before");
	let_pass(2 * CHECKOUT_WATCH_SPACE_MS);
	ck_assert_int_eq(floor_world_trap_count(), 0);
	floor_world_sh("echo more >>a.txt");
	floor_world_trap(0, "before");
	let_pass(2 * CHECKOUT_WATCH_SPACE_MS);
	gits = floor_world_trap_count();
	ck_assert_msg(gits > 0 && gits <= 8, "%d git commands", gits);
	floor_world_sh("echo one >a.txt");
	lands_at_once();
}
