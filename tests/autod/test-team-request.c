/* SPDX-License-Identifier: ISC */

/* Questions of agents, what they have reserved, and what the guards report. */
#include <check.h>
#include <string.h>

#include "agent-guard.h"
#include "agent.h"
#include "api.h"
#include "auto.h"
#include "emit.h"
#include "guard.h"
#include "json.h"
#include "mem.h"
#include "plan-world.h"
#include "policy-file.h"
#include "records.h"
#include "run-dir.h"
#include "strv.h"
#include "task-run.h"
#include "task.h"
#include "team-private.h"
#include "team-request.h"
#include "unit.h"

#define PARENT "actor:task:t1"
#define CHILD  "actor:task:t2"

struct world {
	struct plan_world plans;
	struct team_floor *team;
};

static struct task *
task(struct world *w, const char *id)
{
	return state_task(&w->plans.world.core->state, id);
}

/* Whose worker is it? */
static const char *
worker(struct world *w, const char *id)
{
	return task(w, id)->worker;
}

/* t1 and t2 are being worked on; t2 is for t1. */
static void
begin(struct world *w)
{
	plan_world_begin(&w->plans, NULL, "concurrency = 2\n");
	w->team = team_floor_new(w->plans.floor);
	plan_world_live(&w->plans);
	plan_world_goal(&w->plans, "goal_a", 1);
	plan_world_goal(&w->plans, "goal_b", 1);
	auto_world_turn_on(&w->plans.world, "t1");
	auto_world_turn_on(&w->plans.world, "t2");
	plan_world_settle(&w->plans);
	xstrset(&task_run_of(task(w, "t2"))->parent, "t1");
	xstrset(&task(w, "t2")->run->parent_actor, PARENT);
}

static void
end(struct world *w)
{
	team_floor_free(w->team);
	plan_world_end(&w->plans);
}

static void
die(struct world *w)
{
	floor_world_settle(&w->plans.world.floor);
	plan_world_settle(&w->plans);
	team_floor_free(w->team);
	plan_world_reopen(&w->plans);
	w->team = team_floor_new(w->plans.floor);
	plan_world_live(&w->plans);
	plan_world_settle(&w->plans);
	floor_world_settle(&w->plans.world.floor);
}

static struct floor_call *
use(struct world *w, const char *id, const char *tool, const char *params)
{
	struct floor_world *floor = &w->plans.world.floor;
	cleanup_free char *socket =
	    run_dir_socket(&floor->workspace, worker(w, id));
	cleanup_free char *method = xasprintf("team.%s", tool);

	return floor_world_ask_at(floor, socket, method, params);
}

static struct json_object *
answer_of(struct world *w, struct floor_call *call)
{
	const char *error = floor_world_answer(&w->plans.world.floor, call);

	ck_assert_msg(error == NULL, "%s", error);
	return floor_call_result(call);
}

static struct json_object *
must(struct world *w, const char *id, const char *tool, const char *params)
{
	return answer_of(w, use(w, id, tool, params));
}

static void
refused(struct world *w, const char *id, const char *tool, const char *params,
    int code, const char *words)
{
	struct floor_call *call = use(w, id, tool, params);
	const char *error = floor_world_answer(&w->plans.world.floor, call);

	ck_assert_msg(error != NULL, "it was not refused");
	ck_assert_msg(floor_call_code(call) == code, "%d: %s",
	    floor_call_code(call), error);
	ck_assert_msg(strstr(error, words) != NULL, "%s", error);
}

static void
expect(struct json_object *answer, const char *key, const char *value)
{
	ck_assert_str_eq(json_string_or(answer, key, ""), value);
}

/* --- questions --------------------------------------------------------- */

static bool
is_asked(struct world *w)
{
	return records_open(w->team->core, BOOK_REQUEST, NULL) > 0;
}

static bool
on_asked(void *arg)
{
	return is_asked(arg);
}

/* Ask, and wait until that is stored; the id of the question. */
static struct floor_call *
ask(struct world *w, const char *id, const char *call, char **ret_id)
{
	cleanup_free char *params = xasprintf(
	    "{\"message\":\"A or B?\",\"options\":[\"A\",\"B\"],\"call\":"
	    "\"%s\"}",
	    call);
	struct floor_call *asked = use(w, id, "request_orchestrator", params);
	cleanup_json struct json_object *last = NULL;

	floor_world_wait(&w->plans.world.floor, on_asked, w);
	plan_world_settle(&w->plans);
	last = records_last(w->team->core, BOOK_REQUEST, NULL);
	if (ret_id != NULL)
		*ret_id = xstrdup(json_string_or(last, "id", ""));
	return asked;
}

