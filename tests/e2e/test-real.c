/* SPDX-License-Identifier: ISC */

/* Workers with the real Claude Code, on a stub of its API. */
#include "auto-scenarios.h"
#include "autorun.h"
#include "queue-scenarios.h"
#include "scenarios.h"

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	fleet_up();
}

/* Without a daemon: the scenarios of auto mode start their own. */
static void
begin_auto(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
}

static void
begin_untrusted(void)
{
	fleet_begin_real();
	fleet_up();
}

static void
begin_alone(void)
{
	fleet_begin_real();
}

static const char *
reason(const char *worker)
{
	struct json_object *record = fleet_worker(worker);
	const char *words =
	    e2e_path("%s", json_string_or(record, "reason", ""));

	json_object_put(record);
	return words;
}

START_TEST(an_untrusted_repository_waits_for_a_person)
{
	fleet_do("add", "adam", NULL);
	fleet_wait("adam", "paused");
	e2e_has(reason("adam"), "llmc doctor trust");
	fleet_do("doctor", "trust", "--onboarding", NULL);
	fleet_wait("adam", "idle");
	fleet_start("adam", "fake: commit a.txt x");
	fleet_wait("adam", "needs_review");
}
END_TEST

/* A home that has never seen Claude Code, and then one without a login. */
START_TEST(a_first_run_says_what_to_type)
{
	struct e2e_run *run;

	e2e_env("ANTHROPIC_API_KEY");
	run = e2e_llmc(fleet_root(), "up", "--auto", "--until-empty", NULL);
	e2e_expect(run, 1, "not started: 3 checks failed");
	e2e_has(run->err, "\n      llmc doctor trust --onboarding\n");
	e2e_has(run->err, "\n      claude auth login\n");
	fleet_do("doctor", "trust", "--onboarding", NULL);
	run = e2e_llmc(fleet_root(), "up", "--auto", "--until-empty", NULL);
	e2e_expect(run, 1, "not started: 1 check failed");
	e2e_env("ANTHROPIC_AUTH_TOKEN=dummy");
	fleet_do("up", "--check", NULL);
}
END_TEST

/* The service refuses what Claude Code believed to be a login. */
START_TEST(a_lost_login_ends_the_run)
{
	auto_tune("login_probe=200 outage_limit=1");
	e2e_write(fleet_headers_file(), "fail: 401 4000000000 refused\n");
	auto_task("t", "Do it.");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	auto_failed("login", "claude auth login");
	ck_assert_int_eq(auto_finished(NULL), 0);
}
END_TEST

START_TEST(a_login_that_is_gone_ends_the_run)
{
	/* The check before the start sees a login, the worker none. */
	const char *wrapper = e2e_path("%s/bin/claude", unit_scratch());

	e2e_dir("bin");
	e2e_script(wrapper,
	    e2e_path("#!/bin/sh\n[ \"$1\" = auth ] || unset "
		     "ANTHROPIC_API_KEY\nexec '%s' \"$@\"\n",
		fleet_real_agent()));
	auto_set("defaults.agent_command", wrapper);
	auto_tune("login_probe=200 outage_limit=1");
	auto_task("t", "fake: commit t.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	auto_failed("login", "Not logged in");
	ck_assert_int_eq(auto_finished(NULL), 0);
}
END_TEST

/* The first-run files of a wrapper are not known; its screen is kept. */
START_TEST(a_dialog_that_nobody_answers_is_no_hang)
{
	const char *wrapper = e2e_path("%s/wrapper", unit_scratch());

	e2e_script(wrapper,
	    e2e_path("#!/bin/sh\nexec '%s' \"$@\"\n", fleet_real_agent()));
	e2e_write(e2e_path("%s/home/.claude.json", unit_scratch()),
	    "{\"hasCompletedOnboarding\":true}");
	fleet_do("config", "set", "defaults.agent_command", wrapper, NULL);
	fleet_do("config", "set", "defaults.start_timeout", "4s", NULL);
	fleet_do("add", "adam", NULL);
	fleet_wait("adam", "paused");
	e2e_has(reason("adam"), "a dialog may be open");
	e2e_has(reason("adam"), "llmc doctor trust");
	e2e_has(e2e_sh(fleet_root(), "cat .llmc/logs/screens/adam-*")->out,
	    "I trust this folder");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	scenarios_of_agent();
	s = suite_create("real");
	scenarios_add(s, begin);
	auto_scenarios_add(s, begin_auto);
	queue_scenarios_add(s, begin_auto);
	scenarios_add_test(
	    s, begin_untrusted, an_untrusted_repository_waits_for_a_person);
	scenarios_add_test(s, begin_alone, a_first_run_says_what_to_type);
	scenarios_add_test(s, begin_auto, a_lost_login_ends_the_run);
	scenarios_add_test(s, begin_auto, a_login_that_is_gone_ends_the_run);
	scenarios_add_test(
	    s, begin_untrusted, a_dialog_that_nobody_answers_is_no_hang);
	return s;
}
