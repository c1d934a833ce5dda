/* SPDX-License-Identifier: ISC */

/* Workers with the same error at the same time: one event, told once. */
#include "autorun.h"

void
unit_before(void)
{
	fleet_begin();
	auto_set("daemon.patrol_interval", "100ms");
	auto_set("auto.concurrency", "3");
	e2e_notify(fleet_root(), e2e_path("cat >>'%s'", e2e_scratch("told")));
	auto_ails("");
}

/* Each has it twice, with another path and another line. */
static void
begin_tasks(int count)
{
	for (int i = 1; i <= count; i++)
		auto_task(e2e_path("%d.md", i),
		    "fake: run echo \"/x%d/y.c:%d: no such host\"; exit 1\n"
		    "fake: run echo \"/x%d/y.c:%d: no such host\"; exit 1\n"
		    "fake: commit %d.txt x",
		    i, i, i, i + 7, i);
	auto_up(NULL);
	auto_wait_finished("landed", count);
}

const int unit_timeout = 120; /* seconds, each */

TEST(three_workers_with_the_same_error_are_told_of_once)
{
	begin_tasks(3);
	auto_wait_event("oversight", "3 workers have the same error");
	ck_assert_int_eq(auto_events("oversight", "\"fleet\""), 1);
	auto_wait_shell(
	    e2e_path("grep -q 'several workers' '%s'", e2e_scratch("told")));
	auto_drain();
	auto_no_complaints();
	ck_assert_str_eq(
	    e2e_sh(fleet_root(),
		e2e_path("grep -c 'several workers' '%s'", e2e_scratch("told")))
		->out,
	    "1\n");
}

TEST(two_workers_with_the_same_error_are_no_event)
{
	begin_tasks(2);
	auto_drain();
	ck_assert_int_eq(auto_events("oversight", NULL), 0);
	auto_no_complaints();
}
