/* SPDX-License-Identifier: ISC */

/* Delivery of prompts to a session. */
#include "session-world.h"
#include "worker.h"

#define RUN_MS 100 /* enough for everything that does not wait */

TEST(a_prompt_is_written_down_and_then_typed)
{
	world_begin();
	world_up();
	w.disk_full = true;
	session_prompt(w.session, "do it", "17", false);
	ck_assert_int_eq(w.record.step, PROMPT_PARKED);
	ck_assert_str_eq(w.record.pending, "do it");
	world_run(RUN_MS);
	ck_assert_int_eq(w.record.step, PROMPT_PASTED);
	world_expect_tmux("");
	w.disk_full = false;
	world_run(1000);
	world_expect_tmux("paste [llmc 17] do it");
	world_submits("[llmc 17] do it");
	world_expect("submitted:17");
	ck_assert_int_eq(w.record.step, PROMPT_NONE);
	ck_assert(w.record.busy);
	world_run(3600000);
	world_expect_tmux("");
}

TEST(a_prompt_waits_for_its_session)
{
	world_begin();
	session_prompt(w.session, "early", "1", true);
	world_run(3600000);
	ck_assert_int_eq(w.record.step, PROMPT_PARKED);
	world_up();
	world_run(RUN_MS);
	/* A new session needs no /clear. */
	world_expect_tmux("paste [llmc 1] early");
}

/* --- its tools --------------------------------------------------------- */

static void
up_without_tools(void)
{
	w.toolless = true;
	world_up();
	session_prompt(w.session, "x", "1", false);
}

TEST(the_first_prompt_waits_for_the_tools)
{
	world_begin();
	up_without_tools();
	world_run(4500);
	world_expect_tmux("");
	world_hook("ToolsListed", "{}", NULL);
	world_run(2 * RUN_MS);
	world_expect_tmux("paste [llmc 1] x");
	world_submits("[llmc 1] x");
	/* A new conversation has them already. */
	world_hook("Stop", "{}", NULL);
	session_prompt(w.session, "y", "2", true);
	world_run(RUN_MS);
	world_expect_tmux("paste /clear");
	world_starts("clear");
	world_run(RUN_MS);
	world_expect_tmux("paste [llmc 2] y");
}

TEST(tools_that_never_come_are_waited_for_5_seconds)
{
	world_begin();
	up_without_tools();
	world_run(4900);
	world_expect_tmux("");
	world_run(200);
	world_expect_tmux("paste [llmc 1] x");
}

TEST(each_process_of_a_session_is_waited_for)
{
	world_begin();
	world_up(); /* this one had its tools at once */
	session_kill(w.session);
	world_agent(false);
	world_launch(true);
	world_run(RUN_MS);
	world_expect_tmux("kill kill start");
	w.toolless = true;
	world_starts("resume");
	session_prompt(w.session, "x", "1", false);
	world_run(4500);
	world_expect_tmux("");
	world_run(1000);
	world_expect_tmux("paste [llmc 1] x");
}

TEST(a_session_without_tools_waits_for_none)
{
	world_begin_as("overseer");
	up_without_tools();
	world_run(RUN_MS);
	world_expect_tmux("paste [llmc 1] x");
}

TEST(a_fresh_conversation_comes_first)
{
	world_begin();
	world_up();
	w.record.busy = true; /* a turn runs: /clear would be lost */
	session_prompt(w.session, "next", "2", true);
	world_run(60000);
	world_expect_tmux("");
	world_hook("Stop", "{}", NULL);
	world_run(RUN_MS);
	world_expect_tmux("paste /clear");
	ck_assert_int_eq(w.record.step, PROMPT_CLEARING);
	world_hook("SessionEnd", "{\"reason\":\"clear\"}", NULL);
	ck_assert_int_eq(session_phase(w.session), SESSION_UP);
	world_starts("clear");
	world_run(RUN_MS);
	world_expect_tmux("paste [llmc 2] next");
}

