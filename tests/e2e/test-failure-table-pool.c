/* SPDX-License-Identifier: ISC */

/* The failure table, rows 1 to 4: the command that tasks come from. */
#include "overrun.h"

/* The repair: a script that gives one task, once. */
#define NEW_POOL                                                       \
	"fake: run printf '#!/bin/sh\\n[ -e \"$0.once\" ] || { touch " \
	"\"$0.once\"; echo \"fake: commit p.txt x\"; }\\n' >'%s/pool.sh'"

START_TEST(a_failing_task_pool_command_is_repaired)
{
	auto_pool("echo no luck today >&2; exit 7");
	over_remedy(_i, NEW_POOL, unit_scratch());
	over_start();
	if (!over_recovers(_i, "\"task_pool_failed\"", 0))
		return;
	e2e_has(over_output(), "no luck today");
	auto_wait_landed(1);
	over_stop();
	auto_history("p.txt: x", NULL);
}
END_TEST

START_TEST(a_hanging_task_pool_command_is_repaired)
{
	auto_pool("exec tail -f /dev/null");
	auto_set("auto.task_pool_timeout", "500ms");
	over_remedy(_i, NEW_POOL, unit_scratch());
	over_start();
	if (!over_recovers(_i, "\"task_pool_timeout\"", 0))
		return;
	auto_wait_landed(1);
	over_stop();
	auto_history("p.txt: x", NULL);
}
END_TEST

/* Not even without progress for longer than the stall timeout. */
START_TEST(an_empty_task_pool_is_waited_for)
{
	int daemon;

	auto_pool(
	    "n=$(cat \"$POOL/n\" 2>/dev/null || echo 0)\n"
	    "echo $((n + 1)) >\"$POOL/n\"\n"
	    "[ ! -e \"$POOL/task\" ] || { cat \"$POOL/task\"; rm \"$POOL/task\"; }");
	auto_set("overseer.stall_timeout", "1s");
	over_start();
	daemon = over_daemon(0);
	auto_wait_shell(
	    e2e_path("[ \"$(cat '%s/pool/n')\" -ge 25 ]", unit_scratch()));
	over_undisturbed(daemon);
	auto_set("overseer.stall_timeout", "1h"); /* the work may take longer */
	over_signal(SIGHUP);
	e2e_write(e2e_path("%s/pool/task.new", unit_scratch()),
	    "fake: commit late.txt x\n");
	ck_assert_int_eq(rename(e2e_path("%s/pool/task.new", unit_scratch()),
			     e2e_path("%s/pool/task", unit_scratch())),
	    0);
	auto_wait_finished("landed", 1);
	over_undisturbed(daemon);
	over_stop();
	auto_history("late.txt: x", NULL);
}
END_TEST

/* Only a person can know that it is the same work. */
START_TEST(a_task_that_is_given_twice_is_done_twice)
{
	int daemon;

	auto_pool(
	    "n=$(cat \"$POOL/n\" 2>/dev/null || echo 0)\n"
	    "echo $((n + 1)) >\"$POOL/n\"\n[ $n -ge 2 ] || echo 'fake: run "
	    "echo more >>twice.txt; git add twice.txt; git commit -q -m "
	    "Twice'");
	over_start();
	daemon = over_daemon(0);
	auto_wait_finished("landed", 2);
	over_undisturbed(daemon);
	over_stop();
	ck_assert_int_eq(auto_landed(), 2);
	ck_assert_str_eq(
	    e2e_read(e2e_path("%s/twice.txt", fleet_root())), "more\nmore\n");
}
END_TEST

Suite *
unit_suite(void)
{
	const struct over_test tests[] = {
		{ "1", a_failing_task_pool_command_is_repaired },
		{ "2", a_hanging_task_pool_command_is_repaired },
		{ "3", an_empty_task_pool_is_waited_for },
		{ "4", a_task_that_is_given_twice_is_done_twice },
	};

	return over_suite("failure-table-pool", tests, nitems(tests));
}
