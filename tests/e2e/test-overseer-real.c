/* SPDX-License-Identifier: ISC */

/* The overseer with the real Claude Code for workers and repairs, on a stub of
 * its API. */
#include "overrun.h"
#include "scenarios.h"

#define TIMEOUT_S 180

static void
break_it(const char *steps)
{
	auto_pool("echo out of luck >&2; exit 7");
	over_remedy(0, "%s", steps);
	over_start();
}

START_TEST(a_real_session_repairs_and_work_goes_on)
{
	break_it(e2e_path("fake: run printf '#!/bin/sh\\n[ -e \"$0.once\" ] || "
			  "{ touch \"$0.once\"; echo \"fake: commit p.txt "
			  "x\"; }\\n' >'%s/pool.sh'",
	    unit_scratch()));
	ck_assert(over_recovers(0, "\"task_pool_failed\"", 0));
	ck_assert_int_ge(fleet_prompts("out of luck"), 1);
	auto_wait_landed(1);
	over_stop();
	auto_history("p.txt: x", NULL);
	/* The whole conversation is kept. */
	e2e_expect(
	    e2e_sh(fleet_root(),
		"grep -q 'You repair a test' .llmc/logs/remediation_*.txt && "
		"grep -q 'Outcome: completed' .llmc/logs/remediation_*.txt && "
		"sed '1,/^=== Session/d' .llmc/logs/remediation_*.txt | "
		"grep -q 'pool.sh'"),
	    0, NULL);
}
END_TEST

START_TEST(a_real_session_that_does_not_help_ends_in_a_spiral)
{
	break_it("fake: say I changed nothing.");
	auto_set("overseer.remediation_prompt",
	    "You repair a test.\nfake: say I changed nothing.");
	over_ends(OVER_SPIRAL, "a failure spiral");
	e2e_has(over_output(), "changed nothing and wrote no finding");
	over_remembers("remedy", "\"completed\"", 0);
	over_remembers("remedy", "\"no fix\"", 1);
	over_remembers("failure", NULL, 2);
	ck_assert_int_eq(over_run(NULL), OVER_SPIRAL);
}
END_TEST

START_TEST(a_real_session_can_ask_for_a_person)
{
	break_it("fake: run echo 'Ask the owner of the pool.' "
		 ">\"$LLMC_ROOT\"/.llmc/manual_intervention_needed_1.txt");
	over_ends(OVER_MANUAL, "Ask the owner of the pool.");
	over_remembers("remedy", "\"gave up\"", 1);
	ck_assert_int_eq(over_run(NULL), OVER_MANUAL);
}
END_TEST

/* Nobody has looked at what an agent landed: a hook and a server there would
 * run outside of every box. */
static void
land_traps(void)
{
	const char *out = e2e_dir("trapped");

	e2e_write(e2e_path("%s/trap.sh", fleet_root()),
	    e2e_path("#!/bin/sh\necho \"$1\" >>'%s/ran'\n", out));
	e2e_sh(fleet_root(),
	    "mkdir -p .claude && printf '{\"hooks\":{\"SessionStart\":[{"
	    "\"hooks\":[{\"type\":\"command\",\"command\":\"sh "
	    "%s/trap.sh hook\"}]}]}}' \"'$PWD'\" >.claude/settings.json && "
	    "cp .claude/settings.json .claude/settings.local.json && "
	    "printf '{\"mcpServers\":{\"trap\":{\"command\":\"sh\","
	    "\"args\":[\"%s/trap.sh\",\"server\"]}}}' \"$PWD\" >.mcp.json && "
	    "git add -f trap.sh .claude .mcp.json && git commit -qm traps");
}

START_TEST(what_landed_does_not_run_in_a_repair)
{
	land_traps();
	auto_set("workers.auto-1.isolate", "true");
	break_it(e2e_path(
	    "fake: run printf '#!/bin/sh\\n' >'%s/pool.sh'", unit_scratch()));
	ck_assert(over_recovers(0, "\"task_pool_failed\"", 0));
	over_stop();
	ck_assert(!e2e_exists(e2e_path("%s/ran", e2e_dir("trapped"))));
}
END_TEST

START_TEST(a_real_session_repairs_in_a_sandbox)
{
	e2e_need_boxes("");
	land_traps();
	e2e_write(e2e_path("%s/pool.sh", fleet_root()), "exit 7\n");
	e2e_sh(fleet_root(), "git add pool.sh && git commit -qm pool");
	auto_set("defaults.sandbox", "worktree");
	auto_set("workers.auto-1.isolate", "true");
	auto_set("auto.task_pool_command", "sh pool.sh");
	auto_set("overseer.remediation_prompt",
	    "fake: run touch \"$LLMC_ROOT/escaped\"; echo : >pool.sh; git "
	    "commit -qam mended");
	over_start();
	ck_assert(over_recovers(0, "\"task_pool_failed\"", 0));
	over_stop();
	ck_assert_str_eq(e2e_read(e2e_path("%s/pool.sh", fleet_root())), ":\n");
	ck_assert(!e2e_exists(e2e_path("%s/escaped", fleet_root())));
	ck_assert(!e2e_exists(e2e_path("%s/ran", e2e_dir("trapped"))));
}
END_TEST

Suite *
unit_suite(void)
{
	const TTest *const all[] = { a_real_session_repairs_and_work_goes_on,
		a_real_session_that_does_not_help_ends_in_a_spiral,
		a_real_session_can_ask_for_a_person,
		what_landed_does_not_run_in_a_repair,
		a_real_session_repairs_in_a_sandbox };
	Suite *s;

	scenarios_real();
	s = suite_create("overseer-real");
	for (size_t i = 0; i < nitems(all); i++) {
		TCase *tc = tcase_create(all[i]->name);

		unit_set_timeout(tc, TIMEOUT_S);
		tcase_add_checked_fixture(tc, over_begin_real, over_end);
		tcase_add_test(tc, all[i]);
		suite_add_tcase(s, tc);
	}
	return s;
}
