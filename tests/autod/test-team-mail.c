/* SPDX-License-Identifier: ISC */

/* Mail between agents and people: who may send and read what. */
#include "records.h"
#include "outcome.h"
#include "rpc.h"
#include "team-private.h"
#include "mail-world.h"
#include "plan-floor.h"
#include "team-floor.h"

static size_t
own_count(const char *task_id)
{
	return json_object_array_length(json_object_object_get(
	    mail_world_must(task_id, "mail_inbox", "{}"), "mail"));
}

/* --- who ------------------------------------------------------------------ */

TEST(agents_write_to_those_they_work_with_and_to_nobody_else)
{
	mail_world_begin_two();
	mail_world_refuses("t1", "mail_send", MAIL("actor:task:t2", "1", ""),
	    API_E_UNAUTHORIZED, "is none of these");
	mail_world_refuses("t1", "mail_send", MAIL("actor:task:t99", "2", ""),
	    API_E_NOT_FOUND, "there is no actor:task:t99");
	mail_world_refuses("t1", "mail_send", MAIL("overseer", "3", ""),
	    API_E_NOT_FOUND, "there is no overseer");
	mail_world_must("t1", "mail_send", MAIL("person", "4", ""));
	mail_world_child();
	mail_world_must(
	    "t1", "mail_send", MAIL("actor:team:backend:coder-1", "5", ""));
	ck_assert_str_eq(mail_world_text(mail_world_must("t2", "mail_send",
					     MAIL("parent", "6", "")),
			     "to"),
	    "actor:task:t1");
}

/* Its session goes on as it is. */
TEST(an_agent_in_a_sandbox_writes_to_nobody_who_is_less_boxed)
{
	cleanup_free char *script = NULL;

	mail_world_begin_family();
	script = xasprintf("printf '[workers.%s]\\nsandbox = \"strict\"\\n' "
			   ">>.llmc/config.toml",
	    mail_world_task("t2")->worker);
	floor_world_sh(script);
	floor_world_accept();
	ck_assert_ptr_null(
	    floor_world_answer(floor_world_ask("daemon.reload", "{}")));
	mail_world_refuses("t2", "mail_send", MAIL("parent", "1", ""),
	    API_E_UNAUTHORIZED, "the sandbox of parent is less strict");
	mail_world_refuses("t2", "mail_send", MAIL("actor:task:t1", "2", ""),
	    API_E_UNAUTHORIZED, "the sandbox of actor:task:t1 is less strict");
	mail_world_refuses("t2", "request_orchestrator",
	    "{\"message\":\"May I?\"}", API_E_UNAUTHORIZED,
	    "the sandbox of the agent that you work for is less strict");
	mail_world_must("t2", "mail_send", MAIL("person", "3", ""));
	mail_world_must(
	    "t1", "mail_send", MAIL("actor:team:backend:coder-1", "4", ""));
}

TEST(sender_is_known_by_the_socket_whatever_the_caller_says)
{
	cleanup_free char *id = NULL;

	mail_world_begin_family();
	id = mail_world_send("t2",
	    "{\"to\":\"parent\",\"subject\":\"s\",\"body\":\"b\","
	    "\"worker\":\"auto-1\"}");
	ck_assert_str_eq(mail_world_text(mail_world_show(id), "sender"),
	    "actor:team:backend:coder-1");
	ck_assert_str_eq(mail_world_text(mail_world_show(id), "sender_worker"),
	    mail_world_task("t2")->worker);
	mail_world_refuses("t2", "mail_send",
	    "{\"to\":\"parent\",\"subject\":\"s\",\"body\":\"b\","
	    "\"sender\":\"actor:system:overseer\"}",
	    RPC_INVALID_PARAMS, "sender");
	mail_world_refuses("t2", "mail_send",
	    "{\"to\":\"parent\",\"subject\":\"s\",\"body\":\"b\","
	    "\"from\":\"actor:system:overseer\"}",
	    RPC_INVALID_PARAMS, "from");
	/* Nor are the methods of people served there. */
	ck_assert_ptr_nonnull(floor_world_answer(floor_world_ask_as(
	    mail_world_task("t2")->worker, "mail.inbox", "{\"all\":true}")));
}

