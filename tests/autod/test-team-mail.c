/* SPDX-License-Identifier: ISC */

/* Mail between agents and people: who may send and read what, and how it gets
 * into sessions, once, whenever the daemon dies. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "api.h"
#include "auto.h"
#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "outcome.h"
#include "persist.h"
#include "plan-floor.h"
#include "plan-world.h"
#include "rpc.h"
#include "run-dir.h"
#include "task-run.h"
#include "task.h"
#include "team-book.h"
#include "team-deliver.h"
#include "team-floor.h"
#include "team-mail.h"
#include "unit.h"

#define KILLS 12 /* passes of the loop that a delivery takes at most, about */

struct world {
	struct plan_world plans;
	struct team_floor *team;
};

static struct floor_world *
floor_of(struct world *w)
{
	return &w->plans.world.floor;
}

static void
begin(struct world *w)
{
	plan_world_begin(&w->plans, NULL, "concurrency = 2\n");
	w->team = team_floor_new(w->plans.floor);
	plan_world_live(&w->plans);
	plan_world_wait_open(&w->plans);
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
	team_floor_free(w->team);
	plan_world_reopen(&w->plans);
	w->team = team_floor_new(w->plans.floor);
	plan_world_live(&w->plans);
	plan_world_wait_open(&w->plans);
}

static void
settle(struct world *w)
{
	plan_world_settle(&w->plans);
	floor_world_settle(floor_of(w));
	plan_world_settle(&w->plans);
}

/* t1 of goal_a and t2 of goal_b are being worked on. */
static void
begin_two(struct world *w)
{
	begin(w);
	plan_world_goal(&w->plans, "goal_a", 1);
	auto_world_turn_on(&w->plans.world, "t1");
	plan_world_goal(&w->plans, "goal_b", 1);
	auto_world_turn_on(&w->plans.world, "t2");
	settle(w);
}

static struct task *
task(struct world *w, const char *id)
{
	return state_task(&w->plans.world.core->state, id);
}

static struct agent *
agent_on(struct world *w, const char *id)
{
	return fleet_find(floor_of(w)->fleet, task(w, id)->worker);
}

/* t2 was spawned by t1. */
static void
make_child(struct world *w)
{
	struct task_run *run = task_run_of(task(w, "t2"));

	xstrset(&run->parent, "t1");
	xstrset(&run->parent_actor, "actor:task:t1");
	xstrset(&run->actor, "actor:team:backend:coder-1");
	persist_changed(w->plans.world.core);
	settle(w);
}

/* --- calls --------------------------------------------------------------- */

static struct floor_call *
ask(struct world *w, const char *worker, const char *tool, const char *params)
{
	cleanup_free char *socket =
	    run_dir_socket(&floor_of(w)->workspace, worker);
	cleanup_free char *method = xasprintf("team.%s", tool);

	return floor_world_ask_at(floor_of(w), socket, method, params);
}

static struct json_object *
must_be_answered(struct world *w, struct floor_call *call)
{
	const char *error = floor_world_answer(floor_of(w), call);

	ck_assert_msg(error == NULL, "%s", error);
	return floor_call_result(call);
}

static struct json_object *
must(struct world *w, const char *task_id, const char *tool, const char *params)
{
	return must_be_answered(
	    w, ask(w, task(w, task_id)->worker, tool, params));
}

static struct json_object *
person(struct world *w, const char *method, const char *params)
{
	return must_be_answered(
	    w, floor_world_ask(floor_of(w), method, params));
}

static void
must_be_refused(
    struct world *w, struct floor_call *call, int code, const char *words)
{
	const char *error = floor_world_answer(floor_of(w), call);

	ck_assert_msg(error != NULL, "it was not refused");
	ck_assert_msg(floor_call_code(call) == code, "%d: %s",
	    floor_call_code(call), error);
	ck_assert_msg(strstr(error, words) != NULL, "%s", error);
}

static void
refused(struct world *w, const char *task_id, const char *tool,
    const char *params, int code, const char *words)
{
	must_be_refused(
	    w, ask(w, task(w, task_id)->worker, tool, params), code, words);
}

