/* SPDX-License-Identifier: ISC */

#include <sys/syscall.h>

#include "child-world.h"

/* Wait until a process that is not our child has ended. */
static bool
gone_within(pid_t pid, int ms)
{
	struct procref ref = PROCREF_INIT;
	struct pollfd event = { .events = POLLIN };
	int r = procref_set(&ref, pid);

	if (r == -ESRCH)
		return true;
	event.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (event.fd >= 0)
		r = poll(&event, 1, ms);
	else /* not on this kernel, or forbidden in this variant */
		for (r = 0; r == 0 && ms > 0; ms -= 5)
			r = poll(NULL, 0, 5) == 0 && !procref_alive(&ref);
	fd_close(event.fd);
	procref_release(&ref);
	return r == 1;
}

CHILD_TEST(the_deadline_ends_the_whole_group)
{
	const char *pidfile = unit_path("pid");
	cleanup_free char *command =
	    xasprintf("sleep 1000 & echo $! >'%s'; wait", pidfile);
	struct child_spec spec = {
		.shell = command, .deadline_ms = 300, .grace_ms = 2000
	};
	cleanup_child_result struct child_result r;
	cleanup_buf struct buf text = BUF_INIT, words = BUF_INIT;
	pid_t sleeper;

	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert(r.timed_out);
	ck_assert(!r.exited);
	ck_assert_int_eq(r.signal, SIGTERM);
	ck_assert_int_ge(r.duration_ms, 300);
	ck_assert_int_eq(file_read(pidfile, 100, &text, NULL), 0);
	sleeper = (pid_t)strtol(text.data, NULL, 10);
	ck_assert_int_gt(sleeper, 1);
	ck_assert(gone_within(sleeper, 5000));
	child_result_describe(&r, &words);
	ck_assert_ptr_nonnull(strstr(words.data, "SIGTERM"));
	ck_assert_ptr_nonnull(strstr(words.data, "stopped after"));
}

CHILD_TEST(one_that_ignores_sigterm_is_killed)
{
	struct child_spec spec = {
		.shell = "trap '' TERM; while :; do sleep 1; done",
		.deadline_ms = 200,
		.grace_ms = 200,
	};
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert(r.timed_out);
	ck_assert_int_eq(r.signal, SIGKILL);
}

CHILD_TEST(a_stopped_one_still_ends)
{
	struct child_spec spec = {
		.shell = "kill -STOP $$", .deadline_ms = 200, .grace_ms = 5000
	};
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert(r.timed_out);
	ck_assert_int_eq(r.signal, SIGTERM);
}

CHILD_TEST(a_grandchild_cannot_hold_the_result_back)
{
	cleanup_child_result struct child_result r;

	/* In its own session, so that no group kill ends it; its pipe must not
	 * keep us waiting. */
	child_world_shell("setsid sleep 3 & echo started", &r);
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.out.head.data, "started\n");
	ck_assert_int_lt(r.duration_ms, 2500);
}

CHILD_TEST(what_is_left_of_the_group_is_killed)
{
	cleanup_child_result struct child_result r;
	pid_t left;

	child_world_shell("(trap '' TERM HUP; sleep 1000) & echo $!", &r);
	ck_assert_int_lt(r.duration_ms, 2500);
	left = (pid_t)strtol(r.out.head.data, NULL, 10);
	ck_assert_int_gt(left, 1);
	ck_assert(gone_within(left, 5000));
}

static void
waiter_cancel(void *arg)
{
	struct child_waiter *w = arg;

	child_cancel(w->child);
	child_cancel(w->child); /* the second call changes nothing */
}

