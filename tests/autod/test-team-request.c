/* SPDX-License-Identifier: ISC */

/* Questions of agents, what they have reserved, and what the guards report. */
#include "mail-world.h"
#include "agent.h"
#include "guard.h"
#include "asks.h"
#include "config.h"
#include "records.h"
#include "team-private.h"
#include "tune.h"

#define PARENT "actor:task:t1"
#define CHILD  "actor:task:t2"

/* Whose worker is it? */
static const char *
worker(const char *id)
{
	return auto_world_of(id)->worker;
}

/* t1 and t2 are being worked on; t2 is for t1. */
static void
begin(void)
{
	mail_world_begin();
	plan_world_goal("goal_a", 1);
	plan_world_goal("goal_b", 1);
	auto_world_turn_on("t1");
	auto_world_turn_on("t2");
	plan_world_settle();
	xstrset(&auto_world_of("t2")->launch.parent, "t1");
	xstrset(&auto_world_of("t2")->launch.parent_actor, PARENT);
}

static void
die(void)
{
	floor_world_settle();
	plan_world_settle();
	mail_world_die();
	plan_world_settle();
	floor_world_settle();
}

static struct floor_call *
use(const char *id, const char *tool, const char *params)
{
	return mail_world_ask(worker(id), tool, params);
}

static void
expect(struct json_object *answer, const char *key, const char *value)
{
	ck_assert_str_eq(json_string_or(answer, key, ""), value);
}

/* --- questions --------------------------------------------------------- */

static bool
is_asked(void)
{
	return records_open(mail_world.team->core, BOOK_REQUEST, NULL) > 0;
}

static bool
on_asked(void *arg)
{
	(void)arg;
	return is_asked();
}

/* Ask, and wait until that is stored; the id of the question. */
static struct floor_call *
ask(const char *id, const char *call, char **ret_id)
{
	cleanup_free char *params = xasprintf(
	    "{\"message\":\"A or B?\",\"options\":[\"A\",\"B\"],\"call\":"
	    "\"%s\"}",
	    call);
	struct floor_call *asked = use(id, "request_orchestrator", params);
	cleanup_json struct json_object *last = NULL;

	floor_world_wait(on_asked, NULL);
	plan_world_settle();
	last = records_last(mail_world.team->core, BOOK_REQUEST, NULL);
	if (ret_id != NULL)
		*ret_id = xstrdup(json_string_or(last, "id", ""));
	return asked;
}

static struct json_object *
respond(
    const char *id, const char *request, const char *answer, const char *call)
{
	cleanup_free char *params = xasprintf(
	    "{\"requestId\":\"%s\",\"response\":\"%s\",\"call\":\"%s\"}",
	    request, answer, call);

	return mail_world_must(id, "respond_orchestrator_request", params);
}

static void
no_respond(const char *id, const char *request, int code, const char *words)
{
	cleanup_free char *params = xasprintf(
	    "{\"requestId\":\"%s\",\"response\":\"X\",\"call\":\"other\"}",
	    request);

	mail_world_refuses(
	    id, "respond_orchestrator_request", params, code, words);
}

/* Valid until the next one. */
static const char *
mail_of(const char *actor, const char *member)
{
	static char text[4096];
	cleanup_json struct json_object *mail =
	    records_first(mail_world.team->core, BOOK_MAIL, actor);

	strlcpy(text, json_string_or(mail, member, ""), sizeof text);
	return text;
}

void
unit_begin(void)
{
	unit_hurry(5);
}