static struct json_object *
respond(struct world *w, const char *id, const char *request,
    const char *answer, const char *call)
{
	cleanup_free char *params = xasprintf(
	    "{\"requestId\":\"%s\",\"response\":\"%s\",\"call\":\"%s\"}",
	    request, answer, call);

	return must(w, id, "respond_orchestrator_request", params);
}

static void
no_respond(struct world *w, const char *id, const char *request, int code,
    const char *words)
{
	cleanup_free char *params = xasprintf(
	    "{\"requestId\":\"%s\",\"response\":\"X\",\"call\":\"other\"}",
	    request);

	refused(w, id, "respond_orchestrator_request", params, code, words);
}

/* Valid until the next one. */
static const char *
mail_of(struct world *w, const char *actor, const char *member)
{
	static char text[4096];
	cleanup_json struct json_object *mail =
	    records_first(w->team->core, BOOK_MAIL, actor);

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
	struct world w;
	struct floor_call *asked;
	struct json_object *answer;
	cleanup_free char *id = NULL, *subject = NULL, *reason = NULL;

	begin(&w);
	asked = ask(&w, "t2", "c1", &id);
	subject = xasprintf("request:%s", id);
	ck_assert_str_eq(mail_of(&w, PARENT, "subject"), subject);
	ck_assert_ptr_nonnull(strstr(mail_of(&w, PARENT, "body"), "A or B?"));
	ck_assert_ptr_nonnull(strstr(mail_of(&w, PARENT, "body"), id));
	ck_assert_uint_eq(team_requests_pending(w.team->requests, CHILD), 1);
	reason = team_requests_reason(w.team->requests, CHILD, true);
	ck_assert_str_eq(reason, "waits for an answer of " PARENT ": A or B?");
	ck_assert(w.plans.world.mode->team->asks(w.plans.world.mode->team_arg,
	    fleet_find(w.team->fleet, worker(&w, "t2"))));
	ck_assert(!w.plans.world.mode->team->asks(w.plans.world.mode->team_arg,
	    fleet_find(w.team->fleet, worker(&w, "t1"))));
	expect(respond(&w, "t1", id, "B", "r1"), "status", "resolved");
	answer = answer_of(&w, asked);
	expect(answer, "status", "resolved");
	expect(answer, "response", "B");
	expect(answer, "responder", PARENT);
	ck_assert_uint_eq(team_requests_pending(w.team->requests, CHILD), 0);
	end(&w);
}

static bool
waits_no_more(void *arg)
{
	struct world *w = arg;

	return !team_requests_asks(
	    w->team->requests, fleet_find(w->team->fleet, worker(w, "t2")));
}

/* Its tool was cancelled, or its session did not wait long enough. */
TEST(an_answer_that_nobody_waits_for_comes_as_mail)
{
	struct world w;
	struct json_object *answer;
	cleanup_free char *id = NULL, *subject = NULL;

	begin(&w);
	floor_call_hang_up(ask(&w, "t2", "c1", &id));
	floor_world_wait(&w.plans.world.floor, waits_no_more, &w);
	answer = respond(&w, "t1", id, "B, of course", "r1");
	expect(answer, "status", "resolved");
	ck_assert_ptr_nonnull(
	    strstr(json_string_or(answer, "message", ""), "as mail"));
	plan_world_settle(&w.plans);
	subject = xasprintf("answer:%s", id);
	ck_assert_str_eq(mail_of(&w, CHILD, "subject"), subject);
	ck_assert_str_eq(mail_of(&w, CHILD, "sender"), PARENT);
	ck_assert_ptr_nonnull(strstr(mail_of(&w, CHILD, "body"), "A or B?"));
	ck_assert_ptr_nonnull(
	    strstr(mail_of(&w, CHILD, "body"), "B, of course"));
	/* The same call is made again after all: once is enough. */
	answer = must(&w, "t2", "request_orchestrator",
	    "{\"message\":\"A or B?\",\"call\":\"c1\"}");
	expect(answer, "response", "B, of course");
	plan_world_settle(&w.plans);
	ck_assert_str_eq(mail_of(&w, CHILD, "subject"), "");
	end(&w);
}

