/* SPDX-License-Identifier: ISC */

/* Delivery of prompts to a session. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "delivery.h"
#include "mem.h"
#include "session-world.h"
#include "unit.h"

#define RUN_MS 100 /* enough for everything that does not wait */

TEST(a_prompt_is_written_down_and_then_typed)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	w.disk_full = true;
	session_prompt(w.session, "do it", "17", false);
	ck_assert_int_eq(w.record.step, PROMPT_PARKED);
	ck_assert_str_eq(w.record.pending, "do it");
	world_run(&w, RUN_MS);
	ck_assert_int_eq(w.record.step, PROMPT_PASTED);
	world_expect_tmux(&w, "");
	w.disk_full = false;
	world_run(&w, 1000);
	world_expect_tmux(&w, "paste [llmc 17] do it");
	world_submits(&w, "[llmc 17] do it");
	world_expect(&w, "submitted:17");
	ck_assert_int_eq(w.record.step, PROMPT_NONE);
	ck_assert(w.record.busy);
	world_run(&w, 3600000);
	world_expect_tmux(&w, "");
	world_end(&w);
}

TEST(a_prompt_waits_for_its_session)
{
	struct world w;

	world_begin(&w);
	session_prompt(w.session, "early", "1", true);
	world_run(&w, 3600000);
	ck_assert_int_eq(w.record.step, PROMPT_PARKED);
	world_up(&w);
	world_run(&w, RUN_MS);
	/* A new session needs no /clear. */
	world_expect_tmux(&w, "paste [llmc 1] early");
	world_end(&w);
}

/* --- its tools --------------------------------------------------------- */

static void
up_without_tools(struct world *w)
{
	w->toolless = true;
	world_up(w);
	session_prompt(w->session, "x", "1", false);
}

TEST(the_first_prompt_waits_for_the_tools)
{
	struct world w;

	world_begin(&w);
	up_without_tools(&w);
	world_run(&w, 4500);
	world_expect_tmux(&w, "");
	world_hook(&w, "ToolsListed", "{}", NULL);
	world_run(&w, 2 * RUN_MS);
	world_expect_tmux(&w, "paste [llmc 1] x");
	world_submits(&w, "[llmc 1] x");
	/* A new conversation has them already. */
	world_hook(&w, "Stop", "{}", NULL);
	session_prompt(w.session, "y", "2", true);
	world_run(&w, RUN_MS);
	world_expect_tmux(&w, "paste /clear");
	world_starts(&w, "clear");
	world_run(&w, RUN_MS);
	world_expect_tmux(&w, "paste [llmc 2] y");
	world_end(&w);
}

TEST(tools_that_never_come_are_waited_for_5_seconds)
{
	struct world w;

	world_begin(&w);
	up_without_tools(&w);
	world_run(&w, 4900);
	world_expect_tmux(&w, "");
	world_run(&w, 200);
	world_expect_tmux(&w, "paste [llmc 1] x");
	world_end(&w);
}

TEST(each_process_of_a_session_is_waited_for)
{
	struct world w;

	world_begin(&w);
	world_up(&w); /* this one had its tools at once */
	session_kill(w.session);
	world_agent(&w, false);
	world_launch(&w, true);
	world_run(&w, RUN_MS);
	world_expect_tmux(&w, "kill kill start");
	w.toolless = true;
	world_starts(&w, "resume");
	session_prompt(w.session, "x", "1", false);
	world_run(&w, 4500);
	world_expect_tmux(&w, "");
	world_run(&w, 1000);
	world_expect_tmux(&w, "paste [llmc 1] x");
	world_end(&w);
}

TEST(a_session_without_tools_waits_for_none)
{
	struct world w;

	world_begin_as(&w, "overseer");
	up_without_tools(&w);
	world_run(&w, RUN_MS);
	world_expect_tmux(&w, "paste [llmc 1] x");
	world_end(&w);
}

TEST(a_fresh_conversation_comes_first)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	w.record.busy = true; /* a turn runs: /clear would be lost */
	session_prompt(w.session, "next", "2", true);
	world_run(&w, 60000);
	world_expect_tmux(&w, "");
	world_hook(&w, "Stop", "{}", NULL);
	world_run(&w, RUN_MS);
	world_expect_tmux(&w, "paste /clear");
	ck_assert_int_eq(w.record.step, PROMPT_CLEARING);
	world_hook(&w, "SessionEnd", "{\"reason\":\"clear\"}", NULL);
	ck_assert_int_eq(session_phase(w.session), SESSION_UP);
	world_starts(&w, "clear");
	world_run(&w, RUN_MS);
	world_expect_tmux(&w, "paste [llmc 2] next");
	world_end(&w);
}

