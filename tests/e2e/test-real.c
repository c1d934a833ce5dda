/* SPDX-License-Identifier: ISC */

/* Workers with the real Claude Code, on a stub of its API. */
#include <stdlib.h>
#include <string.h>

#include "auto-scenarios.h"
#include "fleet.h"
#include "mem.h"
#include "queue-scenarios.h"
#include "scenarios.h"

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("trust", "--onboarding", NULL);
	fleet_up();
}

/* Without a daemon: the scenarios of auto mode start their own. */
static void
begin_auto(void)
{
	fleet_begin_real();
	fleet_do("trust", "--onboarding", NULL);
}

static void
begin_untrusted(void)
{
	fleet_begin_real();
	fleet_up();
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
	e2e_has(reason("adam"), "llmc trust");
	fleet_do("trust", "--onboarding", NULL);
	fleet_do("reset", "adam", "--yes", NULL);
	fleet_wait("adam", "idle");
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
	e2e_has(reason("adam"), "llmc trust");
	e2e_has(e2e_sh(fleet_root(), "cat .llmc/logs/screens/adam-*")->out,
	    "I trust this folder");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	if (fleet_real_agent() == NULL || !e2e_exists(fleet_real_agent()))
		unit_skip_all("the real Claude Code is not here: "
			      "LLMC_REAL_CLAUDE=$(tests/tools/real-claude.sh "
			      "FOLDER) has it");
	s = suite_create("real");
	scenarios_add(s, begin);
	auto_scenarios_add(s, begin_auto);
	queue_scenarios_add(s, begin_auto);
	scenarios_add_test(
	    s, begin_untrusted, an_untrusted_repository_waits_for_a_person);
	scenarios_add_test(
	    s, begin_untrusted, a_dialog_that_nobody_answers_is_no_hang);
	return s;
}
