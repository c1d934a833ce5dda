/* SPDX-License-Identifier: ISC */

#include "autorun.h"
#include "queue-scenarios.h"
#include "scenarios.h"

void
queue_check(const char *script)
{
	const char *file = e2e_path("%s/check.sh", unit_scratch());

	e2e_script(file, e2e_path("#!/bin/sh\n%s\n", script));
	auto_set("auto.check_command", file);
}

void
queue_never_red(void)
{
	const char *dir = e2e_path("%s/replay", unit_scratch());
	struct e2e_run *replay = e2e_sh(fleet_root(),
	    e2e_path("git clone -q --no-checkout . '%s'\n"
		     "for id in $(git log -g --format=%%H main); do\n"
		     "cd '%s' && git checkout -q --detach $id || exit 1\n"
		     "'%s/check.sh' || echo \"$id is red\"\n"
		     "git reset -q --hard; git clean -qfd\n"
		     "done",
		dir, dir, unit_scratch()));

	ck_assert_int_eq(replay->status, 0);
	e2e_lacks(replay->out, "is red");
}

/* Two tasks that pass alone and fail together. */
START_TEST(a_pair_that_fails_together_is_repaired_before_it_lands)
{
	queue_check("[ ! -e a.txt ] || [ ! -e b.txt ] || [ -e both.txt ] || { "
		    "echo a and b need another file; "
		    "echo 'fake: commit both.txt x'; exit 1; }");
	auto_set("auto.concurrency", "2");
	auto_task(
	    "a.md", "A\nfake: run %s\nfake: commit a.txt x", auto_gate("work"));
	auto_task(
	    "b.md", "B\nfake: run %s\nfake: commit b.txt x", auto_gate("work"));
	auto_up("--until-empty", NULL);
	auto_wait_gate("work");
	auto_wait_events("task_assigned", NULL, 2);
	auto_open_gate("work");
	ck_assert_int_eq(auto_wait_exit(), 0);
	ck_assert_int_eq(auto_finished("landed"), 2);
	ck_assert_int_eq(auto_landed(), 2);
	ck_assert(e2e_exists(e2e_path("%s/a.txt", fleet_root())));
	ck_assert(e2e_exists(e2e_path("%s/b.txt", fleet_root())));
	ck_assert(e2e_exists(e2e_path("%s/both.txt", fleet_root())));
	/* It is told once, and what the check said. */
	ck_assert_int_eq(
	    auto_events("sent_back", "a and b need another file"), 1);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 2);
	queue_never_red();
	auto_no_complaints();
}
END_TEST

void
queue_scenarios_add(Suite *suite, SFun begin)
{
	scenarios_add_test(suite, begin,
	    a_pair_that_fails_together_is_repaired_before_it_lands);
}