TEST(a_question_waits_for_the_answer_of_the_parent)
{
	struct floor_call *asked;
	struct json_object *answer;
	cleanup_free char *id = NULL, *subject = NULL, *reason = NULL;

	begin();
	asked = ask("t2", "c1", &id);
	subject = xasprintf("request:%s", id);
	ck_assert_str_eq(mail_of(PARENT, "subject"), subject);
	ck_assert_ptr_nonnull(strstr(mail_of(PARENT, "body"), "A or B?"));
	ck_assert_ptr_nonnull(strstr(mail_of(PARENT, "body"), id));
	ck_assert_uint_eq(
	    team_requests_pending(mail_world.team->requests, CHILD), 1);
	reason = team_requests_reason(mail_world.team->requests, CHILD, true);
	ck_assert_str_eq(reason, "waits for an answer of " PARENT ": A or B?");
	ck_assert(auto_world.mode->team->asks(auto_world.mode->team_arg,
	    fleet_find(mail_world.team->fleet, worker("t2"))));
	ck_assert(!auto_world.mode->team->asks(auto_world.mode->team_arg,
	    fleet_find(mail_world.team->fleet, worker("t1"))));
	expect(respond("t1", id, "B", "r1"), "status", "resolved");
	answer = floor_world_result(asked);
	expect(answer, "status", "resolved");
	expect(answer, "response", "B");
	expect(answer, "responder", PARENT);
	ck_assert_uint_eq(
	    team_requests_pending(mail_world.team->requests, CHILD), 0);
}

static bool
waits_no_more(void *arg)
{
	(void)arg;
	return !team_requests_asks(mail_world.team->requests,
	    fleet_find(mail_world.team->fleet, worker("t2")));
}

/* Its tool was cancelled, or its session did not wait long enough. */
TEST(an_answer_that_nobody_waits_for_comes_as_mail)
{
	struct json_object *answer;
	cleanup_free char *id = NULL, *subject = NULL;

	begin();
	floor_call_hang_up(ask("t2", "c1", &id));
	floor_world_wait(waits_no_more, NULL);
	answer = respond("t1", id, "B, of course", "r1");
	expect(answer, "status", "resolved");
	ck_assert_ptr_nonnull(
	    strstr(json_string_or(answer, "message", ""), "as mail"));
	plan_world_settle();
	subject = xasprintf("answer:%s", id);
	ck_assert_str_eq(mail_of(CHILD, "subject"), subject);
	ck_assert_str_eq(mail_of(CHILD, "sender"), PARENT);
	ck_assert_ptr_nonnull(strstr(mail_of(CHILD, "body"), "A or B?"));
	ck_assert_ptr_nonnull(strstr(mail_of(CHILD, "body"), "B, of course"));
	/* The same call is made again after all: once is enough. */
	answer = mail_world_must("t2", "request_orchestrator",
	    "{\"message\":\"A or B?\",\"call\":\"c1\"}");
	expect(answer, "response", "B, of course");
	plan_world_settle();
	ck_assert_str_eq(mail_of(CHILD, "subject"), "");
}

/* The parent is on another host, so that its answer comes as mail: without a
 * call that waits it stays mail. */
TEST_ROWS(an_answer_by_mail_is_settled_if_somebody_waits, 2)
{
	struct floor_call *asked;
	cleanup_free char *id = NULL, *subject = NULL;

	begin();
	asked = ask("t2", "c1", &id);
	if (_i == 0) {
		floor_call_hang_up(asked);
		floor_world_wait(waits_no_more, NULL);
	}
	subject = xasprintf("answer:%s", id);
	ck_assert_int_eq(team_mail_post(mail_world.team,
			     &(struct mail_draft){ .key = "a",
				 .from = PARENT,
				 .to = CHILD,
				 .subject = subject,
				 .body = "B",
				 .kind = MAIL_INSTRUCTION },
			     NULL, NULL),
	    0);
	mail_world_settle();
	ck_assert_uint_eq(
	    team_requests_pending(mail_world.team->requests, CHILD), 0);
	ck_assert_str_eq(mail_of(CHILD, "subject"), _i == 0 ? subject : "");
	if (_i == 1)
		expect(floor_world_result(asked), "response", "B");
}

TEST(only_the_parent_answers_and_only_once)
{
	struct floor_call *asked;
	cleanup_free char *id = NULL;

	begin();
	asked = ask("t2", "c1", &id);
	no_respond("t2", id, API_E_UNAUTHORIZED, PARENT);
	no_respond("t1", "R_none", API_E_NOT_FOUND, "no question");
	respond("t1", id, "A", "r1");
	no_respond("t1", id, API_E_CONFLICT, "already");
	/* The same call, made again. */
	expect(respond("t1", id, "A", "r1"), "response", "A");
	expect(floor_world_result(asked), "response", "A");
}

