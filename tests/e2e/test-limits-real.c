/* SPDX-License-Identifier: ISC */

/*
 * Usage limits of a subscription, and a login that is refused, with the real
 * Claude Code: its service is a stub, which says in headers what is used.
 */
#include "autorun.h"
#include "scenarios.h"

#define DAY_S 86400

static const char *gate;

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	e2e_env("ANTHROPIC_API_KEY");
	e2e_env("CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-dummy-for-tests");
	auto_set("auto.concurrency", "1");
	auto_set("daemon.patrol_interval", "200ms");
}

/* From here on the service says so; fails: "429 UNTIL TEXT", NULL = nothing. */
static void
service_says(
    const char *status, const char *claim, int64_t reset, const char *fails)
{
	const char *file = fleet_headers_file();

	e2e_write(e2e_path("%s.new", file),
	    e2e_path("anthropic-ratelimit-unified-status: %s\n"
		     "anthropic-ratelimit-unified-representative-claim: %s\n"
		     "anthropic-ratelimit-unified-reset: %lld\n"
		     "anthropic-ratelimit-unified-5h-utilization: 0.96\n"
		     "anthropic-ratelimit-unified-5h-reset: %lld\n"
		     "anthropic-ratelimit-unified-7d-utilization: 0.5\n"
		     "anthropic-ratelimit-unified-7d-reset: %lld\n"
		     "anthropic-ratelimit-unified-overage-status: rejected\n"
		     "anthropic-ratelimit-unified-overage-disabled-reason: "
		     "out_of_credits\n"
		     "%s%s\n",
		status, claim, (long long)reset, (long long)reset,
		(long long)reset, fails != NULL ? "fail: " : "",
		fails != NULL ? fails : ""));
	ck_assert_int_eq(rename(e2e_path("%s.new", file), file), 0);
}

/* Its task has begun, and its next request is the test's. */
static void
begin_task(void)
{
	int64_t later = clock_wall_ms() / 1000 + DAY_S;

	service_says("allowed", "five_hour", later, NULL);
	gate = auto_gate("g");
	auto_task("a.md", "Task-A\nfake: run %s\nfake: commit a.txt x", gate);
	auto_up(NULL);
	auto_wait_gate("g");
}

static int64_t
now_s(void)
{
	return clock_wall_ms() / 1000;
}

/* Whatever the window, and at whatever second: it goes on by itself, after the
 * reset, with one prompt, and is refused no second time. */
static void
check_window(const char *claim, const char *words, int seconds, bool killed)
{
	int64_t reset;
	struct json_object *worker;

	begin_task();
	reset = now_s() + seconds;
	service_says("rejected", claim, reset,
	    e2e_path(
		"429 %lld This would exceed your limit", (long long)reset));
	auto_open_gate("g");
	auto_wait_event("waiting", words);
	fleet_wait("auto-1", "limited");
	worker = fleet_worker("auto-1");
	ck_assert_int_ge(json_int_or(worker, "until_ms", 0), reset * 1000);
	ck_assert_int_le(
	    json_int_or(worker, "until_ms", 0), (reset + 70) * 1000);
	json_object_put(worker);
	if (killed) {
		auto_kill9_daemon();
		auto_up(NULL);
	}
	auto_wait_landed(1);
	ck_assert_int_ge(now_s(), reset);
	ck_assert_int_eq(fleet_prompts("The interruption is over"), 1);
	ck_assert_int_eq(auto_events("waiting", words), 1);
	auto_drain();
	auto_no_complaints();
}

START_TEST(a_five_hour_window)
{
	check_window("five_hour", "5-hour limit", 23, false);
}
END_TEST

START_TEST(a_window_of_one_model)
{
	check_window("seven_day_sonnet", "Sonnet limit", 30, false);
}
END_TEST

/* Beyond the windows it is paid for in credits, and those are used up. */
START_TEST(credits_that_are_used_up)
{
	check_window("overage", "credit", 30, false);
}
END_TEST

START_TEST(a_reset_in_two_minutes_and_a_daemon_that_is_killed)
{
	check_window("five_hour", "5-hour limit", 120, true);
}
END_TEST