#define MAIL(to, call, more)                                             \
	"{\"to\":\"" to "\",\"call\":\"" call "\",\"subject\":\"news\"," \
	"\"body\":\"the text\"" more "}"
#define ACK ",\"kind\":\"instruction\",\"ack_required\":true"

static char *
send_mail(struct world *w, const char *task_id, const char *params)
{
	return xstrdup(
	    json_string_or(must(w, task_id, "mail_send", params), "id", ""));
}

static const char *
text(struct json_object *json, const char *key)
{
	return json_string_or(json, key, "");
}

/* As a person sees it. */
static struct json_object *
show(struct world *w, const char *id)
{
	cleanup_free char *params = xasprintf("{\"id\":\"%s\"}", id);

	return person(w, "mail.show", params);
}

static size_t
own_count(struct world *w, const char *task_id)
{
	return json_object_array_length(json_object_object_get(
	    must(w, task_id, "mail_inbox", "{}"), "mail"));
}

/* A tool ends, and its hook waits: what the session is told. */
static const char *
tool_ends(struct world *w, const struct agent *agent)
{
	static int ids;
	const char *worker = agent->worker->name;
	cleanup_free char *socket =
	    run_dir_socket(&floor_of(w)->workspace, worker);
	cleanup_free char *params =
	    xasprintf("{\"event\": \"PostToolUse\", \"worker\": \"%s\", "
		      "\"generation\": %d, \"id\": \"h%d\", \"data\": {}}",
		worker, (int)agent->worker->session.generation, ++ids);
	struct json_object *result = must_be_answered(
	    w, floor_world_ask_at(floor_of(w), socket, "hook.event", params));

	settle(w);
	return result != NULL ? json_object_get_string(result) : "";
}

static bool
waits(struct world *w, const struct agent *agent)
{
	cleanup_free char *socket =
	    run_dir_socket(&floor_of(w)->workspace, agent->worker->name);

	return run_dir_waits(socket);
}

/* --- who ------------------------------------------------------------------ */

START_TEST(agents_write_to_those_they_work_with_and_to_nobody_else)
{
	struct world w;

	begin_two(&w);
	refused(&w, "t1", "mail_send", MAIL("actor:task:t2", "1", ""),
	    API_E_UNAUTHORIZED, "is none of these");
	refused(&w, "t1", "mail_send", MAIL("actor:task:t99", "2", ""),
	    API_E_NOT_FOUND, "there is no actor:task:t99");
	must(&w, "t1", "mail_send", MAIL("overseer", "3", ""));
	must(&w, "t1", "mail_send", MAIL("person", "4", ""));
	make_child(&w);
	must(
	    &w, "t1", "mail_send", MAIL("actor:team:backend:coder-1", "5", ""));
	ck_assert_str_eq(
	    text(must(&w, "t2", "mail_send", MAIL("parent", "6", "")), "to"),
	    "actor:task:t1");
	end(&w);
}
END_TEST

START_TEST(sender_is_known_by_the_socket_whatever_the_caller_says)
{
	struct world w;
	cleanup_free char *id = NULL;

	begin_two(&w);
	make_child(&w);
	id = send_mail(&w, "t2",
	    "{\"to\":\"parent\",\"subject\":\"s\",\"body\":\"b\","
	    "\"worker\":\"auto-1\"}");
	ck_assert_str_eq(
	    text(show(&w, id), "sender"), "actor:team:backend:coder-1");
	ck_assert_str_eq(
	    text(show(&w, id), "sender_worker"), task(&w, "t2")->worker);
	refused(&w, "t2", "mail_send",
	    "{\"to\":\"parent\",\"subject\":\"s\",\"body\":\"b\","
	    "\"sender\":\"actor:system:overseer\"}",
	    RPC_INVALID_PARAMS, "sender");
	refused(&w, "t2", "mail_send",
	    "{\"to\":\"parent\",\"subject\":\"s\",\"body\":\"b\","
	    "\"from\":\"actor:system:overseer\"}",
	    RPC_INVALID_PARAMS, "from");
	/* Nor are the methods of people served there. */
	{
		cleanup_free char *socket = run_dir_socket(
		    &floor_of(&w)->workspace, task(&w, "t2")->worker);
		struct floor_call *call = floor_world_ask_at(
		    floor_of(&w), socket, "mail.inbox", "{\"all\":true}");

		ck_assert_ptr_nonnull(floor_world_answer(floor_of(&w), call));
	}
	end(&w);
}
END_TEST

