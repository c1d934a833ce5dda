/* SPDX-License-Identifier: ISC */

/* Failures that are not in the table of the design: a stale heartbeat. */
#include "overrun.h"

static void
finish(void)
{
	auto_task("a.md", "A\nfake: commit work.txt x");
	auto_wait_finished("landed", 1);
	over_stop();
	auto_history("work.txt: x", NULL);
}

START_TEST(a_stopped_daemon_is_noticed)
{
	int daemon;

	over_hurry(5);
	over_start();
	daemon = over_daemon(0);
	ck_assert_int_eq(kill(daemon, SIGSTOP), 0);
	over_wait_says("stopped by a signal");
	over_daemon(daemon);
	over_remembers("failure", "stopped by a signal", 1);
	over_remembers("remedy", NULL, 0);
	ck_assert(!over_alive(daemon));
	finish();
}
END_TEST

/* The loop is stuck in a system call: it does not react to SIGTERM or anything
 * else, and the heartbeat gets stale. */
START_TEST(a_hung_daemon_is_killed_and_repaired)
{
	const char *hang = e2e_path("%s/hang", unit_scratch());
	const char *llmc = e2e_llmc_path();
	int daemon;

	over_hurry(5);
	auto_tune("daemon_stop=5000 daemon_start=15000");
	over_remedy(_i, "fake: run rm '%s'", hang);
	e2e_env(e2e_path("LD_LIBRARY_PATH=%.*s/../../tests/faults",
	    (int)(strrchr(llmc, '/') - llmc), llmc));
	e2e_env("LD_PRELOAD=hang.so");
	e2e_env(e2e_path("LLMC_HANG=%s", hang));
	over_start();
	daemon = over_daemon(0);
	e2e_write(hang, "");
	if (!over_recovers(_i, _i ? "start_failed" : "heartbeat", daemon))
		return;
	ck_assert(!over_alive(daemon));
	e2e_expect(
	    e2e_sh(fleet_root(), "grep -q . .llmc/evidence/*/stack*"), 0, NULL);
	finish();
}
END_TEST

Suite *
unit_suite(void)
{
	const struct over_test tests[] = {
		{ "+1", a_stopped_daemon_is_noticed },
		{ "+2", a_hung_daemon_is_killed_and_repaired },
	};

	return over_suite("failure-table-hangs", tests, nitems(tests));
}
