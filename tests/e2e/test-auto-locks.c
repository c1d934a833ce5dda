/* SPDX-License-Identifier: ISC */

/* Git lock files that are not removed: the tested timeout is longer than a
 * minute, so all of it runs in faster time. */
#include "autorun.h"

#define TRIES 6 /* to land, before it gives up */

void
unit_before(void)
{
	fleet_begin();
	e2e_hurry(10);
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_git_lock_that_stays_stops_the_run)
{
	const char *lock =
	    e2e_path("%s/.git/refs/heads/main.lock", fleet_root());
	struct json_object *failure;

	auto_task("a.md", "fake: commit work.txt x");
	e2e_write(lock, "");
	auto_up(NULL);
	for (int i = 1; i <= TRIES; i++)
		auto_wait_events("landing_waits", "holds a lock", i);
	ck_assert_int_eq(auto_wait_exit(), 1);
	auto_failed("git_lock", "another git process holds a lock");
	failure = auto_failure();
	ck_assert_str_eq(auto_member(failure, "worker"), "auto-1");
	ck_assert_str_eq(auto_member(failure, "task"), "t1");
	ck_assert_int_eq(auto_landed(), 0);
	auto_no_sessions();
	/* It must not be removed. */
	ck_assert(e2e_exists(lock));
	ck_assert_int_eq(remove(lock), 0);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("work.txt: x", NULL);
}
