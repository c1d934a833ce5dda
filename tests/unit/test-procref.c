/* SPDX-License-Identifier: ISC */

/* Most tests run twice: _i is 0 with pidfds and 1 without. */

#include <pthread.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "procref-world.h"

static const char *const OTHER_BOOT = "00000000-1111-2222-3333-444444444444";

/* False on an old kernel, and under valgrind. */
static bool
pidfd_works(void)
{
	cleanup_fd int fd = procref_pidfd_open(getpid());

	return fd >= 0;
}

/* A child that has exited and was not reaped. */
static pid_t
start_zombie(void)
{
	siginfo_t info;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

static void
expect_gone(struct procref *ref)
{
	ck_assert(!procref_alive(ref));
	ck_assert_int_eq(procref_signal(ref, SIGKILL), -ESRCH);
	ck_assert_int_eq(procref_signal(ref, 0), -ESRCH);
	ck_assert_int_eq(procref_signal_group(ref, SIGKILL), -ESRCH);
	ck_assert_int_eq(procref_open(ref), -ESRCH);
	ck_assert_int_eq(procref_state(ref), 0);
}

static void
expect_stops(struct procref *ref)
{
	siginfo_t info;

	ck_assert_int_eq(procref_signal(ref, SIGSTOP), 0);
	ck_assert_int_eq(
	    waitid(P_PID, (id_t)ref->pid, &info, WSTOPPED | WNOWAIT), 0);
	ck_assert_int_eq(procref_state(ref), 'T');
}

TEST_ROWS(refers_to_ourselves, 2)
{
	struct procref ref = PROCREF_INIT;

	procref_disable_pidfd(_i == 1);
	ck_assert_int_eq(procref_set_self(&ref), 0);
	ck_assert_int_eq(ref.pid, getpid());
	ck_assert_uint_gt(ref.start_time, 0);
	ck_assert_uint_eq(strlen(ref.boot_id), PROCREF_BOOT_ID_SIZE - 1);
	ck_assert_int_eq(ref.pidfd >= 0, pidfd_works());
	ck_assert(procref_alive(&ref));
	ck_assert_int_eq(procref_signal(&ref, 0), 0);
	ck_assert_int_eq(procref_state(&ref), 'R');
	procref_release(&ref);
	ck_assert_int_eq(ref.pid, 0);
	ck_assert_int_eq(ref.pidfd, -1);
	procref_disable_pidfd(false);
}

TEST_ROWS(nothing_is_gone, 2)
{
	struct procref ref = PROCREF_INIT;

	procref_disable_pidfd(_i == 1);
	expect_gone(&ref);
	ck_assert_int_eq(procref_set(&ref, 0), -ESRCH);
	ck_assert_int_eq(procref_set(&ref, -1), -ESRCH);
	ck_assert_int_eq(procref_set(&ref, INT_MAX), -ESRCH);
	ck_assert_int_eq(ref.pid, 0);
	procref_disable_pidfd(false);
}

TEST_ROWS(failure_leaves_the_reference_alone, 2)
{
	struct procref ref = PROCREF_INIT;
	pid_t pid = procref_world_start(NULL);

	procref_disable_pidfd(_i == 1);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	ck_assert_int_eq(procref_set(&ref, INT_MAX), -ESRCH);
	ck_assert_int_eq(ref.pid, pid);
	ck_assert(procref_alive(&ref));
	procref_world_end(pid);
	procref_release(&ref);
	procref_disable_pidfd(false);
}

TEST_ROWS(signals_the_process, 2)
{
	struct procref ref = PROCREF_INIT;
	pid_t pid = procref_world_start(NULL);

	procref_disable_pidfd(_i == 1);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	ck_assert_int_eq(procref_signal(&ref, 12345), -EINVAL);
	ck_assert_int_eq(procref_signal(&ref, SIGUSR1), 0);
	ck_assert_int_eq(procref_world_reap(pid), SIGUSR1);
	expect_gone(&ref);
	procref_release(&ref);
	procref_disable_pidfd(false);
}

TEST_ROWS(state_follows_the_process, 2)
{
	struct procref ref = PROCREF_INIT;
	pid_t pid = procref_world_start(NULL);

	procref_disable_pidfd(_i == 1);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	expect_stops(&ref);
	ck_assert(procref_alive(&ref));
	procref_world_end(pid);
	procref_release(&ref);
	procref_disable_pidfd(false);
}

TEST_ROWS(zombie_is_there_but_not_alive, 2)
{
	struct procref ref = PROCREF_INIT;
	pid_t pid = start_zombie();

	procref_disable_pidfd(_i == 1);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	ck_assert(!procref_alive(&ref));
	ck_assert_int_eq(procref_state(&ref), 'Z');
	ck_assert_int_eq(procref_signal(&ref, SIGUSR1), -ESRCH);
	ck_assert_int_eq(procref_world_reap(pid), 0);
	expect_gone(&ref);
	procref_release(&ref);
	procref_disable_pidfd(false);
}

/* A descriptor that the kernel closes slowly, and a pipe that is closed before
 * it. */
static pid_t
start_slow_to_die(int *ret_pipe)
{
	int ends[2];
	pid_t pid;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		inotify_add_watch(inotify_init1(IN_CLOEXEC), "/", IN_ATTRIB);
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	*ret_pipe = ends[0];
	return pid;
}

TEST_ROWS(how_it_ends_is_known_before_it_is_gone, 2)
{
	struct procref ref = PROCREF_INIT;
	int fd = -1, status = -1;
	pid_t pid = start_slow_to_die(&fd);
	char c;

	procref_disable_pidfd(_i == 1);
	ck_assert_int_eq(read(fd, &c, 1), 1);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	ck_assert_int_eq(procref_ending(&ref, &status), -EAGAIN);
	ck_assert_int_eq(status, -1);
	ck_assert_int_eq(procref_signal(&ref, SIGKILL), 0);
	ck_assert_int_eq(read(fd, &c, 1), 0); /* broken */
	ck_assert_int_eq(procref_ending(&ref, &status), 0);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(procref_ending(&ref, &status), -ESRCH);
	procref_release(&ref);
	close(fd);
	procref_disable_pidfd(false);
}

TEST_ROWS(zombie_tells_how_it_ended, 2)
{
	struct procref ref = PROCREF_INIT;
	int status = -1;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(3);
	procref_disable_pidfd(_i == 1);
	ck_assert_int_eq(
	    waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	ck_assert_int_eq(procref_ending(&ref, &status), 0);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	procref_release(&ref);
	procref_disable_pidfd(false);
}

TEST_ROWS(zombie_is_gone_for_all_but_its_parent, 2)
{
	struct procref ref = PROCREF_INIT;
	pid_t zombie = start_zombie(), other;
	int status;

	procref_disable_pidfd(_i == 1);
	other = fork();
	ck_assert_int_ge(other, 0);
	if (other == 0)
		_exit(procref_set(&ref, zombie) == -ESRCH ? 7 : 8);
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert_int_eq(WEXITSTATUS(status), 7);
	procref_world_reap(zombie);
	procref_disable_pidfd(false);
}

TEST_ROWS(reused_pid_is_another_process, 2)
{
	struct procref ref = PROCREF_INIT;
	pid_t pid = procref_world_start(NULL);

	/* Without its pidfd, as after reading it from a file. */
	procref_disable_pidfd(true);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	procref_disable_pidfd(_i == 1);
	ref.start_time++;
	expect_gone(&ref);
	ref.start_time -= 2;
	expect_gone(&ref);
	procref_world_expect_running(pid);
	ref.start_time++;
	ck_assert_int_eq(procref_open(&ref), 0);
	ck_assert_int_eq(ref.pidfd >= 0, pidfd_works());
	ck_assert(procref_alive(&ref));
	procref_world_end(pid);
	procref_release(&ref);
	procref_disable_pidfd(false);
}

TEST_ROWS(other_boot_is_another_process, 2)
{
	struct procref ref = PROCREF_INIT;
	pid_t pid = procref_world_start(NULL);

	procref_disable_pidfd(true);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	procref_disable_pidfd(_i == 1);
	memcpy(ref.boot_id, OTHER_BOOT, sizeof ref.boot_id);
	expect_gone(&ref);
	procref_world_expect_running(pid);
	procref_world_end(pid);
	procref_release(&ref);
	procref_disable_pidfd(false);
}

static void
take_confusing_name(void)
{
	prctl(PR_SET_NAME, ") Z 1 1 (\n) X");
}

TEST_ROWS(name_cannot_confuse, 2)
{
	struct procref ref = PROCREF_INIT;
	pid_t pid = procref_world_start(take_confusing_name);

	procref_disable_pidfd(_i == 1);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	ck_assert(procref_alive(&ref));
	expect_stops(&ref);
	ck_assert_int_eq(procref_signal_group(&ref, SIGKILL), -ESRCH);
	procref_world_expect_running(pid);
	procref_world_end(pid);
	procref_release(&ref);
	procref_disable_pidfd(false);
}

static void *
wait_forever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

TEST_ROWS(process_lives_on_without_its_first_thread, 2)
{
	struct procref ref = PROCREF_INIT;
	int64_t deadline = clock_mono_ms() + 20000;
	pthread_t thread;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (pthread_create(&thread, NULL, wait_forever, NULL) != 0)
			_exit(1);
		syscall(SYS_exit, 0); /* of this thread only */
	}
	procref_disable_pidfd(_i == 1);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	while (procref_state(&ref) != 'Z' && clock_mono_ms() < deadline)
		sched_yield();
	ck_assert_int_eq(procref_state(&ref), 'Z');
	ck_assert(procref_alive(&ref));
	ck_assert_int_eq(procref_signal(&ref, SIGKILL), 0);
	ck_assert_int_eq(procref_world_reap(pid), SIGKILL);
	procref_release(&ref);
	procref_disable_pidfd(false);
}

TEST_ROWS(written_reference_finds_the_process_again, 2)
{
	struct procref ref = PROCREF_INIT, back = PROCREF_INIT;
	cleanup_json struct json_object *json = NULL;
	pid_t pid = procref_world_start(NULL);

	procref_disable_pidfd(_i == 1);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	json = procref_to_json(&ref);
	ck_assert_int_eq(procref_from_json(&back, json, NULL), 0);
	ck_assert_int_eq(back.pid, pid);
	ck_assert_uint_eq(back.start_time, ref.start_time);
	ck_assert_str_eq(back.boot_id, ref.boot_id);
	ck_assert_int_eq(back.pidfd, -1);
	ck_assert(procref_alive(&back));
	ck_assert_int_eq(procref_open(&back), 0);
	ck_assert_int_eq(procref_open(&back), 0);
	ck_assert_int_eq(procref_signal(&back, SIGUSR1), 0);
	ck_assert_int_eq(procref_world_reap(pid), SIGUSR1);
	expect_gone(&back);
	procref_release(&ref);
	procref_release(&back);
	procref_disable_pidfd(false);
}

TEST(written_nothing_stays_nothing)
{
	struct procref ref = PROCREF_INIT, back = PROCREF_INIT;
	cleanup_json struct json_object *json = procref_to_json(&ref);

	ck_assert_int_eq(procref_set_self(&back), 0);
	ck_assert_int_eq(procref_from_json(&back, json, NULL), 0);
	ck_assert_int_eq(back.pid, 0);
	ck_assert_int_eq(back.pidfd, -1);
}

TEST(malformed_reference_is_refused)
{
	static const struct {
		const char *text;
		int code;
		const char *word;
	} cases[] = {
		{ "{}", -ENOENT, "pid" },
		{ "{\"pid\":\"1\"}", -EINVAL, "pid" },
		{ "{\"pid\":-1,\"start_time\":1,\"boot_id\":\"\"}", -EINVAL,
		    "pid" },
		{ "{\"pid\":99999999999,\"start_time\":1,\"boot_id\":\"\"}",
		    -EINVAL, "pid" },
		{ "{\"pid\":1,\"boot_id\":\"\"}", -ENOENT, "start_time" },
		{ "{\"pid\":1,\"start_time\":-1,\"boot_id\":\"\"}", -EINVAL,
		    "start_time" },
		{ "{\"pid\":1,\"start_time\":1}", -ENOENT, "boot_id" },
		{ "{\"pid\":1,\"start_time\":1,\"boot_id\":\"abc\"}", -EINVAL,
		    "boot_id" },
		{ "{\"pid\":1,\"start_time\":1,\"boot_id\":\"0123456789"
		  "0123456789012345678901234567890123456789\"}",
		    -EINVAL, "boot_id" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_json struct json_object *json =
		    json_tokener_parse(cases[i].text);
		struct procref ref = PROCREF_INIT;
		struct err err = { 0 };

		ck_assert_int_eq(
		    procref_from_json(&ref, json, &err), cases[i].code);
		ck_assert_int_eq(err.code, cases[i].code);
		ck_assert_msg(
		    strstr(err.msg, cases[i].word) != NULL, "%s", err.msg);
		ck_assert_int_eq(ref.pid, 0);
	}
}

TEST(release_takes_any_empty_reference)
{
	struct procref ref = PROCREF_INIT, zero;

	memset(&zero, 0, sizeof zero);
	procref_release(&ref);
	procref_release(&ref);
	procref_release(&zero);
	ck_assert_int_ne(fcntl(0, F_GETFD), -1);
	ck_assert_int_eq(zero.pidfd, -1);
}

TEST(set_again_closes_the_old_pidfd)
{
	struct procref ref = PROCREF_INIT;
	int old;

	ck_assert_int_eq(procref_set(&ref, 1), 0);
	old = ref.pidfd;
	ck_assert_int_eq(procref_set_self(&ref), 0);
	if (!pidfd_works()) {
		procref_release(&ref);
		unit_skip("no pidfd here");
	}
	ck_assert_int_ge(old, 0);
	ck_assert_int_ne(ref.pidfd, old);
	ck_assert_int_eq(fcntl(old, F_GETFD), -1);
	ck_assert_int_ne(fcntl(ref.pidfd, F_GETFD) & FD_CLOEXEC, 0);
	procref_release(&ref);
}

TEST(pidfd_open_honours_the_switch)
{
	int expected = pidfd_works() ? -ESRCH : -ENOSYS;

	ck_assert_int_eq(procref_pidfd_open(INT_MAX), expected);
	procref_disable_pidfd(true);
	ck_assert_int_eq(procref_pidfd_open(getpid()), -ENOSYS);
	procref_disable_pidfd(false);
}