START_TEST(agent_neither_reads_nor_confirms_the_mail_of_another)
{
	struct world w;
	cleanup_free char *id = NULL, *params = NULL;

	begin_two(&w);
	make_child(&w);
	id = send_mail(&w, "t1", MAIL("actor:team:backend:coder-1", "1", ACK));
	params = xasprintf("{\"id\":\"%s\"}", id);
	ck_assert_uint_eq(own_count(&w, "t1"), 0);
	refused(&w, "t1", "mail_inbox", params, API_E_NOT_FOUND, "no mail");
	refused(&w, "t1", "mail_ack", params, API_E_NOT_FOUND, "no mail");
	refused(&w, "t1", "mail_inbox",
	    "{\"worker\":\"auto-2\",\"actor\":\"actor:team:backend:coder-1\"}",
	    RPC_INVALID_PARAMS, "actor");
	ck_assert_str_eq(text(show(&w, id), "status"), "open");
	ck_assert_uint_eq(own_count(&w, "t2"), 1);
	must(&w, "t2", "mail_ack", params);
	ck_assert_str_eq(text(show(&w, id), "status"), "done");
	/* Once more is no error. */
	must(&w, "t2", "mail_ack", params);
	end(&w);
}
END_TEST

START_TEST(call_that_is_repeated_sends_once_whenever_the_daemon_dies)
{
	struct world w;
	cleanup_free char *id = NULL, *again = NULL, *third = NULL;
	cleanup_free char *params = NULL;

	begin_two(&w);
	make_child(&w);
	id = send_mail(&w, "t2", MAIL("parent", "1", ACK));
	again = send_mail(&w, "t2", MAIL("parent", "1", ACK));
	ck_assert_str_eq(id, again);
	params = xasprintf("{\"id\":\"%s\"}", id);
	must(&w, "t1", "mail_ack", params);
	settle(&w);
	die(&w);
	settle(&w);
	auto_world_turn_on(&w.plans.world, "t2");
	third = send_mail(&w, "t2", MAIL("parent", "1", ACK));
	ck_assert_str_eq(id, third);
	ck_assert_str_eq(text(show(&w, id), "status"), "done");
	ck_assert_uint_eq(own_count(&w, "t1"), 1);
	end(&w);
}
END_TEST

START_TEST(what_looks_like_a_password_is_masked_before_anybody_gets_it)
{
	struct world w;
	cleanup_free char *id = NULL;

	begin_two(&w);
	make_child(&w);
	id = send_mail(&w, "t2",
	    "{\"to\":\"parent\",\"subject\":\"s\",\"body\":\"password=hunter22 "
	    "ok\"}");
	settle(&w);
	ck_assert_ptr_null(
	    strstr(tool_ends(&w, agent_on(&w, "t1")), "hunter22"));
	ck_assert_ptr_null(strstr(text(show(&w, id), "body"), "hunter22"));
	end(&w);
}
END_TEST

START_TEST(inbox_is_bounded_and_says_so)
{
	struct world w;
	struct err err = { 0 };
	int r = 0;

	begin_two(&w);
	make_child(&w);
	for (int i = 0; r == 0 && i < MAIL_UNREAD_MAX; i++) {
		cleanup_free char *key = xasprintf("k%d", i);

		r = team_mail_post(w.team,
		    &(struct mail_draft){ .key = key,
			.to = "actor:task:t1",
			.subject = "s",
			.body = "b" },
		    NULL, &err);
	}
	ck_assert_msg(r == 0, "%s", err.msg);
	refused(&w, "t2", "mail_send", MAIL("parent", "1", ""), API_FAILED,
	    "no more is taken");
	end(&w);
}
END_TEST

