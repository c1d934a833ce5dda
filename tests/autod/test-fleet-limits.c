/* SPDX-License-Identifier: ISC */

/* Turns that end with an error: limits and outages are waited for, in virtual
 * time; the rest is for the policy or for a person. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "clock.h"
#include "fleet-world.h"
#include "mem.h"
#include "unit.h"

#define HALF_AN_HOUR (30 * 60 * 1000)

static void
expect_status(const struct agent *agent, enum worker_status status)
{
	ck_assert_str_eq(worker_status_name(agent->worker->status),
	    worker_status_name(status));
}

/* From here on, time is the test's. */
static void
begin(struct fleet_world *world)
{
	fleet_world_begin_working(world, NULL);
	clock_virtual_begin(clock_mono_ms(), clock_wall_ms());
}

static void
end(struct fleet_world *world)
{
	fleet_world_end(world);
	clock_virtual_end();
}

/* Its turn fails. */
static void
fail_turn(struct fleet_world *world, struct agent *agent, const char *error,
    const char *text)
{
	cleanup_free char *data =
	    xasprintf("{\"error\":\"%s\",\"last_assistant_message\":\"%s\"}",
		error, text);
	struct floor_call *call =
	    fleet_world_hook(world, agent, "StopFailure", data);

	ck_assert_ptr_null(floor_world_answer(&world->floor, call));
	ck_assert(!agent->worker->session.busy);
}

/* A limit that is over in half an hour; when that is. */
static int64_t
hit_limit(struct fleet_world *world, struct agent *agent)
{
	int64_t until = clock_wall_ms() / 1000 + HALF_AN_HOUR / 1000;
	cleanup_free char *text = xasprintf(
	    "You have hit your limit, resets at %lld", (long long)until);

	fail_turn(world, agent, "rate_limit", text);
	return until * 1000;
}

/* --- limits ----------------------------------------------------------- */

TEST(a_limit_is_waited_for)
{
	struct fleet_world world;
	int64_t until;

	begin(&world);
	until = hit_limit(&world, world.adam);
	expect_status(world.adam, WORKER_LIMITED);
	ck_assert_int_eq(world.adam->worker->until_ms, until);
	ck_assert_int_eq(world.told[EVENT_WAITING], 1);
	fleet_world_run(&world, HALF_AN_HOUR - 2000);
	expect_status(world.adam, WORKER_LIMITED);
	ck_assert_int_eq(world.told[EVENT_LIMIT_OVER], 0);
	fleet_world_run(&world, 2100);
	ck_assert_int_eq(world.told[EVENT_LIMIT_OVER], 1);
	ck_assert_ptr_nonnull(
	    strstr(world.tmux->trace.data, "The interruption is over"));
	fleet_world_submit(&world, world.adam);
	fleet_world_moved(&world, "adam:limited adam:starting adam:working ");
	ck_assert_int_eq(world.adam->worker->until_ms, 0);
	end(&world);
}

/* The account's limit is everybody's who would run into it next. */
TEST(a_limit_is_the_accounts)
{
	struct fleet_world world;
	struct agent *eve, *cain, *abel;
	struct floor_call *call;

	fleet_world_begin_working(&world, NULL);
	eve = fleet_world_add(&world, "eve");
	cain = fleet_world_add(&world, "cain");
	abel = fleet_world_add(&world, "abel");
	fleet_world_wait_up(&world, eve);
	fleet_world_wait_up(&world, cain);
	fleet_world_wait_up(&world, abel);
	/* eve is idle, cain starts, abel is in a turn. */
	call = floor_world_call(
	    &world.floor, "worker.start", "cain", ",\"prompt\":\"do that\"");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	fleet_world_wait_pasted(&world, cain);
	agent_move(abel, WORKER_STARTING, NULL);
	agent_move(abel, WORKER_WORKING, NULL);
	floor_world_settle(&world.floor);
	clock_virtual_begin(clock_mono_ms(), clock_wall_ms());

	hit_limit(&world, world.adam);
	expect_status(eve, WORKER_LIMITED);
	expect_status(cain, WORKER_LIMITED);
	expect_status(abel, WORKER_WORKING);
	ck_assert_int_eq(world.told[EVENT_WAITING], 1);
	ck_assert_int_eq(cain->worker->limit_tries, 0); /* it was adam's */
	buf_clear(&world.tmux->trace);
	fleet_world_run(&world, HALF_AN_HOUR + 100);
	expect_status(eve, WORKER_IDLE);
	expect_status(abel, WORKER_WORKING);
	/* cain has his prompt on its way already, and needs no other. */
	ck_assert_int_eq(cain->worker->session.step, PROMPT_PASTED);
	ck_assert_ptr_nonnull(strstr(cain->worker->session.pending, "do that"));
	fleet_world_submit(&world, cain);
	expect_status(cain, WORKER_WORKING);
	end(&world);
}