TEST(a_repeated_call_finds_its_question_after_a_restart)
{
	struct floor_call *asked;
	cleanup_free char *id = NULL, *again = NULL;

	begin();
	ask("t2", "c1", &id);
	die();
	asked = ask("t2", "c1", &again);
	ck_assert_str_eq(id, again);
	ck_assert_uint_eq(
	    records_open(mail_world.team->core, BOOK_REQUEST, NULL), 1);
	ck_assert_uint_le(
	    records_open(mail_world.team->core, BOOK_MAIL, PARENT), 1);
	respond("t1", id, "A", "r1");
	expect(floor_world_result(asked), "response", "A");
}

/* The agent asked, its session ended, and the next one comes to the same. */
TEST(the_next_session_asks_the_same_question)
{
	struct floor_call *asked;
	cleanup_free char *id = NULL, *again = NULL;

	begin();
	ask("t2", "c1", &id);
	die();
	asked = ask("t2", "c2", &again);
	ck_assert_str_eq(id, again);
	ck_assert_uint_eq(
	    records_open(mail_world.team->core, BOOK_REQUEST, NULL), 1);
	respond("t1", id, "A", "r1");
	expect(floor_world_result(asked), "response", "A");
}

static char *
records_id(void)
{
	cleanup_json struct json_object *last =
	    records_last(mail_world.team->core, BOOK_REQUEST, NULL);

	return xstrdup(json_string_or(last, "id", ""));
}

static bool
is_asked_by_next(void *arg)
{
	cleanup_json struct json_object *last =
	    records_last(mail_world.team->core, BOOK_REQUEST, NULL);

	(void)arg;
	return strcmp(json_string_or(last, "message", ""), "C or D?") == 0;
}

/* The next session asks something else: nobody waits for the first. */
TEST(the_next_session_asks_another_question)
{
	struct floor_call *asked;
	struct agent *agent;
	cleanup_free char *id = NULL, *next = NULL;

	begin();
	ask("t2", "c1", &id);
	die();
	agent = fleet_find(mail_world.team->fleet, worker("t2"));
	agent->worker->session.generation++;
	asked = use("t2", "request_orchestrator",
	    "{\"message\":\"C or D?\",\"call\":\"c2\"}");
	floor_world_wait(is_asked_by_next, NULL);
	ck_assert_uint_eq(
	    team_requests_pending(mail_world.team->requests, CHILD), 1);
	no_respond("t1", id, API_E_CONFLICT, "cancelled");
	next = records_id();
	respond("t1", next, "D", "r1");
	expect(floor_world_result(asked), "response", "D");
}

TEST(an_answer_that_was_given_meanwhile_is_found)
{
	cleanup_free char *id = NULL;

	begin();
	ask("t2", "c1", &id);
	die();
	respond("t1", id, "B", "r1");
	die();
	expect(mail_world_must("t2", "request_orchestrator",
		   "{\"message\":\"A or B?\",\"call\":\"c1\"}"),
	    "response", "B");
	expect(respond("t1", id, "B", "r1"), "status", "resolved");
	no_respond("t1", id, API_E_CONFLICT, "already");
}

TEST(a_question_of_a_root_goes_to_a_person)
{
	struct floor_call *asked;
	cleanup_free char *id = NULL, *params = NULL;

	begin();
	asked = ask("t1", "c1", &id);
	ck_assert_ptr_nonnull(
	    strstr(mail_of(ACTOR_PERSON, "body"), "llmc answer R_"));
	params = xasprintf("{\"id\":\"%s\",\"response\":\"B\"}", id);
	plan_world_must("request.answer", params);
	expect(floor_world_result(asked), "response", "B");
	plan_world_refused("request.answer", params, API_E_CONFLICT, "already");
}

/* How many asks of agents a person has. */
static size_t
open_asks(void)
{
	const struct state *state = &auto_world.core->state;
	size_t count = 0;

	for (size_t i = 0; i < state->ask_count; i++)
		count += state->asks[i]->question != NULL;
	return count;
}