TEST(nothing_is_typed_while_the_owner_says_no)
{
	world_begin();
	world_up();
	w.typing = false;
	session_prompt(w.session, "later", "3", false);
	world_run(3600000);
	world_expect_tmux("");
	w.typing = true;
	session_poke(w.session);
	world_run(RUN_MS);
	world_expect_tmux("paste [llmc 3] later");
	/* Nor is Enter, if the owner forbids it later. */
	w.typing = false;
	world_run(3600000);
	world_expect_tmux("");
}

TEST(a_prompt_that_is_not_taken_gets_enter_and_is_given_up)
{
	world_begin();
	world_up();
	session_prompt(w.session, "x", "4", false);
	world_run(RUN_MS);
	world_expect_tmux("paste [llmc 4] x");
	for (int i = 0; i < DELIVERY_TRIES; i++) {
		world_run(DELIVERY_CONFIRM_MS - 2 * RUN_MS);
		world_expect_tmux("");
		world_run(2 * RUN_MS);
		world_expect_tmux("keys Enter");
	}
	world_run(DELIVERY_CONFIRM_MS + RUN_MS);
	world_expect("undelivered");
	ck_assert_int_eq(w.record.step, PROMPT_PARKED);
	ck_assert_str_eq(w.record.pending, "x");
	ck_assert(!w.record.ready);
	/* Nothing more is typed: the owner has to end it. */
	world_run(WORLD_START_MS / 2);
	world_expect_tmux("");
	session_end(w.session, world_on_end, &w);
	world_until(SESSION_NONE);
	world_expect_tmux("kill");
}

TEST(a_submission_that_was_not_heard_is_in_the_transcript)
{
	world_begin();
	world_up();
	session_prompt(w.session, "x", "5", false);
	world_run(RUN_MS);
	ck_assert(!session_confirm(w.session));
	world_writes("[llmc 5] x");
	world_run((DELIVERY_TRIES + 1) * (DELIVERY_CONFIRM_MS + RUN_MS));
	world_expect("grew submitted:5");
	ck_assert_int_eq(w.record.step, PROMPT_NONE);
	ck_assert(w.record.busy);
	ck_assert(w.record.ready);
}

TEST(the_owner_may_ask_the_transcript)
{
	world_begin();
	world_up();
	ck_assert(!session_confirm(w.session)); /* no prompt is pending */
	session_prompt(w.session, "x", "6", false);
	world_writes("[llmc 6] x");
	ck_assert(!session_confirm(w.session)); /* not typed yet */
	world_run(RUN_MS);
	buf_clear(&w.told);
	ck_assert(session_confirm(w.session));
	world_expect("");
	ck_assert(w.record.busy);
	ck_assert_int_eq(w.record.step, PROMPT_NONE);
}

TEST(a_turn_that_ends_had_begun)
{
	world_begin();
	world_up();
	session_prompt(w.session, "x", "7", false);
	world_run(RUN_MS);
	world_writes("[llmc 7] x");
	world_run(RUN_MS);
	buf_clear(&w.told);
	world_hook("Stop", "{\"last_assistant_message\":\"done\"}", NULL);
	world_expect("progressed submitted:7 unheard-turn:done");
	ck_assert(!w.record.busy);
	/* In a turn that is known to run this proves nothing: text typed
	 * meanwhile is in the transcript before it is submitted. */
	w.record.busy = true;
	session_prompt(w.session, "y", "8", false);
	world_run(RUN_MS);
	world_writes("[llmc 8] y");
	world_run(RUN_MS);
	buf_clear(&w.told);
	world_hook("Stop", "{}", NULL);
	world_expect("progressed unheard-turn");
	ck_assert_int_eq(w.record.step, PROMPT_PASTED);
}

