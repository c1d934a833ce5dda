/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errtext.h"
#include "mem.h"
#include "terminal.h"

/* Signals that main ignores, or that we ignore while another program has the
 * terminal. */
static const int terminal_signals[] = { SIGINT, SIGQUIT, SIGPIPE };

bool
terminal_here(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

int
terminal_become(const char *const *argv, struct err *err)
{
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	signal(SIGPIPE, SIG_IGN);
	return err_errno(err, -errno, "%s", argv[0]);
}

static int
wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
terminal_run(const char *const *argv, struct err *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction before[nitems(terminal_signals)];
	posix_spawnattr_t attr;
	sigset_t defaults;
	pid_t pid;
	int r;

	sigemptyset(&defaults);
	for (size_t i = 0; i < nitems(terminal_signals); i++) {
		sigaddset(&defaults, terminal_signals[i]);
		sigaction(terminal_signals[i], &ignore, &before[i]);
	}
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	r = posix_spawnp(&pid, argv[0], NULL, &attr,
	    (char *const *)(uintptr_t)argv, environ);
	posix_spawnattr_destroy(&attr);
	r = r == 0 ? wait_for(pid) : -r;
	for (size_t i = 0; i < nitems(terminal_signals); i++)
		sigaction(terminal_signals[i], &before[i], NULL);
	return r < 0 ? err_errno(err, r, "%s", argv[0]) : r;
}

void
terminal_stop(bool group)
{
	signal(SIGTSTP, SIG_DFL);
	kill(group ? 0 : getpid(), SIGTSTP);
}