TEST(nothing_is_typed_while_the_owner_says_no)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	w.typing = false;
	session_prompt(w.session, "later", "3", false);
	world_run(&w, 3600000);
	world_expect_tmux(&w, "");
	w.typing = true;
	session_poke(w.session);
	world_run(&w, RUN_MS);
	world_expect_tmux(&w, "paste [llmc 3] later");
	/* Nor is Enter, if the owner forbids it later. */
	w.typing = false;
	world_run(&w, 3600000);
	world_expect_tmux(&w, "");
	world_end(&w);
}

TEST(a_prompt_that_is_not_taken_gets_enter_and_is_given_up)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	session_prompt(w.session, "x", "4", false);
	world_run(&w, RUN_MS);
	world_expect_tmux(&w, "paste [llmc 4] x");
	for (int i = 0; i < DELIVERY_TRIES; i++) {
		world_run(&w, DELIVERY_CONFIRM_MS - 2 * RUN_MS);
		world_expect_tmux(&w, "");
		world_run(&w, 2 * RUN_MS);
		world_expect_tmux(&w, "keys Enter");
	}
	world_run(&w, DELIVERY_CONFIRM_MS + RUN_MS);
	world_expect(&w, "undelivered");
	ck_assert_int_eq(w.record.step, PROMPT_PARKED);
	ck_assert_str_eq(w.record.pending, "x");
	ck_assert(!w.record.ready);
	/* Nothing more is typed: the owner has to end it. */
	world_run(&w, WORLD_START_MS / 2);
	world_expect_tmux(&w, "");
	session_end(w.session, world_on_end, &w);
	world_until(&w, SESSION_NONE);
	world_expect_tmux(&w, "kill");
	world_end(&w);
}

TEST(a_submission_that_was_not_heard_is_in_the_transcript)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	session_prompt(w.session, "x", "5", false);
	world_run(&w, RUN_MS);
	ck_assert(!session_confirm(w.session));
	world_writes(&w, "[llmc 5] x");
	world_run(&w, (DELIVERY_TRIES + 1) * (DELIVERY_CONFIRM_MS + RUN_MS));
	world_expect(&w, "grew submitted:5");
	ck_assert_int_eq(w.record.step, PROMPT_NONE);
	ck_assert(w.record.busy);
	ck_assert(w.record.ready);
	world_end(&w);
}

TEST(the_owner_may_ask_the_transcript)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	ck_assert(!session_confirm(w.session)); /* no prompt is pending */
	session_prompt(w.session, "x", "6", false);
	world_writes(&w, "[llmc 6] x");
	ck_assert(!session_confirm(w.session)); /* not typed yet */
	world_run(&w, RUN_MS);
	buf_clear(&w.told);
	ck_assert(session_confirm(w.session));
	world_expect(&w, "");
	ck_assert(w.record.busy);
	ck_assert_int_eq(w.record.step, PROMPT_NONE);
	world_end(&w);
}

TEST(a_turn_that_ends_had_begun)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	session_prompt(w.session, "x", "7", false);
	world_run(&w, RUN_MS);
	world_writes(&w, "[llmc 7] x");
	world_run(&w, RUN_MS);
	buf_clear(&w.told);
	world_hook(&w, "Stop", "{\"last_assistant_message\":\"done\"}", NULL);
	world_expect(&w, "progressed submitted:7 unheard-turn:done");
	ck_assert(!w.record.busy);
	/* In a turn that is known to run this proves nothing: text typed
	 * meanwhile is in the transcript before it is submitted. */
	w.record.busy = true;
	session_prompt(w.session, "y", "8", false);
	world_run(&w, RUN_MS);
	world_writes(&w, "[llmc 8] y");
	world_run(&w, RUN_MS);
	buf_clear(&w.told);
	world_hook(&w, "Stop", "{}", NULL);
	world_expect(&w, "progressed unheard-turn");
	ck_assert_int_eq(w.record.step, PROMPT_PASTED);
	world_end(&w);
}