TEST(each_question_to_a_person_is_asked_until_it_has_ended)
{
	cleanup_free char *first = NULL, *second = NULL, *params = NULL;

	begin();
	ask("t1", "c1", &first);
	ask("t1", "c2", &second);
	ck_assert_str_ne(first, second);
	auto_world_patrol();
	floor_world_settle();
	ck_assert_uint_eq(open_asks(), 2);
	/* They are mail, too, which is not counted once more. */
	ck_assert_uint_eq(team_post_count(mail_world.team, ACTOR_PERSON), 2);
	ck_assert_uint_eq(team_post_unread(mail_world.team), 0);
	/* One whose question has ended, and one whose ask is missing. */
	asks_open(auto_world.core,
	    &(struct ask_draft){ .kind = ASK_QUESTION,
		.key = "question/R_x",
		.question = "R_x" });
	asks_resolve(auto_world.core, auto_world.core->state.asks[0]->key);
	die();
	ck_assert_uint_eq(open_asks(), 2);
	ck_assert_ptr_null(state_ask(&auto_world.core->state, "question/R_x"));
	params = xasprintf("{\"id\":\"%s\",\"response\":\"B\"}", second);
	plan_world_must("request.answer", params);
	ck_assert_uint_eq(open_asks(), 1);
	ck_assert_str_eq(
	    state_ask_named(&auto_world.core->state, first)->question, first);
	team_requests_event(mail_world.team->requests,
	    &(struct event){ .kind = EVENT_TASK_RETRY, .task = "t1" });
	ck_assert_uint_eq(open_asks(), 0);
}

/* Its worker is given other work: the answer is for all that it has asked. */
TEST(a_task_that_waits_for_a_person_has_one_ask)
{
	struct core *core;
	const struct ask *ask_of;
	cleanup_free char *first = NULL;
	int count = 0;

	begin();
	core = auto_world.core;
	ask("t1", "c1", &first);
	use("t1", "request_orchestrator",
	    "{\"message\":\"C or D?\",\"call\":\"c2\"}");
	floor_world_wait(is_asked_by_next, NULL);
	plan_world_settle();
	ck_assert_uint_eq(open_asks(), 2);
	tune("answer_wait=1000");
	team_requests_sweep(mail_world.team->requests);
	auto_world_wait_step("t1", TASK_PARKED);
	floor_world_settle();
	ck_assert_uint_eq(open_asks(), 1);
	ck_assert_uint_eq(team_requests_count(mail_world.team->requests), 0);
	ask_of = state_ask(&core->state, "task/t1");
	/* Each of them names it. */
	for (const char *q = ask_of->question; *q != '\0'; count++) {
		cleanup_free char *id = xstrndup(q, strcspn(q, " "));

		ck_assert_ptr_eq(state_ask_named(&core->state, id), ask_of);
		q += strlen(id);
		q += *q == ' ';
	}
	ck_assert_int_eq(count, 2);
	ck_assert_ptr_eq(state_ask_named(&core->state, first), ask_of);
	ck_assert_ptr_nonnull(strstr(ask_of->words, "asks: A or B?\n"));
	ck_assert_ptr_nonnull(strstr(ask_of->words, "asks: C or D?"));
	ck_assert_uint_eq(strv_count(ask_of->options), 0);
}

/* It was asked while the session was already being ended. */
TEST(a_question_of_a_task_that_is_parked_is_not_lost)
{
	struct core *core;
	cleanup_free char *first = NULL;

	begin();
	core = auto_world.core;
	ask("t1", "c1", &first);
	auto_world_of("t1")->ask = ASK_BUDGET;
	xstrset(&auto_world_of("t1")->reason, "its budget is used up");
	team_requests_event(mail_world.team->requests,
	    &(struct event){ .kind = EVENT_TASK_PARKED, .task = "t1" });
	ck_assert_uint_eq(team_requests_count(mail_world.team->requests), 0);
	for (int i = 0; i < 2; i++) {
		const struct ask *kept = state_ask(&core->state, "task/t1");

		ck_assert_uint_eq(open_asks(), 1);
		ck_assert_int_eq(kept->kind, ASK_BUDGET);
		ck_assert_ptr_nonnull(strstr(kept->words, "budget is used up"));
		ck_assert_ptr_nonnull(strstr(kept->words, "asks: A or B?"));
		ck_assert_ptr_eq(state_ask_named(&core->state, first), kept);
		asks_look(core);
	}
}

