/* SPDX-License-Identifier: ISC */

/* Questions whose call is made again, and those whose caller is gone. */
#include "records.h"
#include "team-private.h"
#include "family-world.h"

#define CHILD "actor:team:coder:coder-1"

/* auto-1 is at work, and team-1 for it. */
static void
begin(void)
{
	family_world_begin(NULL);
	auto_world_turn_on("t1");
	floor_world_result(mail_world_ask("auto-1", "agent_spawn",
	    "{\"spawn_reason\":\"x\",\"requested_subagents\":["
	    "{\"role\":\"coder\",\"task\":\"x\"}]}"));
	auto_world_turn_on("t2");
	plan_world_settle();
}

static struct floor_call *
ask(const char *call)
{
	cleanup_free char *params =
	    xasprintf("{\"message\":\"A or B?\",\"call\":\"%s\"}", call);

	return mail_world_ask("team-1", "request_orchestrator", params);
}

static bool
is_stored(void *arg)
{
	(void)arg;
	return records_open(mail_world.team->core, BOOK_REQUEST, NULL) > 0;
}

/* auto-1 answers the only open question. */
static struct floor_call *
respond(void)
{
	cleanup_free char *params = NULL;
	cleanup_json struct json_object *question = NULL;

	floor_world_wait(is_stored, NULL);
	question = records_first(mail_world.team->core, BOOK_REQUEST, NULL);
	params = xasprintf("{\"requestId\":\"%s\",\"response\":\"B\"}",
	    json_string_or(question, "id", ""));
	return mail_world_ask("auto-1", "respond_orchestrator_request", params);
}

static void
is_b(struct floor_call *call)
{
	ck_assert_str_eq(
	    json_string_or(floor_world_result(call), "response", "none"), "B");
}

TEST(a_restart_does_not_forget_how_many_were_asked)
{
	static const char *const calls[] = { "c1", "c2", "c3", "c4", "c5" };
	struct floor_call *sixth;

	begin();
	for (size_t i = 0; i < nitems(calls); i++) {
		struct floor_call *asked = ask(calls[i]);

		floor_world_result(respond());
		is_b(asked);
	}
	floor_world_settle();
	mail_world_die();
	sixth = ask("c6");
	floor_world_answer(sixth);
	ck_assert_int_eq(floor_call_code(sixth), API_E_RATE);
}

/* The call is made again while its question is being answered. */
TEST(an_answer_that_is_being_given_is_not_lost)
{
	begin();
	ask("c1");
	respond();
	is_b(ask("c1"));
}

static bool
nobody_waits(void *arg)
{
	(void)arg;
	return !team_requests_asks(mail_world.team->requests,
	    fleet_find(mail_world.team->fleet, "team-1"));
}

TEST(whoever_hangs_up_does_not_wait_any_more)
{
	struct floor_call *asked;

	begin();
	asked = ask("c1");
	floor_world_wait(is_stored, NULL);
	ck_assert(!nobody_waits(NULL));
	floor_call_hang_up(asked);
	floor_world_wait(nobody_waits, NULL);
	/* Its question is still there. */
	ck_assert_uint_eq(
	    team_requests_pending(mail_world.team->requests, CHILD), 1);
	asked = ask("c1");
	floor_world_result(respond());
	is_b(asked);
}

TEST(whoever_asked_an_earlier_daemon_waits)
{
	begin();
	ask("c1");
	floor_world_wait(is_stored, NULL);
	floor_world_settle();
	mail_world_die();
	ck_assert(!nobody_waits(NULL));
}
