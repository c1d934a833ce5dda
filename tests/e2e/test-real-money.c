/* SPDX-License-Identifier: ISC */

/*
 * What the real Claude Code uses and costs, with numbers that the stub of its
 * API claims, counted to the cent. What is expected is what the API was asked:
 * its log has the model of every request. In a HOME that is new.
 */
#include "asked.h"
#include "autorun.h"
#include "scenarios.h"

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	asked_begin();
	auto_set("defaults.model", "claude-opus-5-5");
	auto_set("auto.concurrency", "1");
	auto_set("daemon.patrol_interval", "200ms");
}

static void
check_task(const char *id, int64_t cost, const char *source)
{
	struct json_object *record = asked_task(id);

	ck_assert_int_eq(asked_cost(record), cost);
	if (source != NULL)
		ck_assert_str_eq(
		    json_string_or(record, "cost_source", ""), source);
}

/* Tasks in a row in one session, /clear between them, two models, a subagent,
 * tokens of the cache; and a new daemon, which reads it all again. */
START_TEST(every_task_costs_what_it_used)
{
	struct asked a, b, sub, c;

	auto_task("a.md", "Task-A\nfake: commit a.txt x");
	auto_task("b.md",
	    "Task-B\nfake: agent Greet-B the user\nfake: commit b.txt x");
	auto_task("c.md", "Task-C\nfake: run true\nfake: commit c.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("a.txt: x", "b.txt: x", "c.txt: x", NULL);
	a = asked_for("Task-A");
	b = asked_for("Task-B");
	c = asked_for("Task-C");
	sub = asked_for("Greet-B");
	ck_assert_int_ge(a.answers, 2);
	ck_assert_int_ge(c.answers, 3);
	ck_assert_int_ge(sub.answers, 1);
	/* Whether the parent's text is among the subagent's prompts or not. */
	ck_assert_int_eq(asked_for(NULL).models, 2);
	check_task("t1", a.cost, "reported");
	check_task("t2", asked_for(NULL).cost - a.cost - c.cost, "reported");
	check_task("t3", c.cost, NULL);
	ck_assert_int_eq(asked_days(), asked_for(NULL).cost);
	/* The last conversation told its cost when it ended. */
	auto_up(NULL);
	auto_wait_shell("\"$LLMC\" task show t3 | grep -q 'spent.*' && "
			"! \"$LLMC\" task show t3 | grep -q 'est\\.'");
	auto_drain();
	check_task("t1", a.cost, "reported");
	check_task("t3", c.cost, "reported");
	ck_assert_int_eq(asked_days(), asked_for(NULL).cost);
	ck_assert_int_gt(b.cost, 0);
}
END_TEST

START_TEST(a_budget_in_dollars_is_kept_while_the_task_works)
{
	auto_set("budget.task_cost", "0.10");
	auto_task("a.md",
	    "Task-A\nfake: commit a.txt x\n"
	    "fake: run true\nfake: run true\nfake: run true\n"
	    "fake: run true\nfake: run true\nfake: run true\n"
	    "fake: run true\nfake: run true\nfake: sleep 60000");
	auto_up(NULL);
	auto_wait_event("budget", "budget.task_cost");
	ck_assert_int_ge(asked_for("Task-A").cost, 100000);
	ck_assert_int_eq(auto_landed(), 0);
}
END_TEST

/* Neither the daemon's death nor the agent's loses or doubles anything. */
START_TEST(what_is_killed_in_the_middle_is_counted_once)
{
	const char *gate = auto_gate("middle");

	auto_task("a.md",
	    "Task-A\nfake: run true\nfake: run %s\nfake: commit a.txt x", gate);
	auto_up(NULL);
	auto_wait_gate("middle");
	auto_kill9_daemon();
	auto_up("--until-empty", NULL);
	auto_open_gate("middle");
	ck_assert_int_eq(auto_wait_exit(), 0);
	check_task("t1", asked_for("Task-A").cost, NULL);
	ck_assert_int_eq(asked_days(), asked_for(NULL).cost);
}
END_TEST

START_TEST(workers_driven_by_hand_are_counted)
{
	struct json_object *json;

	auto_set("workers.adam.model", "claude-sonnet-4-6");
	fleet_up();
	fleet_add("adam");
	fleet_start("adam", "By-Hand\nfake: run true\nfake: commit a.txt x");
	fleet_wait("adam", "needs_review");
	ck_assert_int_ge(asked_for("By-Hand").answers, 3);
	auto_wait_shell(
	    e2e_path("\"$LLMC\" status | grep -q 'Today: .* \\$%.2f'",
		(double)asked_for(NULL).cost / 1e6));
	ck_assert_int_eq(asked_days(), asked_for(NULL).cost);
	json = e2e_json(e2e_llmc(fleet_root(), "--json", "status", NULL), 0);
	e2e_has(json_object_to_json_string(json), "\"claude-sonnet-4-6\"");
}
END_TEST

/* A subscription: its service says in headers what is used of the windows, and
 * Claude Code tells its status line. */
static void
begin_windows(void)
{
	begin();
	e2e_env("ANTHROPIC_API_KEY");
	e2e_env("CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-dummy-for-tests");
}

static void
service_says(long long reset)
{
	const char *file = fleet_headers_file();

	e2e_write(e2e_path("%s.new", file),
	    e2e_path("anthropic-ratelimit-unified-status: allowed\n"
		     "anthropic-ratelimit-unified-5h-status: allowed\n"
		     "anthropic-ratelimit-unified-5h-utilization: 0.85\n"
		     "anthropic-ratelimit-unified-5h-reset: %lld\n"
		     "anthropic-ratelimit-unified-7d-status: allowed\n"
		     "anthropic-ratelimit-unified-7d-utilization: 0.13\n"
		     "anthropic-ratelimit-unified-7d-reset: %lld\n",
		reset, reset + 86400));
	ck_assert_int_eq(rename(e2e_path("%s.new", file), file), 0);
}

/* The reset is hours away until all has been seen that is before it. */
START_TEST(a_reserve_of_a_window_is_kept_until_its_reset)
{
	const char *gate = auto_gate("g");
	long long reset = clock_wall_ms() / 1000 + 4 * 3600;

	service_says(reset);
	auto_set("auto.concurrency", "2");
	auto_set("budget.reserve", "20");
	auto_task("a.md", "Task-A\nfake: run %s\nfake: commit a.txt x", gate);
	auto_up(NULL);
	auto_wait_event("waiting",
	    "85% of the 5 hour window are used, and budget.reserve keeps 20%");
	auto_task("b.md", "Task-B\nfake: commit b.txt x");
	auto_wait_shell("\"$LLMC\" status | grep -q 'Window of 7 days: 13% "
			"used, resets'");
	auto_wait_shell("\"$LLMC\" status | grep -q 'no task begins until'");
	auto_wait_gate("g");
	ck_assert_int_eq(asked_for("Task-B").answers, 0);
	/* By itself. */
	reset = clock_wall_ms() / 1000 + 30;
	service_says(reset);
	auto_open_gate("g");
	auto_wait_event("task_assigned", "Task-B");
	ck_assert_int_ge(clock_wall_ms() / 1000, reset);
	unlink(fleet_headers_file());
	auto_wait_landed(2);
	ck_assert_int_eq(auto_events("waiting", "budget.reserve"), 1);
	auto_drain();
	auto_no_complaints();
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	s = suite_create("real-money");
	scenarios_add_test(s, begin, every_task_costs_what_it_used);
	scenarios_add_test(
	    s, begin, a_budget_in_dollars_is_kept_while_the_task_works);
	scenarios_add_test(
	    s, begin, what_is_killed_in_the_middle_is_counted_once);
	scenarios_add_test(s, begin, workers_driven_by_hand_are_counted);
	scenarios_add_test(
	    s, begin_windows, a_reserve_of_a_window_is_kept_until_its_reset);
	return s;
}
