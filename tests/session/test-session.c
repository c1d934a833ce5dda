/* SPDX-License-Identifier: ISC */

/* How a session begins, and its screen. */
#include "session-world.h"

TEST(a_launch_is_written_down_and_then_made)
{
	world_begin();
	world_agent(false);
	w.record.ready = true; /* from an earlier run */
	w.record.open_tools = 3;
	xstrset(&w.record.transcript, "/old");
	w.disk_full = true;
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	world_launch(false);
	ck_assert_int_eq(session_phase(w.session), SESSION_LAUNCHING);
	ck_assert_uint_eq(w.record.generation, 1);
	ck_assert_int_eq(strlen(w.record.id), 36);
	ck_assert_ptr_null(w.record.transcript);
	ck_assert(!w.record.ready);
	ck_assert_int_eq(w.record.open_tools, 0);
	world_run(10000);
	world_expect_tmux(""); /* not before it is saved */
	w.disk_full = false;
	world_run(2000);
	world_expect_tmux("kill start");
	ck_assert_uint_eq(w.tmux->generation, 1);
	ck_assert_str_eq(w.tmux->role.data, "worker");
	ck_assert(file_exists(w.tmux->launcher.data));
	ck_assert_int_eq(session_phase(w.session), SESSION_LAUNCHING);
	ck_assert(session_is_watched(w.session));
	ck_assert_int_eq(json_int_or(w.record.pane, "pid", 0), w.agent);
	world_starts("startup");
	ck_assert_int_eq(session_phase(w.session), SESSION_UP);
	world_expect("ready:startup");
	ck_assert_str_eq(w.record.id, WORLD_TOLD_ID);
	ck_assert_str_eq(w.record.transcript, w.transcript);
	ck_assert_str_eq(session_name(w.session), "llmc-adam");
	world_run(10 * WORLD_START_MS);
	world_expect("");
}

TEST(a_conversation_is_resumed_where_there_is_one)
{
	cleanup_free char *launch = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	world_begin();
	world_agent(false);
	world_launch(true); /* nothing to resume */
	ck_assert_int_eq(strlen(w.record.id), 36);
	session_kill(w.session);
	xstrset(&w.record.id, "that-one");
	xstrset(&w.record.transcript, "/kept");
	world_launch(true);
	ck_assert_str_eq(w.record.id, "that-one");
	ck_assert_str_eq(w.record.transcript, "/kept");
	ck_assert_uint_eq(w.record.generation, 2);
	launch = file_join(w.workspace.dir, "sessions/adam/launch.json");
	ck_assert_int_eq(file_read(launch, 1 << 22, &text, NULL), 0);
	ck_assert_ptr_nonnull(strstr(text.data, "--resume"));
	ck_assert_ptr_nonnull(strstr(text.data, "that-one"));
}

TEST(files_that_cannot_be_written_are_told_from_the_loop)
{
	cleanup_free char *sessions = NULL;

	world_begin();
	sessions = file_join(w.workspace.dir, "sessions");
	ck_assert_int_eq(file_replace(sessions, "x", 1, 0600, NULL), 0);
	w.host.then = NULL; /* saved at once */
	world_launch(false);
	world_expect("");
	world_run(10);
	world_expect("not-started");
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	world_expect_tmux("");
	/* It can be tried again. */
	unlink(sessions);
	world_agent(false);
	world_launch(false);
	world_run(10);
	world_expect_tmux("kill start");
	world_expect("");
}

TEST(a_tmux_that_fails_is_told)
{
	cleanup_free char *launch = NULL;

	world_begin();
	launch = file_join(w.workspace.dir, "sessions/adam/launch.json");
	world_agent(false);
	w.tmux->err = (struct err){ -EIO, "no such thing" };
	world_launch(false);
	world_run(10);
	world_expect("not-started");
	world_expect_tmux("kill");
	w.tmux->held = true;
	world_launch(false);
	world_run(10);
	fake_tmux_answer(w.tmux);
	world_run(1);
	w.tmux->err = (struct err){ -EIO, "no such thing" };
	world_run(10);
	world_expect("not-started");
	world_expect_tmux("kill start");
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	ck_assert_uint_eq(w.record.generation, 2);
	/* Nobody has read the environment in it. */
	ck_assert(!file_exists(launch));
}

