/* SPDX-License-Identifier: ISC */

/* The first run on a machine: what Claude Code, git and the settings lack is
 * told before anything starts, and what is lost later is told too. */
#include "overrun.h"

/* An agent that is called claude: its first dialogs are known. It is logged in
 * unless there is a file logged-out. */
static void
call_it_claude(void)
{
	const char *claude = e2e_path("%s/claude", unit_scratch());
	const char *fake =
	    fleet_do("config", "get", "defaults.agent_command", NULL)->out;

	e2e_script(claude,
	    e2e_path(
		"#!/bin/sh\n"
		"[ \"$1\" = auth ] || exec '%.*s' \"$@\"\n"
		"[ ! -e '%s/logged-out' ] || { echo '{\"loggedIn\":false}'; "
		"exit 1; }\n"
		"echo '{\"loggedIn\":true}'\n",
		(int)strcspn(fake, "\n"), fake, unit_scratch()));
	auto_set("defaults.agent_command", claude);
}

void
unit_before(void)
{
	over_begin();
	call_it_claude();
}

static const char *
messages(void)
{
	return e2e_path("%s/messages", unit_scratch());
}

static void
tell_me(void)
{
	e2e_notify(fleet_root(),
	    e2e_path(
		"tr -d '\\n' >>'%s'; echo >>'%s'", messages(), messages()));
}

/* Messages about a login or trust. */
static int
told(void)
{
	return (int)strtol(
	    e2e_sh(NULL,
		e2e_path("grep -c '\"class\": *\"login\"' '%s'", messages()))
		->out,
	    NULL, 10);
}

/* --- before the start -------------------------------------------------- */

/* What to type stands alone on its line. */
static void
has_remedies(const char *text)
{
	static const char *const lines[] = { "llmc doctor trust --onboarding",
		"claude auth login", "llmc doctor trust",
		"git config user.name NAME; git config user.email ADDRESS",
		"llmc config set repo.default_branch BRANCH",
		"llmc config set budget.day_cost DOLLARS" };

	for (size_t i = 0; i < nitems(lines); i++)
		e2e_has(text, e2e_path("\n      %s\n", lines[i]));
}

static void
take_everything_away(void)
{
	e2e_write(e2e_path("%s/logged-out", unit_scratch()), "");
	e2e_git(fleet_root(), "config", "user.useConfigOnly", "true", NULL);
	e2e_git(fleet_root(), "config", "--unset", "user.email", NULL);
	auto_set("repo.default_branch", "nowhere");
}

static void
give_everything_back(void)
{
	ck_assert_int_eq(unlink(e2e_path("%s/logged-out", unit_scratch())), 0);
	e2e_git(
	    fleet_root(), "config", "user.email", "x@example.invalid", NULL);
	auto_set("repo.default_branch", "main");
	fleet_do("doctor", "trust", "--onboarding", NULL);
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_missing_tmux_or_agent_is_noticed)
{
	struct e2e_run *run;

	auto_set("tmux.command", "/no/such/tmux");
	auto_set("defaults.agent_command", "no-such-claude");
	auto_set("overseer.remediation_prompt", "Repair it.");
	run = e2e_llmc(fleet_root(), "up", "--check", NULL);
	e2e_expect(run, 1, NULL);
	e2e_has(run->out, "/no/such/tmux (tmux.command)");
	e2e_has(run->out, "no-such-claude (defaults.agent_command)");
	run = e2e_llmc(fleet_root(), "overseer", "--check", NULL);
	e2e_expect(run, OVER_REFUSED, NULL);
	e2e_has(run->out, "/no/such/tmux (tmux.command)");
	e2e_has(run->out, "no-such-claude (defaults.agent_command)");
}

TEST(what_is_missing_is_one_list_and_nothing_starts)
{
	struct e2e_run *run;

	e2e_skip_sandboxed("a box has the answers to the first dialogs");
	auto_task("t", "fake: commit a.txt x");
	take_everything_away();
	run = e2e_llmc(fleet_root(), "up", "--check", NULL);
	e2e_expect(run, 1, NULL);
	has_remedies(run->out);
	e2e_has(run->out, "\nAuto mode cannot start.\n");
	run = e2e_llmc(fleet_root(), "up", "--auto", "--until-empty", NULL);
	e2e_expect(run, 1, "not started: 5 checks failed");
	has_remedies(run->err);
	run = e2e_llmc(fleet_root(), "overseer", NULL);
	e2e_expect(run, OVER_REFUSED, "not started: 5 checks failed");
	has_remedies(run->err);
	run = e2e_llmc(fleet_root(), "overseer", "--check", NULL);
	e2e_expect(run, OVER_REFUSED, NULL);
	has_remedies(run->out);
	ck_assert(!e2e_exists(e2e_path("%s/.llmc/llmc.db", fleet_root())));
	give_everything_back();
	e2e_has(fleet_do("up", "--check", NULL)->out, "Auto mode can start.");
	e2e_has(fleet_do("overseer", "--check", NULL)->out,
	    "The overseer can start.");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(auto_landed(), 1);
}

