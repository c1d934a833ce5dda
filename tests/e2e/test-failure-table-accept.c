/* SPDX-License-Identifier: ISC */

/* The failure table, rows 13 to 15a: what prevents a landing. */
#include "overrun.h"

/* A script that commits something to the default branch that conflicts with the
 * worker, `times` times. */
static const char *
rival(int times)
{
	const char *file = e2e_path("%s/rival.sh", unit_scratch());

	e2e_script(file,
	    e2e_path("#!/bin/sh\nexec >/dev/null 2>&1\n"
		     "n=$(cat '%s.n' || echo 0)\n[ $n -lt %d ] || exit 0\n"
		     "echo $((n + 1)) >'%s.n'\ncd '%s'\n"
		     "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE\n"
		     "echo rival $n >same.txt\ngit add same.txt\n"
		     "git commit -q -m \"Rival $n\"\n",
		file, times, file, fleet_root()));
	return file;
}

START_TEST(a_conflict_is_the_workers_to_resolve)
{
	int daemon;

	e2e_skip_sandboxed("a worker in a box cannot commit to main");
	auto_task("a.md",
	    "A\nfake: commit same.txt mine\nfake: resolve\nfake: run %s",
	    rival(1));
	over_start();
	daemon = over_daemon(0);
	auto_wait_finished("landed", 1);
	over_undisturbed(daemon);
	over_stop();
	ck_assert_int_eq(auto_events("accept_failure", "conflict"), 1);
	auto_history("Rival 0", "same.txt: mine", NULL);
}
END_TEST

START_TEST(a_branch_that_runs_away_is_repaired)
{
	e2e_skip_sandboxed("a worker in a box cannot commit to main");
	over_culprit(rival(100));
	auto_task("a.md", "A\nfake: commit same.txt mine\nfake: resolve");
	over_remedy(_i, "%s", over_remove_culprit());
	over_start();
	if (!over_recovers(_i, "\"conflicts\"", 0)) {
		e2e_lacks(fleet_log(), "same.txt: mine");
		return;
	}
	auto_wait_finished("landed", 1);
	over_stop();
	auto_history(
	    "Rival 0", "Rival 1", "Rival 2", "Rival 3", "same.txt: mine", NULL);
}
END_TEST

/* --- a checkout that is in the way -------------------------------------- */

/* Pretend that it has waited that often. */
static void
set_tries(int tries)
{
	struct json_object *state = auto_state();

	json_set_int(state, "source_repo_dirty_retry_count", tries);
	json_set_int(state, "source_repo_dirty_retry_after_unix",
	    clock_wall_ms() / 1000 - 1);
	auto_put_state(state);
}

START_TEST(a_dirty_checkout_is_waited_for_then_repaired)
{
	int daemon;

	auto_set("repo.dirty_checkout", "wait");
	auto_task("a.md", "A\nfake: commit work.txt x");
	e2e_write(e2e_path("%s/README", fleet_root()), "my own edit\n");
	over_remedy(_i,
	    "fake: run cd \"$LLMC_ROOT\" && git commit -q -a -m 'Saved for "
	    "you'");
	over_start();
	daemon = over_daemon(0);
	auto_wait_event("waiting", "Will retry in 60 seconds (attempt 1/10)");
	over_undisturbed(daemon);
	over_stop();
	set_tries(10);
	over_start();
	if (!over_recovers(_i, "\"dirty_checkout\"", daemon)) {
		ck_assert_int_eq(auto_landed(), 0);
		return;
	}
	auto_wait_finished("landed", 1);
	over_stop();
	auto_history("Saved for you", "work.txt: x", NULL);
}
END_TEST

Suite *
unit_suite(void)
{
	const struct over_test tests[] = {
		{ "13", a_conflict_is_the_workers_to_resolve },
		{ "14", a_branch_that_runs_away_is_repaired },
		{ "15a", a_dirty_checkout_is_waited_for_then_repaired },
	};

	return over_suite("failure-table-accept", tests, nitems(tests));
}
