/* SPDX-License-Identifier: ISC */

/* How mail gets into sessions, once, whenever the daemon dies. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "clock.h"
#include "json.h"
#include "mem.h"
#include "run-dir.h"
#include "team-private.h"
#include "mail-world.h"
#include "unit.h"

#define KILLS 12 /* passes of the loop that a delivery takes at most, about */

static bool
waits(struct mail_world *w, const struct agent *agent)
{
	cleanup_free char *socket = run_dir_socket(
	    &mail_world_floor(w)->workspace, agent->worker->name);

	return run_dir_waits(socket);
}

/* --- into sessions ---------------------------------------------------------
 */

TEST(session_that_works_gets_mail_after_its_next_tool_once)
{
	struct mail_world w;
	struct agent *parent;
	cleanup_free char *id = NULL;

	mail_world_begin_two(&w);
	mail_world_child(&w);
	parent = mail_world_agent(&w, "t1");
	ck_assert(!waits(&w, parent));
	id = mail_world_send(&w, "t2", MAIL("parent", "1", ""));
	mail_world_settle(&w);
	ck_assert(waits(&w, parent));
	ck_assert_ptr_nonnull(strstr(mail_world_tool_ends(&w, parent), id));
	ck_assert(!waits(&w, parent));
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(&w, id), "status"), "open");
	/* The next hook says that it has it. */
	fake_session_progresses(parent->session);
	mail_world_settle(&w);
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(&w, id), "status"), "done");
	ck_assert_int_eq(
	    json_int_or(mail_world_show(&w, id), "delivered", 0), 1);
	ck_assert_str_eq(mail_world_tool_ends(&w, parent), "");
	mail_world_end(&w);
}

TEST(several_pieces_come_in_one_text_in_their_order)
{
	struct mail_world w;
	cleanup_free char *info = NULL, *order = NULL, *plan = NULL;
	const char *told;

	mail_world_begin_two(&w);
	mail_world_child(&w);
	info = mail_world_send(&w, "t2", MAIL("parent", "1", ""));
	order = mail_world_send(&w, "t2", MAIL("parent", "2", ACK));
	ck_assert_int_eq(team_mail_post(w.team,
			     &(struct mail_draft){ .key = "p",
				 .to = "actor:task:t1",
				 .subject = "plan.updated:goal_a",
				 .body = "b" },
			     &plan, NULL),
	    0);
	mail_world_settle(&w);
	told = mail_world_tool_ends(&w, mail_world_agent(&w, "t1"));
	ck_assert_ptr_nonnull(strstr(told, plan));
	ck_assert_ptr_nonnull(strstr(strstr(told, plan), order));
	ck_assert_ptr_nonnull(strstr(strstr(told, order), info));
	mail_world_end(&w);
}

/* Work that is finished is not landed before its worker has read its mail. */
TEST(mail_comes_before_the_end_of_a_turn_is_judged)
{
	struct mail_world w;
	struct agent *parent;
	cleanup_free char *id = NULL;
	int prompts;

	mail_world_begin_two(&w);
	mail_world_child(&w);
	parent = mail_world_agent(&w, "t1");
	prompts = fake_session_prompts(parent->session);
	id = mail_world_send(&w, "t2", MAIL("parent", "1", ""));
	mail_world_settle(&w);
	floor_world_wt(mail_world_floor(&w), parent->worker->name,
	    "echo 1 >one && git add one && git commit -qm one");
	fake_session_turn_ends(parent->session, "Done.");
	mail_world_settle(&w);
	ck_assert_int_eq(fake_session_prompts(parent->session), prompts + 1);
	ck_assert_ptr_nonnull(strstr(fake_session_prompt(parent->session), id));
	ck_assert_int_eq(parent->worker->status, WORKER_WORKING);
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(&w, id), "status"), "done");
	ck_assert_int_eq(parent->sent_back, 0);
	mail_world_end(&w);
}

#define TO_EVE "{\"to\":\"eve\",\"subject\":\"hello\",\"body\":\"dear eve\"}"

TEST(idle_worker_that_is_driven_by_hand_gets_mail_as_a_prompt)
{
	struct mail_world w;
	struct agent *eve;
	cleanup_free char *id = NULL;

	mail_world_begin(&w);
	eve = mail_world_eve(&w);
	id = xstrdup(
	    mail_world_text(mail_world_person(&w, "mail.send", TO_EVE), "id"));
	mail_world_settle(&w);
	ck_assert_int_eq(fake_session_prompts(eve->session), 1);
	ck_assert_ptr_nonnull(strstr(fake_session_prompt(eve->session), id));
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(eve->session), "| dear eve\n"));
	ck_assert_int_eq(eve->worker->status, WORKER_WORKING);
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(&w, id), "status"), "done");
	mail_world_end(&w);
}

