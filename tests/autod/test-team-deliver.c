/* SPDX-License-Identifier: ISC */

/* How mail gets into sessions, once, whenever the daemon dies. */
#include "mail-world.h"
#include "team-private.h"

#define KILLS 12 /* passes of the loop that a delivery takes at most, about */

static bool
waits(const struct agent *agent)
{
	cleanup_free char *socket =
	    run_dir_socket(&floor_world.workspace, agent->worker->name);

	return run_dir_waits(socket);
}

/* --- into sessions ------------------------------------------------ */

TEST(session_that_works_gets_mail_after_its_next_tool_once)
{
	struct agent *parent;
	cleanup_free char *id = NULL;

	mail_world_begin_family();
	parent = mail_world_agent("t1");
	ck_assert(!waits(parent));
	id = mail_world_send("t2", MAIL("parent", "1", ""));
	mail_world_settle();
	ck_assert(waits(parent));
	ck_assert_ptr_nonnull(strstr(mail_world_tool_ends(parent), id));
	ck_assert(!waits(parent));
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(id), "status"), "open");
	/* The next hook says that it has it. */
	fake_session_progresses(parent->session);
	mail_world_settle();
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(id), "status"), "done");
	ck_assert_int_eq(json_int_or(mail_world_show(id), "delivered", 0), 1);
	ck_assert_str_eq(mail_world_tool_ends(parent), "");
}

/* The answer to its hook was for the session before. */
TEST(mail_to_a_session_that_is_gone_is_not_delivered)
{
	struct agent *parent;
	cleanup_free char *id = NULL;

	mail_world_begin_family();
	parent = mail_world_agent("t1");
	id = mail_world_send("t2", MAIL("parent", "1", ""));
	mail_world_settle();
	ck_assert_ptr_nonnull(strstr(mail_world_tool_ends(parent), id));
	parent->worker->session.generation++;
	team_deliver_progressed(mail_world.team, parent);
	ck_assert_int_eq(json_int_or(mail_world_show(id), "delivered", 0), 0);
	team_deliver_look(mail_world.team);
	ck_assert_ptr_nonnull(strstr(mail_world_tool_ends(parent), id));
}

TEST(several_pieces_come_in_one_text_in_their_order)
{
	cleanup_free char *info = NULL, *order = NULL, *plan = NULL;
	const char *told;

	mail_world_begin_family();
	info = mail_world_send("t2", MAIL("parent", "1", ""));
	order = mail_world_send("t2", MAIL("parent", "2", ACK));
	ck_assert_int_eq(team_mail_post(mail_world.team,
			     &(struct mail_draft){ .key = "p",
				 .to = "actor:task:t1",
				 .subject = "plan.updated:goal_a",
				 .body = "b" },
			     &plan, NULL),
	    0);
	mail_world_settle();
	told = mail_world_tool_ends(mail_world_agent("t1"));
	ck_assert_ptr_nonnull(strstr(told, plan));
	ck_assert_ptr_nonnull(strstr(strstr(told, plan), order));
	ck_assert_ptr_nonnull(strstr(strstr(told, order), info));
}

/* Work that is finished is not landed before its worker has read its mail. */
TEST(mail_comes_before_the_end_of_a_turn_is_judged)
{
	struct agent *parent;
	cleanup_free char *id = NULL;
	int prompts;

	mail_world_begin_family();
	parent = mail_world_agent("t1");
	prompts = fake_session_prompts(parent->session);
	id = mail_world_send("t2", MAIL("parent", "1", ""));
	mail_world_settle();
	floor_world_wt(parent->worker->name,
	    "echo 1 >one && git add one && git commit -qm one");
	fake_session_turn_ends(parent->session, "Done.");
	mail_world_settle();
	ck_assert_int_eq(fake_session_prompts(parent->session), prompts + 1);
	ck_assert_ptr_nonnull(strstr(fake_session_prompt(parent->session), id));
	ck_assert_int_eq(parent->worker->status, WORKER_WORKING);
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(id), "status"), "done");
	ck_assert_int_eq(parent->sent_back, 0);
}

#define TO_EVE "{\"to\":\"eve\",\"subject\":\"hello\",\"body\":\"dear eve\"}"

