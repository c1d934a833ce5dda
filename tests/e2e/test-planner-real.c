/* SPDX-License-Identifier: ISC */

/* The planner is the real Claude Code in print mode, on a stub of its API. */
#include <stdlib.h>
#include <string.h>

#include "autorun.h"
#include "fleet.h"
#include "mem.h"
#include "scenarios.h"

#define PLAN                                                              \
	"{\"planVersion\":1,\"phases\":[{\"id\":\"P1\",\"name\":\"Tea\"," \
	"\"acceptance\":[\"it is hot\"],\"tasks\":[{\"id\":\"T1.1\","     \
	"\"name\":\"Boil water\",\"acceptance\":[\"it boils\"],\"deps\":" \
	"[]}]}]}"

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("trust", "--onboarding", NULL);
	auto_set("plan.enabled", "true");
	auto_set("plan.backoff_base", "100ms");
	auto_set("planner.model", "claude-opus-5-5");
	e2e_write(fleet_usage_file(), "1000 200 5000 1000 2000\n");
	fleet_up();
}

/* The plan is in the prompt, for the stub to say it. */
static void
create(const char *say)
{
	fleet_do("goal", "create", "--title", "Make tea", "--problem",
	    e2e_path("fake: %s", say), NULL);
}

/* Wait until the log has these words, and return the line. */
static const char *
logged(const char *words)
{
	const char *script = e2e_path("grep -h '%s' .llmc/logs/*.log", words);

	auto_wait_shell(script);
	return e2e_sh(fleet_root(), script)->out;
}

START_TEST(the_real_program_makes_a_plan)
{
	const char *words;

	create("say " PLAN);
	words = logged("has a plan of 2 nodes");
	e2e_has(words, "by claude-opus-5-5 for $");
	e2e_has(fleet_do("goal", "list", NULL)->out, "Make tea");
	/* No conversation is left behind. */
	e2e_lacks(e2e_sh(e2e_path("%s/home", unit_scratch()),
		      "find . -name '*.jsonl'")
		      ->out,
	    ".jsonl");
}
END_TEST

START_TEST(the_words_of_a_failure_are_told)
{
	create("fail 400 nonsense");
	e2e_has(logged("has no plan"), "nonsense");
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
	s = suite_create("planner-real");
	scenarios_add_test(s, begin, the_real_program_makes_a_plan);
	scenarios_add_test(s, begin, the_words_of_a_failure_are_told);
	return s;
}
