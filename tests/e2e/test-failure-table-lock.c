/* SPDX-License-Identifier: ISC */

/* The failure table, row 15: in its own program, since the daemon waits a
 * minute for a git lock file. */
#include "overrun.h"

static void
wait_tries(int tries)
{
	auto_wait_shell(e2e_path("[ $(grep -c 'wait: another git' "
				 ".llmc/logs/autod.log) -ge %d ]",
	    tries));
}

START_TEST(a_git_lock_is_waited_for_then_removed)
{
	const char *lock =
	    e2e_path("%s/.git/refs/heads/main.lock", fleet_root());
	int daemon;

	over_hurry(10);
	e2e_write(lock, "");
	auto_task("a.md", "A\nfake: commit work.txt x");
	over_remedy(_i, "fake: run rm '%s'", lock);
	over_start();
	daemon = over_daemon(0);
	for (int tries = 1; tries <= 6; tries++)
		wait_tries(tries);
	over_undisturbed(daemon);
	if (!over_recovers(_i, "\"git_lock\"", daemon)) {
		over_remembers("failure", "\"git_lock\"", 2);
		ck_assert_int_eq(auto_landed(), 0);
		ck_assert(e2e_exists(lock)); /* nobody else removes it */
		return;
	}
	ck_assert(!e2e_exists(lock));
	auto_wait_finished("landed", 1);
	over_stop();
	auto_history("work.txt: x", NULL);
}
END_TEST

Suite *
unit_suite(void)
{
	const struct over_test tests[] = {
		{ "15", a_git_lock_is_waited_for_then_removed },
	};

	return over_suite("failure-table-lock", tests, nitems(tests));
}