START_TEST(without_goals_there_is_no_mail)
{
	struct auto_world world;
	struct plan_floor *plan;
	struct team_floor *team;
	struct floor_call *call;

	auto_world_begin(&world, NULL);
	plan = plan_floor_new(world.mode);
	team = team_floor_new(plan);
	auto_world_live(&world);
	call = floor_world_ask(&world.floor, "mail.inbox", "{}");
	ck_assert_ptr_nonnull(strstr(floor_world_answer(&world.floor, call),
	    "llmc config set plan.enabled true"));
	ck_assert_int_lt(team_mail_post(team,
			     &(struct mail_draft){ .key = "k",
				 .to = ACTOR_PERSON,
				 .subject = "s",
				 .body = "b" },
			     NULL, NULL),
	    0);
	team_floor_free(team);
	plan_floor_free(plan);
	auto_world_end(&world);
}
END_TEST

/* --- into sessions ---------------------------------------------------------
 */

START_TEST(session_that_works_gets_mail_after_its_next_tool_once)
{
	struct world w;
	struct agent *parent;
	cleanup_free char *id = NULL;

	begin_two(&w);
	make_child(&w);
	parent = agent_on(&w, "t1");
	ck_assert(!waits(&w, parent));
	id = send_mail(&w, "t2", MAIL("parent", "1", ""));
	settle(&w);
	ck_assert(waits(&w, parent));
	ck_assert_ptr_nonnull(strstr(tool_ends(&w, parent), id));
	ck_assert(!waits(&w, parent));
	ck_assert_str_eq(text(show(&w, id), "status"), "open");
	/* The next hook says that it has it. */
	fake_session_progresses(parent->session);
	settle(&w);
	ck_assert_str_eq(text(show(&w, id), "status"), "done");
	ck_assert_int_eq(json_int_or(show(&w, id), "delivered", 0), 1);
	ck_assert_ptr_null(parent->worker->mail_given);
	ck_assert_str_eq(tool_ends(&w, parent), "");
	end(&w);
}
END_TEST

START_TEST(several_pieces_come_in_one_text_in_their_order)
{
	struct world w;
	cleanup_free char *info = NULL, *order = NULL, *plan = NULL;
	const char *told;

	begin_two(&w);
	make_child(&w);
	info = send_mail(&w, "t2", MAIL("parent", "1", ""));
	order = send_mail(&w, "t2", MAIL("parent", "2", ACK));
	ck_assert_int_eq(team_mail_post(w.team,
			     &(struct mail_draft){ .key = "p",
				 .to = "actor:task:t1",
				 .subject = "plan.updated:goal_a",
				 .body = "b" },
			     &plan, NULL),
	    0);
	settle(&w);
	told = tool_ends(&w, agent_on(&w, "t1"));
	ck_assert_ptr_nonnull(strstr(told, plan));
	ck_assert_ptr_nonnull(strstr(strstr(told, plan), order));
	ck_assert_ptr_nonnull(strstr(strstr(told, order), info));
	end(&w);
}
END_TEST

/* Work that is finished is not landed before its worker has read its mail. */
START_TEST(mail_comes_before_the_end_of_a_turn_is_judged)
{
	struct world w;
	struct agent *parent;
	cleanup_free char *id = NULL;
	int prompts;

	begin_two(&w);
	make_child(&w);
	parent = agent_on(&w, "t1");
	prompts = fake_session_prompts(parent->session);
	id = send_mail(&w, "t2", MAIL("parent", "1", ""));
	settle(&w);
	floor_world_wt(floor_of(&w), parent->worker->name,
	    "echo 1 >one && git add one && git commit -qm one");
	fake_session_turn_ends(parent->session, "Done.");
	settle(&w);
	ck_assert_int_eq(fake_session_prompts(parent->session), prompts + 1);
	ck_assert_ptr_nonnull(strstr(fake_session_prompt(parent->session), id));
	ck_assert_int_eq(parent->worker->status, WORKER_WORKING);
	ck_assert_str_eq(text(show(&w, id), "status"), "done");
	ck_assert_int_eq(parent->sent_back, 0);
	end(&w);
}
END_TEST