CHILD_TEST(cancel_reports_once)
{
	struct child_spec spec = { .shell = "sleep 1000" };
	struct child_waiter w = { .loop = loop_new() };
	struct loop_timer *timer;

	ck_assert_int_eq(
	    child_spawn(w.loop, &spec, child_world_done, &w, &w.child, NULL),
	    0);
	ck_assert_int_gt(child_pid(w.child), 1);
	timer = loop_after(w.loop, 20, waiter_cancel, &w);
	loop_run(w.loop);
	ck_assert_int_eq(w.calls, 1);
	ck_assert(w.cancelled);
	ck_assert_int_eq(w.signal, SIGTERM);
	loop_timer_free(timer);
	loop_free(w.loop);
}

CHILD_TEST(abandon_kills_without_a_word)
{
	struct child_spec spec = { .shell = "sleep 1000" };
	struct child_waiter w = { .loop = loop_new() };
	cleanup_child_result struct child_result r;
	pid_t pid;

	ck_assert_int_eq(
	    child_spawn(w.loop, &spec, child_world_done, &w, &w.child, NULL),
	    0);
	pid = child_pid(w.child);
	child_abandon(w.child);
	loop_run(w.loop);
	ck_assert_int_eq(w.calls, 0);
	loop_free(w.loop);
	/* A later start reaps the zombie. */
	for (int i = 0; i < 100 && kill(pid, 0) == 0; i++) {
		child_world_shell("true", &r);
		child_result_release(&r);
	}
	child_result_init(&r);
	ck_assert_int_eq(kill(pid, 0), -1);
}

CHILD_TEST(a_detached_one_is_left_behind)
{
	const char *file = unit_path("left");
	const char *fifo = unit_path("go"), *then = unit_path("then");
	cleanup_free char *command =
	    xasprintf("exec >/dev/null 2>&1; read x <'%s'; echo $$ >'%s.new'; "
		      "mv '%s.new' '%s'; read y <'%s'",
		fifo, file, file, file, then);
	struct child_spec spec = { .shell = command, .detach = true };
	cleanup_child_result struct child_result r;
	cleanup_buf struct buf text = BUF_INIT;
	int fd;

	unlink(fifo); /* left by the other variant, if tests share a process */
	unlink(then);
	unlink(file);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(mkfifo(then, 0600), 0);
	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert(child_succeeded(&r));
	/* It is still running and reads the fifo. */
	fd = open(fifo, O_WRONLY);
	ck_assert_int_eq(write(fd, "x\n", 2), 2);
	close(fd);
	fd = open(then, O_WRONLY);
	ck_assert_int_eq(file_read(file, 100, &text, NULL), 0);
	ck_assert_int_gt(strtol(text.data, NULL, 10), 1);
	close(fd);
}

CHILD_TEST(a_released_one_runs_on_and_is_reaped)
{
	const char *go = unit_path("release-go"), *to = unit_path("release-to");
	cleanup_free char *command =
	    xasprintf("read x <'%s'; echo $x >'%s'", go, to);
	struct child_spec spec = { .shell = command, .deadline_ms = 1 };
	struct child_waiter w = { .loop = loop_new() };
	cleanup_child_result struct child_result r;
	char text[8] = "";
	siginfo_t info = { 0 };
	pid_t pid;
	int fd;

	unlink(go); /* left by the other variant, if tests share a process */
	unlink(to);
	ck_assert_int_eq(mkfifo(go, 0600), 0);
	ck_assert_int_eq(mkfifo(to, 0600), 0);
	ck_assert_int_eq(
	    child_spawn(w.loop, &spec, child_world_done, &w, &w.child, NULL),
	    0);
	pid = child_pid(w.child);
	child_release(w.child);
	loop_run(w.loop);
	loop_free(w.loop);
	ck_assert_int_eq(w.calls, 0);
	fd = open(go, O_WRONLY);
	ck_assert_int_eq(write(fd, "on\n", 3), 3);
	close(fd);
	fd = open(to, O_RDONLY);
	ck_assert_int_eq(read(fd, text, sizeof text - 1), 3);
	close(fd);
	ck_assert_str_eq(text, "on\n");
	/* It has ended, and waits to be collected. */
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	child_world_shell("true", &r);
	ck_assert_int_eq(kill(pid, 0), -1);
}