TEST(idle_worker_that_is_driven_by_hand_gets_mail_as_a_prompt)
{
	struct agent *eve;
	cleanup_free char *id = NULL;

	mail_world_begin();
	eve = mail_world_eve();
	id = xstrdup(
	    mail_world_text(plan_world_must("mail.send", TO_EVE), "id"));
	mail_world_settle();
	ck_assert_int_eq(fake_session_prompts(eve->session), 1);
	ck_assert_ptr_nonnull(strstr(fake_session_prompt(eve->session), id));
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(eve->session), "| dear eve\n"));
	ck_assert_int_eq(eve->worker->status, WORKER_WORKING);
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(id), "status"), "done");
}

TEST(nobody_is_woken_by_mail_while_the_fleet_is_paused)
{
	struct agent *eve;
	struct state *state;

	mail_world_begin();
	eve = mail_world_eve();
	state = &floor_world.core->state;
	xstrset(&state->paused, "the budget of the day is spent");
	plan_world_must("mail.send", TO_EVE);
	mail_world_settle();
	ck_assert_int_eq(fake_session_prompts(eve->session), 0);
	/* The budget is not spent: the patrol ends the pause. */
	auto_world_patrol();
	mail_world_settle();
	ck_assert_int_eq(fake_session_prompts(eve->session), 1);
}

/* --- again and again ---------------------------------------------- */

TEST(mail_that_is_not_confirmed_comes_again_at_turn_ends_then_people_know)
{
	struct agent *eve;
	cleanup_free char *id = NULL;
	const struct mail_pace pace = { .again_ms = 1, .again_max = 2 };

	mail_world_begin();
	eve = mail_world_eve();
	team_deliver_set_pace(mail_world.team->deliver, &pace);
	id = xstrdup(
	    mail_world_text(plan_world_must("mail.send",
				"{\"to\":\"eve\",\"subject\":\"do it\","
				"\"body\":\"b\",\"kind\":\"instruction\","
				"\"ack_required\":true}"),
		"id"));
	mail_world_settle();
	for (int i = 1; i <= 3; i++) {
		int64_t since = clock_wall_ms();

		ck_assert_int_eq(fake_session_prompts(eve->session), i);
		ck_assert_int_eq(
		    json_int_or(mail_world_show(id), "delivered", 0), i);
		while (clock_wall_ms() <= since + pace.again_ms)
			floor_world_settle();
		fake_session_turn_ends(eve->session, "Done.");
		mail_world_settle();
	}
	auto_world_patrol();
	mail_world_settle();
	ck_assert_int_eq(fake_session_prompts(eve->session), 3);
	ck_assert(json_bool_or(mail_world_show(id), "alerted", false));
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(id), "status"), "open");
}

/* --- kills -------------------------------------------------------- */

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
	const char *id;
};

static bool
is_done(void *arg)
{
	const struct until *until = arg;
	struct mail *mail = team_post_read(mail_world.team, until->id);
	bool done = mail != NULL && mail->state != MAIL_OPEN;

	mail_free(mail);
	return done;
}

static bool
has_adopted(void *arg)
{
	const struct fleet *fleet = arg;

	return fleet->begun;
}

/* The daemon dies after so many passes since the mail was sent. It is in the
 * session once; twice only if the saved state does not know that the prompt
 * was submitted, which a real session's transcript would tell. */
TEST_ROWS(mail_is_delivered_whenever_the_daemon_dies, KILLS)
{
	struct agent *eve;
	struct passes passes = { .left = _i };
	cleanup_free char *id = NULL;
	int given = 0;
	bool retyped;

	mail_world_begin();
	mail_world_eve();
	id = xstrdup(
	    mail_world_text(plan_world_must("mail.send", TO_EVE), "id"));
	floor_world_wait_closely(has_passed, &passes);
	eve = fleet_find(floor_world.fleet, "eve");
	given = strstr(fake_session_prompt(eve->session), id) != NULL;
	mail_world_die();
	floor_world_wait(has_adopted, mail_world.team->fleet);
	eve = fleet_find(floor_world.fleet, "eve");
	retyped = eve->worker->session.step != PROMPT_NONE;
	/* Its session is gone with the daemon. */
	if (eve->worker->status != WORKER_OFFLINE)
		agent_restart(eve);
	eve->worker->session.busy = false;
	eve->retry_ms = 0;
	agent_tick_later(eve, 1);
	auto_world_patrol();
	floor_world_wait(is_done, &(struct until){ .id = id });
	mail_world_settle();
	given += strstr(fake_session_prompt(eve->session), id) != NULL;
	ck_assert_msg(given == 1 || (given == 2 && retyped),
	    "given %d times after %d passes", given, _i);
	ck_assert_int_eq(json_int_or(mail_world_show(id), "delivered", 0), 1);
}
