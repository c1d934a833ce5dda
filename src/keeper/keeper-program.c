/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "keeper-cgroup.h"
#include "keeper-command.h"
#include "keeper-filter.h"
#include "keeper-inner.h"
#include "keeper-proc.h"
#include "keeper-program.h"
#include "keeper-reaper.h"
#include "keeper-say.h"
#include "keeper-scope.h"
#include "keeper-terminal.h"
#include "keeper.h"

#define NOT_EXECUTABLE 126
#define NOT_FOUND      127
#define LOOK_SECONDS   2

struct box_signal {
	int signo, sent;
};

static _Noreturn void
become(const struct keeper *keeper)
{
	int r = 0, error;

	if (keeper->command)
		keeper_command_join(keeper, 0);
	else
		setpgid(0, 0);
	if (keeper->terminal)
		keeper_terminal_take();
	/* bwrap is in the foreground with the agent, and its end would be the
	 * agent's. Agents set a handler, and reset this for their children. */
	if (keeper->terminal && keeper->mode == KEEPER_BOX) {
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (keeper->mode == KEEPER_SCOPE)
		r = keeper_scope_enter(KEEPER_SCOPE_SIGNAL);
	if (r < 0) {
		keeper_say("cannot enter a signal scope: %s", strerror(-r));
		_exit(KEEPER_FAILED);
	}
	sigprocmask(SIG_SETMASK, &keeper->mask, NULL);
	execvp(keeper->argv[0], keeper->argv);
	error = errno;
	keeper_say("cannot start %s: %s", keeper->argv[0], strerror(error));
	_exit(error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

int
keeper_program_become(char **argv, bool scoped, int filter)
{
	int r = scoped ? keeper_scope_enter(KEEPER_SCOPE_ABSTRACT) : 0;

	if (r < 0) {
		keeper_say("cannot close abstract sockets: %s", strerror(-r));
		return KEEPER_FAILED;
	}
	/* What our keeper holds, the lock of a check say, is not for a box. */
	close_range(STDERR_FILENO + 1, ~0U, 0);
	keeper_filter_leave_keyring();
	if (filter != -1 && (r = keeper_filter_open(filter)) < 0) {
		keeper_say("cannot make a filter: %s", strerror(-r));
		return KEEPER_FAILED;
	}
	execvp(argv[0], argv);
	keeper_say("cannot start %s: %s", argv[0], strerror(errno));
	return KEEPER_FAILED;
}

/* --- signals ---------------------------------------------------------- */

static void
signal_agent(pid_t pid, void *arg)
{
	struct box_signal *signal = arg;

	if (kill(pid, signal->signo) == 0)
		signal->sent++;
}

static void
signal_below(pid_t pid, void *arg)
{
	keeper_proc_children(pid, signal_agent, arg);
}

/* bwrap has an init as its child, which has the agent as its child. Only that
 * one knows how to end well; the end of the two others ends it. */
static bool
signal_boxed(pid_t bwrap, int signo)
{
	struct box_signal signal = { .signo = signo };

	keeper_proc_children(bwrap, signal_below, &signal);
	return signal.sent > 0;
}

static void
pass_on(const struct keeper *keeper, pid_t program, int signo)
{
	if (keeper->mode == KEEPER_BOX && signo != SIGCONT &&
	    signal_boxed(program, signo))
		return;
	/* A hangup is for the whole terminal, and what is stopped cannot act on
	 * anything. */
	if (signo == SIGCONT || (signo == SIGHUP && keeper->terminal))
		kill(-program, signo);
	else
		kill(program, signo);
}

static void
continue_agent(pid_t pid, void *arg)
{
	(void)arg;
	if (keeper_proc_is_stopped(pid))
		kill(pid, SIGCONT);
}

static void
continue_below(pid_t pid, void *arg)
{
	keeper_proc_glance(pid, continue_agent, arg);
}

/* At a terminal: what is stopped, without telling us, must not stay so. bwrap
 * does not tell that its program has stopped. */
static void
look_for_stopped(const struct keeper *keeper, pid_t program)
{
	keeper_terminal_continue(program);
	if (keeper->mode == KEEPER_BOX)
		keeper_proc_glance(program, continue_below, NULL);
}

/* --- the end ---------------------------------------------------------- */

static _Noreturn void
finish_orphaned(const struct keeper *keeper)
{
	keeper_cgroup_leave();
	keeper_cgroup_kill();
	keeper_reaper_end_all();
	keeper_cgroup_remove(keeper);
	_exit(KEEPER_FAILED);
}

/* The program may have ended at the same time as the keeper, which nobody has
 * told us yet. */
static bool
is_orphaned(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 &&
	    sigismember(&pending, KEEPER_ORPHANED) == 1;
}

static _Noreturn void
finish(const struct keeper *keeper, int status)
{
	if (keeper->command) {
		if (keeper_command_linger())
			finish_orphaned(keeper);
		keeper_inner_say(status);
	}
	if (is_orphaned())
		finish_orphaned(keeper);
	/* The kernel ends a namespace with its init; a group is ended by the
	 * keeper, since we are in it. */
	if (keeper->mode != KEEPER_NAMESPACE && keeper->mode != KEEPER_CGROUP)
		keeper_reaper_end_all();
	if (WIFSIGNALED(status))
		_exit(128 + WTERMSIG(status));
	_exit(WEXITSTATUS(status));
}

/* Collect what has ended. The program must not stay stopped at a terminal where
 * no shell would continue it. */
static void
collect(const struct keeper *keeper, pid_t program)
{
	int status, options = WNOHANG | (keeper->terminal ? WUNTRACED : 0);
	pid_t pid;

	while ((pid = waitpid(-1, &status, options)) > 0) {
		if (pid != program)
			continue;
		if (WIFSTOPPED(status))
			kill(-program, SIGCONT);
		else
			finish(keeper, status);
	}
}

void
keeper_program_run(const struct keeper *keeper)
{
	const struct timespec look = { .tv_sec = LOOK_SECONDS };
	pid_t program;
	sigset_t all;
	int signo;

	if (keeper->command)
		keeper_command_leave(keeper);
	program = fork();
	if (program == 0)
		become(keeper);
	if (program == -1) {
		keeper_say(
		    "cannot start %s: %s", keeper->argv[0], strerror(errno));
		_exit(KEEPER_FAILED);
	}
	if (keeper->command) {
		keeper_command_join(keeper, program);
		keeper_inner_say(0);
	}
	sigfillset(&all);
	for (;;) {
		signo = keeper->terminal ? sigtimedwait(&all, NULL, &look) :
					   sigwaitinfo(&all, NULL);
		if (signo == -1 && errno == EAGAIN)
			look_for_stopped(keeper, program);
		else if (signo == KEEPER_ORPHANED)
			finish_orphaned(keeper);
		else if (signo == SIGCHLD)
			collect(keeper, program);
		else if (signo > 0 && !keeper->command)
			pass_on(keeper, program, signo);
	}
}
