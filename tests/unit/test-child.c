/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "child.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "loop.h"
#include "mem.h"
#include "procref.h"
#include "unit.h"

/* Run through the shell and give the result back. */
static void
run_shell(const char *command, struct child_result *result)
{
	struct child_spec spec = { .shell = command, .deadline_ms = 30000 };
	struct err err = { 0 };

	ck_assert_msg(child_run(&spec, result, &err) == 0, "%s", err.msg);
}

/* Wait for the kernel to say that a process which is not our child has ended.
 */
static bool
gone_within(pid_t pid, int ms)
{
	struct procref ref = PROCREF_INIT;
	struct pollfd event = { .events = POLLIN };
	int r = procref_set(&ref, pid);

	if (r == -ESRCH)
		return true;
	event.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	r = event.fd >= 0 ? poll(&event, 1, ms) : 1;
	fd_close(event.fd);
	procref_release(&ref);
	return r == 1;
}

START_TEST(reports_status_and_both_streams)
{
	cleanup_child_result struct child_result r;

	run_shell("echo out; echo err >&2; exit 3", &r);
	ck_assert(r.exited);
	ck_assert_int_eq(r.status, 3);
	ck_assert(!child_succeeded(&r));
	ck_assert_str_eq(r.out.head.data, "out\n");
	ck_assert_str_eq(r.err.head.data, "err\n");
	ck_assert_uint_eq(r.out.total, 4);
}
END_TEST

START_TEST(streams_can_be_merged)
{
	struct child_spec spec = { .shell = "echo a; echo b >&2; echo c",
		.merge_stderr = true };
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_str_eq(r.out.head.data, "a\nb\nc\n");
	ck_assert_str_eq(r.err.head.data, "");
}
END_TEST

START_TEST(arguments_are_not_interpreted)
{
	const char *const argv[] = { "printf", "%s|", "a b", "$HOME", "", "'",
		NULL };
	struct child_spec spec = { .argv = argv };
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_str_eq(r.out.head.data, "a b|$HOME||'|");
}
END_TEST

START_TEST(a_missing_program_is_a_start_error)
{
	const char *const argv[] = { "no-such-program-anywhere", NULL };
	struct child_spec spec = { .argv = argv };
	cleanup_child_result struct child_result r;
	cleanup_buf struct buf words = BUF_INIT;
	struct err err = { 0 };

	ck_assert_int_eq(child_run(&spec, &r, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "no-such-program-anywhere"));
	ck_assert_str_eq(r.start_step, "exec");
	child_result_describe(&r, &words);
	ck_assert_ptr_nonnull(strstr(words.data, "could not be started"));
}
END_TEST

START_TEST(a_missing_directory_is_a_start_error)
{
	struct child_spec spec = { .shell = "true", .cwd = "/no/such/dir" };
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&spec, &r, NULL), -ENOENT);
	ck_assert_str_eq(r.start_step, "chdir");
}
END_TEST

START_TEST(no_program_is_refused)
{
	const char *const argv[] = { NULL };
	struct child_spec none = { 0 }, empty = { .argv = argv };
	struct child_spec both = { .argv = argv, .shell = "true" };
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&none, &r, NULL), -EINVAL);
	ck_assert_int_eq(child_run(&empty, &r, NULL), -EINVAL);
	ck_assert_int_eq(child_run(&both, &r, NULL), -EINVAL);
}
END_TEST

START_TEST(cwd_and_environment_edits)
{
	const char *const env[] = { "A_SET=first", "A_SET=second", "A_GONE",
		NULL };
	struct child_spec spec = {
		.shell = "pwd; echo $A_SET ${A_GONE-unset} $A_KEPT",
		.cwd = "/usr",
		.env = env,
	};
	cleanup_child_result struct child_result r;

	setenv("A_GONE", "x", 1);
	setenv("A_KEPT", "kept", 1);
	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_str_eq(r.out.head.data, "/usr\nsecond unset kept\n");
	unsetenv("A_GONE");
	unsetenv("A_KEPT");
}
END_TEST

START_TEST(the_edited_path_is_searched)
{
	const char *const argv[] = { "only-here", NULL };
	cleanup_free char *path = xasprintf("PATH=%s", unit_scratch());
	const char *const env[] = { path, NULL };
	struct child_spec spec = { .argv = argv, .env = env };
	cleanup_child_result struct child_result r;
	static const char script[] = "#!/bin/sh\necho found\n";

	ck_assert_int_eq(file_replace(unit_path("only-here"), script,
			     sizeof script - 1, 0755, NULL),
	    0);
	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_str_eq(r.out.head.data, "found\n");
}
END_TEST