TEST(only_the_parent_answers_and_only_once)
{
	struct world w;
	struct floor_call *asked;
	cleanup_free char *id = NULL;

	begin(&w);
	asked = ask(&w, "t2", "c1", &id);
	no_respond(&w, "t2", id, API_E_UNAUTHORIZED, PARENT);
	no_respond(&w, "t1", "R_none", API_E_NOT_FOUND, "no question");
	respond(&w, "t1", id, "A", "r1");
	no_respond(&w, "t1", id, API_E_CONFLICT, "already");
	/* The same call, made again. */
	expect(respond(&w, "t1", id, "A", "r1"), "response", "A");
	expect(answer_of(&w, asked), "response", "A");
	end(&w);
}

TEST(a_repeated_call_finds_its_question_after_a_restart)
{
	struct world w;
	struct floor_call *asked;
	cleanup_free char *id = NULL, *again = NULL;

	begin(&w);
	ask(&w, "t2", "c1", &id);
	die(&w);
	asked = ask(&w, "t2", "c1", &again);
	ck_assert_str_eq(id, again);
	ck_assert_uint_eq(records_open(w.team->core, BOOK_REQUEST, NULL), 1);
	ck_assert_uint_le(records_open(w.team->core, BOOK_MAIL, PARENT), 1);
	respond(&w, "t1", id, "A", "r1");
	expect(answer_of(&w, asked), "response", "A");
	end(&w);
}

/* The agent asked, its session ended, and the next one comes to the same. */
TEST(the_next_session_asks_the_same_question)
{
	struct world w;
	struct floor_call *asked;
	cleanup_free char *id = NULL, *again = NULL;

	begin(&w);
	ask(&w, "t2", "c1", &id);
	die(&w);
	asked = ask(&w, "t2", "c2", &again);
	ck_assert_str_eq(id, again);
	ck_assert_uint_eq(records_open(w.team->core, BOOK_REQUEST, NULL), 1);
	respond(&w, "t1", id, "A", "r1");
	expect(answer_of(&w, asked), "response", "A");
	end(&w);
}

static char *
records_id(struct world *w)
{
	cleanup_json struct json_object *last =
	    records_last(w->team->core, BOOK_REQUEST, NULL);

	return xstrdup(json_string_or(last, "id", ""));
}

static bool
is_asked_by_next(void *arg)
{
	struct world *w = arg;
	cleanup_json struct json_object *last =
	    records_last(w->team->core, BOOK_REQUEST, NULL);

	return strcmp(json_string_or(last, "message", ""), "C or D?") == 0;
}

/* The next session asks something else: nobody waits for the first. */
TEST(the_next_session_asks_another_question)
{
	struct world w;
	struct floor_call *asked;
	struct agent *agent;
	cleanup_free char *id = NULL, *next = NULL;

	begin(&w);
	ask(&w, "t2", "c1", &id);
	die(&w);
	agent = fleet_find(w.team->fleet, worker(&w, "t2"));
	agent->worker->session.generation++;
	asked = use(&w, "t2", "request_orchestrator",
	    "{\"message\":\"C or D?\",\"call\":\"c2\"}");
	floor_world_wait(&w.plans.world.floor, is_asked_by_next, &w);
	ck_assert_uint_eq(team_requests_pending(w.team->requests, CHILD), 1);
	no_respond(&w, "t1", id, API_E_CONFLICT, "cancelled");
	next = records_id(&w);
	respond(&w, "t1", next, "D", "r1");
	expect(answer_of(&w, asked), "response", "D");
	end(&w);
}

TEST(an_answer_that_was_given_meanwhile_is_found)
{
	struct world w;
	cleanup_free char *id = NULL;

	begin(&w);
	ask(&w, "t2", "c1", &id);
	die(&w);
	respond(&w, "t1", id, "B", "r1");
	die(&w);
	expect(must(&w, "t2", "request_orchestrator",
		   "{\"message\":\"A or B?\",\"call\":\"c1\"}"),
	    "response", "B");
	expect(respond(&w, "t1", id, "B", "r1"), "status", "resolved");
	no_respond(&w, "t1", id, API_E_CONFLICT, "already");
	end(&w);
}