TEST(a_limit_that_names_no_time)
{
	struct fleet_world world;

	begin(&world);
	for (int i = 1; i <= 2; i++) {
		int64_t wait = i * 5 * 60 * 1000;

		fail_turn(
		    &world, world.adam, "rate_limit", "too many requests");
		expect_status(world.adam, WORKER_LIMITED);
		ck_assert_int_le(llabs(world.adam->worker->until_ms -
				     clock_wall_ms() - wait),
		    100);
		ck_assert_int_eq(world.adam->worker->limit_tries, i);
		fleet_world_run(&world, wait + 100);
		ck_assert_int_eq(world.told[EVENT_LIMIT_OVER], i);
		fleet_world_submit(&world, world.adam);
		expect_status(world.adam, WORKER_WORKING);
	}
	end(&world);
}

/* A person does not have to wait. */
TEST(a_message_ends_the_waiting)
{
	struct fleet_world world;
	struct floor_call *call;

	begin(&world);
	hit_limit(&world, world.adam);
	call = floor_world_call(
	    &world.floor, "worker.message", "adam", ",\"text\":\"go on\"");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	fleet_world_submit(&world, world.adam);
	expect_status(world.adam, WORKER_WORKING);
	fleet_world_run(&world, HALF_AN_HOUR + 100);
	ck_assert_int_eq(world.told[EVENT_LIMIT_OVER], 0);
	end(&world);
}

/* Its agent may end meanwhile; the next one goes on. */
TEST(an_agent_that_ends_while_it_waits)
{
	struct fleet_world world;

	begin(&world);
	hit_limit(&world, world.adam);
	fleet_world_kill(world.adam);
	fleet_world_run(&world, 1000);
	expect_status(world.adam, WORKER_LIMITED);
	ck_assert_int_eq(world.adam->worker->crashes, 0);
	ck_assert_int_eq(world.told[EVENT_AGENT_EXITED], 0);
	ck_assert_int_eq(session_phase(world.adam->session), SESSION_NONE);
	fleet_world_run(&world, HALF_AN_HOUR);
	fleet_world_wait_up(&world, world.adam);
	fleet_world_submit(&world, world.adam);
	expect_status(world.adam, WORKER_WORKING);
	end(&world);
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
	expect_status(agent, WORKER_LIMITED);
	policy->limits++;
	policy->outages += outage;
	policy->until_ms = until_ms;
}

static bool
policy_error(void *arg, struct agent *agent, const char *text)
{
	struct policy *policy = arg;

	ck_assert_str_eq(text, "a picture is broken");
	expect_status(agent, WORKER_WORKING);
	policy->errors++;
	return policy->takes_errors;
}

static const struct fleet_policy fleet_policy = {
	.limited = policy_limited,
	.turn_error = policy_error,
};

TEST(an_outage_is_one_workers)
{
	struct fleet_world world;
	struct policy policy = { 0 };
	struct agent *eve;

	fleet_world_begin_working(&world, NULL);
	eve = fleet_world_add(&world, "eve");
	fleet_world_wait_up(&world, eve);
	fleet_set_policy(world.floor.fleet, &fleet_policy, &policy);
	fail_turn(&world, world.adam, "server_error", "API Error: 500");
	expect_status(world.adam, WORKER_LIMITED);
	expect_status(eve, WORKER_IDLE);
	ck_assert_int_eq(policy.limits, 1);
	ck_assert_int_eq(policy.outages, 1);
	ck_assert_int_eq(policy.until_ms, world.adam->worker->until_ms);
	ck_assert_int_eq(policy.errors, 0);
	fleet_world_end(&world);
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
	struct fleet_world world;
	struct policy policy = { .takes_errors = row->taken };

	fleet_world_begin_working(&world, NULL);
	fleet_set_policy(world.floor.fleet, &fleet_policy, &policy);
	fail_turn(&world, world.adam, row->error, row->text);
	ck_assert_int_eq(policy.errors, row->asked);
	ck_assert_int_eq(policy.limits, 0);
	ck_assert_int_eq(world.told[EVENT_TURN_FAILED], 1);
	if (row->reason != NULL) {
		expect_status(world.adam, WORKER_PAUSED);
		ck_assert_str_eq(world.adam->worker->reason, row->reason);
	} else {
		expect_status(world.adam, WORKER_WORKING);
	}
	ck_assert_int_eq(
	    world.told[EVENT_WORKER_PARKED] + world.told[EVENT_LOGIN_NEEDED],
	    row->reason != NULL);
	fleet_world_end(&world);
}

TEST(an_error_that_says_nothing)
{
	struct fleet_world world;

	fleet_world_begin_working(&world, NULL);
	fail_turn(&world, world.adam, "unknown", "");
	expect_status(world.adam, WORKER_PAUSED);
	ck_assert_ptr_nonnull(strstr(world.adam->worker->reason, "without a"));
	fleet_world_end(&world);
}