START_TEST(input_of_any_size_arrives)
{
	size_t len = 3 * 1024 * 1024;
	cleanup_free char *bytes = xmalloc(len);
	struct child_spec spec = {
		.shell = "wc -c; printf done", .input = bytes, .input_len = len
	};
	cleanup_child_result struct child_result r;

	memset(bytes, 'x', len);
	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_str_eq(r.out.head.data, "3145728\ndone");
}
END_TEST

START_TEST(input_nobody_reads_does_not_hang)
{
	size_t len = 1024 * 1024;
	cleanup_free char *bytes = xcalloc(1, len);
	struct child_spec spec = {
		.shell = "exit 4", .input = bytes, .input_len = len
	};
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_int_eq(r.status, 4);
}
END_TEST

START_TEST(a_flood_keeps_head_and_tail)
{
	struct child_spec spec = {
		.shell = "echo first; i=0; while [ $i -lt 5000 ]; do "
			 "echo 'a line of thirty characters...'; i=$((i+1)); "
			 "done; echo last",
		.output_max = 1000,
	};
	cleanup_child_result struct child_result r;
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_uint_eq(r.out.total, 6 + 5000 * 31 + 5);
	ck_assert_uint_eq(r.out.head.len, 500);
	ck_assert_uint_eq(r.out.tail.len, 500);
	ck_assert(strncmp(r.out.head.data, "first\n", 6) == 0);
	ck_assert_str_eq(r.out.tail.data + 495, "last\n");
	child_output_text(&r.out, &text);
	ck_assert_ptr_nonnull(strstr(text.data, "bytes left out"));
}
END_TEST

START_TEST(the_deadline_ends_the_whole_group)
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
	ck_assert_ptr_nonnull(strstr(words.data, "ended after"));
}
END_TEST

START_TEST(one_that_ignores_sigterm_is_killed)
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
END_TEST

START_TEST(a_stopped_one_still_ends)
{
	struct child_spec spec = {
		.shell = "kill -STOP $$", .deadline_ms = 200, .grace_ms = 5000
	};
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert(r.timed_out);
	ck_assert_int_eq(r.signal, SIGTERM);
}
END_TEST

START_TEST(a_grandchild_cannot_hold_the_result_back)
{
	cleanup_child_result struct child_result r;

	/* In its own session, so that no group kill ends it; its pipe must
	 * not keep us waiting. */
	run_shell("setsid sleep 3 & echo started", &r);
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.out.head.data, "started\n");
	ck_assert_int_lt(r.duration_ms, 2500);
}
END_TEST

START_TEST(what_is_left_of_the_group_is_killed)
{
	const char *mark = unit_path("mark");
	cleanup_free char *command = xasprintf(
	    "(trap '' TERM HUP; sleep 1000; echo >'%s') & exit 0", mark);
	cleanup_child_result struct child_result r;

	run_shell(command, &r);
	ck_assert_int_lt(r.duration_ms, 2500);
	ck_assert(!file_exists(mark));
}
END_TEST

struct waiter {
	struct loop *loop;
	struct child *child;
	int calls;
	bool cancelled;
	int signal;
};

static void
waiter_done(const struct child_result *result, void *arg)
{
	struct waiter *w = arg;

	w->calls++;
	w->cancelled = result->cancelled;
	w->signal = result->signal;
}

static void
waiter_cancel(void *arg)
{
	struct waiter *w = arg;

	child_cancel(w->child);
	child_cancel(w->child); /* twice is once */
}

START_TEST(cancel_reports_once)
{
	struct child_spec spec = { .shell = "sleep 1000" };
	struct waiter w = { .loop = loop_new() };
	struct loop_timer *timer;

	ck_assert_int_eq(
	    child_spawn(w.loop, &spec, waiter_done, &w, &w.child, NULL), 0);
	ck_assert_int_gt(child_pid(w.child), 1);
	timer = loop_after(w.loop, 20, waiter_cancel, &w);
	loop_run(w.loop);
	ck_assert_int_eq(w.calls, 1);
	ck_assert(w.cancelled);
	ck_assert_int_eq(w.signal, SIGTERM);
	loop_timer_free(timer);
	loop_free(w.loop);
}
END_TEST

