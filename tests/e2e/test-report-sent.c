/* SPDX-License-Identifier: ISC */

/* people.report_command: once for each run and day, whatever happens to the
 * daemon; and what a person is told if it fails. */
#include "overrun.h"

void
unit_before(void)
{
	over_begin();
	e2e_notify(fleet_root(),
	    e2e_path("cat >'%s'.$$; cat '%s'.$$ >>'%s'", e2e_scratch("told"),
		e2e_scratch("told"), e2e_scratch("told")));
	e2e_write(e2e_scratch("sent"), "");
}

/* A line of "sent" for each report: whose it is; then the command. */
static void
send_with(const char *command)
{
	auto_set("people.report_command",
	    e2e_path("grep -o '\"run\": [^,]*' >>'%s'; %s", e2e_scratch("sent"),
		command));
}

static void
wait_sent(const char *run)
{
	auto_wait_shell(
	    e2e_path("grep -q '%s' '%s'", run, e2e_scratch("sent")));
}

static void
expect_sent(const char *lines)
{
	ck_assert_str_eq(e2e_read(e2e_scratch("sent")), lines);
}

/* A person was told this, once. */
static void
expect_told_once(const char *words)
{
	auto_wait_shell(
	    e2e_path("grep '\"class\":\"settings\"' '%s' | grep -qF '%s'",
		e2e_scratch("told"), words));
	ck_assert_str_eq(
	    e2e_sh(NULL,
		e2e_path("grep -c 'report_command' '%s'", e2e_scratch("told")))
		->out,
	    "1\n");
}

/* The report of a day is owed when the next daemon begins. */
static void
owe_a_day(void)
{
	auto_set("people.report_at", "07:00");
	e2e_write(e2e_path("%s/.llmc/report.json", fleet_root()),
	    "{\"run\": null, \"at\": \"07:00\", \"next_ms\": 1000}");
}

const int unit_timeout = 120; /* seconds, each */

/* --- once ------------------------------------------------------------ */

TEST(a_run_under_an_overseer_is_reported_once_at_its_end)
{
	int daemon;

	send_with("true");
	over_remedy(0, "fake: run true");
	auto_task("a.md", "A\nfake: commit a.txt x\n");
	over_start();
	daemon = over_daemon(0);
	auto_wait_finished("landed", 1);
	fleet_kill(daemon);
	over_daemon(daemon);
	auto_task("b.md", "B\nfake: commit b.txt x\n");
	auto_wait_finished("landed", 2);
	expect_sent("");
	over_stop();
	wait_sent("r1");
	auto_wait_shell("ls .llmc/reports/sending/r1.status");
	over_start();
	auto_wait_shell("grep -q r2 .llmc/report.json");
	over_stop();
	wait_sent("r2");
	expect_sent("\"run\": \"r1\"\n\"run\": \"r2\"\n");
}

TEST(a_day_is_reported_once_if_the_daemon_is_killed_meanwhile)
{
	send_with(auto_gate("mail"));
	owe_a_day();
	auto_up(NULL);
	auto_wait_gate("mail");
	auto_kill9_daemon();
	auto_up(NULL);
	auto_open_gate("mail");
	wait_sent("r1"); /* which was killed */
	auto_wait_shell("! ls .llmc/reports/sending/*.json");
	expect_sent("\"run\": null\n\"run\": \"r1\"\n");
	auto_set("people.report_command", "");
	auto_drain();
}

TEST(a_command_goes_on_when_its_daemon_has_ended_with_the_run)
{
	send_with(e2e_path(
	    "%s; echo after >>'%s'", auto_gate("mail"), e2e_scratch("sent")));
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_wait_gate("mail");
	auto_open_gate("mail");
	wait_sent("after");
	auto_set("people.report_command", "");
	auto_up(NULL);
	auto_wait_shell("! ls .llmc/reports/sending/*.json");
	auto_drain();
	expect_sent("\"run\": \"r1\"\nafter\n");
	ck_assert(!e2e_exists(e2e_scratch("told")));
}

/* --- what fails ------------------------------------------------------ */

TEST(a_person_is_told_once_that_a_report_was_not_sent)
{
	send_with("echo no such host >&2; exit 3");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_wait_shell("ls .llmc/reports/sending/r1.status");
	auto_set("people.report_command", "");
	auto_up(NULL); /* the daemon of the run has ended */
	expect_told_once("exited with status 3: no such host; the report is "
			 "in .llmc/reports/r1.html");
	ck_assert_int_eq(auto_events("report_failed", "r1"), 1);
	auto_drain();
	auto_up(NULL);
	auto_drain();
	expect_told_once("no such host");
	expect_sent("\"run\": \"r1\"\n");
}

TEST(what_a_command_prints_is_kept_within_bounds)
{
	send_with("yes | head -c 20000000; exit 3");
	owe_a_day();
	auto_up(NULL);
	expect_told_once("exited with status 3");
	auto_wait_shell("! ls .llmc/reports/sending/*.json");
	e2e_expect(e2e_sh(fleet_root(),
		       "find .llmc/reports -size +2000k | grep -q . && exit 1; "
		       "ls .llmc/reports/*.log"),
	    0, NULL);
	auto_set("people.report_command", "");
	auto_drain();
}

TEST(a_command_that_hangs_is_ended_and_told)
{
	send_with(auto_gate("mail"));
	owe_a_day();
	auto_up(NULL);
	auto_wait_gate("mail");
	auto_kill9_daemon();
	/* It began long ago. */
	e2e_expect(e2e_sh(fleet_root(),
		       "sed -i 's/\"started_unix_ms\": *[0-9]*/"
		       "\"started_unix_ms\": 1000/' "
		       ".llmc/reports/sending/*.json"),
	    0, NULL);
	auto_set("people.report_command", "");
	auto_up(NULL);
	expect_told_once("took longer than 5 minutes");
	auto_wait_shell("! ls .llmc/reports/sending/*.json");
	auto_drain();
	expect_sent("\"run\": null\n");
}