TEST(agent_neither_reads_nor_confirms_the_mail_of_another)
{
	cleanup_free char *id = NULL, *params = NULL;

	mail_world_begin_family();
	id =
	    mail_world_send("t1", MAIL("actor:team:backend:coder-1", "1", ACK));
	params = xasprintf("{\"id\":\"%s\"}", id);
	ck_assert_uint_eq(own_count("t1"), 0);
	mail_world_refuses(
	    "t1", "mail_inbox", params, API_E_NOT_FOUND, "no mail");
	mail_world_refuses(
	    "t1", "mail_ack", params, API_E_NOT_FOUND, "no mail");
	mail_world_refuses("t1", "mail_inbox",
	    "{\"worker\":\"auto-2\",\"actor\":\"actor:team:backend:coder-1\"}",
	    RPC_INVALID_PARAMS, "actor");
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(id), "status"), "open");
	ck_assert_uint_eq(own_count("t2"), 1);
	mail_world_must("t2", "mail_ack", params);
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(id), "status"), "done");
	/* Once more is no error. */
	mail_world_must("t2", "mail_ack", params);
}

TEST(call_that_is_repeated_sends_once_whenever_the_daemon_dies)
{
	cleanup_free char *id = NULL, *again = NULL, *third = NULL;
	cleanup_free char *params = NULL;

	mail_world_begin_family();
	id = mail_world_send("t2", MAIL("parent", "1", ACK));
	again = mail_world_send("t2", MAIL("parent", "1", ACK));
	ck_assert_str_eq(id, again);
	params = xasprintf("{\"id\":\"%s\"}", id);
	mail_world_must("t1", "mail_ack", params);
	mail_world_settle();
	mail_world_die();
	mail_world_settle();
	auto_world_turn_on("t2");
	third = mail_world_send("t2", MAIL("parent", "1", ACK));
	ck_assert_str_eq(id, third);
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(id), "status"), "done");
	ck_assert_uint_eq(own_count("t1"), 1);
}

TEST(what_looks_like_a_password_is_masked_before_anybody_gets_it)
{
	cleanup_free char *id = NULL;

	mail_world_begin_family();
	id = mail_world_send("t2",
	    "{\"to\":\"parent\",\"subject\":\"s\",\"body\":\"password=hunter22 "
	    "ok\"}");
	mail_world_settle();
	ck_assert_ptr_null(
	    strstr(mail_world_tool_ends(mail_world_agent("t1")), "hunter22"));
	ck_assert_ptr_null(
	    strstr(mail_world_text(mail_world_show(id), "body"), "hunter22"));
}

TEST(inbox_is_bounded_and_says_so)
{
	struct err err = { 0 };
	int r = 0;

	mail_world_begin_family();
	for (int i = 0; r == 0 && i < MAIL_UNREAD_MAX; i++) {
		cleanup_free char *key = xasprintf("k%d", i);

		r = team_mail_post(mail_world.team,
		    &(struct mail_draft){ .key = key,
			.to = "actor:task:t1",
			.subject = "s",
			.body = "b" },
		    NULL, &err);
	}
	ck_assert_msg(r == 0, "%s", err.msg);
	mail_world_refuses("t2", "mail_send", MAIL("parent", "1", ""),
	    API_FAILED, "no more is taken");
}

TEST(without_goals_there_is_no_mail)
{
	struct plan_floor *plan;
	struct team_floor *team;
	struct floor_call *call;

	auto_world_begin("[plan]\nenabled = false\n");
	plan = plan_floor_new(auto_world.mode);
	team = team_floor_new(plan);
	auto_world_live();
	call = floor_world_ask("mail.inbox", "{}");
	ck_assert_ptr_nonnull(strstr(
	    floor_world_answer(call), "llmc config set plan.enabled true"));
	ck_assert_int_lt(team_mail_post(team,
			     &(struct mail_draft){ .key = "k",
				 .to = ACTOR_PERSON,
				 .subject = "s",
				 .body = "b" },
			     NULL, NULL),
	    0);
	team_floor_free(team);
	plan_floor_free(plan);
}

/* --- its end ------------------------------------------------------ */

