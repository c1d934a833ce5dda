/* SPDX-License-Identifier: ISC */

/* How a session ends. */
#include "session-world.h"
#include "orphans.h"

TEST(it_ends_with_a_grace_and_everybody_is_told)
{
	world_begin();
	world_up();
	session_end(w.session, world_on_end, &w);
	ck_assert_int_eq(session_phase(w.session), SESSION_ENDING);
	session_end(w.session, world_on_end, &w);
	session_end(w.session, NULL, NULL);
	session_end(w.session, world_on_end, &w);
	world_until(SESSION_NONE);
	ck_assert_int_eq(w.ended, 3);
	world_expect_tmux("kill");
	world_expect(""); /* it did not exit by itself */
	ck_assert(!w.record.ready);
	ck_assert_ptr_null(w.record.pane);
}

TEST(one_that_does_not_listen_is_killed)
{
	world_begin();
	world_agent(true);
	w.record.ready = true;
	session_adopt(w.session, w.agent, WORLD_START_MS);
	session_end(w.session, world_on_end, &w);
	world_run(4900);
	ck_assert_int_eq(session_phase(w.session), SESSION_ENDING);
	ck_assert_int_eq(w.ended, 0);
	world_until(SESSION_NONE);
	ck_assert_int_eq(w.ended, 1);
}

TEST(the_kernel_need_not_tell)
{
	world_begin();
	procref_disable_pidfd(true);
	world_agent(false);
	world_launch(false);
	world_run(10);
	ck_assert(!session_is_watched(w.session));
	world_starts("startup");
	world_expect("ready:startup");
	session_check(w.session);
	ck_assert_int_eq(session_phase(w.session), SESSION_UP);
	world_agent_exits();
	session_check(w.session);
	world_run(10); /* what it left is searched for */
	world_expect("exited");
	/* It is polled while it is launched. */
	world_agent(false);
	world_launch(false);
	world_run(10);
	world_agent_exits();
	world_run(2000);
	world_expect("exited:early");
	/* And while it ends. */
	world_agent(false);
	world_launch(false);
	world_run(10);
	session_end(w.session, world_on_end, &w);
	world_until(SESSION_NONE);
	ck_assert_int_eq(w.ended, 1);
	procref_disable_pidfd(false);
}

TEST(one_that_is_being_launched_can_be_ended)
{
	/* Before the record is saved, while the old one is being ended, while
	 * it is being started, and before it has reported. */
	for (int at = 0; at < 4; at++) {

		world_begin();
		world_agent(false);
		w.tmux->held = at < 3;
		w.disk_full = at == 0;
		world_launch(false);
		world_run(10);
		if (at == 2) {
			fake_tmux_answer(w.tmux);
			world_run(1);
			w.tmux->held = true;
			world_run(10);
		}
		buf_clear(&w.tmux->trace);
		session_end(w.session, world_on_end, &w);
		session_end(w.session, world_on_end, &w);
		ck_assert_int_eq(session_phase(w.session), SESSION_ENDING);
		w.disk_full = false;
		fake_tmux_answer(w.tmux);
		world_until(SESSION_NONE);
		/* Nothing was started afterwards. */
		world_expect_tmux("kill");
		ck_assert_int_eq(w.ended, 2);
		world_expect("");
		world_end();
	}
}

TEST(where_nothing_runs_the_end_comes_too)
{
	world_begin();
	session_end(w.session, world_on_end, &w);
	world_run(10);
	ck_assert_int_eq(w.ended, 1);
	world_expect_tmux("kill"); /* a dead session, which still shows its
				    * last screen */
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
}

static void
launch_again(void *arg)
{
	(void)arg;
	w.ended++;
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	world_launch(true);
}

TEST(who_is_told_may_launch_it_again)
{
	world_begin();
	world_agent(false);
	session_end(w.session, launch_again, &w);
	session_end(w.session, world_on_end, &w);
	world_run(10);
	ck_assert_int_eq(w.ended, 2);
	ck_assert_int_eq(session_phase(w.session), SESSION_LAUNCHING);
	world_expect_tmux("kill kill start");
}

static void
free_it(void *arg)
{
	(void)arg;
	w.ended++;
	session_free(take_ptr(&w.session));
}

TEST(who_is_told_may_free_it)
{
	world_begin();
	session_end(w.session, free_it, &w);
	session_end(w.session, world_on_end, &w);
	world_run(10);
	ck_assert_int_eq(w.ended, 2);
}

TEST(one_that_exits_by_itself_is_told)
{
	world_begin();
	world_up();
	world_hook("PreToolUse", "{}", NULL);
	ck_assert_int_eq(w.record.open_tools, 1);
	world_agent_exits();
	world_run(10);
	world_expect("exited");
	ck_assert_ptr_null(w.record.pane);
	ck_assert(!w.record.ready);
	ck_assert_int_eq(w.record.open_tools, 0);
	/* Before it has reported. */
	world_agent(false);
	world_launch(false);
	world_run(10);
	world_agent_exits();
	world_run(10);
	world_expect("exited:early");
	/* It announced its end first: this is not a failed start. */
	world_agent(false);
	world_launch(true);
	world_run(10);
	world_starts("resume");
	world_hook("SessionEnd", "{\"reason\":\"other\"}", NULL);
	ck_assert_int_eq(session_phase(w.session), SESSION_LAUNCHING);
	world_agent_exits();
	world_run(10);
	world_expect("ready:resume exited");
}

TEST(one_that_says_it_ends_and_stays_is_told)
{
	world_begin();
	world_up();
	world_run(10 * WORLD_START_MS);
	world_hook("SessionEnd", "{\"reason\":\"other\"}", NULL);
	world_run(WORLD_START_MS - 10);
	world_expect("");
	world_run(20);
	world_expect("unreported");
}

