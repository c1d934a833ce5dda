/* SPDX-License-Identifier: ISC */

#include <sys/prctl.h>

#include "procref-world.h"

pid_t
procref_world_start(void (*body)(void))
{
	int ends[2];
	char c;
	pid_t pid;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		/* Do not survive a failing test. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (body != NULL)
			body();
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], &c, 1), 1);
	close(ends[0]);
	return pid;
}

int
procref_world_reap(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void
procref_world_end(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(procref_world_reap(pid), SIGKILL);
}

void
procref_world_expect_running(pid_t pid)
{
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
}