static int
told_of_undelivered(void)
{
	struct json_object *list = json_object_object_get(
	    mail_world_must("t1", "mail_inbox", "{}"), "mail");
	int count = 0;

	for (size_t i = 0; i < json_object_array_length(list); i++)
		count +=
		    strncmp(mail_world_text(
				json_object_array_get_idx(list, i), "subject"),
			"mail.undelivered:", 17) == 0;
	return count;
}

TEST(mail_of_an_agent_that_has_ended_is_closed_and_its_sender_told)
{
	cleanup_free char *info = NULL, *order = NULL, *late = NULL;
	struct json_object *answer;

	mail_world_begin_family();
	info =
	    mail_world_send("t1", MAIL("actor:team:backend:coder-1", "1", ""));
	order =
	    mail_world_send("t1", MAIL("actor:team:backend:coder-1", "2", ACK));
	mail_world_settle();
	outcome_attempt_failed(auto_world.mode, mail_world_agent("t2"), "no");
	while (mail_world_task("t2") != NULL) {
		mail_world_settle();
		if (mail_world_task("t2") != NULL &&
		    mail_world_task("t2")->worker != NULL &&
		    mail_world_agent("t2") != NULL &&
		    auto_task(mail_world_agent("t2")) == mail_world_task("t2"))
			outcome_attempt_failed(
			    auto_world.mode, mail_world_agent("t2"), "no");
		auto_world_patrol();
	}
	auto_world_patrol();
	mail_world_settle();
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(info), "status"), "closed");
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(order), "status"), "closed");
	/* One of them was an order. */
	ck_assert_int_eq(told_of_undelivered(), 1);
	answer = plan_world_must("mail.send",
	    "{\"to\":\"actor:task:t2\",\"subject\":\"s\",\"body\":\"b\"}");
	late = xstrdup(mail_world_text(answer, "id"));
	ck_assert_ptr_nonnull(
	    strstr(mail_world_text(answer, "note"), "has ended"));
	auto_world_patrol();
	mail_world_settle();
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(late), "status"), "closed");
}

/* --- people ------------------------------------------------------- */

TEST(people_read_and_confirm_what_is_sent_to_them)
{
	cleanup_free char *id = NULL, *other = NULL, *params = NULL,
			  *foreign = NULL;
	struct json_object *list;

	mail_world_begin_family();
	id = mail_world_send("t1", MAIL("person", "1", ACK));
	other = mail_world_send("t2", MAIL("parent", "2", ACK));
	free(mail_world_send("t1", MAIL("parent", "3", "")));
	list = plan_world_must("mail.inbox", "{}");
	ck_assert_uint_eq(json_object_array_length(list), 2);
	list = plan_world_must("mail.inbox", "{\"all\":true}");
	ck_assert_uint_eq(json_object_array_length(list), 3);
	list = plan_world_must("mail.inbox", "{\"of\":\"actor:task:t1\"}");
	ck_assert_uint_eq(json_object_array_length(list), 1);
	/* Looking at what is another's changes nothing. */
	ck_assert_int_eq(json_int_or(mail_world_show(other), "read_ms", 0), 0);
	/* Nor does looking through one's own. */
	list = plan_world_must("mail.inbox", "{\"unread\":true}");
	ck_assert_uint_eq(json_object_array_length(list), 2);
	params = xasprintf("{\"id\":\"%s\"}", id);
	foreign = xasprintf("{\"id\":\"%s\"}", other);
	floor_world_refused(
	    floor_world_ask("mail.ack", foreign), API_E_NOT_FOUND, "no mail");
	ck_assert_str_eq(
	    mail_world_text(plan_world_must("mail.ack", params), "status"),
	    "done");
	floor_world_refused(floor_world_ask("mail.show", "{\"id\":\"M_x\"}"),
	    API_E_NOT_FOUND, "there is no mail M_x");
	floor_world_refused(
	    floor_world_ask("mail.send",
		"{\"to\":\"nobody\",\"subject\":\"s\",\"body\":\"b\"}"),
	    API_E_NOT_FOUND, "there is no nobody");
}

