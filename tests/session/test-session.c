/* SPDX-License-Identifier: ISC */

/* How a session begins and ends. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "procref.h"
#include "session-world.h"
#include "unit.h"

/* --- the beginning --------------------------------------------------- */

START_TEST(a_launch_is_written_down_and_then_made)
{
	struct world w;

	world_begin(&w);
	world_agent(&w, false);
	w.record.ready = true; /* from an earlier run */
	w.record.open_tools = 3;
	xstrset(&w.record.transcript, "/old");
	w.disk_full = true;
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	world_launch(&w, false);
	ck_assert_int_eq(session_phase(w.session), SESSION_LAUNCHING);
	ck_assert_uint_eq(w.record.generation, 1);
	ck_assert_int_eq(strlen(w.record.id), 36);
	ck_assert_ptr_null(w.record.transcript);
	ck_assert(!w.record.ready);
	ck_assert_int_eq(w.record.open_tools, 0);
	world_run(&w, 10000);
	world_expect_tmux(&w, ""); /* not before it is saved */
	w.disk_full = false;
	world_run(&w, 2000);
	world_expect_tmux(&w, "kill start");
	ck_assert_uint_eq(w.tmux->generation, 1);
	ck_assert_str_eq(w.tmux->role.data, "worker");
	ck_assert(file_exists(w.tmux->launcher.data));
	ck_assert_int_eq(session_phase(w.session), SESSION_LAUNCHING);
	ck_assert(session_is_watched(w.session));
	ck_assert_int_eq(json_int_or(w.record.pane, "pid", 0), w.agent);
	world_starts(&w, "startup");
	ck_assert_int_eq(session_phase(w.session), SESSION_UP);
	world_expect(&w, "ready:startup");
	ck_assert_str_eq(w.record.id, "told-id");
	ck_assert_str_eq(w.record.transcript, w.transcript);
	ck_assert_str_eq(session_name(w.session), "llmc-adam");
	world_run(&w, 10 * WORLD_START_MS);
	world_expect(&w, "");
	world_end(&w);
}
END_TEST

START_TEST(a_conversation_is_resumed_where_there_is_one)
{
	cleanup_free char *launch = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct world w;

	world_begin(&w);
	world_agent(&w, false);
	world_launch(&w, true); /* nothing to resume */
	ck_assert_int_eq(strlen(w.record.id), 36);
	session_kill(w.session);
	xstrset(&w.record.id, "that-one");
	xstrset(&w.record.transcript, "/kept");
	world_launch(&w, true);
	ck_assert_str_eq(w.record.id, "that-one");
	ck_assert_str_eq(w.record.transcript, "/kept");
	ck_assert_uint_eq(w.record.generation, 2);
	launch = file_join(w.workspace.dir, "sessions/adam/launch.json");
	ck_assert_int_eq(file_read(launch, 1 << 22, &text, NULL), 0);
	ck_assert_ptr_nonnull(strstr(text.data, "--resume"));
	ck_assert_ptr_nonnull(strstr(text.data, "that-one"));
	world_end(&w);
}
END_TEST

START_TEST(files_that_cannot_be_written_are_told_from_the_loop)
{
	cleanup_free char *sessions = NULL;
	struct world w;

	world_begin(&w);
	sessions = file_join(w.workspace.dir, "sessions");
	ck_assert_int_eq(file_replace(sessions, "x", 1, 0600, NULL), 0);
	w.host.then = NULL; /* saved at once */
	world_launch(&w, false);
	world_expect(&w, "");
	world_run(&w, 10);
	world_expect(&w, "not-started");
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	world_expect_tmux(&w, "");
	/* It can be tried again. */
	unlink(sessions);
	world_agent(&w, false);
	world_launch(&w, false);
	world_run(&w, 10);
	world_expect_tmux(&w, "kill start");
	world_expect(&w, "");
	world_end(&w);
}
END_TEST