TEST(an_agent_that_ends_at_once_is_told)
{
	world_begin();
	world_agent(false);
	world_agent_exits();
	waitpid(w.agent, NULL, 0);
	w.agent = 0;
	world_launch(false);
	world_starts("startup"); /* reported before tmux answered */
	world_run(10);
	world_expect("ready:startup ended-at-once");
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	ck_assert(!w.record.ready);
	ck_assert_ptr_null(w.record.pane);
}

TEST(a_start_that_is_not_reported_is_told_once)
{
	world_begin();
	world_agent(false);
	world_launch(false);
	world_run(WORLD_START_MS);
	world_expect("");
	world_run(100);
	world_expect("unreported");
	ck_assert_int_eq(session_phase(w.session), SESSION_LAUNCHING);
	world_run(10 * WORLD_START_MS);
	session_poke(w.session);
	world_run(10);
	world_expect("");
	/* Late is better than never. */
	world_starts("startup");
	world_expect("ready:startup");
	ck_assert_int_eq(session_phase(w.session), SESSION_UP);
}

TEST(one_heard_before_tmux_answers_is_up)
{
	world_begin();
	world_agent(false);
	w.tmux->held = true;
	world_launch(false);
	session_prompt(w.session, "hello", "1", false);
	world_run(10);
	fake_tmux_answer(w.tmux);
	world_run(1);
	w.tmux->held = true; /* "start" is in progress */
	world_starts("startup");
	ck_assert_int_eq(session_phase(w.session), SESSION_UP);
	world_run(10);
	world_expect_tmux("kill start"); /* nothing is typed yet */
	fake_tmux_answer(w.tmux);
	world_run(10);
	world_expect_tmux("paste [llmc 1] hello");
}

TEST(one_that_runs_is_adopted)
{
	world_begin();
	world_agent(false);
	w.record.generation = 7;
	w.record.ready = true;
	w.record.busy = true;
	ck_assert_int_eq(session_adopt(w.session, w.agent, WORLD_START_MS), 0);
	ck_assert_int_eq(session_phase(w.session), SESSION_UP);
	ck_assert_uint_eq(w.record.generation, 7);
	world_agent_exits();
	world_run(10);
	world_expect("exited");
	ck_assert(w.record.busy); /* a turn was interrupted */
}

TEST(one_that_has_not_reported_is_adopted_too)
{
	world_begin();
	world_agent(false);
	ck_assert_int_eq(session_adopt(w.session, w.agent, WORLD_START_MS), 0);
	ck_assert_int_eq(session_phase(w.session), SESSION_LAUNCHING);
	world_run(WORLD_START_MS + 10);
	world_expect("unreported");
	world_agent_exits();
	world_run(10);
	world_expect("exited:early");
}

TEST(one_that_is_gone_is_not_adopted)
{
	pid_t gone;

	world_begin();
	world_agent(false);
	world_agent_exits();
	gone = w.agent;
	waitpid(gone, NULL, 0);
	w.agent = 0;
	ck_assert_int_lt(session_adopt(w.session, gone, WORLD_START_MS), 0);
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	world_run(10 * WORLD_START_MS);
	world_expect("");
}

/* --- the screen ---------------------------------------------------------- */

static void
on_screen(const char *text, void *arg)
{
	struct buf *out = arg;

	buf_addf(out, "<%s>", text != NULL ? text : "none");
}

TEST(the_screen_is_told_once_each)
{
	cleanup_buf struct buf got = BUF_INIT;

	world_begin();
	session_screen(w.session, on_screen, &got);
	session_screen(w.session, on_screen, &got);
	world_run(10);
	ck_assert_str_eq(got.data, "<a screen\n><a screen\n>");
	buf_clear(&got);
	w.tmux->err = (struct err){ -ESRCH, "no such session" };
	session_screen(w.session, on_screen, &got);
	world_run(10);
	ck_assert_str_eq(got.data, "<none>");
}
