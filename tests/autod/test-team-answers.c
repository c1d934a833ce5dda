/* SPDX-License-Identifier: ISC */

/* Questions whose call is made again, and those whose caller is gone. */
#include "records.h"
#include "team-private.h"
#include "team-request.h"
#include "family-world.h"

#define CHILD "actor:team:coder:coder-1"

static struct floor_call *
use(const char *worker, const char *tool, const char *params)
{
	cleanup_free char *socket =
	    run_dir_socket(&floor_world.workspace, worker);
	cleanup_free char *method = xasprintf("team.%s", tool);

	return floor_world_ask_at(socket, method, params);
}

static struct json_object *
answer(struct floor_call *call)
{
	const char *error = floor_world_answer(call);

	ck_assert_msg(error == NULL, "%s", error);
	return floor_call_result(call);
}

/* auto-1 is at work, and team-1 for it. */
static void
begin(void)
{
	family_world_begin(NULL);
	family_world_turn("t1");
	answer(use("auto-1", "agent_spawn",
	    "{\"spawn_reason\":\"x\",\"requested_subagents\":["
	    "{\"role\":\"coder\",\"task\":\"x\"}]}"));
	family_world_turn("t2");
	plan_world_settle();
}

static struct floor_call *
ask(const char *call)
{
	cleanup_free char *params =
	    xasprintf("{\"message\":\"A or B?\",\"call\":\"%s\"}", call);

	return use("team-1", "request_orchestrator", params);
}

static bool
is_stored(void *arg)
{
	(void)arg;
	return records_open(family_world.floor->core, BOOK_REQUEST, NULL) > 0;
}

/* auto-1 answers the only open question. */
static struct floor_call *
respond(void)
{
	cleanup_free char *params = NULL;
	cleanup_json struct json_object *question = NULL;

	floor_world_wait(is_stored, &family_world);
	question = records_first(family_world.floor->core, BOOK_REQUEST, NULL);
	params = xasprintf("{\"requestId\":\"%s\",\"response\":\"B\"}",
	    json_string_or(question, "id", ""));
	return use("auto-1", "respond_orchestrator_request", params);
}

static void
is_b(struct floor_call *call)
{
	ck_assert_str_eq(json_string_or(answer(call), "response", "none"), "B");
}

TEST(a_restart_does_not_forget_how_many_were_asked)
{
	static const char *const calls[] = { "c1", "c2", "c3", "c4", "c5" };
	struct floor_call *sixth;

	begin();
	for (size_t i = 0; i < nitems(calls); i++) {
		struct floor_call *asked = ask(calls[i]);

		answer(respond());
		is_b(asked);
	}
	floor_world_settle();
	family_world_die();
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
	return !team_requests_asks(family_world.floor->requests,
	    fleet_find(family_world.floor->fleet, "team-1"));
}

TEST(whoever_hangs_up_does_not_wait_any_more)
{
	struct floor_call *asked;

	begin();
	asked = ask("c1");
	floor_world_wait(is_stored, &family_world);
	ck_assert(!nobody_waits(&family_world));
	floor_call_hang_up(asked);
	floor_world_wait(nobody_waits, &family_world);
	/* Its question is still there. */
	ck_assert_uint_eq(
	    team_requests_pending(family_world.floor->requests, CHILD), 1);
	asked = ask("c1");
	answer(respond());
	is_b(asked);
}

TEST(whoever_asked_an_earlier_daemon_waits)
{
	begin();
	ask("c1");
	floor_world_wait(is_stored, &family_world);
	floor_world_settle();
	family_world_die();
	ck_assert(!nobody_waits(&family_world));
}