TEST(mail_that_is_to_be_confirmed_is_an_ask_until_it_is)
{
	cleanup_free char *id = NULL, *params = NULL, *key = NULL;
	const struct state *state;

	mail_world_begin_two();
	state = &mail_world.team->core->state;
	id = mail_world_send("t1", MAIL("person", "1", ACK));
	key = xasprintf("mail/%s", id);
	params = xasprintf("{\"id\":\"%s\"}", id);
	ck_assert_ptr_nonnull(state_ask(state, key));
	ck_assert_uint_eq(team_post_unread(mail_world.team), 0);
	plan_world_must("mail.show", params);
	ck_assert_ptr_nonnull(state_ask(state, key));
	plan_world_must("mail.ack", params);
	ck_assert_ptr_null(state_ask(state, key));
	free(mail_world_send("t1", MAIL("person", "2", "")));
	ck_assert_uint_eq(team_post_unread(mail_world.team), 1);
}

TEST(open_mail_is_there_after_a_restart_whatever_its_goal)
{
	cleanup_free char *id = NULL;

	mail_world_begin();
	ck_assert_int_eq(team_mail_post(mail_world.team,
			     &(struct mail_draft){ .key = "p",
				 .to = ACTOR_PERSON,
				 .subject = "s",
				 .body = "b",
				 .goal = "goal_of_another_time" },
			     &id, NULL),
	    0);
	mail_world_settle();
	mail_world_die();
	ck_assert_uint_eq(
	    records_open(mail_world.team->core, BOOK_MAIL, ACTOR_PERSON), 1);
	ck_assert_str_eq(mail_world_text(mail_world_show(id), "subject"), "s");
}

/* --- what is read ------------------------------------------------- */

static size_t
unread_count(const char *call)
{
	cleanup_free char *params =
	    xasprintf("{\"unread\":true,\"call\":\"%s\"}", call);

	return json_object_array_length(json_object_object_get(
	    mail_world_must("t1", "mail_inbox", params), "mail"));
}

TEST(call_that_is_repeated_shows_the_unread_mail_that_it_showed)
{
	mail_world_begin_family();
	free(mail_world_send("t2", MAIL("parent", "1", "")));
	ck_assert_uint_eq(unread_count("c1"), 1);
	ck_assert_uint_eq(unread_count("c1"), 1);
	ck_assert_uint_eq(unread_count("c2"), 0);
}

TEST(mail_that_is_not_shown_whole_is_not_read)
{
	char body[5000];
	cleanup_free char *id = NULL, *params = NULL;

	memset(body, 'x', sizeof body);
	body[sizeof body - 1] = '\0';
	mail_world_begin_family();
	params = xasprintf("{\"to\":\"person\",\"subject\":\"s\",\"body\":"
			   "\"%s\"}",
	    body);
	id = mail_world_send("t2", params);
	for (int i = 0; i < 2; i++)
		ck_assert_uint_eq(json_object_array_length(plan_world_must(
				      "mail.inbox", "{\"unread\":true}")),
		    1);
	ck_assert_uint_eq(
	    strlen(mail_world_text(mail_world_show(id), "body")), 4999);
	ck_assert_uint_eq(json_object_array_length(plan_world_must(
			      "mail.inbox", "{\"unread\":true}")),
	    0);
}

TEST(agent_neither_reads_nor_gets_the_mail_of_a_namesake_before_it)
{
	struct mail *mail = mail_new();

	mail_world_begin_family();
	xstrset(&mail->id, "M_old");
	xstrset(&mail->from, "actor:task:t1");
	xstrset(&mail->to, "actor:team:backend:coder-1");
	xstrset(&mail->subject, "s");
	xstrset(&mail->body, "b");
	mail->created_ms = 1000;
	team_post_save(mail_world.team, mail);
	mail_world_settle();
	ck_assert_uint_eq(own_count("t2"), 0);
	mail_world_refuses(
	    "t2", "mail_ack", "{\"id\":\"M_old\"}", API_E_NOT_FOUND, "no mail");
	ck_assert_str_eq(mail_world_tool_ends(mail_world_agent("t2")), "");
	free(
	    mail_world_send("t1", MAIL("actor:team:backend:coder-1", "1", "")));
	ck_assert_uint_eq(own_count("t2"), 1);
}

/* --- answers to requests for agents ------------------------------------- */

#define ASK                                                \
	"{\"call\":\"c1\",\"spawn_reason\":\"two parts\"," \
	"\"requested_subagents\":[{\"role\":\"coder\",\"task\":\"x\"}]}"

