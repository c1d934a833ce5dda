/* SPDX-License-Identifier: ISC */

/*
 * Contracts of tasks, with the whole programs: met, not met, tried once more,
 * out of time, and with the daemon killed on the way.
 */
#include "autorun.h"
#include "faults.h"
#include "filed.h"

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

static struct faults retry_story = { .sample = 1 };

/* Wherever it is killed: the checks run again, there is one retry, and one
 * end. */
TEST_ROWS(the_daemon_is_killed_on_the_way, faults_rows(&retry_story))
{
	cleanup_free char *steps = xasprintf(
	    "fake: commit other.txt x\nfake: run %s", auto_gate("work"));

	if (!faults_begin(&retry_story, _i))
		return;
	contract(", \"onFailure\": \"retry_once\"", steps);
	auto_up("--until-empty", NULL);
	auto_wait_gate("work");
	faults_arm();
	auto_open_gate("work");
	faults_run();
	ck_assert_int_eq(auto_finished(NULL), auto_finished("failed"));
	recorded("attempts", "2");
	recorded("run.retry_of", "t1-1");
	recorded("run.verification", "failed");
	ck_assert_int_eq(auto_landed(), 0);
	auto_salvaged("auto-1", "other.txt");
}
