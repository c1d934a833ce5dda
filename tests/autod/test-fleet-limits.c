/* SPDX-License-Identifier: ISC */

/* Turns that end with an error: limits and outages are waited for, in virtual
 * time; the rest is for the policy or for a person. */
#include "fleet-world.h"

#define HALF_AN_HOUR (30 * 60 * 1000)

/* From here on, time is the test's. */
static void
begin(void)
{
	fleet_world_begin_working(NULL);
	clock_virtual_begin(clock_mono_ms(), clock_wall_ms());
}

/* Its turn fails. */
static void
fail_turn(struct agent *agent, const char *error, const char *text)
{
	cleanup_free char *data =
	    xasprintf("{\"error\":\"%s\",\"last_assistant_message\":\"%s\"}",
		error, text);
	struct floor_call *call = fleet_world_hook(agent, "StopFailure", data);

	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert(!agent->worker->session.busy);
}

/* A limit that is over in half an hour; when that is. */
static int64_t
hit_limit(struct agent *agent)
{
	int64_t until = clock_wall_ms() / 1000 + HALF_AN_HOUR / 1000;
	cleanup_free char *text = xasprintf(
	    "You have hit your limit, resets at %lld", (long long)until);

	fail_turn(agent, "rate_limit", text);
	return until * 1000;
}

/* --- limits ----------------------------------------------------------- */

TEST(a_limit_is_waited_for)
{
	int64_t until;

	begin();
	until = hit_limit(fleet_world.adam);
	fleet_world_expect(fleet_world.adam, WORKER_LIMITED);
	ck_assert_int_eq(fleet_world.adam->worker->until_ms, until);
	ck_assert_int_eq(fleet_world.told[EVENT_WAITING], 1);
	fleet_world_run(HALF_AN_HOUR - 2000);
	fleet_world_expect(fleet_world.adam, WORKER_LIMITED);
	ck_assert_int_eq(fleet_world.told[EVENT_LIMIT_OVER], 0);
	fleet_world_run(2100);
	ck_assert_int_eq(fleet_world.told[EVENT_LIMIT_OVER], 1);
	ck_assert_ptr_nonnull(
	    strstr(fleet_world.tmux->trace.data, "The interruption is over"));
	fleet_world_submit(fleet_world.adam);
	fleet_world_moved("adam:limited adam:starting adam:working ");
	ck_assert_int_eq(fleet_world.adam->worker->until_ms, 0);
}

/* The account's limit is everybody's who would run into it next. */
TEST(a_limit_is_the_accounts)
{
	struct agent *eve, *cain, *abel;

	fleet_world_begin_working(NULL);
	eve = fleet_world_add("eve");
	cain = fleet_world_add("cain");
	abel = fleet_world_add("abel");
	fleet_world_wait_up(eve);
	fleet_world_wait_up(cain);
	fleet_world_wait_up(abel);
	/* eve is idle, cain starts, abel is in a turn. */
	floor_world_done(floor_world_call(
	    "worker.start", "cain", ",\"prompt\":\"do that\""));
	fleet_world_wait_pasted(cain);
	agent_move(abel, WORKER_STARTING, NULL);
	agent_move(abel, WORKER_WORKING, NULL);
	floor_world_settle();
	clock_virtual_begin(clock_mono_ms(), clock_wall_ms());

	hit_limit(fleet_world.adam);
	fleet_world_expect(eve, WORKER_LIMITED);
	fleet_world_expect(cain, WORKER_LIMITED);
	fleet_world_expect(abel, WORKER_WORKING);
	ck_assert_int_eq(fleet_world.told[EVENT_WAITING], 1);
	ck_assert_int_eq(cain->worker->limit_tries, 0); /* it was adam's */
	buf_clear(&fleet_world.tmux->trace);
	fleet_world_run(HALF_AN_HOUR + 100);
	fleet_world_expect(eve, WORKER_IDLE);
	fleet_world_expect(abel, WORKER_WORKING);
	/* cain has his prompt on its way already, and needs no other. */
	ck_assert_int_eq(cain->worker->session.step, PROMPT_PASTED);
	ck_assert_ptr_nonnull(strstr(cain->worker->session.pending, "do that"));
	fleet_world_submit(cain);
	fleet_world_expect(cain, WORKER_WORKING);
}

