/* SPDX-License-Identifier: ISC */

/* Limits of mail, what is kept for whom, and what is settled by itself. */
#include "mail-world.h"
#include "mail.h"
#include "records.h"
#include "team-private.h"

#define SECRET "ghp_0123456789abcdefghijABCDEFGHIJ012345"

#define CHILD "actor:team:backend:coder-1"

static const char *
status(const char *id)
{
	return mail_world_text(mail_world_show(id), "status");
}

/* So many pieces that no agent has sent. */
static void
fill(const char *to, int count)
{
	for (int i = 0; i < count; i++) {
		cleanup_free char *key = xasprintf("k%d", i);
		struct err err = { 0 };

		ck_assert_msg(team_mail_post(mail_world.team,
				  &(struct mail_draft){ .key = key,
				      .to = to,
				      .subject = "s",
				      .body = "b",
				      .alerted = true },
				  NULL, &err) == 0,
		    "%s", err.msg);
	}
	mail_world_settle();
}

static size_t
open_of(const char *actor)
{
	return records_open(mail_world.team->core, BOOK_MAIL, actor);
}

/* --- for whom ----------------------------------------------------- */

/* T1.2 of goal_a is an agent that t1 has asked for; it cannot begin yet. */
static struct plan_node *
begin_with_child(void)
{
	static const char spawn[] =
	    "{\"parent\":\"t1\",\"parent_actor\":\"actor:task:t1\",\"actor\":"
	    "\"" CHILD "\",\"depth\":2}";
	cleanup_json struct json_object *json = NULL;
	struct plan_node *node;

	mail_world_begin();
	plan_world_goal("goal_a", 2);
	node = plan_world_node("goal_a", "T1.2");
	ck_assert_int_eq(
	    json_parse(spawn, strlen(spawn), 4096, &json, NULL), 0);
	node->spawn = schema_make(&task_launch_schema, json, "", NULL);
	ck_assert_ptr_nonnull(node->spawn);
	auto_world_turn_on("t1");
	mail_world_settle();
	return node;
}

TEST(mail_to_an_agent_that_has_not_begun_is_kept_until_it_begins)
{
	struct plan_node *node = begin_with_child();
	struct json_object *answer;
	struct agent *child;
	cleanup_free char *id = NULL;

	answer = mail_world_must("t1", "mail_send", MAIL(CHILD, "1", ACK));
	id = xstrdup(mail_world_text(answer, "id"));
	ck_assert_str_eq(mail_world_text(answer, "note"), "");
	auto_world_patrol();
	mail_world_settle();
	ck_assert_str_eq(status(id), "open");
	strv_clear(&node->depends_on);
	node->status = NODE_QUEUED;
	plan_floor_changed(plan_world.floor);
	child = auto_world_turn_on("t2");
	mail_world_settle();
	ck_assert_ptr_nonnull(strstr(mail_world_tool_ends(child), id));
	fake_session_progresses(child->session);
	mail_world_settle();
	ck_assert_int_eq(json_int_or(mail_world_show(id), "delivered", 0), 1);
}

TEST(mail_to_an_agent_that_will_never_begin_is_closed)
{
	struct plan_node *node = begin_with_child();
	cleanup_free char *id = NULL;

	id = mail_world_send("t1", MAIL(CHILD, "1", ""));
	node->status = NODE_CANCELLED;
	auto_world_patrol();
	mail_world_settle();
	ck_assert_str_eq(status(id), "closed");
}

/* --- limits ------------------------------------------------------- */

static char *
letter(const char *to, int call)
{
	return xasprintf("{\"to\":\"%s\",\"call\":\"c%d\",\"subject\":\"s\","
			 "\"body\":\"b\",\"ack_required\":true}",
	    to, call);
}

TEST(agent_sends_so_much_in_a_minute_whenever_the_daemon_dies)
{
	cleanup_free char *more = letter("person", MAIL_RATE_MAX);
	cleanup_free char *first = letter("parent", 0);

	mail_world_begin_family();
	for (int i = 0; i < MAIL_RATE_MAX; i++) {
		cleanup_free char *one =
		    letter(i % 2 == 0 ? "parent" : "person", i);

		mail_world_must("t2", "mail_send", one);
	}
	mail_world_refuses(
	    "t2", "mail_send", more, API_E_RATE, "in the last minute");
	/* What it has sent is sent; and others are not held up. */
	mail_world_must("t2", "mail_send", first);
	mail_world_must("t1", "mail_send", more);
	mail_world_die();
	auto_world_turn_on("t2");
	mail_world_settle();
	mail_world_refuses(
	    "t2", "mail_send", more, API_E_RATE, "in the last minute");
}

/* The child has sent it to its parent long ago. */
static void
put_old(int number)
{
	struct mail *mail = mail_new();

	mail->id = xasprintf("M_%d", number);
	xstrset(&mail->from, CHILD);
	xstrset(&mail->to, "actor:task:t1");
	xstrset(&mail->subject, "s");
	xstrset(&mail->body, "b");
	mail->ack_required = true;
	mail->created_ms = 1000;
	team_post_save(mail_world.team, mail);
}