START_TEST(abandon_kills_without_a_word)
{
	struct child_spec spec = { .shell = "sleep 1000" };
	struct waiter w = { .loop = loop_new() };
	cleanup_child_result struct child_result r;
	pid_t pid;

	ck_assert_int_eq(
	    child_spawn(w.loop, &spec, waiter_done, &w, &w.child, NULL), 0);
	pid = child_pid(w.child);
	child_abandon(w.child);
	loop_run(w.loop);
	ck_assert_int_eq(w.calls, 0);
	loop_free(w.loop);
	/* A later start collects the zombie. */
	for (int i = 0; i < 100 && kill(pid, 0) == 0; i++) {
		run_shell("true", &r);
		child_result_release(&r);
	}
	child_result_init(&r);
	ck_assert_int_eq(kill(pid, 0), -1);
}
END_TEST

START_TEST(no_descriptor_leaks_either_way)
{
	cleanup_child_result struct child_result r;
	int before, after;

	before = open("/dev/null", O_RDONLY); /* inheritable on purpose */
	run_shell("ls /proc/self/fd | wc -l", &r);
	/* 0, 1, 2 and the one that ls opens to look. */
	ck_assert_str_eq(r.out.head.data, "4\n");
	close(before);
	after = open("/dev/null", O_RDONLY);
	ck_assert_int_eq(before, after);
	close(after);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

START_TEST(many_at_once)
{
	struct child_spec spec = { .shell = "echo x" };
	struct waiter w = { .loop = loop_new() };

	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(
		    child_spawn(w.loop, &spec, waiter_done, &w, NULL, NULL), 0);
	loop_run(w.loop);
	ck_assert_int_eq(w.calls, 100);
	loop_free(w.loop);
}
END_TEST

START_TEST(no_process_to_be_had_is_an_error)
{
	struct child_spec spec = { .shell = "true" };
	struct rlimit old, none;
	struct child_result r;
	struct err err = { 0 };
	int fd, code;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	fd = open("/dev/null", O_RDONLY);
	close(fd);
	none = old;
	none.rlim_cur = (rlim_t)fd + 6; /* not enough for all the pipes */
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	{
		struct loop *loop = loop_new();

		code = child_spawn(loop, &spec, waiter_done, NULL, NULL, &err);
		loop_free(loop);
	}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	ck_assert_int_eq(code, -EMFILE);
	ck_assert_ptr_nonnull(strstr(err.msg, "cannot start a process"));
	/* And it works again, with nothing left open. */
	run_shell("true", &r);
	child_result_release(&r);
	ck_assert_int_eq(open("/dev/null", O_RDONLY), fd);
	close(fd);
}
END_TEST

START_TEST(works_with_standard_descriptors_closed)
{
	cleanup_child_result struct child_result r;
	int in = dup(0), out = dup(1), error = dup(2);

	close(0);
	close(1);
	close(2);
	run_shell("cat; echo out; echo err >&2", &r);
	dup2(in, 0);
	dup2(out, 1);
	dup2(error, 2);
	close(in);
	close(out);
	close(error);
	ck_assert_str_eq(r.out.head.data, "out\n");
	ck_assert_str_eq(r.err.head.data, "err\n");
}
END_TEST

START_TEST(signals_are_as_on_a_fresh_start)
{
	cleanup_child_result struct child_result r;
	/* The loop ignores SIGPIPE; a child must not inherit that. 32 and 33
	 * are glibc's own: nobody can set them back. */
	const unsigned long long reserved = 3ull << 31;
	const char *p;
	char *end;

	run_shell("grep -E '^Sig(Blk|Ign):' /proc/self/status | "
		  "awk '{print $2}'",
	    &r);
	for (p = r.out.head.data; *p != '\0'; p = end + 1)
		ck_assert_uint_eq(strtoull(p, &end, 16) & ~reserved, 0);
}
END_TEST

START_TEST(a_detached_one_is_left_behind)
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

	unlink(fifo); /* of the other way, where tests share a process */
	unlink(then);
	unlink(file);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(mkfifo(then, 0600), 0);
	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert(child_succeeded(&r));
	/* It still runs: somebody reads the fifo. */
	fd = open(fifo, O_WRONLY);
	ck_assert_int_eq(write(fd, "x\n", 2), 2);
	close(fd);
	fd = open(then, O_WRONLY);
	ck_assert_int_eq(file_read(file, 100, &text, NULL), 0);
	ck_assert_int_gt(strtol(text.data, NULL, 10), 1);
	close(fd);
}
END_TEST