TEST(a_kill_waits_for_nobody)
{
	siginfo_t info;

	world_begin();
	world_up();
	session_end(w.session, world_on_end, &w);
	session_kill(w.session);
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	ck_assert_ptr_null(w.record.pane);
	ck_assert_int_eq(
	    waitid(P_PID, (id_t)w.agent, &info, WEXITED | WNOWAIT), 0);
	world_run(10);
	world_expect_tmux("kill");
	world_expect("");
	ck_assert_int_eq(w.ended, 0);
}

/* --- freed in every phase, with everything in progress ----------- */

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
reach(enum moment moment)
{
	if (moment == NEW)
		return;
	world_agent(true);
	w.disk_full = moment == UNWRITTEN;
	w.tmux->held = moment == OLD_ENDS || moment == STARTING;
	world_launch(false);
	world_run(10);
	if (moment == STARTING) {
		fake_tmux_answer(w.tmux);
		world_run(1);
		w.tmux->held = true;
		world_run(10);
	}
	if (moment <= UNHEARD)
		return;
	world_starts("startup");
	w.disk_full = moment == UNWRITTEN_PROMPT;
	w.tmux->held = moment > UP;
	if (moment == UNWRITTEN_PROMPT || moment == TYPING)
		session_prompt(w.session, "x", "1", false);
	if (moment == LOOKING)
		session_screen(w.session, never, &w);
	if (moment == TERMINATED || moment == TMUX_ENDS)
		session_end(w.session, world_on_end, &w);
	if (moment == TMUX_ENDS || moment == EXITED)
		world_agent_exits();
	world_run(10);
}

TEST(it_can_be_freed_at_every_moment)
{
	for (int at = 0; at < MOMENTS; at++) {
		bool runs;

		world_begin();
		reach((enum moment)at);
		runs = w.agent != 0 && at != TMUX_ENDS && at != EXITED;
		buf_clear(&w.told);
		session_free(take_ptr(&w.session));
		w.disk_full = false;
		fake_tmux_answer(w.tmux);
		world_run(10 * WORLD_START_MS);
		ck_assert_uint_eq(fake_tmux_waiting(w.tmux), 0);
		world_expect("");
		ck_assert_int_eq(w.ended, 0);
		/* The process continues. */
		ck_assert(!runs || kill(w.agent, 0) == 0);
		world_end();
	}
}

/* --- what it left ------------------------------------------------------ */

/* A process that the agent started and nobody keeps; it has the mark. */
static void
leave_stray(struct procref *ret_stray)
{
	cleanup_free char *mark = orphans_mark(&w.workspace, "adam");
	cleanup_free char *entry = xasprintf("LLMC_KEEPER=%s", mark);
	char *const argv[] = { (char[]){ "sleep" }, (char[]){ "1000" }, NULL };
	char *const env[] = { entry, NULL };
	int ready[2];
	pid_t pid, middle;
	char byte;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	middle = fork();
	if (middle == 0) {
		pid = fork();
		if (pid == 0) {
			execve("/bin/sleep", argv, env);
			_exit(1);
		}
		_exit(write(ready[1], &pid, sizeof pid) != sizeof pid);
	}
	ck_assert_int_eq(waitpid(middle, NULL, 0), middle);
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &pid, sizeof pid), sizeof pid);
	ck_assert_int_eq(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	while (!mark_is_on(pid, mark)) /* that comes last in an exec */
		;
	ck_assert_int_eq(procref_set(ret_stray, pid), 0);
}

TEST(what_it_left_is_gone_before_its_exit_is_told)
{
	struct procref stray = PROCREF_INIT;

	world_begin();
	world_up();
	leave_stray(&stray);
	clock_virtual_end();
	ck_assert(procref_alive(&stray));
	world_agent_exits();
	world_until(SESSION_NONE);
	ck_assert(!procref_alive(&stray));
	ck_assert_ptr_null(session_left(w.session));
	world_expect("exited");
	procref_release(&stray);
}

TEST(what_it_left_is_gone_before_the_next_one_starts)
{
	struct procref stray = PROCREF_INIT;

	world_begin();
	world_agent(false);
	leave_stray(&stray);
	clock_virtual_end();
	world_launch(false);
	while (w.record.pane == NULL)
		world_run(5);
	ck_assert(!procref_alive(&stray));
	world_expect_tmux("kill start");
	procref_release(&stray);
}

TEST(what_it_left_is_gone_before_its_end_is_told)
{
	struct procref stray = PROCREF_INIT;

	world_begin();
	leave_stray(&stray);
	clock_virtual_end();
	session_end(w.session, world_on_end, &w);
	ck_assert_int_eq(session_phase(w.session), SESSION_ENDING);
	ck_assert_int_eq(w.ended, 0);
	world_until(SESSION_NONE);
	ck_assert(!procref_alive(&stray));
	ck_assert_int_eq(w.ended, 1);
	world_expect_tmux("kill");
	procref_release(&stray);
}

TEST(lost_session_is_cleared_and_its_screen_stays)
{
	struct procref stray = PROCREF_INIT;

	world_begin();
	leave_stray(&stray);
	clock_virtual_end(); /* a death takes real time */
	session_clear(w.session, world_on_end, &w);
	ck_assert_int_eq(session_phase(w.session), SESSION_ENDING);
	world_until(SESSION_NONE);
	ck_assert(!procref_alive(&stray));
	ck_assert_int_eq(w.ended, 1);
	world_expect_tmux("");
	procref_release(&stray);
}