START_TEST(a_tmux_that_fails_is_told)
{
	struct world w;

	world_begin(&w);
	world_agent(&w, false);
	w.tmux->err = (struct err){ -EIO, "no such thing" };
	world_launch(&w, false);
	world_run(&w, 10);
	world_expect(&w, "not-started");
	world_expect_tmux(&w, "kill");
	w.tmux->held = true;
	world_launch(&w, false);
	world_run(&w, 10);
	fake_tmux_answer(w.tmux);
	world_run(&w, 1);
	w.tmux->err = (struct err){ -EIO, "no such thing" };
	world_run(&w, 10);
	world_expect(&w, "not-started");
	world_expect_tmux(&w, "kill start");
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	ck_assert_uint_eq(w.record.generation, 2);
	world_end(&w);
}
END_TEST

START_TEST(an_agent_that_ends_at_once_is_told)
{
	struct world w;

	world_begin(&w);
	world_agent(&w, false);
	world_agent_exits(&w);
	waitpid(w.agent, NULL, 0);
	w.agent = 0;
	world_launch(&w, false);
	world_starts(&w, "startup"); /* reported before tmux answered */
	world_run(&w, 10);
	world_expect(&w, "ready:startup ended-at-once");
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	ck_assert(!w.record.ready);
	ck_assert_ptr_null(w.record.pane);
	world_end(&w);
}
END_TEST

START_TEST(a_start_that_is_not_reported_is_told_once)
{
	struct world w;

	world_begin(&w);
	world_agent(&w, false);
	world_launch(&w, false);
	world_run(&w, WORLD_START_MS);
	world_expect(&w, "");
	world_run(&w, 100);
	world_expect(&w, "unreported");
	ck_assert_int_eq(session_phase(w.session), SESSION_LAUNCHING);
	world_run(&w, 10 * WORLD_START_MS);
	session_poke(w.session);
	world_run(&w, 10);
	world_expect(&w, "");
	/* Late is better than never. */
	world_starts(&w, "startup");
	world_expect(&w, "ready:startup");
	ck_assert_int_eq(session_phase(w.session), SESSION_UP);
	world_end(&w);
}
END_TEST

START_TEST(one_heard_before_tmux_answers_is_up)
{
	struct world w;

	world_begin(&w);
	world_agent(&w, false);
	w.tmux->held = true;
	world_launch(&w, false);
	session_prompt(w.session, "hello", "1", false);
	world_run(&w, 10);
	fake_tmux_answer(w.tmux);
	world_run(&w, 1);
	w.tmux->held = true; /* "start" is in progress */
	world_starts(&w, "startup");
	ck_assert_int_eq(session_phase(w.session), SESSION_UP);
	world_run(&w, 10);
	world_expect_tmux(&w, "kill start"); /* nothing is typed yet */
	fake_tmux_answer(w.tmux);
	world_run(&w, 10);
	world_expect_tmux(&w, "paste [llmc 1] hello");
	world_end(&w);
}
END_TEST

START_TEST(one_that_runs_is_adopted)
{
	struct world w;

	world_begin(&w);
	world_agent(&w, false);
	w.record.generation = 7;
	w.record.ready = true;
	w.record.busy = true;
	ck_assert_int_eq(session_adopt(w.session, w.agent, WORLD_START_MS), 0);
	ck_assert_int_eq(session_phase(w.session), SESSION_UP);
	ck_assert_uint_eq(w.record.generation, 7);
	world_agent_exits(&w);
	world_run(&w, 10);
	world_expect(&w, "exited");
	ck_assert(w.record.busy); /* a turn was interrupted */
	world_end(&w);
}
END_TEST

START_TEST(one_that_has_not_reported_is_adopted_too)
{
	struct world w;

	world_begin(&w);
	world_agent(&w, false);
	ck_assert_int_eq(session_adopt(w.session, w.agent, WORLD_START_MS), 0);
	ck_assert_int_eq(session_phase(w.session), SESSION_LAUNCHING);
	world_run(&w, WORLD_START_MS + 10);
	world_expect(&w, "unreported");
	world_agent_exits(&w);
	world_run(&w, 10);
	world_expect(&w, "exited:early");
	world_end(&w);
}
END_TEST