TEST(a_question_of_a_root_goes_to_a_person)
{
	struct world w;
	struct floor_call *asked;
	cleanup_free char *id = NULL, *params = NULL;

	begin(&w);
	asked = ask(&w, "t1", "c1", &id);
	ck_assert_ptr_nonnull(
	    strstr(mail_of(&w, ACTOR_PERSON, "body"), "llmc answer R_"));
	params = xasprintf("{\"id\":\"%s\",\"response\":\"B\"}", id);
	plan_world_must(&w.plans, "request.answer", params);
	expect(answer_of(&w, asked), "response", "B");
	plan_world_refused(
	    &w.plans, "request.answer", params, API_E_CONFLICT, "already");
	end(&w);
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
	struct world w;

	begin(&w);
	for (size_t i = 0; i < nitems(ends); i++) {
		cleanup_free char *call = xasprintf("c%zu", i);
		struct floor_call *asked = ask(&w, "t2", call, NULL);
		struct event event = ends[i];

		if (event.task == NULL)
			event.worker = worker(&w, "t2");
		team_requests_event(w.team->requests, &event);
		expect(answer_of(&w, asked), "status", states[i]);
	}
	end(&w);
}

TEST(nobody_waits_longer_than_it_asked_for)
{
	struct world w;
	struct json_object *answer;

	begin(&w);
	answer = must(&w, "t2", "request_orchestrator",
	    "{\"message\":\"?\",\"timeoutSeconds\":1,\"call\":\"c1\"}");
	expect(answer, "status", "timeout");
	no_respond(&w, "t1", json_string_or(answer, "requestId", ""),
	    API_E_CONFLICT, "timed out");
	end(&w);
}

TEST(a_fourth_open_question_is_refused)
{
	struct world w;

	begin(&w);
	ask(&w, "t2", "c1", NULL);
	ask(&w, "t2", "c2", NULL);
	ask(&w, "t2", "c3", NULL);
	refused(&w, "t2", "request_orchestrator",
	    "{\"message\":\"?\",\"call\":\"c4\"}", API_E_RATE, "pending");
	end(&w);
}

/* --- reservations ------------------------------------------------------ */

/* How many places the worker of this task is kept from. */
static size_t
kept_from(struct world *w, const char *id)
{
	cleanup_free char *path =
	    policy_file_path(&w->plans.world.floor.workspace, worker(w, id));
	struct guard_policy policy;
	size_t count;

	floor_world_settle(&w->plans.world.floor);
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
	struct world w;

	begin(&w);
	must(&w, "t1", "mail_reserve",
	    "{\"paths\":[\"src/\"],\"reason\":\"moving\"}");
	ck_assert_uint_eq(kept_from(&w, "t2"), 1);
	ck_assert_uint_eq(kept_from(&w, "t1"), 0);
	refused(&w, "t2", "mail_reserve", "{\"paths\":[\"a.c\",\"src/b.c\"]}",
	    API_E_CONFLICT, PARENT);
	refused(&w, "t2", "mail_reserve", "{\"paths\":[\".\"]}", API_E_CONFLICT,
	    "moving");
	/* All or nothing: a.c is free. */
	must(&w, "t1", "mail_reserve", "{\"paths\":[\"a.c\"]}");
	refused(&w, "t2", "mail_release", "{\"paths\":[\"src\"]}",
	    API_E_NOT_FOUND, "src");
	must(&w, "t1", "mail_release", "{\"paths\":[\"src\"]}");
	must(&w, "t2", "mail_reserve", "{\"paths\":[\"src/b.c\"]}");
	ck_assert_uint_eq(kept_from(&w, "t1"), 1);
	refused(&w, "t1", "mail_reserve", "{\"paths\":[\"src\"]}",
	    API_E_CONFLICT, CHILD);
	refused(&w, "t1", "mail_reserve", "{\"paths\":[\"../x\"]}",
	    API_E_INVALID_PLAN, "inside");
	end(&w);
}

static size_t
listed(struct world *w, const char *id)
{
	struct json_object *list = NULL;

	json_object_object_get_ex(
	    must(w, id, "mail_list_reservations", "{}"), "reservations", &list);
	return json_object_array_length(list);
}

