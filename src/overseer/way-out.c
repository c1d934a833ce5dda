/* SPDX-License-Identifier: ISC */

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "overseer.h"
#include "way-out.h"

#define LEAVE_MS 1700
#define KILL_MS  1900 /* a handler does not run in every system call */

/* Handlers have no argument. */
static struct {
	struct sigaction next[NSIG]; /* those of the loop */
	volatile sig_atomic_t signals;
	volatile sig_atomic_t daemon;
	int leave, kill; /* timers */
} way_out = { .daemon = -1, .leave = -1, .kill = -1 };

static void
begin_timer(int timer, long ms)
{
	struct itimerspec at = {
		.it_value = { ms / 1000, ms % 1000 * 1000000 },
	};

	if (timer >= 0)
		syscall(SYS_timer_settime, timer, 0, &at, NULL);
}

static void
on_stop_signal(int signo)
{
	const struct sigaction *next = &way_out.next[signo];

	if (next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN)
		next->sa_handler(signo);
	if (++way_out.signals != 2)
		return;
	begin_timer(way_out.leave, LEAVE_MS);
	begin_timer(way_out.kill, KILL_MS);
}

static void
on_leave(int signo)
{
	(void)signo;
	if (way_out.daemon >= 0)
		/* One system call, which a handler may make.
		 * NOLINTNEXTLINE(bugprone-signal-handler) */
		syscall(SYS_pidfd_send_signal, (int)way_out.daemon, SIGKILL,
		    NULL, 0);
	_exit(OVERSEER_FORCED);
}

static int
make_timer(int signo)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = signo };
	int timer = -1;

	return syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0 ?
	    timer :
	    -1;
}

void
way_out_open(void)
{
	static const int signals[] = { SIGINT, SIGTERM };
	struct sigaction action = { .sa_handler = on_stop_signal,
		.sa_flags = SA_RESTART };

	way_out.signals = 0;
	way_out.leave = make_timer(SIGALRM);
	way_out.kill = make_timer(SIGKILL);
	signal(SIGALRM, on_leave);
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		sigaction(signals[i], &action, &way_out.next[signals[i]]);
}

void
way_out_daemon(int pidfd)
{
	way_out.daemon = pidfd;
}
