/* SPDX-License-Identifier: ISC */

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "loop.h"
#include "mem.h"
#include "reaper.h"

#define SWEEP_MS 50 /* gives parents time to collect their own children */

struct reaper {
	struct loop_signal *signal;
	struct loop_timer *sweep;
	struct loop *loop;
};

/* There are few at any time, so a linear search is fast enough. */
static struct {
	pid_t *pids;
	size_t count;
} known;

void
reaper_know(pid_t pid)
{
	known.pids =
	    xreallocarray(known.pids, known.count + 1, sizeof *known.pids);
	known.pids[known.count++] = pid;
}

void
reaper_forget(pid_t pid)
{
	for (size_t i = 0; i < known.count; i++) {
		if (known.pids[i] != pid)
			continue;
		known.pids[i] = known.pids[--known.count];
		break;
	}
	if (known.count == 0)
		free(take_ptr(&known.pids));
}

static bool
is_known(pid_t pid)
{
	for (size_t i = 0; i < known.count; i++)
		if (known.pids[i] == pid)
			return true;
	return false;
}

static void reaper_later(struct reaper *reaper);

static void
reaper_sweep(void *arg)
{
	struct reaper *reaper = arg;
	siginfo_t info = { 0 };

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid != 0) {
		if (is_known(info.si_pid)) {
			/* Its owner will collect it; until then, those after it
			 * in the queue wait. */
			reaper_later(reaper);
			return;
		}
		waitpid(info.si_pid, NULL, WNOHANG);
		info = (siginfo_t){ 0 };
	}
}

static void
reaper_later(struct reaper *reaper)
{
	if (reaper->sweep == NULL)
		reaper->sweep =
		    loop_after(reaper->loop, SWEEP_MS, reaper_sweep, reaper);
	else if (!loop_timer_pending(reaper->sweep))
		loop_timer_restart(reaper->sweep, SWEEP_MS);
}

static void
reaper_signal(int signo, void *arg)
{
	(void)signo;
	reaper_later(arg);
}

struct reaper *
reaper_new(struct loop *loop)
{
	struct reaper *reaper = xcalloc(1, sizeof *reaper);

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	reaper->loop = loop;
	reaper->signal = loop_signal_new(loop, SIGCHLD, reaper_signal, reaper);
	return reaper;
}

void
reaper_free(struct reaper *reaper)
{
	if (reaper == NULL)
		return;
	loop_signal_free(reaper->signal);
	loop_timer_free(reaper->sweep);
	free(reaper);
}