START_TEST(one_that_is_gone_is_not_adopted)
{
	struct world w;
	pid_t gone;

	world_begin(&w);
	world_agent(&w, false);
	world_agent_exits(&w);
	gone = w.agent;
	waitpid(gone, NULL, 0);
	w.agent = 0;
	ck_assert_int_lt(session_adopt(w.session, gone, WORLD_START_MS), 0);
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	world_run(&w, 10 * WORLD_START_MS);
	world_expect(&w, "");
	world_end(&w);
}
END_TEST

/* --- the end --------------------------------------------------------- */

START_TEST(it_ends_with_a_grace_and_everybody_is_told)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	session_end(w.session, world_on_end, &w);
	ck_assert_int_eq(session_phase(w.session), SESSION_ENDING);
	session_end(w.session, world_on_end, &w);
	session_end(w.session, NULL, NULL);
	session_end(w.session, world_on_end, &w);
	world_until(&w, SESSION_NONE);
	ck_assert_int_eq(w.ended, 3);
	world_expect_tmux(&w, "kill");
	world_expect(&w, ""); /* it did not exit by itself */
	ck_assert(!w.record.ready);
	ck_assert_ptr_null(w.record.pane);
	world_end(&w);
}
END_TEST

START_TEST(one_that_does_not_listen_is_killed)
{
	struct world w;

	world_begin(&w);
	world_agent(&w, true);
	w.record.ready = true;
	session_adopt(w.session, w.agent, WORLD_START_MS);
	session_end(w.session, world_on_end, &w);
	world_run(&w, 4900);
	ck_assert_int_eq(session_phase(w.session), SESSION_ENDING);
	ck_assert_int_eq(w.ended, 0);
	world_until(&w, SESSION_NONE);
	ck_assert_int_eq(w.ended, 1);
	world_end(&w);
}
END_TEST

START_TEST(the_kernel_need_not_tell)
{
	struct world w;

	world_begin(&w);
	procref_disable_pidfd(true);
	world_agent(&w, false);
	world_launch(&w, false);
	world_run(&w, 10);
	ck_assert(!session_is_watched(w.session));
	world_starts(&w, "startup");
	world_expect(&w, "ready:startup");
	session_check(w.session);
	ck_assert_int_eq(session_phase(w.session), SESSION_UP);
	world_agent_exits(&w);
	session_check(w.session);
	world_expect(&w, "exited");
	/* It is polled while it is launched. */
	world_agent(&w, false);
	world_launch(&w, false);
	world_run(&w, 10);
	world_agent_exits(&w);
	world_run(&w, 2000);
	world_expect(&w, "exited:early");
	/* And while it ends. */
	world_agent(&w, false);
	world_launch(&w, false);
	world_run(&w, 10);
	session_end(w.session, world_on_end, &w);
	world_until(&w, SESSION_NONE);
	ck_assert_int_eq(w.ended, 1);
	procref_disable_pidfd(false);
	world_end(&w);
}
END_TEST

START_TEST(one_that_is_being_launched_can_be_ended)
{
	/* Before the record is saved, while the old one is being ended, while
	 * it is being started, and before it has reported. */
	for (int at = 0; at < 4; at++) {
		struct world w;

		world_begin(&w);
		world_agent(&w, false);
		w.tmux->held = at < 3;
		w.disk_full = at == 0;
		world_launch(&w, false);
		world_run(&w, 10);
		if (at == 2) {
			fake_tmux_answer(w.tmux);
			world_run(&w, 1);
			w.tmux->held = true;
			world_run(&w, 10);
		}
		buf_clear(&w.tmux->trace);
		session_end(w.session, world_on_end, &w);
		session_end(w.session, world_on_end, &w);
		ck_assert_int_eq(session_phase(w.session), SESSION_ENDING);
		w.disk_full = false;
		fake_tmux_answer(w.tmux);
		world_until(&w, SESSION_NONE);
		/* Nothing was started afterwards. */
		world_expect_tmux(&w, "kill");
		ck_assert_int_eq(w.ended, 2);
		world_expect(&w, "");
		world_end(&w);
	}
}
END_TEST