TEST(nobody_is_woken_by_mail_while_the_fleet_is_paused)
{
	struct mail_world w;
	struct agent *eve;
	struct state *state;

	mail_world_begin(&w);
	eve = mail_world_eve(&w);
	state = &mail_world_floor(&w)->core->state;
	xstrset(&state->paused, "the budget of the day is spent");
	mail_world_person(&w, "mail.send", TO_EVE);
	mail_world_settle(&w);
	ck_assert_int_eq(fake_session_prompts(eve->session), 0);
	/* The budget is not spent: the patrol ends the pause. */
	auto_world_patrol(&w.plans.world);
	mail_world_settle(&w);
	ck_assert_int_eq(fake_session_prompts(eve->session), 1);
	mail_world_end(&w);
}

/* --- again and again --------------------------------------------------------
 */

TEST(mail_that_is_not_confirmed_comes_again_at_turn_ends_then_people_know)
{
	struct mail_world w;
	struct agent *eve;
	cleanup_free char *id = NULL;
	const struct mail_pace pace = { .again_ms = 1, .again_max = 2 };

	mail_world_begin(&w);
	eve = mail_world_eve(&w);
	team_deliver_set_pace(w.team->deliver, &pace);
	id = xstrdup(
	    mail_world_text(mail_world_person(&w, "mail.send",
				"{\"to\":\"eve\",\"subject\":\"do it\","
				"\"body\":\"b\",\"kind\":\"instruction\","
				"\"ack_required\":true}"),
		"id"));
	mail_world_settle(&w);
	for (int i = 1; i <= 3; i++) {
		int64_t since = clock_wall_ms();

		ck_assert_int_eq(fake_session_prompts(eve->session), i);
		ck_assert_int_eq(
		    json_int_or(mail_world_show(&w, id), "delivered", 0), i);
		while (clock_wall_ms() <= since + pace.again_ms)
			floor_world_settle(mail_world_floor(&w));
		fake_session_turn_ends(eve->session, "Done.");
		mail_world_settle(&w);
	}
	auto_world_patrol(&w.plans.world);
	mail_world_settle(&w);
	ck_assert_int_eq(fake_session_prompts(eve->session), 3);
	ck_assert(json_bool_or(mail_world_show(&w, id), "alerted", false));
	ck_assert_str_eq(
	    mail_world_text(mail_world_show(&w, id), "status"), "open");
	mail_world_end(&w);
}

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
	struct mail_world *w;
	const char *id;
};

static bool
is_done(void *arg)
{
	const struct until *until = arg;
	struct mail *mail = team_post_read(until->w->team, until->id);
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
	struct mail_world w;
	struct agent *eve;
	struct passes passes = { .left = _i };
	cleanup_free char *id = NULL;
	int given = 0;
	bool retyped;

	mail_world_begin(&w);
	mail_world_eve(&w);
	id = xstrdup(
	    mail_world_text(mail_world_person(&w, "mail.send", TO_EVE), "id"));
	floor_world_wait_closely(mail_world_floor(&w), has_passed, &passes);
	eve = fleet_find(mail_world_floor(&w)->fleet, "eve");
	given = strstr(fake_session_prompt(eve->session), id) != NULL;
	mail_world_die(&w);
	floor_world_wait(mail_world_floor(&w), has_adopted, w.team->fleet);
	eve = fleet_find(mail_world_floor(&w)->fleet, "eve");
	retyped = eve->worker->session.step != PROMPT_NONE;
	/* Its session is gone with the daemon. */
	if (eve->worker->status != WORKER_OFFLINE)
		agent_restart(eve);
	eve->worker->session.busy = false;
	eve->retry_ms = 0;
	agent_tick_later(eve, 1);
	auto_world_patrol(&w.plans.world);
	floor_world_wait(mail_world_floor(&w), is_done,
	    &(struct until){ .w = &w, .id = id });
	mail_world_settle(&w);
	given += strstr(fake_session_prompt(eve->session), id) != NULL;
	ck_assert_msg(given == 1 || (given == 2 && retyped),
	    "given %d times after %d passes", given, _i);
	ck_assert_int_eq(
	    json_int_or(mail_world_show(&w, id), "delivered", 0), 1);
	mail_world_end(&w);
}
