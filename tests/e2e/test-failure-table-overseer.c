/* SPDX-License-Identifier: ISC */

/* The failure table, rows 24 to 27: the repair itself, and the identity of the
 * daemon. */
#include "overrun.h"

#define MEND_POOL                                                      \
	"fake: run printf '#!/bin/sh\\n[ -e \"$0.once\" ] || { touch " \
	"\"$0.once\"; echo \"fake: commit p.txt x\"; }\\n' >'%s/pool.sh'"

static int
session_pid(void)
{
	struct e2e_run *run = e2e_sh(fleet_root(),
	    "tmux -L \"$(\"$LLMC\" config get tmux.socket)\" list-panes -t "
	    "=llmc-overseer -F '#{pane_pid}'");

	ck_assert_msg(run->status == 0, "%s", e2e_shown(run->err));
	return (int)strtol(run->out, NULL, 10);
}

START_TEST(a_repair_session_that_dies_is_started_again)
{
	auto_pool("exit 7");
	over_remedy(
	    0, "fake: run %s\n" MEND_POOL, auto_gate("r"), unit_scratch());
	over_start();
	over_wait_says("Entering remediation mode");
	auto_wait_gate("r");
	fleet_kill(session_pid());
	auto_open_gate("r");
	over_wait_says("another one starts");
	ck_assert(over_recovers(0, "\"task_pool_failed\"", 0));
	auto_wait_landed(1);
	over_stop();
	auto_history("p.txt: x", NULL);
}
END_TEST

START_TEST(a_repair_that_does_not_help_needs_a_person)
{
	auto_pool("exit 7");
	over_remedy(0, "fake: run echo 'exit 8' >'%s/pool.sh'", unit_scratch());
	over_start();
	over_ends(OVER_SPIRAL, "a failure spiral");
	over_remembers("failure", NULL, 2);
	over_remembers("remedy", NULL, 1);
	e2e_has(over_output(), "Evidence: ");
	/* The verdict survives it. */
	ck_assert_int_eq(over_run(NULL), OVER_SPIRAL);
	e2e_has(over_output(), "--clear");
	e2e_script(e2e_path("%s/pool.sh", unit_scratch()),
	    "#!/bin/sh\n[ -e \"$0.once\" ] || { touch \"$0.once\"; echo "
	    "'fake: commit p.txt x'; }\n");
	ck_assert_int_eq(over_run("--clear", "mended by hand", NULL), 0);
	over_start();
	auto_wait_landed(1);
	over_stop();
	auto_history("p.txt: x", NULL);
}
END_TEST

START_TEST(a_repair_that_hangs_needs_a_person)
{
	int session;

	auto_pool("exit 7");
	over_hurry(5);
	auto_set("overseer.remediation_timeout", "15s");
	over_remedy(0, "fake: run touch \"$FLEET/hangs\"\nfake: hang hard");
	over_start();
	over_wait_says("Entering remediation mode");
	auto_wait_shell("[ -e \"$FLEET/hangs\" ]");
	session = session_pid();
	over_ends(OVER_UNREPAIRED, "overseer.remediation_timeout");
	ck_assert(!over_alive(session));
	over_remembers("remedy", "\"timed out\"", 1);
	e2e_has(over_output(), "What was tried: ");
	ck_assert_int_eq(auto_landed(), 0);
}
END_TEST

/* Something writes the registration of another instance, again and again. */
START_TEST(a_registration_of_another_is_repaired)
{
	const char *forger = e2e_path("%s/forger", unit_scratch());
	const char *file = e2e_path("%s/.llmc/daemon.json", fleet_root());
	int daemon;

	over_hurry(5);
	auto_tune("daemon_start=15000");
	over_remedy(_i, "fake: run rm '%s'", forger);
	over_start();
	daemon = over_daemon(0);
	e2e_write(forger, "");
	over_leave_behind(e2e_path(
	    "exec >/dev/null 2>&1 </dev/null\nwhile [ -e '%s' ]; do\n"
	    "[ ! -e '%s' ] || { sed 's/\"instance_id\": *\"[^\"]*\"/"
	    "\"instance_id\":\"another\"/; s/\"pid\": *[0-9]*/\"pid\":1/' '%s' "
	    ">'%s.f' && mv '%s.f' '%s'; }\nsleep 0.05; done",
	    forger, file, file, file, file, file));
	if (!over_recovers(_i, "registration", daemon))
		return;
	ck_assert(!over_alive(daemon));
	auto_task("a.md", "A\nfake: commit work.txt x");
	auto_wait_finished("landed", 1);
	over_stop();
	auto_history("work.txt: x", NULL);
}
END_TEST

Suite *
unit_suite(void)
{
	const struct over_test tests[] = {
		{ "24", a_repair_session_that_dies_is_started_again },
		{ "25", a_repair_that_does_not_help_needs_a_person },
		{ "26", a_repair_that_hangs_needs_a_person },
		{ "27", a_registration_of_another_is_repaired },
	};

	return over_suite("failure-table-overseer", tests, nitems(tests));
}