START_TEST(where_nothing_runs_the_end_comes_too)
{
	struct world w;

	world_begin(&w);
	session_end(w.session, world_on_end, &w);
	world_run(&w, 10);
	ck_assert_int_eq(w.ended, 1);
	world_expect_tmux(&w, "kill"); /* a dead session, which still shows its
					* last screen */
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	world_end(&w);
}
END_TEST

static void
launch_again(void *arg)
{
	struct world *w = arg;

	w->ended++;
	ck_assert_int_eq(session_phase(w->session), SESSION_NONE);
	world_launch(w, true);
}

START_TEST(who_is_told_may_launch_it_again)
{
	struct world w;

	world_begin(&w);
	world_agent(&w, false);
	session_end(w.session, launch_again, &w);
	session_end(w.session, world_on_end, &w);
	world_run(&w, 10);
	ck_assert_int_eq(w.ended, 2);
	ck_assert_int_eq(session_phase(w.session), SESSION_LAUNCHING);
	world_expect_tmux(&w, "kill kill start");
	world_end(&w);
}
END_TEST

static void
free_it(void *arg)
{
	struct world *w = arg;

	w->ended++;
	session_free(take_ptr(&w->session));
}

START_TEST(who_is_told_may_free_it)
{
	struct world w;

	world_begin(&w);
	session_end(w.session, free_it, &w);
	session_end(w.session, world_on_end, &w);
	world_run(&w, 10);
	ck_assert_int_eq(w.ended, 2);
	world_end(&w);
}
END_TEST

START_TEST(one_that_exits_by_itself_is_told)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	world_hook(&w, "PreToolUse", "{}", NULL);
	ck_assert_int_eq(w.record.open_tools, 1);
	world_agent_exits(&w);
	world_run(&w, 10);
	world_expect(&w, "exited");
	ck_assert_ptr_null(w.record.pane);
	ck_assert(!w.record.ready);
	ck_assert_int_eq(w.record.open_tools, 0);
	/* Before it has reported. */
	world_agent(&w, false);
	world_launch(&w, false);
	world_run(&w, 10);
	world_agent_exits(&w);
	world_run(&w, 10);
	world_expect(&w, "exited:early");
	/* It announced its end first: this is not a failed start. */
	world_agent(&w, false);
	world_launch(&w, true);
	world_run(&w, 10);
	world_starts(&w, "resume");
	world_hook(&w, "SessionEnd", "{\"reason\":\"other\"}", NULL);
	ck_assert_int_eq(session_phase(w.session), SESSION_LAUNCHING);
	world_agent_exits(&w);
	world_run(&w, 10);
	world_expect(&w, "ready:resume exited");
	world_end(&w);
}
END_TEST

START_TEST(one_that_says_it_ends_and_stays_is_told)
{
	struct world w;

	world_begin(&w);
	world_up(&w);
	world_run(&w, 10 * WORLD_START_MS);
	world_hook(&w, "SessionEnd", "{\"reason\":\"other\"}", NULL);
	world_run(&w, WORLD_START_MS - 10);
	world_expect(&w, "");
	world_run(&w, 20);
	world_expect(&w, "unreported");
	world_end(&w);
}
END_TEST

START_TEST(a_kill_waits_for_nobody)
{
	struct world w;
	siginfo_t info;

	world_begin(&w);
	world_up(&w);
	session_end(w.session, world_on_end, &w);
	session_kill(w.session);
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	ck_assert_ptr_null(w.record.pane);
	ck_assert_int_eq(
	    waitid(P_PID, (id_t)w.agent, &info, WEXITED | WNOWAIT), 0);
	world_run(&w, 10);
	world_expect_tmux(&w, "kill");
	world_expect(&w, "");
	ck_assert_int_eq(w.ended, 0);
	world_end(&w);
}
END_TEST

/* --- freed in every phase, with everything in progress ---------------- */

enum moment {
	NEW,
	UNWRITTEN,
	OLD_ENDS,
	STARTING,
	UNHEARD,
	UP,
	UNWRITTEN_PROMPT,
	TYPING,
	LOOKING,
	TERMINATED,
	TMUX_ENDS,
	EXITED,
	MOMENTS
};