TEST(the_end_of_a_run_ends_its_questions)
{
	static const struct event ends[] = {
		{ .kind = EVENT_TASK_RETRY, .task = "t2" },
		{ .kind = EVENT_AGENT_EXITED, .status = "1" },
		{ .kind = EVENT_TASK_FINISHED, .task = "t1" },
	};
	static const char *const states[] = { "cancelled", "cancelled",
		"orphaned" };

	begin();
	for (size_t i = 0; i < nitems(ends); i++) {
		cleanup_free char *call = xasprintf("c%zu", i);
		struct floor_call *asked = ask("t2", call, NULL);
		struct event event = ends[i];

		if (event.task == NULL)
			event.worker = worker("t2");
		team_requests_event(mail_world.team->requests, &event);
		expect(floor_world_result(asked), "status", states[i]);
	}
}

/* As after a restart: nobody tells of it. */
TEST(a_question_to_a_task_that_has_ended_is_orphaned)
{
	struct floor_call *asked;

	begin();
	asked = ask("t2", "c1", NULL);
	auto_world_of("t1")->step = TASK_SETTLING;
	team_requests_sweep(mail_world.team->requests);
	expect(floor_world_result(asked), "status", "orphaned");
}

TEST(nobody_waits_longer_than_it_asked_for)
{
	struct json_object *answer;

	begin();
	answer = mail_world_must("t2", "request_orchestrator",
	    "{\"message\":\"?\",\"timeoutSeconds\":1,\"call\":\"c1\"}");
	expect(answer, "status", "timeout");
	no_respond("t1", json_string_or(answer, "requestId", ""),
	    API_E_CONFLICT, "timed out");
}

TEST(a_fourth_open_question_is_refused)
{
	begin();
	ask("t2", "c1", NULL);
	ask("t2", "c2", NULL);
	ask("t2", "c3", NULL);
	mail_world_refuses("t2", "request_orchestrator",
	    "{\"message\":\"?\",\"call\":\"c4\"}", API_E_RATE, "pending");
}

/* Others are not kept from asking. */
TEST(a_sixth_question_in_a_minute_is_refused)
{
	begin();
	for (int i = 0; i < 5; i++) {
		cleanup_free char *call = xasprintf("c%d", i), *id = NULL;
		struct floor_call *asked = ask("t2", call, &id);

		respond("t1", id, "A", call);
		expect(floor_world_result(asked), "response", "A");
	}
	mail_world_refuses("t2", "request_orchestrator",
	    "{\"message\":\"?\",\"call\":\"c6\"}", API_E_RATE, "minute");
	ask("t1", "d1", NULL);
}

/* --- reservations ------------------------------------------------------ */

/* How many places the worker of this task is kept from. */
static size_t
kept_from(const char *id)
{
	cleanup_free char *path =
	    policy_file_path(&floor_world.workspace, worker(id));
	struct guard_policy policy;
	size_t count;

	floor_world_settle();
	ck_assert_int_eq(policy_file_load(path, &policy, NULL), 0);
	count = policy.reserved_count;
	if (count > 0)
		ck_assert_ptr_nonnull(
		    strstr(policy.reserved[0].owner, "auto-"));
	guard_policy_release(&policy);
	return count;
}

