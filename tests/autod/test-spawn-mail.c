/* SPDX-License-Identifier: ISC */

/* A request for agents is carried out once, whatever becomes of its answer. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "api.h"
#include "id.h"
#include "json.h"
#include "mail-world.h"
#include "mem.h"
#include "spawn-mail.h"
#include "task.h"
#include "team-book.h"
#include "team-floor.h"
#include "unit.h"

#define ASK                                                \
	"{\"call\":\"c1\",\"spawn_reason\":\"two parts\"," \
	"\"requested_subagents\":[{\"role\":\"coder\",\"task\":\"x\"}]}"

static struct json_object *
spawned(struct json_object *answer)
{
	return json_object_array_get_idx(
	    json_object_object_get(answer, "spawned_agents"), 0);
}

START_TEST(call_that_is_repeated_before_it_is_stored_is_to_be_made_again)
{
	struct mail_world w;
	struct floor_call *first, *second;
	const char *worker;
	struct json_object *answer;

	mail_world_begin_two(&w);
	worker = mail_world_task(&w, "t1")->worker;
	first = mail_world_ask(&w, worker, "agent_spawn", ASK);
	second = mail_world_ask(&w, worker, "agent_spawn", ASK);
	answer = mail_world_answer(&w, first);
	if (floor_world_answer(mail_world_floor(&w), second) != NULL)
		ck_assert_int_eq(floor_call_code(second), API_BUSY);
	else
		ck_assert(json_object_equal(floor_call_result(second), answer));
	ck_assert(json_object_equal(
	    mail_world_must(&w, "t1", "agent_spawn", ASK), answer));
	mail_world_end(&w);
}
END_TEST

START_TEST(nodes_answer_a_call_whose_answer_is_not_known)
{
	struct mail_world w;
	struct plan_node *node;
	const char *worker;
	cleanup_free char *spawn = NULL, *id = NULL, *call = NULL;
	char hash[17];
	size_t count;

	mail_world_begin(&w);
	plan_world_goal(&w.plans, "goal_a", 2);
	auto_world_turn_on(&w.plans.world, "t1");
	worker = mail_world_task(&w, "t1")->worker;
	call = xasprintf("%s %s/c1", worker, worker);
	id_hash(call, hash, 16);
	spawn = xasprintf(
	    "{\"request\":\"req_%s\",\"parent\":\"t1\",\"parent_actor\":"
	    "\"actor:task:t1\",\"actor\":\"actor:team:x:coder-1\",\"depth\":2}",
	    hash);
	node = plan_world_node(&w.plans, "goal_a", "T1.2");
	ck_assert_int_eq(
	    json_parse(spawn, strlen(spawn), 4096, &node->spawn, NULL), 0);
	count = plan_world_plan(&w.plans, "goal_a")->count;
	for (int i = 0; i < 2; i++) {
		struct json_object *answer =
		    mail_world_must(&w, "t1", "agent_spawn", ASK);

		ck_assert(json_bool_or(answer, "accepted", false));
		ck_assert_str_eq(mail_world_text(spawned(answer), "actor_id"),
		    "actor:team:x:coder-1");
		ck_assert_str_eq(
		    mail_world_text(spawned(answer), "plan_node_id"), "T1.2");
	}
	ck_assert_uint_eq(plan_world_plan(&w.plans, "goal_a")->count, count);
	/* The answer is there now. */
	id = spawn_mail_answer_id(mail_world_text(node->spawn, "request"));
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(&w, id), "status"), "done");
	mail_world_end(&w);
}
END_TEST

START_TEST(answer_that_is_too_long_is_sent_with_fewer_words)
{
	struct mail_world w;
	cleanup_json struct json_object *body = json_object_new_object();
	struct json_object *list = json_object_new_array(), *mail;
	cleanup_free char *id = spawn_mail_answer_id("req_1");
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
	mail_world_begin_two(&w);
	spawn_mail_answer(&(struct spawn_letter){ .floor = w.team,
			      .request = "req_1",
			      .actor = "actor:task:t1",
			      .worker = "auto-1",
			      .goal = "goal_a",
			      .stored = true,
			      .told = true },
	    body, false);
	mail_world_settle(&w);
	mail = mail_world_show(&w, id);
	ck_assert_str_eq(mail_world_text(mail, "status"), "done");
	ck_assert_str_eq(
	    mail_world_text(mail, "subject"), "spawn.denied:goal_a:req_1");
	mail_world_end(&w);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("spawn-mail");

	unit_case(suite, "once",
	    (const TTest *[]){
		call_that_is_repeated_before_it_is_stored_is_to_be_made_again,
		nodes_answer_a_call_whose_answer_is_not_known,
		answer_that_is_too_long_is_sent_with_fewer_words, NULL });
	return suite;
}