static void
never(const char *text, void *arg)
{
	(void)text;
	(void)arg;
	ck_abort_msg("called after session_free");
}

static void
reach(struct world *w, enum moment moment)
{
	if (moment == NEW)
		return;
	world_agent(w, true);
	w->disk_full = moment == UNWRITTEN;
	w->tmux->held = moment == OLD_ENDS || moment == STARTING;
	world_launch(w, false);
	world_run(w, 10);
	if (moment == STARTING) {
		fake_tmux_answer(w->tmux);
		world_run(w, 1);
		w->tmux->held = true;
		world_run(w, 10);
	}
	if (moment <= UNHEARD)
		return;
	world_starts(w, "startup");
	w->disk_full = moment == UNWRITTEN_PROMPT;
	w->tmux->held = moment > UP;
	if (moment == UNWRITTEN_PROMPT || moment == TYPING)
		session_prompt(w->session, "x", "1", false);
	if (moment == LOOKING)
		session_screen(w->session, never, w);
	if (moment == TERMINATED || moment == TMUX_ENDS)
		session_end(w->session, world_on_end, w);
	if (moment == TMUX_ENDS || moment == EXITED)
		world_agent_exits(w);
	world_run(w, 10);
}

START_TEST(it_can_be_freed_at_every_moment)
{
	for (int at = 0; at < MOMENTS; at++) {
		struct world w;
		bool runs;

		world_begin(&w);
		reach(&w, (enum moment)at);
		runs = w.agent != 0 && at != TMUX_ENDS && at != EXITED;
		buf_clear(&w.told);
		session_free(take_ptr(&w.session));
		w.disk_full = false;
		fake_tmux_answer(w.tmux);
		world_run(&w, 10 * WORLD_START_MS);
		ck_assert_uint_eq(fake_tmux_waiting(w.tmux), 0);
		world_expect(&w, "");
		ck_assert_int_eq(w.ended, 0);
		/* The process continues. */
		ck_assert(!runs || kill(w.agent, 0) == 0);
		world_end(&w);
	}
}
END_TEST

/* --- the screen ------------------------------------------------------ */

static void
on_screen(const char *text, void *arg)
{
	struct buf *out = arg;

	buf_addf(out, "<%s>", text != NULL ? text : "none");
}

START_TEST(the_screen_is_told_once_each)
{
	cleanup_buf struct buf got = BUF_INIT;
	struct world w;

	world_begin(&w);
	session_screen(w.session, on_screen, &got);
	session_screen(w.session, on_screen, &got);
	world_run(&w, 10);
	ck_assert_str_eq(got.data, "<a screen\n><a screen\n>");
	buf_clear(&got);
	w.tmux->err = (struct err){ -ESRCH, "no such session" };
	session_screen(w.session, on_screen, &got);
	world_run(&w, 10);
	ck_assert_str_eq(got.data, "<none>");
	world_end(&w);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("session");

	unit_case(s, "begin",
	    (const TTest *[]){ a_launch_is_written_down_and_then_made,
		a_conversation_is_resumed_where_there_is_one,
		files_that_cannot_be_written_are_told_from_the_loop,
		a_tmux_that_fails_is_told, an_agent_that_ends_at_once_is_told,
		a_start_that_is_not_reported_is_told_once,
		one_heard_before_tmux_answers_is_up, one_that_runs_is_adopted,
		one_that_has_not_reported_is_adopted_too,
		one_that_is_gone_is_not_adopted, NULL });
	unit_case(s, "end",
	    (const TTest *[]){ it_ends_with_a_grace_and_everybody_is_told,
		one_that_does_not_listen_is_killed, the_kernel_need_not_tell,
		one_that_is_being_launched_can_be_ended,
		where_nothing_runs_the_end_comes_too,
		who_is_told_may_launch_it_again, who_is_told_may_free_it,
		one_that_exits_by_itself_is_told,
		one_that_says_it_ends_and_stays_is_told,
		a_kill_waits_for_nobody, it_can_be_freed_at_every_moment,
		NULL });
	unit_case(s, "screen",
	    (const TTest *[]){ the_screen_is_told_once_each, NULL });
	return s;
}