TEST(a_prompt_replaces_the_one_on_its_way)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	w.disk_full = true;
	session_prompt(w.session, "old", "9", false);
	world_run(&w, RUN_MS);
	ck_assert_int_eq(w.record.step, PROMPT_PASTED);
	session_prompt(w.session, "new", "10", false);
	w.disk_full = false;
	world_run(&w, 2000);
	world_expect_tmux(&w, "paste [llmc 10] new"); /* and only once */
	world_submits(&w, "[llmc 9] old");
	world_expect(&w, "");
	world_submits(&w, "words before [llmc 10] new");
	world_expect(&w, "submitted:10");
	/* A /clear that is no longer needed is not typed. */
	w.record.busy = false;
	session_prompt(w.session, "a", "11", true);
	w.disk_full = true;
	world_run(&w, RUN_MS);
	ck_assert_int_eq(w.record.step, PROMPT_CLEARING);
	session_prompt(w.session, "b", "12", false);
	w.disk_full = false;
	world_run(&w, 2000);
	world_expect_tmux(&w, "paste [llmc 12] b");
	world_end(&w);
}

TEST(a_tmux_that_fails_to_type_is_tried_again)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	w.tmux->err = (struct err){ -ETIMEDOUT, "no answer" };
	session_prompt(w.session, "x", "13", false);
	world_run(&w, DELIVERY_CONFIRM_MS + RUN_MS);
	world_expect_tmux(&w, "paste [llmc 13] x keys Enter");
	world_expect(&w, "");
	world_end(&w);
}

/* --- in a new process ------------------------------------------------- */

/* Type into a process that exits and is followed by another one. */
static void
type_and_exit(struct world *w, bool submitted)
{
	world_up(w);
	session_prompt(w->session, "x", "14", false);
	world_run(w, RUN_MS);
	ck_assert_int_eq(w->record.step, PROMPT_PASTED);
	if (submitted)
		world_writes(w, "[llmc 14] x");
	world_agent_exits(w);
	world_run(w, RUN_MS);
	world_agent(w, false);
	world_launch(w, true);
	world_run(w, RUN_MS);
	buf_clear(&w->told);
	buf_clear(&w->tmux->trace);
	world_starts(w, "resume");
}

TEST(what_a_dead_process_was_told_is_told_again)
{
	struct world w;

	world_begin(&w);
	type_and_exit(&w, false);
	world_expect(&w, "ready:resume");
	ck_assert_int_eq(w.record.step, PROMPT_PARKED);
	ck_assert(!w.record.busy);
	world_run(&w, RUN_MS);
	world_expect_tmux(&w, "paste [llmc 14] x");
	world_end(&w);
}

TEST(a_turn_that_was_cut_off_is_known)
{
	struct world w;

	world_begin(&w);
	type_and_exit(&w, true);
	world_expect(&w, "ready:resume");
	ck_assert_int_eq(w.record.step, PROMPT_NONE);
	ck_assert(w.record.busy);
	world_run(&w, RUN_MS);
	world_expect_tmux(&w, ""); /* not twice */
	world_end(&w);
}

TEST(a_clear_into_a_dead_process_is_forgotten)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	session_prompt(w.session, "x", "15", true);
	world_run(&w, RUN_MS);
	world_expect_tmux(&w, "paste /clear");
	world_agent_exits(&w);
	world_run(&w, RUN_MS);
	world_agent(&w, false);
	world_launch(&w, false);
	world_run(&w, RUN_MS);
	world_starts(&w, "startup");
	world_run(&w, RUN_MS);
	world_expect_tmux(&w, "kill start paste [llmc 15] x");
	world_end(&w);
}

TEST(one_taken_over_with_a_prompt_gets_a_little_time)
{
	struct world w;

	world_begin(&w);
	world_agent(&w, false);
	w.record.ready = true;
	w.record.step = PROMPT_PASTED;
	xstrset(&w.record.pending, "x");
	xstrset(&w.record.receipt, "16");
	session_adopt(w.session, w.agent, WORLD_START_MS);
	world_run(&w, DELIVERY_CONFIRM_MS - RUN_MS);
	world_expect_tmux(&w, "");
	world_run(&w, 2 * RUN_MS);
	world_expect_tmux(&w, "keys Enter"); /* it may never have been typed */
	world_run(&w, DELIVERY_CONFIRM_MS);
	world_expect(&w, "undelivered");
	world_end(&w);
}

/* --- Escape ---------------------------------------------------------- */

TEST(a_turn_is_interrupted_after_that_is_written)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	world_submits(&w, "by hand");
	world_hook(&w, "PreToolUse", "{}", NULL);
	w.disk_full = true;
	session_interrupt(w.session);
	ck_assert(!w.record.busy);
	ck_assert_int_eq(w.record.open_tools, 0);
	session_prompt(w.session, "go on", "18", false);
	world_run(&w, RUN_MS);
	world_expect_tmux(&w, "");
	w.disk_full = false;
	world_run(&w, 2000);
	world_expect_tmux(&w, "keys Escape paste [llmc 18] go on");
	world_end(&w);
}
