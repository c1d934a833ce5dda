/* SPDX-License-Identifier: ISC */

/* The failure table, rows 16 to 19: missing resources of the machine and the
 * service. */
#include "enclave.h"
#include "overrun.h"

/* The repair cannot write its own files either: a person is needed, and
 * told. */
START_TEST(a_full_disk_needs_a_person)
{
	const char *why = enclave_small_disk(fleet_root(), 4096);
	const char *filler = e2e_path("%s/.llmc/filler", fleet_root());
	int daemon;

	if (why != NULL)
		unit_skip(why);
	auto_task(
	    "a.md", "A\nfake: commit work.txt x\nfake: run %s", auto_gate("a"));
	over_start();
	daemon = over_daemon(0);
	auto_wait_gate("a");
	e2e_sh(fleet_root(),
	    "cat /dev/zero >.llmc/filler 2>/dev/null\n"
	    "until ! echo x >>.llmc/filler; do :; done 2>/dev/null");
	auto_open_gate("a");
	over_ends(OVER_UNREPAIRED, "No space left on device");
	e2e_has(over_output(), "Fix the cause, then: llmc overseer");
	/* A person frees some space. */
	ck_assert_int_eq(remove(filler), 0);
	over_start();
	ck_assert_int_ne(over_daemon(0), daemon);
	over_finish();
	enclave_release_disk(fleet_root());
}
END_TEST

/* As the kernel does when memory is short: SIGKILL, again and again. */
START_TEST(a_daemon_that_keeps_being_killed_needs_a_person)
{
	int daemon;

	over_remedy(0, "fake: say There is nothing to repair.");
	over_start();
	daemon = over_kill_twice();
	ck_assert(over_recovers(0, "SIGKILL", daemon));
	daemon = over_daemon(daemon);
	fleet_kill(daemon);
	over_ends(OVER_SPIRAL, "a failure spiral");
	e2e_has(over_output(), "SIGKILL");
	over_remembers("failure", "SIGKILL", 3);
	/* The verdict stays until a person has looked at it. */
	ck_assert_int_eq(over_run(NULL), OVER_SPIRAL);
	e2e_has(over_output(), "--clear");
	ck_assert_int_eq(over_run("--clear", "more memory", NULL), 0);
	auto_task("a.md", "A\nfake: commit work.txt x");
	over_start();
	over_daemon(daemon);
	over_finish();
}
END_TEST

static const char *
in_seconds(int seconds)
{
	return e2e_path("%lld", (long long)(clock_wall_ms() / 1000 + seconds));
}

/* Longer than the stall timeout, but not a stall; and not before its end. */
START_TEST(a_usage_limit_is_waited_for)
{
	int64_t until;
	int daemon;

	auto_set("overseer.stall_timeout", "4s");
	auto_task("a.md", "A\nfake: commit work.txt x");
	over_start();
	daemon = over_daemon(0);
	until = clock_wall_ms() / 1000 + 10;
	auto_ails(e2e_path("fake: limit You've hit your limit, resets at %lld",
	    (long long)until));
	auto_wait_event("waiting", "hit your limit");
	auto_ails("");
	auto_wait_state("workers.auto-1.status", "limited");
	auto_wait_finished("landed", 1);
	ck_assert_int_ge(clock_wall_ms() / 1000, until);
	over_undisturbed(daemon);
	over_finish();
}
END_TEST

static void
lose_network(int seconds)
{
	auto_ails(e2e_path("fake: fail 529 Connection error, resets at %s",
	    in_seconds(seconds)));
}

/* A short outage is waited for; a long one needs a person, since a repair would
 * have no network either. */
START_TEST(an_outage_is_waited_for_then_needs_a_person)
{
	int daemon;

	lose_network(2);
	auto_task("a.md", "A\nfake: commit work.txt x");
	over_start();
	daemon = over_daemon(0);
	auto_wait_event("waiting", "Connection error");
	auto_ails("");
	auto_wait_finished("landed", 1);
	over_undisturbed(daemon);
	auto_tune("outage_limit=1000");
	auto_set("auto.max_turns", "9"); /* the daemon reads both */
	lose_network(3);
	auto_task("b.md", "B\nfake: commit more.txt x");
	auto_wait_events("waiting", "Connection error", 2);
	lose_network(6);
	over_ends(OVER_UNREPAIRED, "No repair can help");
	e2e_has(over_output(), "Connection error");
	over_remembers("failure", "\"outage\"", 1);
	over_remembers("remedy", NULL, 0);
	auto_ails("");
	over_start();
	ck_assert_int_ne(over_daemon(0), daemon);
	auto_wait_finished("landed", 2);
	over_stop();
	auto_history("work.txt: x", "more.txt: x", NULL);
}
END_TEST

Suite *
unit_suite(void)
{
	const struct over_test tests[] = {
		{ "16", a_full_disk_needs_a_person },
		{ "17", a_daemon_that_keeps_being_killed_needs_a_person },
		{ "18", a_usage_limit_is_waited_for },
		{ "19", an_outage_is_waited_for_then_needs_a_person },
	};

	return over_suite("failure-table-resources", tests, nitems(tests));
}