TEST(sender_has_so_much_open_mail_at_a_recipient)
{
	cleanup_free char *more = letter("parent", 1000);
	cleanup_free char *other = letter("person", 1001);

	mail_world_begin_family();
	for (int i = 0; i < MAIL_SENDER_MAX; i++)
		put_old(i);
	mail_world_settle();
	mail_world_refuses(
	    "t2", "mail_send", more, API_E_RATE, "100 pieces of mail from you");
	mail_world_must("t2", "mail_send", other);
	/* The room of others is their own. */
	plan_world_must("mail.send",
	    "{\"to\":\"actor:task:t1\",\"subject\":\"s\",\"body\":\"b\"}");
}

TEST(mail_of_the_daemon_is_never_refused_for_want_of_room)
{
	struct json_object *answer;

	mail_world_begin_two();
	fill(ACTOR_PERSON, MAIL_UNREAD_MAX);
	fill("actor:task:t1", MAIL_UNREAD_MAX);
	mail_world_refuses("t1", "mail_send", MAIL("person", "1", ""),
	    API_FAILED, "no more is taken");
	mail_world_must("t1", "plan_review_needed",
	    "{\"reason\":\"too small\",\"call\":\"2\"}");
	answer = mail_world_must("t1", "agent_spawn",
	    "{\"call\":\"3\",\"spawn_reason\":\"two parts\","
	    "\"requested_subagents\":[{\"role\":\"coder\",\"task\":\"x\"}]}");
	ck_assert(json_bool_or(answer, "accepted", false));
}

/* --- settled ------------------------------------------------------ */

TEST(mail_that_the_daemon_has_acted_on_is_not_left_open)
{
	mail_world_begin_two();
	mail_world_must("t1", "plan_review_needed",
	    "{\"reason\":\"too small\",\"call\":\"1\"}");
	mail_world_must("t1", "agent_spawn",
	    "{\"call\":\"2\",\"spawn_reason\":\"two parts\","
	    "\"requested_subagents\":[{\"role\":\"coder\",\"task\":\"x\"}]}");
	mail_world_settle();
	ck_assert_uint_eq(open_of(ACTOR_OVERSEER), 0);
}

TEST(mail_of_a_question_is_settled_when_that_has_ended)
{
	struct floor_call *call;
	cleanup_free char *params = NULL;
	cleanup_json struct json_object *question = NULL;

	mail_world_begin_two();
	call = mail_world_ask(mail_world_task("t1")->worker,
	    "request_orchestrator", "{\"message\":\"A or B?\"}");
	mail_world_settle();
	ck_assert_uint_eq(open_of(ACTOR_PERSON), 1);
	question = records_first(mail_world.team->core, BOOK_REQUEST, NULL);
	params = xasprintf("{\"id\":\"%s\",\"response\":\"A\"}",
	    mail_world_text(question, "id"));
	plan_world_must("request.answer", params);
	floor_world_result(call);
	mail_world_settle();
	ck_assert_uint_eq(open_of(ACTOR_PERSON), 0);
}

/* --- in memory ---------------------------------------------------- */

TEST(open_mail_is_in_the_order_of_time_after_a_restart)
{
	const struct team_box *box;
	static const char *const goals[] = { "c", "a", "b" };

	mail_world_begin_two();
	for (size_t i = 0; i < nitems(goals); i++) {
		struct mail *mail = mail_new();

		xstrset(&mail->id, goals[nitems(goals) - 1 - i]);
		xstrset(&mail->from, ACTOR_OVERSEER);
		xstrset(&mail->to, "actor:task:t1");
		xstrset(&mail->subject, "s");
		xstrset(&mail->body, "b");
		xstrset(&mail->goal, goals[i]);
		mail->created_ms = (int64_t)i + 1;
		team_post_save(mail_world.team, mail);
	}
	mail_world_settle();
	mail_world_die();
	box = team_post_box(mail_world.team, "actor:task:t1");
	ck_assert_ptr_nonnull(box);
	ck_assert_uint_eq(box->count, nitems(goals));
	for (size_t i = 0; i < box->count; i++)
		ck_assert_int_eq(box->mails[i]->created_ms, (int64_t)i + 1);
}

TEST(mail_is_without_what_looks_like_a_key)
{
	cleanup_free char *id = NULL;
	const struct team_box *box;

	mail_world_begin_two();
	ck_assert_int_eq(team_mail_post(mail_world.team,
			     &(struct mail_draft){ .key = "k",
				 .to = "actor:task:t1",
				 .subject = "s",
				 .body = "it is " SECRET },
			     &id, NULL),
	    0);
	box = team_post_box(mail_world.team, "actor:task:t1");
	ck_assert_ptr_nonnull(box);
	ck_assert_ptr_null(strstr(box->mails[0]->body, SECRET));
	mail_world_settle();
	ck_assert_ptr_null(
	    strstr(mail_world_text(mail_world_show(id), "body"), SECRET));
}
