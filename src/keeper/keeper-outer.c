/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper-cgroup.h"
#include "keeper-command.h"
#include "keeper-inner.h"
#include "keeper-outer.h"
#include "keeper-reaper.h"
#include "keeper-record.h"
#include "keeper-say.h"
#include "keeper.h"

#define HANGUP_SECONDS 2 /* for the program to end by itself */

/* What others may send to the program through us. SIGCONT follows a SIGTERM
 * that a stopped program could not act on. */
static const int passed_on[] = { SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2,
	SIGCONT, SIGHUP };

/* --- the start --------------------------------------------------------- */

static int
start_in(struct keeper *keeper, enum keeper_mode mode)
{
	const char *asked = keeper->cgroup;
	int r = 0;

	keeper->mode = mode;
	if (asked != NULL || mode == KEEPER_CGROUP)
		r = keeper_cgroup_make(keeper);
	if (r == 0) {
		r = keeper_inner_start(keeper);
		if (r < 0)
			keeper_cgroup_remove(keeper);
	}
	if (r < 0)
		keeper->cgroup = asked;
	return r;
}

static int
start(struct keeper *keeper)
{
	int r = -EINVAL;

	for (int i = 0; i < keeper->mode_count; i++) {
		r = start_in(keeper, keeper->modes[i]);
		if (r == 0)
			return 0;
	}
	if (keeper->cgroup != NULL) {
		keeper_say("%s cannot be used, so limits do not hold: %s",
		    keeper->cgroup, strerror(-r));
		keeper->cgroup = NULL;
		return start(keeper);
	}
	keeper_say("cannot keep %s (mode %s): %s; see: llmc doctor",
	    keeper->argv[0], keeper_mode_word(keeper->mode), strerror(-r));
	return r;
}

static int
save_record(struct keeper *keeper)
{
	int r = keeper_record_write(keeper, false, 0);

	if (r < 0)
		keeper_say("cannot write %s: %s", keeper->record, strerror(-r));
	return r;
}

/* --- the wait ---------------------------------------------------------- */

/* The terminal is gone. Only we were told: tell the program, once, and give it
 * a little time. */
static void
hang_up(const struct keeper *keeper)
{
	static const struct itimerval grace = { .it_value.tv_sec =
						    HANGUP_SECONDS };
	static bool done;

	if (done)
		return;
	done = true;
	kill(keeper->inner, SIGHUP);
	setitimer(ITIMER_REAL, &grace, NULL);
}

/* Collect what has ended. True with the status when the inner process is among
 * it. */
static bool
collect(const struct keeper *keeper, int *ret_status)
{
	bool ended = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != keeper->inner)
			continue;
		ended = true;
		*ret_status = status;
	}
	return ended;
}

static int
wait_for_end(const struct keeper *keeper)
{
	sigset_t wanted;
	int status = 0, signo;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGALRM);
	for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
		sigaddset(&wanted, passed_on[i]);
	for (;;) {
		signo = sigwaitinfo(&wanted, NULL);
		if (signo == SIGCHLD) {
			if (collect(keeper, &status))
				return status;
		} else if (signo == SIGALRM) {
			kill(keeper->inner, SIGKILL);
		} else if (signo == SIGHUP && keeper->terminal) {
			hang_up(keeper);
		} else if (signo > 0 && !keeper->command) {
			kill(keeper->inner, signo);
		}
	}
}

/* How the program ended: as the inner process, or as that says. */
static int
run(const struct keeper *keeper)
{
	int status, said;

	keeper_inner_go(keeper);
	if (!keeper->command)
		return wait_for_end(keeper);
	if (keeper_inner_hear(&said))
		keeper_command_resend();
	status = wait_for_end(keeper);
	return keeper_inner_hear(&said) ? said : status;
}

int
keeper_outer_run(struct keeper *keeper)
{
	sigset_t all;
	int status = W_EXITCODE(KEEPER_FAILED, 0);
	long oom_kills;

	/* SIG_IGN would be inherited, and lose signals and zombies. */
	signal(SIGCHLD, SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &keeper->mask);
	if (keeper->command && !keeper_command_begin(keeper))
		return KEEPER_FAILED;
	if (keeper_reaper_begin() < 0 || start(keeper) < 0)
		return KEEPER_FAILED;
	if (save_record(keeper) == 0) {
		status = run(keeper);
	} else {
		kill(keeper->inner, SIGKILL);
	}
	keeper_cgroup_kill();
	if (keeper_reaper_end_all()) {
		oom_kills = keeper_cgroup_oom_kills(keeper);
		keeper_cgroup_remove(keeper);
		keeper_record_write(keeper, true, oom_kills);
	} else {
		keeper_say("processes of %s are left: they cannot be ended",
		    keeper->argv[0]);
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (keeper->command)
		keeper_command_die(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}
