/* SPDX-License-Identifier: ISC */

/* A request for agents is carried out once, whatever becomes of its answer. */
#include "mail-world.h"
#include "team-private.h"

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