static bool
is_at_rest(void *arg)
{
	const struct agent *agent = arg;

	return agent->worker->session.ready && agent->op == NULL;
}

/* A worker driven by hand. */
static struct agent *
add_eve(struct world *w)
{
	struct agent *eve;

	settle(w); /* git makes the other workers */
	eve = floor_world_add(floor_of(w), "eve", WORKER_OFFLINE);
	eve->retry_ms = 0;
	agent_tick_later(eve, 1);
	floor_world_wait(floor_of(w), is_at_rest, eve);
	settle(w);
	ck_assert_int_eq(eve->worker->status, WORKER_IDLE);
	return eve;
}

#define TO_EVE "{\"to\":\"eve\",\"subject\":\"hello\",\"body\":\"dear eve\"}"

START_TEST(idle_worker_that_is_driven_by_hand_gets_mail_as_a_prompt)
{
	struct world w;
	struct agent *eve;
	cleanup_free char *id = NULL;

	begin(&w);
	eve = add_eve(&w);
	id = xstrdup(text(person(&w, "mail.send", TO_EVE), "id"));
	settle(&w);
	ck_assert_int_eq(fake_session_prompts(eve->session), 1);
	ck_assert_ptr_nonnull(strstr(fake_session_prompt(eve->session), id));
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(eve->session), "| dear eve\n"));
	ck_assert_int_eq(eve->worker->status, WORKER_WORKING);
	ck_assert_str_eq(text(show(&w, id), "status"), "done");
	end(&w);
}
END_TEST

/* --- again and again --------------------------------------------------------
 */

START_TEST(mail_that_is_not_confirmed_comes_again_at_turn_ends_then_people_know)
{
	struct world w;
	struct agent *eve;
	cleanup_free char *id = NULL;
	const struct mail_pace pace = { .again_ms = 1, .again_max = 2 };

	begin(&w);
	eve = add_eve(&w);
	team_deliver_set_pace(w.team->deliver, &pace);
	id = xstrdup(text(person(&w, "mail.send",
			      "{\"to\":\"eve\",\"subject\":\"do it\","
			      "\"body\":\"b\",\"kind\":\"instruction\","
			      "\"ack_required\":true}"),
	    "id"));
	settle(&w);
	for (int i = 1; i <= 3; i++) {
		int64_t since = clock_wall_ms();

		ck_assert_int_eq(fake_session_prompts(eve->session), i);
		ck_assert_int_eq(json_int_or(show(&w, id), "delivered", 0), i);
		while (clock_wall_ms() <= since + pace.again_ms)
			floor_world_settle(floor_of(&w));
		fake_session_turn_ends(eve->session, "Done.");
		settle(&w);
	}
	auto_world_patrol(&w.plans.world);
	settle(&w);
	ck_assert_int_eq(fake_session_prompts(eve->session), 3);
	ck_assert(json_bool_or(show(&w, id), "alerted", false));
	ck_assert_str_eq(text(show(&w, id), "status"), "open");
	end(&w);
}
END_TEST

/* --- its end -----------------------------------------------------------------
 */

static int
told_of_undelivered(struct world *w)
{
	struct json_object *list =
	    json_object_object_get(must(w, "t1", "mail_inbox", "{}"), "mail");
	int count = 0;

	for (size_t i = 0; i < json_object_array_length(list); i++)
		count +=
		    strncmp(text(json_object_array_get_idx(list, i), "subject"),
			"mail.undelivered:", 17) == 0;
	return count;
}

