/* SPDX-License-Identifier: ISC */

/* What auto mode may use, and what it waits for: budgets, the account's limits,
 * outages of the service. */
#include "autorun.h"

void
unit_before(void)
{
	fleet_begin();
	auto_set("daemon.patrol_interval", "100ms");
	auto_ails("");
}

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

static void
check_landed(void)
{
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(fleet_prompts("a budget was used up"), 1);
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

static void
check_resumed(void)
{
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(fleet_prompts("was worked on before"), 1);
}

const int unit_timeout = 120; /* seconds, each */

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

TEST(a_task_is_parked_at_its_turns)
{
	auto_set("budget.task_turns", "1");
	auto_task("a.md",
	    "fake: commit a.txt x\nfake: ask Which colour should I take?");
	auto_up(NULL);
	check_parked("1 turn used of 1 turn");
	auto_set("budget.task_turns", "3"); /* it asks again */
	fleet_do("resume", NULL);
	check_resumed();
}

/* A run that ends when it is empty does not wait for a person. */
TEST(a_parked_task_does_not_keep_a_run_from_its_end)
{
	auto_set("budget.task_turns", "1");
	auto_task("a.md",
	    "fake: commit a.txt x\nfake: ask Which colour should I take?");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	e2e_has(auto_output(), "1 parked");
	e2e_has(fleet_do("task", "list", NULL)->out, "parked");
	auto_set("budget.task_turns", "3");
	fleet_do("task", "retry", "t1", NULL);
	auto_up(NULL);
	check_resumed();
}

TEST(a_task_that_ends_with_its_last_turn_lands)
{
	auto_set("budget.task_turns", "1");
	auto_task("a.md", "fake: commit a.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_events("budget", NULL), 0);
}

TEST(a_task_is_parked_at_its_time)
{
	auto_set("budget.task_time", "2s");
	auto_task("a.md", "fake: commit a.txt x\nfake: sleep 60000");
	auto_up(NULL);
	check_parked("budget.task_time");
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

TEST(a_new_day_goes_on_by_itself)
{
	struct json_object *state, *today = NULL;

	auto_set("budget.day_tokens", "1000");
	auto_task("a.md", "%s", expensive());
	auto_up(NULL);
	check_paused("budget.day_tokens");
	auto_drain();
	state = auto_state();
	ck_assert(json_object_object_get_ex(state, "today", &today));
	json_set_int(today, "day", json_int_or(today, "day", 0) - 1);
	auto_put_state(state);
	auto_set("budget.day_tokens", "100000");
	auto_up(NULL);
	check_landed();
}

/* --- limits and outages ------------------------------------------ */

TEST(a_usage_limit_is_waited_for)
{
	int64_t reset = clock_wall_ms() / 1000 + 4;
	struct json_object *worker;

	auto_set("auto.concurrency", "2");
	auto_task("a.md",
	    "fake: commit a.txt x\nfake: limit You've hit your limit, it "
	    "resets at %lld",
	    (long long)reset);
	auto_up(NULL);
	fleet_wait("auto-1", "limited");
	worker = fleet_worker("auto-1");
	ck_assert_int_eq(json_int_or(worker, "until_ms", 0), reset * 1000);
	json_object_put(worker);
	/* The limit applies to the whole account. */
	fleet_wait("auto-2", "limited");
	auto_wait_event("waiting", "hit your limit");
	auto_wait_finished("landed", 1);
	ck_assert_int_ge(clock_wall_ms() / 1000, reset);
	auto_drain();
	auto_no_complaints();
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(fleet_prompts("interruption is over"), 1);
	/* Neither an attempt nor a nudge was counted. */
	ck_assert_int_eq(auto_events("task_assigned", NULL), 1);
}

/* Pretend that its wait is over, and that it has lasted for a day. */
static void
wait_is_over(void)
{
	struct json_object *state = auto_state(), *workers, *worker = NULL;

	workers = json_object_object_get(state, "workers");
	ck_assert(json_object_object_get_ex(workers, "auto-1", &worker));
	json_set_int(worker, "until_ms", 1);
	json_set_int(state, "outage_since_unix",
	    json_int_or(state, "outage_since_unix", 0) - 86400);
	auto_put_state(state);
}

TEST(a_service_that_is_away_is_waited_for_but_not_for_ever)
{
	struct json_object *failure;

	auto_ails("fake: fail 529");
	auto_task("a.md", "fake: commit a.txt x");
	auto_up(NULL);
	fleet_wait("auto-1", "limited");
	auto_wait_event("waiting", "Overloaded");
	auto_drain();
	auto_no_complaints();
	wait_is_over();
	ck_assert_int_eq(auto_run(NULL), 1);
	auto_failed("outage", "Overloaded");
	failure = auto_failure();
	ck_assert_str_eq(auto_member(failure, "worker"), "auto-1");
	ck_assert_str_eq(auto_member(failure, "task"), "t1");
	/* The service is available again. */
	auto_ails("");
	wait_is_over();
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("a.txt: x", NULL);
	ck_assert_str_eq(auto_member(auto_state(), "outage_since_unix"), "");
}