TEST(a_prompt_replaces_the_one_on_its_way)
{
	world_begin();
	world_up();
	w.disk_full = true;
	session_prompt(w.session, "old", "9", false);
	world_run(RUN_MS);
	ck_assert_int_eq(w.record.step, PROMPT_PASTED);
	session_prompt(w.session, "new", "10", false);
	w.disk_full = false;
	world_run(2000);
	world_expect_tmux("paste [llmc 10] new"); /* and only once */
	world_submits("[llmc 9] old");
	world_expect("");
	world_submits("words before [llmc 10] new");
	world_expect("submitted:10");
	/* A /clear that is no longer needed is not typed. */
	w.record.busy = false;
	session_prompt(w.session, "a", "11", true);
	w.disk_full = true;
	world_run(RUN_MS);
	ck_assert_int_eq(w.record.step, PROMPT_CLEARING);
	session_prompt(w.session, "b", "12", false);
	w.disk_full = false;
	world_run(2000);
	world_expect_tmux("paste [llmc 12] b");
}

TEST(a_tmux_that_fails_to_type_is_tried_again)
{
	world_begin();
	world_up();
	w.tmux->err = (struct err){ -ETIMEDOUT, "no answer" };
	session_prompt(w.session, "x", "13", false);
	world_run(DELIVERY_CONFIRM_MS + RUN_MS);
	world_expect_tmux("paste [llmc 13] x keys Enter");
	world_expect("");
}

/* --- in a new process ------------------------------------------------- */

/* Type into a process that exits and is followed by another one. */
static void
type_and_exit(bool submitted)
{
	world_up();
	session_prompt(w.session, "x", "14", false);
	world_run(RUN_MS);
	ck_assert_int_eq(w.record.step, PROMPT_PASTED);
	if (submitted)
		world_writes("[llmc 14] x");
	world_agent_exits();
	world_run(RUN_MS);
	world_agent(false);
	world_launch(true);
	world_run(RUN_MS);
	buf_clear(&w.told);
	buf_clear(&w.tmux->trace);
	world_starts("resume");
}

TEST(what_a_dead_process_was_told_is_told_again)
{
	world_begin();
	type_and_exit(false);
	world_expect("ready:resume");
	ck_assert_int_eq(w.record.step, PROMPT_PARKED);
	ck_assert(!w.record.busy);
	world_run(RUN_MS);
	world_expect_tmux("paste [llmc 14] x");
}

TEST(a_turn_that_was_cut_off_is_known)
{
	world_begin();
	type_and_exit(true);
	world_expect("ready:resume");
	ck_assert_int_eq(w.record.step, PROMPT_NONE);
	ck_assert(w.record.busy);
	world_run(RUN_MS);
	world_expect_tmux(""); /* not twice */
}

TEST(a_clear_into_a_dead_process_is_forgotten)
{
	world_begin();
	world_up();
	session_prompt(w.session, "x", "15", true);
	world_run(RUN_MS);
	world_expect_tmux("paste /clear");
	world_agent_exits();
	world_run(RUN_MS);
	world_agent(false);
	world_launch(false);
	world_run(RUN_MS);
	world_starts("startup");
	world_run(RUN_MS);
	world_expect_tmux("kill start paste [llmc 15] x");
}

TEST(one_taken_over_with_a_prompt_gets_a_little_time)
{
	world_begin();
	world_agent(false);
	w.record.ready = true;
	w.record.step = PROMPT_PASTED;
	xstrset(&w.record.pending, "x");
	xstrset(&w.record.receipt, "16");
	session_adopt(w.session, w.agent, WORLD_START_MS);
	world_run(DELIVERY_CONFIRM_MS - RUN_MS);
	world_expect_tmux("");
	world_run(2 * RUN_MS);
	world_expect_tmux("keys Enter"); /* it may never have been typed */
	world_run(DELIVERY_CONFIRM_MS);
	world_expect("undelivered");
}

/* --- Escape ---------------------------------------------------------- */

TEST(a_turn_is_interrupted_after_that_is_written)
{
	world_begin();
	world_up();
	world_submits("by hand");
	world_hook("PreToolUse", "{}", NULL);
	w.disk_full = true;
	session_interrupt(w.session);
	ck_assert(!w.record.busy);
	ck_assert_int_eq(w.record.open_tools, 0);
	session_prompt(w.session, "go on", "18", false);
	world_run(RUN_MS);
	world_expect_tmux("");
	w.disk_full = false;
	world_run(2000);
	world_expect_tmux("keys Escape paste [llmc 18] go on");
}