TEST(call_that_is_repeated_gets_the_same_answer)
{
	struct floor_call *first, *second;
	const char *worker;
	struct json_object *answer;

	mail_world_begin_two();
	worker = mail_world_task("t1")->worker;
	first = mail_world_ask(worker, "agent_spawn", ASK);
	second = mail_world_ask(worker, "agent_spawn", ASK);
	answer = floor_world_result(first);
	ck_assert(json_object_equal(floor_world_result(second), answer));
	ck_assert(json_object_equal(
	    mail_world_must("t1", "agent_spawn", ASK), answer));
}

TEST(answer_that_is_too_long_is_sent_with_fewer_words)
{
	cleanup_json struct json_object *body = json_object_new_object();
	struct json_object *list = json_object_new_array(), *mail;
	cleanup_free char *id = mail_id(ACTOR_OVERSEER, "req_1");
	char words[6000];

	memset(words, 'x', sizeof words);
	words[sizeof words - 1] = '\0';
	for (int i = 0; i < 20; i++) {
		struct json_object *one = json_object_new_object();

		json_set_string(one, "reason", "role_not_allowed");
		json_set_string(one, "message", words);
		json_object_array_add(list, one);
	}
	json_set(body, "denied_agents", list);
	mail_world_begin_two();
	spawn_mail_answer(&(struct spawn_letter){ .floor = mail_world.team,
			      .request = "req_1",
			      .actor = "actor:task:t1",
			      .worker = "auto-1",
			      .goal = "goal_a",
			      .stored = true,
			      .answered = true },
	    body, false);
	mail_world_settle();
	mail = mail_world_show(id);
	ck_assert_str_eq(mail_world_text(mail, "status"), "done");
	ck_assert_str_eq(
	    mail_world_text(mail, "subject"), "spawn.denied:goal_a:req_1");
}

/* --- changes of a plan -------------------------------------------------- */

/* A person changes the plan of goal_a. */
static void
change(const char *what)
{
	struct plan_change c;

	plan_change_begin(
	    &c, plan_world.floor, plan_world_plan("goal_a"), "because");
	ck_assert_int_eq(plan_edit_begin(&c.edit, NULL), 0);
	plan_edit_end(&c.edit, what);
	plan_change_end(&c);
	plan_floor_changed(plan_world.floor);
	mail_world_settle();
}

static size_t
open_of(const char *actor)
{
	return records_open(mail_world.team->core, BOOK_MAIL, actor);
}

TEST(agent_at_work_is_told_of_the_last_change_of_its_plan)
{
	cleanup_json struct json_object *mail = NULL;
	struct json_object *meta;
	const char *told;

	mail_world_begin_two();
	change("first");
	change("second");
	ck_assert_uint_eq(open_of("actor:task:t1"), 1);
	ck_assert_uint_eq(open_of("actor:task:t2"), 0);
	mail = records_first(mail_world.team->core, BOOK_MAIL, "actor:task:t1");
	ck_assert_str_eq(
	    mail_world_text(mail, "subject"), "plan.updated:goal_a");
	ck_assert_str_eq(
	    mail_world_text(mail, "sender"), "actor:system:overseer");
	meta = json_object_object_get(mail, "meta");
	ck_assert_str_eq(mail_world_text(meta, "source"), "human");
	ck_assert_int_eq(json_int_or(meta, "version", 0),
	    plan_world_plan("goal_a")->goal->version);
	told = mail_world_tool_ends(mail_world_agent("t1"));
	ck_assert_ptr_nonnull(strstr(told, "second"));
	ck_assert_ptr_null(strstr(told, "first"));
}

TEST(agent_is_not_told_of_its_own_change)
{
	int64_t version;

	mail_world_begin_two();
	version = plan_world_plan("goal_a")->goal->version;
	mail_world_must("t1", "agent_spawn",
	    "{\"call\":\"1\",\"spawn_reason\":\"two parts\","
	    "\"requested_subagents\":[{\"role\":\"coder\",\"task\":\"x\"}]}");
	mail_world_settle();
	ck_assert_int_gt(plan_world_plan("goal_a")->goal->version, version);
	ck_assert_uint_eq(open_of("actor:task:t1"), 0);
}