START_TEST(a_descriptor_can_be_its_standard_input)
{
	const char *path = unit_path("input");
	struct child_spec spec = { .shell = "cat; ls /proc/self/fd | wc -l" };
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(file_replace(path, "text\n", 5, 0600, NULL), 0);
	spec.stdin_fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_gt(spec.stdin_fd, 2);
	ck_assert_int_eq(child_run(&spec, &r, NULL), 0);
	ck_assert_str_eq(r.out.head.data, "text\n4\n");
	/* The same open file, which is now read, and still ours. */
	ck_assert_int_eq(lseek(spec.stdin_fd, 0, SEEK_CUR), 5);
	close(spec.stdin_fd);
}
END_TEST

START_TEST(two_standard_inputs_or_a_closed_one_are_refused)
{
	struct child_spec both = {
		.shell = "cat", .input = "x", .input_len = 1, .stdin_fd = 1
	};
	struct child_spec closed = { .shell = "cat", .stdin_fd = 900 };
	cleanup_child_result struct child_result r;

	ck_assert_int_eq(child_run(&both, &r, NULL), -EINVAL);
	ck_assert_int_eq(child_run(&closed, &r, NULL), -EBADF);
}
END_TEST

START_TEST(a_released_one_runs_on_and_is_reaped)
{
	const char *go = unit_path("release-go"), *to = unit_path("release-to");
	cleanup_free char *command =
	    xasprintf("read x <'%s'; echo $x >'%s'", go, to);
	struct child_spec spec = { .shell = command, .deadline_ms = 1 };
	struct waiter w = { .loop = loop_new() };
	cleanup_child_result struct child_result r;
	char text[8] = "";
	pid_t pid;
	int fd;

	unlink(go); /* of the other way, where tests share a process */
	unlink(to);
	ck_assert_int_eq(mkfifo(go, 0600), 0);
	ck_assert_int_eq(mkfifo(to, 0600), 0);
	ck_assert_int_eq(
	    child_spawn(w.loop, &spec, waiter_done, &w, &w.child, NULL), 0);
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
	ck_assert(gone_within(pid, 5000));
	run_shell("true", &r);
	ck_assert_int_eq(kill(pid, 0), -1);
}
END_TEST

static void
without_pidfd(void)
{
	procref_disable_pidfd(true);
}

static void
with_pidfd(void)
{
	procref_disable_pidfd(false);
}

Suite *
unit_suite(void)
{
	Suite *s = suite_create("child");
	const TTest *const all[] = { reports_status_and_both_streams,
		streams_can_be_merged, arguments_are_not_interpreted,
		a_missing_program_is_a_start_error,
		a_missing_directory_is_a_start_error, no_program_is_refused,
		cwd_and_environment_edits, the_edited_path_is_searched,
		input_of_any_size_arrives, input_nobody_reads_does_not_hang,
		a_flood_keeps_head_and_tail, the_deadline_ends_the_whole_group,
		one_that_ignores_sigterm_is_killed, a_stopped_one_still_ends,
		a_grandchild_cannot_hold_the_result_back,
		what_is_left_of_the_group_is_killed, cancel_reports_once,
		abandon_kills_without_a_word, no_descriptor_leaks_either_way,
		a_detached_one_is_left_behind, many_at_once,
		no_process_to_be_had_is_an_error,
		works_with_standard_descriptors_closed,
		signals_are_as_on_a_fresh_start,
		a_descriptor_can_be_its_standard_input,
		two_standard_inputs_or_a_closed_one_are_refused,
		a_released_one_runs_on_and_is_reaped };
	const struct {
		const char *name;
		void (*setup)(void);
	} ways[] = { { "pidfd", with_pidfd }, { "sigchld", without_pidfd } };

	for (size_t w = 0; w < nitems(ways); w++) {
		TCase *tc = tcase_create(ways[w].name);

		tcase_set_timeout(tc, 60);
		tcase_add_checked_fixture(tc, ways[w].setup, with_pidfd);
		for (size_t i = 0; i < nitems(all); i++)
			tcase_add_test(tc, all[i]);
		suite_add_tcase(s, tc);
	}
	return s;
}