/* The dialog that is open for two days takes no prompt. */
START_TEST(a_person_goes_on_before_the_reset)
{
	int64_t reset = now_s() + 2 * DAY_S;

	begin_task();
	service_says("rejected", "seven_day", reset,
	    e2e_path(
		"429 %lld This would exceed your limit", (long long)reset));
	auto_open_gate("g");
	auto_wait_event("waiting", "weekly limit");
	fleet_wait("auto-1", "limited");
	auto_wait_shell("\"$LLMC\" peek auto-1 | grep -q 'What do you want'");
	service_says("allowed", "seven_day", reset, NULL);
	fleet_do("resume", NULL);
	auto_wait_landed(1);
	auto_drain();
	auto_no_complaints();
}
END_TEST

START_TEST(a_warning_stops_nothing)
{
	begin_task();
	service_says("allowed_warning", "five_hour", now_s() + 3600, NULL);
	auto_open_gate("g");
	auto_wait_landed(1);
	ck_assert_int_eq(auto_events("waiting", NULL), 0);
	auto_drain();
	auto_no_complaints();
}
END_TEST

/* Near the end of a window it is told to list what remains, if its account has
 * that (tengu_vellum_anchor): a turn that ends so is no refusal. */
START_TEST(a_turn_that_is_wrapped_up_goes_on)
{
	const char *file = e2e_path("%s/home/.claude.json", unit_scratch());
	struct json_object *json = e2e_load(file);
	struct json_object *features = json_object_new_object();

	json_set_bool(features, "tengu_vellum_anchor", true);
	json_set(json, "cachedGrowthBookFeatures", features);
	e2e_write(file, json_object_to_json_string(json));
	json_object_put(json);
	/* With these it has no features; and it must not ask for newer ones. */
	e2e_env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC");
	e2e_env("DISABLE_TELEMETRY");
	e2e_env("HTTPS_PROXY=http://127.0.0.1:9");
	e2e_env("NO_PROXY=127.0.0.1");
	service_says("allowed", "five_hour", now_s() + 3600, NULL);
	fleet_answer(
	    "A usage limit of the account may be near", "fake: commit a.txt x");
	auto_task("a.md", "Task-A\nfake: run true\nfake: run true");
	auto_up(NULL);
	auto_wait_landed(1);
	ck_assert_int_ge(fleet_prompts("Usage limit approaching"), 1);
	ck_assert_int_eq(
	    auto_events("sent_back", "A usage limit of the account"), 1);
	ck_assert_int_eq(auto_events("sent_back", NULL), 1);
	auto_drain();
	auto_no_complaints();
}
END_TEST

/* It is tried again within a turn: the turn goes on, and the view says since
 * when. */
START_TEST(a_service_that_is_away_for_a_while)
{
	int64_t later = now_s() + DAY_S;

	e2e_env("CLAUDE_CODE_MAX_RETRIES=10"); /* as without the variable */
	begin_task();
	service_says("allowed", "five_hour", later,
	    e2e_path("500 %lld Internal server error", (long long)later));
	auto_open_gate("g");
	auto_wait_shell("\"$LLMC\" status | "
			"grep -q 'the service does not answer since'");
	fleet_wait("auto-1", "working");
	service_says("allowed", "five_hour", later, NULL);
	auto_wait_landed(1);
	auto_wait_shell("! \"$LLMC\" status | grep -q 'does not answer'");
	ck_assert_int_eq(auto_events("waiting", NULL), 0);
	auto_drain();
	auto_no_complaints();
}
END_TEST

/* An incident: it is tried again until it is over. */
START_TEST(a_login_that_is_refused_for_a_while)
{
	int64_t until;

	auto_tune("login_probe=5000");
	begin_task();
	until = now_s() + 15;
	service_says("allowed", "five_hour", now_s() + 3600,
	    e2e_path("401 %lld Invalid bearer token", (long long)until));
	auto_open_gate("g");
	auto_wait_event("waiting", "claude auth login");
	auto_wait_landed(1);
	ck_assert_int_ge(now_s(), until);
	auto_drain();
	auto_no_complaints();
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	s = suite_create("limits-real");
	scenarios_add_test(s, begin, a_five_hour_window);
	scenarios_add_test(s, begin, a_window_of_one_model);
	scenarios_add_test(s, begin, credits_that_are_used_up);
	scenarios_add_test(
	    s, begin, a_reset_in_two_minutes_and_a_daemon_that_is_killed);
	scenarios_add_test(s, begin, a_person_goes_on_before_the_reset);
	scenarios_add_test(s, begin, a_warning_stops_nothing);
	scenarios_add_test(s, begin, a_turn_that_is_wrapped_up_goes_on);
	scenarios_add_test(s, begin, a_service_that_is_away_for_a_while);
	scenarios_add_test(s, begin, a_login_that_is_refused_for_a_while);
	return s;
}