START_TEST(mail_of_an_agent_that_has_ended_is_closed_and_its_sender_told)
{
	struct world w;
	cleanup_free char *info = NULL, *order = NULL, *late = NULL;
	struct json_object *answer;

	begin_two(&w);
	make_child(&w);
	info = send_mail(&w, "t1", MAIL("actor:team:backend:coder-1", "1", ""));
	order =
	    send_mail(&w, "t1", MAIL("actor:team:backend:coder-1", "2", ACK));
	settle(&w);
	outcome_attempt_failed(w.plans.world.mode, agent_on(&w, "t2"), "no");
	while (task(&w, "t2") != NULL) {
		settle(&w);
		if (task(&w, "t2") != NULL && task(&w, "t2")->worker != NULL &&
		    agent_on(&w, "t2") != NULL &&
		    auto_task(agent_on(&w, "t2")) == task(&w, "t2"))
			outcome_attempt_failed(
			    w.plans.world.mode, agent_on(&w, "t2"), "no");
		auto_world_patrol(&w.plans.world);
	}
	auto_world_patrol(&w.plans.world);
	settle(&w);
	ck_assert_str_eq(text(show(&w, info), "status"), "closed");
	ck_assert_str_eq(text(show(&w, order), "status"), "closed");
	/* One of them was an order. */
	ck_assert_int_eq(told_of_undelivered(&w), 1);
	answer = person(&w, "mail.send",
	    "{\"to\":\"actor:task:t2\",\"subject\":\"s\",\"body\":\"b\"}");
	late = xstrdup(text(answer, "id"));
	ck_assert_ptr_nonnull(strstr(text(answer, "note"), "has ended"));
	auto_world_patrol(&w.plans.world);
	settle(&w);
	ck_assert_str_eq(text(show(&w, late), "status"), "closed");
	end(&w);
}
END_TEST

/* --- people
 * ------------------------------------------------------------------- */

START_TEST(people_read_and_confirm_what_is_sent_to_them)
{
	struct world w;
	cleanup_free char *id = NULL, *other = NULL, *params = NULL,
			  *foreign = NULL;
	struct json_object *list;

	begin_two(&w);
	make_child(&w);
	id = send_mail(&w, "t1", MAIL("person", "1", ACK));
	other = send_mail(&w, "t2", MAIL("parent", "2", ACK));
	send_mail(&w, "t1", MAIL("overseer", "3", ""));
	list = person(&w, "mail.inbox", "{}");
	ck_assert_uint_eq(json_object_array_length(list), 2);
	list = person(&w, "mail.inbox", "{\"all\":true}");
	ck_assert_uint_eq(json_object_array_length(list), 3);
	list = person(&w, "mail.inbox", "{\"of\":\"actor:task:t1\"}");
	ck_assert_uint_eq(json_object_array_length(list), 1);
	/* Looking at what is another's changes nothing. */
	ck_assert_int_eq(json_int_or(show(&w, other), "read_ms", 0), 0);
	list = person(&w, "mail.inbox", "{\"unread\":true}");
	ck_assert_uint_eq(json_object_array_length(list), 1);
	params = xasprintf("{\"id\":\"%s\"}", id);
	foreign = xasprintf("{\"id\":\"%s\"}", other);
	must_be_refused(&w, floor_world_ask(floor_of(&w), "mail.ack", foreign),
	    API_E_NOT_FOUND, "no mail");
	ck_assert_str_eq(
	    text(person(&w, "mail.ack", params), "status"), "done");
	must_be_refused(&w,
	    floor_world_ask(floor_of(&w), "mail.show", "{\"id\":\"M_x\"}"),
	    API_E_NOT_FOUND, "there is no mail M_x");
	must_be_refused(&w,
	    floor_world_ask(floor_of(&w), "mail.send",
		"{\"to\":\"nobody\",\"subject\":\"s\",\"body\":\"b\"}"),
	    API_E_NOT_FOUND, "there is no nobody");
	end(&w);
}
END_TEST