/* Of the agent that one logs in to in the same way: another kind has another
 * account. */
TEST(a_limit_is_that_of_the_kind)
{
	struct agent *eve, *cain;

	fleet_world_begin_working(
	    "[workers.eve]\nagent = \"codex\"\n"
	    "[workers.cain]\nagent = \"claude-headless\"\n");
	eve = fleet_world_add("eve");
	cain = fleet_world_add("cain");
	fleet_world_wait_up(eve);
	fleet_world_wait_up(cain);
	clock_virtual_begin(clock_mono_ms(), clock_wall_ms());
	hit_limit(fleet_world.adam);
	fleet_world_expect(eve, WORKER_IDLE);
	fleet_world_expect(cain, WORKER_LIMITED);
}

TEST(a_limit_that_names_no_time)
{
	begin();
	for (int i = 1; i <= 2; i++) {
		int64_t wait = i * 5 * 60 * 1000;

		fail_turn(fleet_world.adam, "rate_limit", "too many requests");
		fleet_world_expect(fleet_world.adam, WORKER_LIMITED);
		ck_assert_int_le(llabs(fleet_world.adam->worker->until_ms -
				     clock_wall_ms() - wait),
		    100);
		ck_assert_int_eq(fleet_world.adam->worker->limit_tries, i);
		fleet_world_run(wait + 100);
		ck_assert_int_eq(fleet_world.told[EVENT_LIMIT_OVER], i);
		fleet_world_submit(fleet_world.adam);
		fleet_world_expect(fleet_world.adam, WORKER_WORKING);
	}
}

/* A person does not have to wait. */
TEST(a_message_ends_the_waiting)
{
	begin();
	hit_limit(fleet_world.adam);
	floor_world_done(
	    floor_world_call("worker.message", "adam", ",\"text\":\"go on\""));
	fleet_world_submit(fleet_world.adam);
	fleet_world_expect(fleet_world.adam, WORKER_WORKING);
	fleet_world_run(HALF_AN_HOUR + 100);
	ck_assert_int_eq(fleet_world.told[EVENT_LIMIT_OVER], 0);
}

/* Its agent may end meanwhile; the next one goes on. */
TEST(an_agent_that_ends_while_it_waits)
{
	begin();
	hit_limit(fleet_world.adam);
	fleet_world_kill(fleet_world.adam);
	fleet_world_run(1000);
	fleet_world_expect(fleet_world.adam, WORKER_LIMITED);
	ck_assert_int_eq(fleet_world.adam->worker->crashes, 0);
	ck_assert_int_eq(fleet_world.told[EVENT_AGENT_EXITED], 0);
	ck_assert_int_eq(
	    session_phase(fleet_world.adam->session), SESSION_NONE);
	fleet_world_run(HALF_AN_HOUR);
	fleet_world_wait_up(fleet_world.adam);
	fleet_world_submit(fleet_world.adam);
	fleet_world_expect(fleet_world.adam, WORKER_WORKING);
}

/* --- the policy ------------------------------------------------------- */

struct policy {
	bool takes_errors;
	int limits, outages, errors;
	int64_t until_ms;
};

static void
policy_limited(void *arg, struct agent *agent, bool outage, const char *text,
    int64_t until_ms)
{
	struct policy *policy = arg;

	ck_assert_str_ne(text, "");
	fleet_world_expect(agent, WORKER_LIMITED);
	policy->limits++;
	policy->outages += outage;
	policy->until_ms = until_ms;
}

static bool
policy_error(void *arg, struct agent *agent, const char *text)
{
	struct policy *policy = arg;

	ck_assert_str_eq(text, "a picture is broken");
	fleet_world_expect(agent, WORKER_WORKING);
	policy->errors++;
	return policy->takes_errors;
}