TEST(two_agents_cannot_reserve_the_same_file)
{
	begin();
	mail_world_must("t1", "mail_reserve",
	    "{\"paths\":[\"src/\"],\"reason\":\"moving\"}");
	ck_assert_uint_eq(kept_from("t2"), 1);
	ck_assert_uint_eq(kept_from("t1"), 0);
	mail_world_refuses("t2", "mail_reserve",
	    "{\"paths\":[\"a.c\",\"src/b.c\"]}", API_E_CONFLICT, PARENT);
	mail_world_refuses("t2", "mail_reserve", "{\"paths\":[\"src\"]}",
	    API_E_CONFLICT, "moving");
	/* All or nothing: a.c is free. */
	mail_world_must("t1", "mail_reserve", "{\"paths\":[\"a.c\"]}");
	mail_world_refuses("t2", "mail_release", "{\"paths\":[\"src\"]}",
	    API_E_NOT_FOUND, "src");
	mail_world_must("t1", "mail_release", "{\"paths\":[\"src\"]}");
	mail_world_must("t2", "mail_reserve", "{\"paths\":[\"src/b.c\"]}");
	ck_assert_uint_eq(kept_from("t1"), 1);
	mail_world_refuses("t1", "mail_reserve", "{\"paths\":[\"src\"]}",
	    API_E_CONFLICT, CHILD);
	mail_world_refuses("t1", "mail_reserve", "{\"paths\":[\"../x\"]}",
	    API_E_INVALID_PLAN, "inside");
}

static size_t
listed(const char *id)
{
	struct json_object *list = NULL;

	json_object_object_get_ex(
	    mail_world_must(id, "mail_list_reservations", "{}"), "reservations",
	    &list);
	return json_object_array_length(list);
}

TEST(reservations_survive_a_restart_and_end_with_the_run)
{
	struct event event = { .kind = EVENT_TASK_RETRY, .task = "t1" };

	begin();
	mail_world_must(
	    "t1", "mail_reserve", "{\"paths\":[\"src\"],\"ttl_seconds\":3000}");
	die();
	ck_assert_uint_eq(listed("t2"), 1);
	ck_assert_uint_eq(kept_from("t2"), 1);
	emit(mail_world.team->core, &event);
	ck_assert_uint_eq(listed("t2"), 0);
	ck_assert_uint_eq(kept_from("t2"), 0);
	mail_world_must("t2", "mail_reserve", "{\"paths\":[\"src\"]}");
}

/* Until when t1 has reserved something; the caller frees it. */
static char *
until(void)
{
	struct json_object *list = NULL;

	json_object_object_get_ex(
	    mail_world_must("t1", "mail_list_reservations", "{}"),
	    "reservations", &list);
	ck_assert_uint_eq(json_object_array_length(list), 1);
	return xstrdup(json_string_or(
	    json_object_array_get_idx(list, 0), "until", "none"));
}

TEST(a_reservation_that_is_made_again_never_ends_sooner)
{
	static const char *const asks[] = {
		"{\"paths\":[\"src\"],\"ttl_seconds\":3000}",
		"{\"paths\":[\"src\"],\"ttl_seconds\":60}",
		"{\"paths\":[\"src\"],\"ttl_seconds\":3500}",
	};
	char *ends[nitems(asks)];

	begin();
	for (size_t i = 0; i < nitems(asks); i++) {
		mail_world_must("t1", "mail_reserve", asks[i]);
		ends[i] = until();
	}
	ck_assert_str_ne(ends[0], "none");
	ck_assert_str_eq(ends[1], ends[0]);
	ck_assert_str_ne(ends[2], ends[0]);
	for (size_t i = 0; i < nitems(asks); i++)
		free(ends[i]);
}

/* --- guards ------------------------------------------------------------ */

static void
denied(const char *id, const char *guard)
{
	static int ids;
	const struct agent *agent =
	    fleet_find(mail_world.team->fleet, worker(id));
	cleanup_free char *params = xasprintf(
	    "{\"event\":\"PreToolUse\",\"worker\":\"%s\",\"generation\":%d,"
	    "\"id\":\"d%d\",\"data\":{\"tool_name\":\"Write\",\"denied\":{"
	    "\"guard\":\"%s\",\"reason\":\"x is outside\"}}}",
	    worker(id), (int)agent->worker->session.generation, ++ids, guard);

	ck_assert_ptr_null(floor_world_answer(
	    floor_world_ask_as(worker(id), "hook.event", params)));
	ck_assert_int_eq(agent->worker->session.open_tools, 0);
}

static size_t
reviews(void)
{
	floor_world_settle();
	plan_world_settle();
	return (size_t)plan_world_events("plan.review_needed");
}

