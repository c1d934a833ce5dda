/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "keeper-proc.h"
#include "keeper-reaper.h"

#define ROUND_MS 10
#define ROUNDS   500

int
keeper_reaper_begin(void)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1) == -1 ? -errno : 0;
}

static void
end_one(pid_t pid, void *arg)
{
	(void)arg;
	kill(pid, SIGKILL);
}

bool
keeper_reaper_end_all(void)
{
	const struct timespec pause = { .tv_nsec = ROUND_MS * 1000000L };
	sigset_t child;
	pid_t pid;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (int round = 0; round < ROUNDS; round++) {
		do {
			pid = waitpid(-1, NULL, WNOHANG);
		} while (pid > 0);
		if (pid == -1 && errno == ECHILD)
			return true;
		keeper_proc_children(getpid(), end_one, NULL);
		sigtimedwait(&child, NULL, &pause);
	}
	return false;
}
