/* SPDX-License-Identifier: ISC */

/* Signals to process groups. The tests run twice: _i is 0 with pidfds and 1
 * without. */
#include "procref-world.h"

/* All processes of a group are dead when this pipe is at its end. */
static int group_pipe[2];

static void
lead_group_of_two(void)
{
	if (setsid() == -1)
		_exit(1);
	if (fork() == 0)
		for (;;)
			pause();
}

static pid_t
start_group(void)
{
	pid_t pid;

	ck_assert_int_eq(pipe2(group_pipe, O_CLOEXEC), 0);
	pid = procref_world_start(lead_group_of_two);
	close(group_pipe[1]);
	return pid;
}

static void
expect_group_ended(void)
{
	char c;

	ck_assert_int_eq(read(group_pipe[0], &c, 1), 0);
	close(group_pipe[0]);
}

TEST_ROWS(group_gets_the_signal, 2)
{
	struct procref ref = PROCREF_INIT;
	pid_t pid = start_group();

	procref_disable_pidfd(_i == 1);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	ck_assert_int_eq(procref_signal_group(&ref, 0), 0);
	ck_assert_int_eq(procref_signal_group(&ref, 12345), -EINVAL);
	procref_world_expect_running(pid);
	ck_assert_int_eq(procref_signal_group(&ref, SIGUSR1), 0);
	ck_assert_int_eq(procref_world_reap(pid), SIGUSR1);
	expect_group_ended();
	ck_assert_int_eq(procref_signal_group(&ref, SIGUSR1), -ESRCH);
	procref_release(&ref);
	procref_disable_pidfd(false);
}

TEST_ROWS(group_of_a_zombie_leader_gets_the_signal, 2)
{
	struct procref ref = PROCREF_INIT;
	siginfo_t info;
	pid_t pid = start_group();

	procref_disable_pidfd(_i == 1);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	ck_assert_int_eq(procref_signal(&ref, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(procref_signal_group(&ref, SIGUSR1), 0);
	expect_group_ended();
	ck_assert_int_eq(procref_world_reap(pid), SIGKILL);
	procref_release(&ref);
	procref_disable_pidfd(false);
}

TEST_ROWS(group_led_by_another_gets_nothing, 2)
{
	struct procref ref = PROCREF_INIT;
	pid_t pid = procref_world_start(NULL);

	procref_disable_pidfd(_i == 1);
	ck_assert_int_eq(procref_set(&ref, pid), 0);
	ck_assert_int_eq(procref_signal_group(&ref, SIGKILL), -ESRCH);
	procref_world_expect_running(pid);
	procref_world_end(pid);
	procref_release(&ref);
	procref_disable_pidfd(false);
}

TEST_ROWS(group_of_init_gets_nothing, 2)
{
	struct procref ref = PROCREF_INIT;

	procref_disable_pidfd(_i == 1);
	ck_assert_int_eq(procref_set(&ref, 1), 0);
	ck_assert_int_eq(procref_signal_group(&ref, 0), -ESRCH);
	procref_release(&ref);
	procref_disable_pidfd(false);
}