/* The newest mail to a person, which is about this goal. */
static void
has_review(const char *goal, const char *reason)
{
	struct json_object *list = plan_world_must("mail.inbox", "{}");
	struct json_object *mail = json_object_array_get_idx(list, 0);
	struct json_object *meta = json_object_object_get(mail, "meta");
	cleanup_free char *subject = xasprintf("plan.review_needed:%s", goal);

	expect(mail, "subject", subject);
	expect(mail, "status", "open");
	expect(meta, "epic_id", goal);
	expect(meta, "source", "agent");
	expect(meta, "reason", reason);
	ck_assert_uint_eq(strlen(json_string_or(meta, "plan_id", "")), 26);
	ck_assert_str_ne(json_string_or(meta, "workspace_id", ""), "");
	ck_assert_int_eq(json_int_or(meta, "version", 0),
	    plan_world_plan(goal)->goal->version);
}

TEST(repeated_violations_have_the_plan_reviewed_once)
{
	begin();
	for (int i = 0; i < 5; i++)
		denied("t1", "tools");
	denied("t1", "task_guard");
	denied("t1", "file_guard");
	ck_assert_uint_eq(reviews(), 0);
	denied("t1", "task_guard");
	ck_assert_uint_eq(reviews(), 1);
	has_review("goal_a", "guard_violation");
	denied("t1", "task_guard");
	ck_assert_uint_eq(reviews(), 1);
}

TEST(an_agent_can_say_that_the_plan_does_not_fit)
{
	begin();
	mail_world_must("t2", "plan_review_needed",
	    "{\"reason\":\"too big\",\"suggestion\":\"split\",\"call\":"
	    "\"c1\"}");
	has_review("goal_b", "replan");
	ck_assert_uint_eq(reviews(), 1);
}

/* What guards see of the same node does not take its place, and is no second
 * mail. */
TEST(what_an_agent_says_of_the_plan_is_asked_and_stays)
{
	const struct ask *asked;
	struct json_object *list;

	begin();
	mail_world_must("t2", "plan_review_needed",
	    "{\"reason\":\"too big\",\"suggestion\":\"split\",\"call\":"
	    "\"c1\"}");
	for (int i = 0; i < 3; i++)
		denied("t2", "task_guard");
	ck_assert_uint_eq(reviews(), 2);
	asked = state_ask(&auto_world.core->state, "review/goal_b/T1.1");
	ck_assert_ptr_nonnull(asked);
	ck_assert_str_eq(asked->words, "too big; it suggests: split");
	list = plan_world_must("mail.inbox", "{}");
	ck_assert_uint_eq(json_object_array_length(list), 1);
	/* The other way round, the agent's words replace those of a guard. */
	for (int i = 0; i < 3; i++)
		denied("t1", "task_guard");
	asked = state_ask(&auto_world.core->state, "review/goal_a/T1.1");
	ck_assert_ptr_nonnull(asked);
	mail_world_must("t1", "plan_review_needed",
	    "{\"reason\":\"no room\",\"call\":\"c2\"}");
	ck_assert_str_eq(asked->words, "no room");
}

TEST(a_policy_follows_the_task)
{
	cleanup_free char *path = NULL;
	struct guard_policy policy;
	struct agent *agent;

	begin();
	path = policy_file_path(&floor_world.workspace, worker("t2"));
	agent = fleet_find(mail_world.team->fleet, worker("t2"));
	auto_world_of("t2")->launch.tools_scoped = true;
	strv_add(&auto_world_of("t2")->launch.tools_allow, "Read");
	strv_add(&auto_world_of("t2")->launch.scope_paths, "src");
	ck_assert_int_eq(agent_guard_write(agent, NULL), 0);
	ck_assert_int_eq(policy_file_load(path, &policy, NULL), 0);
	ck_assert(!tool_scope_permits(&policy.tools, "Bash"));
	ck_assert(tool_scope_permits(&policy.tools, "Read"));
	ck_assert(tool_scope_permits(&policy.tools, TOOL_REPORT_PROGRESS));
	ck_assert_str_eq(policy.scope_paths[0], "src");
	ck_assert(guard_offers(&policy, "report_completion"));
	guard_policy_release(&policy);
}