static void
json_says(const char *command, int status, bool ok)
{
	struct json_object *json = e2e_json(
	    e2e_llmc(fleet_root(), "--json", command, "--check", NULL), status);

	ck_assert_int_eq(json_bool_or(json, "ok", !ok), ok);
	ck_assert_str_eq(auto_member(json, "checks.0.name"), "login");
	ck_assert_str_eq(
	    auto_member(json, "checks.0.status"), ok ? "ok" : "fail");
}

TEST(programs_get_the_list_as_json)
{
	fleet_do("doctor", "trust", "--onboarding", NULL);
	json_says("up", 0, true);
	json_says("overseer", 0, true);
	e2e_write(e2e_path("%s/logged-out", unit_scratch()), "");
	json_says("up", 1, false);
	json_says("overseer", OVER_REFUSED, false);
	e2e_json_error(e2e_llmc(fleet_root(), "--json", "up", "--auto", NULL),
	    1, "not_ready", "llmc up --check");
}

/* Root is asked before Claude Code would refuse. */
TEST(root_must_allow_what_it_risks)
{
	struct e2e_run *run;

	fleet_do("doctor", "trust", "--onboarding", NULL);
	fleet_do("config", "unset", "defaults.allow_root", NULL);
	run = e2e_llmc(fleet_root(), "up", "--check", NULL);
	if (geteuid() != 0) {
		e2e_expect(run, 0, NULL);
		return;
	}
	e2e_expect(run, 1, NULL);
	e2e_has(run->out, "\n      llmc config set defaults.allow_root true\n");
	auto_set("defaults.permission_mode", "acceptEdits");
	fleet_do("up", "--check", NULL);
}

TEST(unknown_keys_are_warned_of)
{
	static const char warning[] =
	    "config.toml:1: tmux.comand: no such setting; did you mean";
	const char *config = e2e_path("%s/.llmc/config.toml", fleet_root());

	fleet_do("doctor", "trust", "--onboarding", NULL);
	e2e_write(config, e2e_path("tmux.comand = 3\n%s", e2e_read(config)));
	auto_task("t", "fake: commit a.txt x");
	e2e_has(fleet_do("up", "--check", NULL)->out, warning);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	e2e_has(auto_output(), warning);
	over_start();
	over_daemon(0);
	e2e_has(over_output(), warning);
	over_stop();
}

/* Where no branch is checked out, messages do not name an empty one. */
TEST(a_detached_head_has_no_branch)
{
	static const char type[] =
	    "type: llmc config set repo.default_branch BRANCH";

	fleet_do("doctor", "trust", "--onboarding", NULL);
	fleet_do("config", "unset", "repo.default_branch", NULL);
	e2e_git(fleet_root(), "checkout", "-q", "--detach", NULL);
	fleet_up();
	e2e_has(fleet_do("status", NULL)->out, type);
	e2e_has(fleet_do("landing", NULL)->out, "Nothing waits to land.\n");
	fleet_fails(type, "add", "adam", NULL);
	fleet_do("down", NULL);
	e2e_has(e2e_llmc(fleet_root(), "up", "--auto", NULL)->err,
	    "\n      llmc config set repo.default_branch BRANCH\n");
}

