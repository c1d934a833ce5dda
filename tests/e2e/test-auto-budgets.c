/* SPDX-License-Identifier: ISC */

/* What auto mode may use, and what it waits for: budgets, the account's limits,
 * outages of the service. */
#include "autorun.h"

/* --- budgets ----------------------------------------------------- */

/* Commits, uses more than a thousand tokens, and would run for long. */
static const char *
expensive(void)
{
	return "fake: commit a.txt x\n"
	       "fake: run true\nfake: run true\nfake: run true\n"
	       "fake: run true\nfake: run true\nfake: run true\n"
	       "fake: run true\nfake: run true\nfake: run true\n"
	       "fake: run true\nfake: run true\nfake: run true\n"
	       "fake: sleep 60000";
}

/* The worker is paused for this reason, and that was reported. */
static void
check_paused(const char *words)
{
	struct json_object *worker;

	fleet_wait("auto-1", "paused");
	worker = fleet_worker("auto-1");
	e2e_has(auto_member(worker, "reason"), words);
	e2e_has(auto_member(worker, "reason"), "llmc resume");
	e2e_has(fleet_do("status", NULL)->out, words);
	e2e_has(fleet_do("why", "t1", NULL)->out, "; auto-1 is paused: ");
	auto_wait_event("budget", words);
	ck_assert_int_eq(auto_landed(), 0);
	json_object_put(worker);
}

TEST(the_fleet_is_paused_at_the_tokens_of_the_day)
{
	struct json_object *state;

	auto_set("budget.day_tokens", "1000");
	auto_task("a.md", "%s", expensive());
	auto_up(NULL);
	check_paused("budget.day_tokens");
	state = auto_state();
	e2e_has(auto_member(state, "paused"), "llmc resume");
	ck_assert_str_eq(auto_member(auto_heartbeat(), "instance_id"),
	    auto_member(json_tokener_parse(e2e_read(
			    e2e_path("%s/.llmc/daemon.json", fleet_root()))),
		"instance_id"));
	/* No task is assigned in the meantime, and the pause survives the
	 * daemon. */
	auto_task("b.md", "fake: commit b.txt x");
	auto_drain();
	auto_up(NULL);
	auto_wait_event("daemon_startup", NULL);
	ck_assert_str_eq(fleet_status("auto-1"), "paused");
	ck_assert_int_eq(auto_events("task_assigned", NULL), 1);
	e2e_has(fleet_do("resume", NULL)->out, "The fleet continues");
	auto_set("budget.day_tokens", "100000");
	auto_wait_finished("landed", 2);
	auto_drain();
	auto_no_complaints();
	auto_history("a.txt: x", "b.txt: x", NULL);
	state = auto_state();
	ck_assert_str_eq(auto_member(state, "paused"), "");
}

/* --- hours --------------------------------------------------------- */

/* An hour that begins in two hours, and so not now. */
static void
close_hours(void)
{
	time_t at = (time_t)(clock_wall_ms() / 1000) + 7200;
	struct tm from, to;

	localtime_r(&at, &from);
	at += 3600;
	localtime_r(&at, &to);
	auto_set("auto.hours",
	    e2e_path("%02d:00-%02d:00", from.tm_hour, to.tm_hour));
}

TEST(outside_of_its_hours_a_turn_is_finished_and_work_waits)
{
	auto_ails("");
	auto_task("a.md",
	    "fake: run %s\n"
	    "fake: write a.txt x", /* not committed: it is sent back */
	    auto_gate("turn"));
	auto_up(NULL);
	auto_wait_gate("turn");
	auto_ails("fake: run git add -A; git commit -qm 'a.txt: x' || true");
	close_hours();
	auto_task("b.md", "fake: commit b.txt x");
	auto_wait_event("waiting", "outside of auto.hours");
	auto_open_gate("turn");
	/* Not interrupted, and not sent back before they begin. */
	fleet_wait("auto-1", "paused");
	e2e_has(fleet_do("status", NULL)->out, "no task begins until");
	e2e_has(fleet_do("status", "--json", NULL)->out, "\"hours\"");
	ck_assert_int_eq(auto_events("task_assigned", NULL), 1);
	/* The pause survives the daemon, and the attempt goes on. */
	auto_drain();
	auto_up(NULL);
	ck_assert_str_eq(fleet_status("auto-1"), "paused");
	auto_set("auto.hours", "");
	auto_wait_finished("landed", 2);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 2);
	auto_drain();
	auto_no_complaints();
}
