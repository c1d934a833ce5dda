/* SPDX-License-Identifier: ISC */

/*
 * Contracts of tasks, with the whole programs: met, not met, tried once more,
 * out of time, and with the daemon killed on the way.
 *
 *   CONTRACT_KILLS  number of steps to kill the daemon at (3)
 */
#include "autorun.h"
#include "filed.h"
#include "stepkills.h"

#define KILLS 3
#define STEPS 40 /* about as many as there are from a Stop to the retry */

#define OUT "{\"artifacts\": [{\"path\": \"out.json\", \"minItems\": 1}]%s}"
#define MAKE                                                                \
	"fake: run echo '[1]' >out.json && git add out.json && git commit " \
	"-q -m Made"

void
unit_before(void)
{
	fleet_begin();
	auto_set("daemon.patrol_interval", "100ms");
	auto_ails("");
}

static void
contract(const char *more, const char *steps)
{
	cleanup_free char *out = xasprintf(OUT, more);

	auto_task("a.md", "Verification: %s\n\n%s", out, steps);
}

/* The record of the last task that ended has this at that path. */
static void
recorded(const char *path, const char *words)
{
	struct json_object *record = filed_last(fleet_root());

	e2e_has(auto_member(record, path), words);
	json_object_put(record);
}

const int unit_timeout = 300; /* seconds, each */

TEST(work_that_meets_its_contract_lands)
{
	contract("", MAKE);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_no_complaints();
	auto_history("Made", NULL);
	ck_assert_int_eq(auto_events("verification", "passed"), 1);
	recorded("run.verification", "passed");
	e2e_has(e2e_llmc(fleet_root(), "task", "show", "t1", NULL)->out,
	    "contract (passed)\n  out.json, a JSON array of at least 1 items");
}

TEST(work_that_does_not_meet_it_fails_and_is_kept)
{
	auto_set("auto.max_attempts", "5");
	contract("",
	    "fake: run echo '[]' >out.json && git add out.json && git commit "
	    "-q -m Few");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	auto_no_complaints();
	ck_assert_int_eq(auto_landed(), 0);
	ck_assert_int_eq(auto_finished("failed"), 1);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 1);
	recorded("reason", "artifact_json_too_few_items (0 < 1)");
	auto_salvaged("auto-1", "out.json");
	ck_assert_str_eq(e2e_read(e2e_path(
			     "%s/.llmc/artifacts/t1-1/out.json", fleet_root())),
	    "[]\n");
	e2e_has(
	    e2e_read(e2e_path("%s/.llmc/tasks/failed/a.md.why", fleet_root())),
	    ".llmc/artifacts/t1-1");
}

/* The second attempt finds what the first one has left beside the tree. */
TEST(one_retry_can_succeed)
{
	cleanup_free char *steps = xasprintf(
	    "fake: run if test -e '%s/tried'; then echo '[1]' >out.json; else "
	    "touch '%s/tried' other; fi; git add . && git commit -q -m Made",
	    unit_scratch(), unit_scratch());

	e2e_skip_sandboxed("an agent leaves a file outside of its worktree");
	auto_set("auto.max_attempts", "1");
	contract(", \"onFailure\": \"retry_once\"", steps);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_no_complaints();
	auto_history("Made", NULL);
	ck_assert_int_eq(auto_events("task_retry", "artifact_not_found"), 1);
	recorded("run.retry_of", "t1-1");
	recorded("attempts", "2");
	ck_assert_int_eq(
	    fleet_prompts("Previous attempt failed verification"), 1);
}

TEST(a_second_failure_is_final)
{
	auto_set("auto.max_attempts", "5");
	contract(", \"onFailure\": \"retry_once\"", "fake: commit other.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	auto_no_complaints();
	ck_assert_int_eq(auto_finished("failed"), 1);
	ck_assert_int_eq(auto_events("verification", "artifact_not_found"), 2);
	ck_assert_int_eq(auto_events("task_retry", NULL), 1);
	recorded("attempts", "2");
	ck_assert_int_eq(auto_landed(), 0);
}

/* No program can be started and ended in a millisecond. */
TEST(checks_have_their_time)
{
	contract(", \"verificationTimeoutMs\": 1", MAKE);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	auto_no_complaints();
	recorded("reason", "verification_timeout");
	recorded("run.verified.checks.0.target", "<verification>");
	ck_assert_int_eq(auto_landed(), 0);
}

TEST(a_report_that_is_missing_is_a_failure)
{
	auto_task("a.md",
	    "Verification: {\"requireCompletionReport\": true}\n\n"
	    "fake: commit other.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	recorded("reason", "completion_report_missing");
	ck_assert_int_eq(auto_landed(), 0);
}

/* Wherever it is killed: the checks run again, there is one retry, and one
 * end. */
TEST_ROWS(the_daemon_is_killed_on_the_way, e2e_number("CONTRACT_KILLS", KILLS))
{
	int step =
	    stepkills_spread(_i, e2e_number("CONTRACT_KILLS", KILLS), STEPS);
	cleanup_free char *steps = xasprintf(
	    "fake: commit other.txt x\nfake: run %s", auto_gate("work"));

	stepkills_at(step);
	contract(", \"onFailure\": \"retry_once\"", steps);
	auto_up("--until-empty", NULL);
	auto_wait_gate("work");
	stepkills_arm();
	auto_open_gate("work");
	auto_wait_exit();
	if (!e2e_exists(unit_path("arm")))
		auto_run("--until-empty", NULL);
	printf("# step %d: %s\n", step,
	    remove(unit_path("arm")) == 0 ? "not reached" : "killed");
	fflush(stdout);
	ck_assert_int_eq(auto_finished(NULL), auto_finished("failed"));
	recorded("attempts", "2");
	recorded("run.retry_of", "t1-1");
	recorded("run.verification", "failed");
	ck_assert_int_eq(auto_landed(), 0);
	auto_salvaged("auto-1", "other.txt");
}
