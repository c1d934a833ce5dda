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
	auto_wait_event("budget", words);
	ck_assert_int_eq(auto_landed(), 0);
	json_object_put(worker);
}

/* The task is parked for this reason, and that was reported. */
static void
check_parked(const char *words)
{
	auto_wait_event("budget", words);
	fleet_wait("auto-1", "idle");
	e2e_has(fleet_do("task", "list", NULL)->out, "parked");
	e2e_has(fleet_do("task", "show", "t1", NULL)->out, words);
	e2e_has(fleet_do("status", NULL)->out, "1 parked");
	ck_assert_int_eq(auto_landed(), 0);
}

TEST(a_task_is_parked_at_its_tokens)
{
	auto_set("budget.task_tokens", "1000");
	auto_task("a.md", "%s", expensive());
	auto_up(NULL);
	check_parked("budget.task_tokens");
	/* The worker does the next one meanwhile. */
	auto_task("b.md", "fake: commit b.txt x");
	auto_wait_finished("landed", 1);
	auto_set("budget.task_tokens", "100000");
	e2e_has(fleet_do("resume", "t1", NULL)->out, "Continuing");
	fleet_wait("auto-1", "working");
	auto_drain();
	auto_no_complaints();
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
