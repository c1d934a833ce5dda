/* SPDX-License-Identifier: ISC */

/* How a session ends. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "mem.h"
#include "procref.h"
#include "remains.h"
#include "session-world.h"
#include "unit.h"

TEST(it_ends_with_a_grace_and_everybody_is_told)
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

TEST(one_that_does_not_listen_is_killed)
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

TEST(the_kernel_need_not_tell)
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
	world_run(&w, 10); /* what it left is searched for */
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

TEST(one_that_is_being_launched_can_be_ended)
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

TEST(where_nothing_runs_the_end_comes_too)
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

static void
launch_again(void *arg)
{
	struct world *w = arg;

	w->ended++;
	ck_assert_int_eq(session_phase(w->session), SESSION_NONE);
	world_launch(w, true);
}

TEST(who_is_told_may_launch_it_again)
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

static void
free_it(void *arg)
{
	struct world *w = arg;

	w->ended++;
	session_free(take_ptr(&w->session));
}

TEST(who_is_told_may_free_it)
{
	struct world w;

	world_begin(&w);
	session_end(w.session, free_it, &w);
	session_end(w.session, world_on_end, &w);
	world_run(&w, 10);
	ck_assert_int_eq(w.ended, 2);
	world_end(&w);
}

TEST(one_that_exits_by_itself_is_told)
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

TEST(one_that_says_it_ends_and_stays_is_told)
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

TEST(a_kill_waits_for_nobody)
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

TEST(it_can_be_freed_at_every_moment)
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

/* --- what it left ------------------------------------------------------ */

/* A process that the agent started and nobody keeps; it has the mark. */
static void
leave_stray(struct world *w, struct procref *ret_stray)
{
	cleanup_free char *mark = remains_mark(&w->workspace, "adam");
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
	struct world w;
	struct procref stray = PROCREF_INIT;

	world_begin(&w);
	world_up(&w);
	leave_stray(&w, &stray);
	clock_virtual_end();
	ck_assert(procref_alive(&stray));
	world_agent_exits(&w);
	world_until(&w, SESSION_NONE);
	ck_assert(!procref_alive(&stray));
	ck_assert_ptr_null(session_left(w.session));
	world_expect(&w, "exited");
	procref_release(&stray);
	world_end(&w);
}

TEST(what_it_left_is_gone_before_the_next_one_starts)
{
	struct world w;
	struct procref stray = PROCREF_INIT;

	world_begin(&w);
	world_agent(&w, false);
	leave_stray(&w, &stray);
	clock_virtual_end();
	world_launch(&w, false);
	while (w.record.pane == NULL)
		world_run(&w, 5);
	ck_assert(!procref_alive(&stray));
	world_expect_tmux(&w, "kill start");
	procref_release(&stray);
	world_end(&w);
}

TEST(what_it_left_is_gone_before_its_end_is_told)
{
	struct world w;
	struct procref stray = PROCREF_INIT;

	world_begin(&w);
	leave_stray(&w, &stray);
	clock_virtual_end();
	session_end(w.session, world_on_end, &w);
	ck_assert_int_eq(session_phase(w.session), SESSION_ENDING);
	ck_assert_int_eq(w.ended, 0);
	world_until(&w, SESSION_NONE);
	ck_assert(!procref_alive(&stray));
	ck_assert_int_eq(w.ended, 1);
	world_expect_tmux(&w, "kill");
	procref_release(&stray);
	world_end(&w);
}

TEST(lost_session_is_cleared_and_its_screen_stays)
{
	struct world w;
	struct procref stray = PROCREF_INIT;

	world_begin(&w);
	leave_stray(&w, &stray);
	clock_virtual_end(); /* a death takes real time */
	session_clear(w.session, world_on_end, &w);
	ck_assert_int_eq(session_phase(w.session), SESSION_ENDING);
	world_until(&w, SESSION_NONE);
	ck_assert(!procref_alive(&stray));
	ck_assert_int_eq(w.ended, 1);
	world_expect_tmux(&w, "");
	procref_release(&stray);
	world_end(&w);
}