TEST(reservations_survive_a_restart_and_end_with_the_run)
{
	struct world w;
	struct event event = { .kind = EVENT_TASK_RETRY, .task = "t1" };

	begin(&w);
	must(&w, "t1", "mail_reserve",
	    "{\"paths\":[\"src\"],\"ttl_seconds\":3000}");
	die(&w);
	ck_assert_uint_eq(listed(&w, "t2"), 1);
	ck_assert_uint_eq(kept_from(&w, "t2"), 1);
	emit(w.team->core, &event);
	ck_assert_uint_eq(listed(&w, "t2"), 0);
	ck_assert_uint_eq(kept_from(&w, "t2"), 0);
	must(&w, "t2", "mail_reserve", "{\"paths\":[\"src\"]}");
	end(&w);
}

/* --- guards ------------------------------------------------------------ */

static void
denied(struct world *w, const char *id, const char *guard)
{
	static int ids;
	struct floor_world *floor = &w->plans.world.floor;
	const struct agent *agent = fleet_find(w->team->fleet, worker(w, id));
	cleanup_free char *socket =
	    run_dir_socket(&floor->workspace, worker(w, id));
	cleanup_free char *params = xasprintf(
	    "{\"event\":\"PreToolUse\",\"worker\":\"%s\",\"generation\":%d,"
	    "\"id\":\"d%d\",\"data\":{\"tool_name\":\"Write\",\"denied\":{"
	    "\"guard\":\"%s\",\"reason\":\"x is outside\"}}}",
	    worker(w, id), (int)agent->worker->session.generation, ++ids,
	    guard);

	ck_assert_ptr_null(floor_world_answer(
	    floor, floor_world_ask_at(floor, socket, "hook.event", params)));
	ck_assert_int_eq(agent->worker->session.open_tools, 0);
}

static size_t
reviews(struct world *w)
{
	floor_world_settle(&w->plans.world.floor);
	plan_world_settle(&w->plans);
	return (size_t)plan_world_events(&w->plans, "plan.review_needed");
}

/* The newest mail to a person, which is about this goal. */
static void
has_review(struct world *w, const char *goal, const char *reason)
{
	struct json_object *list =
	    plan_world_must(&w->plans, "mail.inbox", "{}");
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
	    plan_world_plan(&w->plans, goal)->goal->version);
}

TEST(repeated_violations_have_the_plan_reviewed_once)
{
	struct world w;

	begin(&w);
	for (int i = 0; i < 5; i++)
		denied(&w, "t1", "tools");
	denied(&w, "t1", "task_guard");
	denied(&w, "t1", "file_guard");
	ck_assert_uint_eq(reviews(&w), 0);
	denied(&w, "t1", "task_guard");
	ck_assert_uint_eq(reviews(&w), 1);
	has_review(&w, "goal_a", "guard_violation");
	denied(&w, "t1", "task_guard");
	ck_assert_uint_eq(reviews(&w), 1);
	end(&w);
}

TEST(an_agent_can_say_that_the_plan_does_not_fit)
{
	struct world w;

	begin(&w);
	must(&w, "t2", "plan_review_needed",
	    "{\"reason\":\"too big\",\"suggestion\":\"split\",\"call\":"
	    "\"c1\"}");
	has_review(&w, "goal_b", "replan");
	ck_assert_uint_eq(reviews(&w), 1);
	end(&w);
}

TEST(a_policy_follows_the_task)
{
	struct world w;
	cleanup_free char *path = NULL;
	struct guard_policy policy;
	struct agent *agent;

	begin(&w);
	path =
	    policy_file_path(&w.plans.world.floor.workspace, worker(&w, "t2"));
	agent = fleet_find(w.team->fleet, worker(&w, "t2"));
	task(&w, "t2")->run->tools_scoped = true;
	strv_add(&task(&w, "t2")->run->tools_allow, "Read");
	strv_add(&task(&w, "t2")->run->scope_paths, "src");
	ck_assert_int_eq(agent_guard_write(agent, NULL), 0);
	ck_assert_int_eq(policy_file_load(path, &policy, NULL), 0);
	ck_assert(!tool_scope_permits(&policy.tools, "Bash"));
	ck_assert(tool_scope_permits(&policy.tools, "Read"));
	ck_assert(tool_scope_permits(&policy.tools, TOOL_REPORT_PROGRESS));
	ck_assert_str_eq(policy.scope_paths[0], "src");
	ck_assert(guard_offers(&policy, "report_completion"));
	guard_policy_release(&policy);
	end(&w);
}