/* Before a task has cost anything. */
TEST(a_check_that_fails_on_the_branch_is_asked_about)
{
	fleet_do("doctor", "trust", "--onboarding", NULL);
	auto_tune("trial=1");
	auto_set("auto.check_command",
	    e2e_path("echo words; %s; test -e ready", auto_gate("g")));
	auto_task("t", "fake: commit a.txt x");
	auto_up(NULL);
	auto_wait_gate("g");
	auto_wait_shell("\"$LLMC\" status | grep -q 'The first task waits'");
	e2e_has(fleet_do("landing", NULL)->out, "main itself");
	auto_open_gate("g");
	auto_wait_event("intake_stopped", "main itself fails its check");
	e2e_has(fleet_do("asks", NULL)->out, "llmc resume");
	e2e_has(fleet_do("status", NULL)->out, "auto.check_command works");
	ck_assert_int_eq(auto_events("task_assigned", NULL), 0);
	auto_set("auto.check_command", "true");
	auto_wait_finished("landed", 1);
	auto_drain();
	/* It has passed: the next run does not try it. */
	auto_task("u", "fake: commit u.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(auto_events("check_begins", "main itself"), 3);
}

/* --- met later --------------------------------------------------------- */

TEST(a_worker_that_waits_for_trust_goes_on_by_itself)
{
	e2e_skip_sandboxed("a box has the answers to the first dialogs");
	tell_me();
	fleet_up();
	fleet_do("add", "adam", NULL);
	fleet_wait("adam", "paused");
	fleet_do("add", "eve", NULL);
	fleet_wait("eve", "paused");
	e2e_has(
	    fleet_do("status", NULL)->out, "llmc doctor trust --onboarding");
	auto_wait_shell(
	    e2e_path("grep -q 'llmc doctor trust' '%s'", messages()));
	fleet_do("doctor", "trust", "--onboarding", NULL);
	fleet_wait("adam", "idle");
	fleet_wait("eve", "idle");
	/* For all of them once. */
	ck_assert_int_eq(told(), 1);
	fleet_start("adam", "fake: commit a.txt x");
	fleet_wait("adam", "needs_review");
}

TEST(a_new_daemon_waits_for_trust_too)
{
	e2e_skip_sandboxed("a box has the answers to the first dialogs");
	fleet_up();
	fleet_do("add", "adam", NULL);
	fleet_wait("adam", "paused");
	fleet_do("down", NULL);
	fleet_up();
	ck_assert_str_eq(fleet_status("adam"), "paused");
	fleet_do("doctor", "trust", "--onboarding", NULL);
	fleet_wait("adam", "idle");
}

/* Given while no daemon was there to see it. */
TEST(a_new_daemon_finds_the_trust_given)
{
	e2e_skip_sandboxed("a box has the answers to the first dialogs");
	fleet_up();
	fleet_do("add", "adam", NULL);
	fleet_wait("adam", "paused");
	fleet_do("down", NULL);
	fleet_do("doctor", "trust", "--onboarding", NULL);
	fleet_up();
	fleet_wait("adam", "idle");
}

TEST(a_worker_that_root_must_allow_goes_on_by_itself)
{
	if (geteuid() != 0)
		return;
	fleet_do("doctor", "trust", "--onboarding", NULL);
	fleet_do("config", "set", "defaults.allow_root", "false", NULL);
	fleet_up();
	fleet_do("add", "adam", NULL);
	fleet_wait("adam", "paused");
	fleet_do("config", "set", "defaults.allow_root", "true", NULL);
	fleet_wait("adam", "idle");
}

/* It may come back: an incident of the service, or a person logs in again. */
TEST(a_login_that_is_refused_is_tried_again)
{
	tell_me();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	auto_tune("login_probe=300");
	auto_task("t",
	    "fake: commit t.txt x\nfake: fail authentication_failed Not "
	    "logged in");
	ck_assert_int_eq(
	    auto_run("--until-empty", "--concurrency", "1", NULL), 0);
	ck_assert_int_eq(auto_landed(), 1);
	ck_assert_int_eq(auto_events("waiting", "claude auth login"), 1);
	ck_assert_int_eq(told(), 0);
}

/* A person is told in the end, once, and the run ends after hours in vain. */
TEST(a_lost_login_ends_the_run)
{
	tell_me();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	auto_tune("login_probe=200 login_ask=1 outage_limit=3000");
	auto_ails("fake: fail authentication_failed Not logged in");
	auto_task("t", "Do it.");
	auto_task("u", "fake: commit u.txt x");
	ck_assert_int_eq(
	    auto_run("--until-empty", "--concurrency", "1", NULL), 1);
	auto_failed("login", "claude auth login");
	auto_wait_shell(
	    e2e_path("grep -q 'claude auth login' '%s'", messages()));
	ck_assert_int_eq(told(), 1);
	/* The task is not lost. */
	ck_assert_int_eq(auto_finished(NULL), 0);
}

/* Nor one without trust, which a session that died needs again. */
TEST(lost_trust_ends_the_run)
{
	const char *home = e2e_path("%s/.claude.json", getenv("HOME"));

	e2e_skip_sandboxed("a box has the answers to the first dialogs");
	tell_me();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	auto_task("t", "fake: run %s", auto_gate("g"));
	auto_up("--until-empty", "--concurrency", "1", NULL);
	auto_wait_gate("g");
	ck_assert_int_eq(unlink(home), 0);
	fleet_kill(fleet_agent_pid("auto-1"));
	ck_assert_int_eq(auto_wait_exit(), 1);
	auto_failed("login", "llmc doctor trust");
	auto_wait_shell(
	    e2e_path("grep -q 'llmc doctor trust' '%s'", messages()));
	ck_assert_int_eq(told(), 1);
	ck_assert_int_eq(auto_finished(NULL), 0);
}

TEST(the_overseer_repairs_no_login)
{
	tell_me();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	auto_tune("login_probe=200 login_ask=1 outage_limit=3000");
	auto_ails("fake: fail authentication_failed Not logged in");
	auto_task("t", "Do it.");
	over_start();
	over_ends(OVER_UNREPAIRED, "log in with: claude auth login");
	e2e_lacks(over_output(), "llmc message");
	over_remembers("remedy", NULL, 0);
	over_remembers("failure", "\"login\"", 1);
	ck_assert_int_eq(told(), 1);
}