static const struct fleet_policy fleet_policy = {
	.limited = policy_limited,
	.turn_error = policy_error,
};

TEST(an_outage_is_one_workers)
{
	struct policy policy = { 0 };
	struct agent *eve;

	fleet_world_begin_working(NULL);
	eve = fleet_world_add("eve");
	fleet_world_wait_up(eve);
	fleet_set_policy(floor_world.fleet, &fleet_policy, &policy);
	fail_turn(fleet_world.adam, "server_error", "API Error: 500");
	fleet_world_expect(fleet_world.adam, WORKER_LIMITED);
	fleet_world_expect(eve, WORKER_IDLE);
	ck_assert_int_eq(policy.limits, 1);
	ck_assert_int_eq(policy.outages, 1);
	ck_assert_int_eq(policy.until_ms, fleet_world.adam->worker->until_ms);
	ck_assert_int_eq(policy.errors, 0);
}

/* After a login in one session; one that a person has paused stays so. */
TEST_ROWS(a_login_is_for_all, 2)
{
	struct agent *eve;

	fleet_world_begin_working(NULL);
	eve = fleet_world_add("eve");
	fleet_world_wait_up(eve);
	fail_turn(fleet_world.adam, "authentication_failed", "401");
	turn_failure(eve, "authentication_failed", "401");
	eve->worker->on_hold = _i == 1;
	fleet_world_expect(fleet_world.adam, WORKER_PAUSED);
	fleet_world_expect(eve, WORKER_PAUSED);
	floor_world_answer(fleet_world_hook(
	    fleet_world.adam, "UserPromptSubmit", "{\"prompt\":\"continue\"}"));
	fleet_world_expect(eve, WORKER_PAUSED); /* that says nothing yet */
	fleet_world_stop(fleet_world.adam);
	fleet_world_expect(eve, _i == 1 ? WORKER_PAUSED : WORKER_IDLE);
}

/* What a person has to settle, and what nobody has a name for. */
static const struct error_row {
	const char *error, *text;
	bool asked, taken; /* the policy */
	const char
	    *reason; /* the worker is paused for that, NULL = it is not */
} error_rows[] = {
	{ "authentication_failed", "please log in", false, false,
	    "please log in; log in with: claude auth login, then: llmc message "
	    "adam continue" },
	{ "unknown", "a picture is broken", true, false,
	    "a picture is broken" },
	{ "unknown", "a picture is broken", true, true, NULL },
};

TEST_ROWS(an_error_is_for_a_person, nitems(error_rows))
{
	const struct error_row *row = &error_rows[_i];
	struct policy policy = { .takes_errors = row->taken };

	fleet_world_begin_working(NULL);
	fleet_set_policy(floor_world.fleet, &fleet_policy, &policy);
	fail_turn(fleet_world.adam, row->error, row->text);
	ck_assert_int_eq(policy.errors, row->asked);
	ck_assert_int_eq(policy.limits, 0);
	ck_assert_int_eq(fleet_world.told[EVENT_TURN_FAILED], 1);
	if (row->reason != NULL) {
		fleet_world_expect(fleet_world.adam, WORKER_PAUSED);
		ck_assert_str_eq(fleet_world.adam->worker->reason, row->reason);
	} else {
		fleet_world_expect(fleet_world.adam, WORKER_WORKING);
	}
	ck_assert_int_eq(fleet_world.told[EVENT_WORKER_PARKED] +
		fleet_world.told[EVENT_LOGIN_NEEDED],
	    row->reason != NULL);
}

TEST(an_error_that_says_nothing)
{
	fleet_world_begin_working(NULL);
	fail_turn(fleet_world.adam, "unknown", "");
	fleet_world_expect(fleet_world.adam, WORKER_PAUSED);
	ck_assert_ptr_nonnull(
	    strstr(fleet_world.adam->worker->reason, "without a"));
}
