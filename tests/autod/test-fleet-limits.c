/* SPDX-License-Identifier: ISC */

/* Turns that end with an error: limits and outages are waited for, in virtual
 * time; the rest is for the policy or for a person. */
#include "fleet-world.h"
#include "ask.h"
#include "limit.h"

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

/* A time of day, as Claude Code says it. */
static void
hit_limit_at(struct agent *agent, int64_t ms)
{
	time_t at = (time_t)(ms / 1000);
	struct tm tm;
	cleanup_free char *text = NULL;

	ck_assert_ptr_nonnull(gmtime_r(&at, &tm));
	text = xasprintf("You've hit your 5-hour limit, resets %02d:%02d (UTC)",
	    tm.tm_hour, tm.tm_min);
	fail_turn(agent, "rate_limit", text);
}

/* Its status line says when a window is reset. */
static void
tell_reset(struct agent *agent, int64_t ms)
{
	cleanup_free char *data = xasprintf(
	    "{\"rate_limits\":{\"five_hour\":{\"used_percentage\":100,"
	    "\"resets_at\":%lld}}}",
	    (long long)(ms / 1000));

	floor_world_answer(fleet_world_hook(agent, "StatusLine", data));
}

/* --- limits ----------------------------------------------------------- */

TEST(a_limit_is_waited_for)
{
	int64_t until;

	begin();
	until = hit_limit(fleet_world.adam);
	fleet_world_expect(fleet_world.adam, WORKER_LIMITED);
	until += limit_delay_ms(1);
	ck_assert_int_eq(fleet_world.adam->worker->until_ms, until);
	ck_assert_int_eq(fleet_world.told[EVENT_WAITING], 1);
	fleet_world_run(until - clock_wall_ms() - 1000);
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

/* It goes on after the second of the reset, not after that of its minute; the
 * status line may come before the turn fails, after it, or never. Then it is
 * the end of the minute. */
TEST_ROWS(a_reset_has_a_second, 9)
{
	static const int64_t seconds[] = { 0, 41, 59 };
	int when = _i / 3; /* before, after, never */
	int64_t reset, until;

	begin();
	clock_virtual_advance(60000 - clock_wall_ms() % 60000);
	reset = clock_wall_ms() + 2 * 60000 + seconds[_i % 3] * 1000;
	until = (when < 2 ? reset : clock_wall_ms() + 3 * 60000) +
	    limit_delay_ms(fleet_world.adam->worker->index);
	if (when == 0)
		tell_reset(fleet_world.adam, reset);
	hit_limit_at(fleet_world.adam, reset);
	if (when == 1)
		tell_reset(fleet_world.adam, reset);
	ck_assert_int_eq(fleet_world.adam->worker->until_ms, until);
	fleet_world_run(until - clock_wall_ms() - 100);
	fleet_world_expect(fleet_world.adam, WORKER_LIMITED);
	fleet_world_run(200);
	fleet_world_expect(fleet_world.adam, WORKER_STARTING);
}

/* Each of them a moment later; the daemon may die meanwhile. */
TEST_ROWS(workers_go_on_after_the_reset_one_by_one, 4)
{
	static const struct {
		int workers;
		bool killed;
	} rows[] = { { 4, false }, { 4, true }, { 20, false }, { 20, true } };
	int count = rows[_i].workers, over = 0;
	int64_t reset;

	fleet_world_begin_working(NULL);
	for (int i = 2; i <= count; i++) {
		cleanup_free char *name = xasprintf("w%d", i);
		struct agent *agent = fleet_world_add(name);

		agent->worker->index = i;
		fleet_world_wait_up(agent);
	}
	clock_virtual_begin(clock_mono_ms(), clock_wall_ms());
	reset = hit_limit(fleet_world.adam);
	if (rows[_i].killed) {
		fleet_world_reopen();
		fleet_world_run(1000);
	}
	fleet_world_run(reset - clock_wall_ms());
	for (int i = 0; i < count; i++)
		fleet_world_expect(
		    floor_world.fleet->agents[i], WORKER_LIMITED);
	for (int i = 0; i < 100; i++) {
		int before = over;

		fleet_world_run(500);
		over = fleet_world.told[EVENT_LIMIT_OVER];
		ck_assert_int_le(over - before, 1);
	}
	ck_assert_int_eq(over, count);
}

/* A person has lifted the limit, or the agent goes on by itself: whatever it
 * reports, it is limited no more, and nothing is typed into its turn. */
TEST_ROWS(a_turn_that_runs_ends_the_waiting, 4)
{
	static const char *const hooks[][2] = {
		{ "UserPromptSubmit", "{\"prompt\":\"continue\"}" },
		{ "PreToolUse", "{\"tool_name\":\"Bash\"}" },
		{ "PostToolUse", "{\"tool_name\":\"Bash\"}" },
		{ "Stop", "{\"last_assistant_message\":\"Done.\"}" },
	};

	begin();
	hit_limit(fleet_world.adam);
	buf_clear(&fleet_world.tmux->trace);
	floor_world_answer(
	    fleet_world_hook(fleet_world.adam, hooks[_i][0], hooks[_i][1]));
	ck_assert_int_eq(fleet_world.told[EVENT_LIMIT_OVER], 1);
	ck_assert_int_ne(fleet_world.adam->worker->status, WORKER_LIMITED);
	ck_assert_int_eq(fleet_world.adam->worker->until_ms, 0);
	if (_i < 3) {
		fleet_world_expect(fleet_world.adam, WORKER_WORKING);
		ck_assert(fleet_world.adam->worker->session.busy);
		fleet_world_run(HALF_AN_HOUR + 60000);
		ck_assert_int_eq(fleet_world.told[EVENT_LIMIT_OVER], 1);
		ck_assert_ptr_null(strstr(
		    fleet_world.tmux->trace.data, "The interruption is over"));
	}
}

/* Neither does the tool of a subagent that outlives the turn, nor a status
 * line. */
TEST(what_is_no_turn_ends_no_waiting)
{
	begin();
	hit_limit(fleet_world.adam);
	floor_world_answer(fleet_world_hook(fleet_world.adam, "PostToolUse",
	    "{\"tool_name\":\"Bash\",\"agent_id\":\"a1\"}"));
	tell_reset(fleet_world.adam, clock_wall_ms() + 1000000);
	floor_world_answer(fleet_world_hook(fleet_world.adam, "Notification",
	    "{\"notification_type\":\"idle_prompt\"}"));
	fleet_world_expect(fleet_world.adam, WORKER_LIMITED);
}

/* What it did while no daemon was there counts before the clock does. */
TEST(a_turn_that_began_without_a_daemon)
{
	begin();
	hit_limit(fleet_world.adam);
	fleet_world_spool(
	    fleet_world.adam, "UserPromptSubmit", "{\"prompt\":\"continue\"}");
	clock_virtual_advance(HALF_AN_HOUR + 60000);
	fleet_world_reopen();
	fleet_world_run(1000);
	fleet_world_expect(fleet_world.adam, WORKER_WORKING);
	ck_assert_ptr_null(
	    strstr(fleet_world.tmux->trace.data, "The interruption is over"));
}

/* At a limit Claude Code asks what to do; Escape goes before the prompt. */
TEST(a_dialog_is_closed_before_it_goes_on)
{
	const char *escape;

	begin();
	hit_limit(fleet_world.adam);
	buf_clear(&fleet_world.tmux->trace);
	fleet_world_run(HALF_AN_HOUR + 60000);
	escape = strstr(fleet_world.tmux->trace.data, "Escape");
	ck_assert_ptr_nonnull(escape);
	ck_assert_ptr_nonnull(strstr(escape, "The interruption is over"));
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
	fleet_world_run(HALF_AN_HOUR + limit_delay_ms(1) + 100);
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
		int64_t wait = i * 5 * 60 * 1000 + limit_delay_ms(1);

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
policy_limited(void *arg, struct agent *agent, enum limit_class class,
    const char *text, int64_t until_ms)
{
	struct policy *policy = arg;

	ck_assert_str_ne(text, "");
	fleet_world_expect(
	    agent, class == LIMIT_AUTH ? WORKER_PAUSED : WORKER_LIMITED);
	policy->limits += class != LIMIT_AUTH;
	policy->outages += class == LIMIT_OUTAGE;
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
	ck_assert_int_eq(policy.until_ms + limit_delay_ms(1),
	    fleet_world.adam->worker->until_ms);
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

#define PROBE (3 * 60 * 1000)

/* Three in a turn, and one that has nothing to do. */
static void
begin_four(struct agent *agents[4])
{
	fleet_world_begin_working(NULL);
	agents[0] = fleet_world.adam;
	agents[1] = fleet_world_add("eve");
	agents[2] = fleet_world_add("cain");
	agents[3] = fleet_world_add("abel");
	fleet_world_wait_up(agents[3]);
	for (int i = 1; i < 3; i++) {
		fleet_world_wait_up(agents[i]);
		xstrset(&agents[i]->worker->prompt, "do that");
		agent_move(agents[i], WORKER_STARTING, NULL);
		agent_move(agents[i], WORKER_WORKING, NULL);
	}
	floor_world_settle();
	clock_virtual_begin(clock_mono_ms(), clock_wall_ms());
}

/* How many of them are on their way to a turn. */
static int
trying(struct agent *const agents[4])
{
	int count = 0;

	for (int i = 0; i < 3; i++)
		count += agents[i]->worker->status != WORKER_PAUSED;
	return count;
}

/* An incident of the service: one finds out for all when it is over, and nobody
 * gets a task meanwhile. */
TEST(one_tries_a_login_that_is_refused)
{
	struct agent *agents[4];

	begin_four(agents);
	ck_assert(!turn_failure_login_is_lost(agents[3]));
	for (int i = 0; i < 3; i++)
		fail_turn(agents[i], "authentication_failed", "401");
	ck_assert(turn_failure_login_is_lost(agents[3]));
	ck_assert_int_eq(trying(agents), 0);
	ck_assert_int_ne(floor_world.core->state.outage_since_unix, 0);
	for (int i = 0; i < 4; i++) {
		fleet_world_run(PROBE - 5000);
		ck_assert_int_eq(trying(agents), 0);
		fleet_world_run(6000);
		ck_assert_int_eq(trying(agents), 1);
		fleet_world_submit(agents[0]);
		fleet_world_expect(agents[0], WORKER_WORKING);
		ck_assert_int_eq(trying(agents), 1);
		if (i < 3)
			fail_turn(agents[0], "authentication_failed", "401");
	}
	floor_world_answer(fleet_world_hook(
	    agents[0], "PreToolUse", "{\"tool_name\":\"Bash\"}"));
	ck_assert_int_eq(trying(agents), 3);
	ck_assert_int_eq(floor_world.core->state.outage_since_unix, 0);
	ck_assert(!turn_failure_login_is_lost(agents[3]));
	ck_assert_int_eq(fleet_world.told[EVENT_LOGIN_NEEDED], 0);
	ck_assert_int_eq(fleet_world.told[EVENT_WORKER_PARKED], 0);
}

/* People are told when that lasts, once; whoever tries just then waits for
 * nobody, and the ask stays open. */
TEST_ROWS(people_are_told_of_a_login_that_stays_refused, 2)
{
	struct agent *agents[4];
	const struct state *state;
	int64_t first = 0;

	begin_four(agents);
	state = &floor_world.core->state;
	for (int i = 0; i < (_i == 0 ? 3 : 1); i++)
		fail_turn(agents[i], "authentication_failed", "401");
	for (int minute = 0; minute < 60; minute += 3) {
		const struct ask *ask = state_ask(state, ASKS_LOGIN);

		ck_assert_int_eq(ask != NULL, minute >= 15);
		if (ask != NULL && first == 0)
			first = ask->nr;
		ck_assert(ask == NULL || ask->nr == first);
		ck_assert_int_eq(
		    fleet_world.told[EVENT_LOGIN_NEEDED], minute >= 15);
		fleet_world_run(PROBE + 500);
		fleet_world_submit(agents[0]);
		fail_turn(agents[0], "authentication_failed", "401");
	}
	fleet_world_run(PROBE + 500);
	fleet_world_submit(agents[0]);
	fleet_world_stop(agents[0]);
	floor_world_settle();
	ck_assert_ptr_null(state_ask(state, ASKS_LOGIN));
}

/* A daemon that dies in between tries as well. */
TEST(a_login_is_tried_by_the_next_daemon)
{
	begin();
	fail_turn(fleet_world.adam, "authentication_failed", "401");
	fleet_world_reopen();
	fleet_world_run(1000);
	fleet_world_expect(fleet_world.adam, WORKER_PAUSED);
	fleet_world_run(PROBE);
	fleet_world_submit(fleet_world.adam);
	fleet_world_expect(fleet_world.adam, WORKER_WORKING);
}

/* What a person has to settle, and what nobody has a name for. */
static const struct error_row {
	const char *error, *text;
	bool asked, taken; /* the policy */
	const char
	    *reason; /* the worker is paused for that, NULL = it is not */
} error_rows[] = {
	{ "authentication_failed", "please log in", false, false,
	    "please log in; log in with: claude auth login, or just wait" },
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
		fleet_world.told[EVENT_WAITING],
	    row->reason != NULL);
	ck_assert_int_eq(fleet_world.told[EVENT_LOGIN_NEEDED], 0);
}

TEST(an_error_that_says_nothing)
{
	fleet_world_begin_working(NULL);
	fail_turn(fleet_world.adam, "unknown", "");
	fleet_world_expect(fleet_world.adam, WORKER_PAUSED);
	ck_assert_ptr_nonnull(
	    strstr(fleet_world.adam->worker->reason, "without a"));
}