START_TEST(open_mail_is_there_after_a_restart_whatever_its_goal)
{
	struct world w;
	cleanup_free char *id = NULL;

	begin(&w);
	ck_assert_int_eq(team_mail_post(w.team,
			     &(struct mail_draft){ .key = "p",
				 .to = ACTOR_PERSON,
				 .subject = "s",
				 .body = "b",
				 .goal = "goal_of_another_time" },
			     &id, NULL),
	    0);
	settle(&w);
	die(&w);
	ck_assert_uint_eq(
	    team_book_count(w.team->book, STORE_MAIL, ACTOR_PERSON), 1);
	ck_assert(team_book_knows(w.team->book, STORE_MAIL, id));
	end(&w);
}
END_TEST

/* --- kills
 * ---------------------------------------------------------------------- */

struct passes {
	int left;
};

static bool
has_passed(void *arg)
{
	struct passes *passes = arg;

	return passes->left-- <= 0;
}

struct until {
	struct world *w;
	const char *id;
};

static bool
is_done(void *arg)
{
	const struct until *until = arg;
	struct world *w = until->w;

	return team_book_is_open(w->team->book) &&
	    team_book_knows(w->team->book, STORE_MAIL, until->id) &&
	    team_book_get(w->team->book, STORE_MAIL, until->id) == NULL;
}

/* The daemon dies after so many passes since the mail was sent. It is in the
 * session once; twice only if the saved state does not know that the prompt
 * was submitted, which a real session's transcript would tell. */
START_TEST(mail_is_delivered_whenever_the_daemon_dies)
{
	struct world w;
	struct agent *eve;
	struct passes passes = { .left = _i };
	cleanup_free char *id = NULL;
	int given = 0;
	bool retyped;

	begin(&w);
	add_eve(&w);
	id = xstrdup(text(person(&w, "mail.send", TO_EVE), "id"));
	floor_world_wait_closely(floor_of(&w), has_passed, &passes);
	eve = fleet_find(floor_of(&w)->fleet, "eve");
	given = strstr(fake_session_prompt(eve->session), id) != NULL;
	die(&w);
	eve = fleet_find(floor_of(&w)->fleet, "eve");
	retyped = eve->worker->session.step != PROMPT_NONE;
	/* Its session is gone with the daemon. */
	if (eve->worker->status != WORKER_OFFLINE)
		agent_restart(eve);
	eve->worker->session.busy = false;
	eve->retry_ms = 0;
	agent_tick_later(eve, 1);
	auto_world_patrol(&w.plans.world);
	floor_world_wait(
	    floor_of(&w), is_done, &(struct until){ .w = &w, .id = id });
	settle(&w);
	given += strstr(fake_session_prompt(eve->session), id) != NULL;
	ck_assert_msg(given == 1 || (given == 2 && retyped),
	    "given %d times after %d passes", given, _i);
	ck_assert_int_eq(json_int_or(show(&w, id), "delivered", 0), 1);
	ck_assert_ptr_null(eve->worker->mail_given);
	end(&w);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("team-mail");

	unit_case(suite, "who",
	    (const TTest *[]){
		agents_write_to_those_they_work_with_and_to_nobody_else,
		sender_is_known_by_the_socket_whatever_the_caller_says,
		agent_neither_reads_nor_confirms_the_mail_of_another,
		call_that_is_repeated_sends_once_whenever_the_daemon_dies,
		what_looks_like_a_password_is_masked_before_anybody_gets_it,
		inbox_is_bounded_and_says_so, without_goals_there_is_no_mail,
		NULL });
	unit_case(suite, "sessions",
	    (const TTest *[]){
		session_that_works_gets_mail_after_its_next_tool_once,
		several_pieces_come_in_one_text_in_their_order,
		mail_comes_before_the_end_of_a_turn_is_judged,
		idle_worker_that_is_driven_by_hand_gets_mail_as_a_prompt,
		mail_that_is_not_confirmed_comes_again_at_turn_ends_then_people_know,
		mail_of_an_agent_that_has_ended_is_closed_and_its_sender_told,
		NULL });
	unit_case(suite, "people",
	    (const TTest *[]){ people_read_and_confirm_what_is_sent_to_them,
		open_mail_is_there_after_a_restart_whatever_its_goal, NULL });
	unit_rows(suite, mail_is_delivered_whenever_the_daemon_dies, KILLS);
	return suite;
}
