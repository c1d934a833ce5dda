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

#define KILLS 2
#define STEPS 40 /* about as many as there are from a Stop to the retry */

#define OUT "{\"artifacts\": [{\"path\": \"out.json\", \"minItems\": 1}]%s}"
#define MAKE                                                                \
	"fake: run echo '[1]' >out.json && git add out.json && git commit " \
	"-q -m Made"

void
unit_before(void)
{
	fleet_begin();
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
