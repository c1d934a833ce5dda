/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "keeper-command.h"
#include "keeper-proc.h"
#include "keeper.h"

#define ROUND_MS  20
#define LINGER_MS 1000

bool
keeper_command_begin(struct keeper *keeper)
{
	keeper->pid = getpid();
	keeper->group = getpgrp();
	if (keeper->parent == 0)
		return true;
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
	    getppid() == keeper->parent;
}

/* In a pid namespace the group has no number, and the init may die with it. */
static bool
has_groups(const struct keeper *keeper)
{
	return keeper->mode != KEEPER_NAMESPACE;
}

/* Commands make names of their own with $$, which must differ between two that
 * run at once: give the program the pid that the keeper has outside. A kernel
 * that does not have this file gives it a small number. */
static void
choose_pid(pid_t pid)
{
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);

	if (fd == -1)
		return;
	dprintf(fd, "%d", (int)pid - 1);
	close(fd);
}

void
keeper_command_leave(const struct keeper *keeper)
{
	if (has_groups(keeper))
		setpgid(0, 0);
	else
		choose_pid(keeper->pid);
}

void
keeper_command_join(const struct keeper *keeper, pid_t program)
{
	if (has_groups(keeper))
		setpgid(program, keeper->group);
}

void
keeper_command_resend(void)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGQUIT, SIGHUP };
	sigset_t pending;

	if (sigpending(&pending) == -1)
		return;
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		if (sigismember(&pending, signals[i]) == 1)
			kill(0, signals[i]);
}

/* --- output ------------------------------------------------------------ */

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Does the process write to a pipe that is our output? */
static void
look_at(pid_t pid, void *arg)
{
	bool *found = arg;
	struct stat ours, its;
	char path[64];

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
		if (stat(path, &its) == -1 || !S_ISFIFO(its.st_mode))
			continue;
		for (int own = STDOUT_FILENO; own <= STDERR_FILENO; own++)
			if (fstat(own, &ours) == 0 && is_same(&ours, &its))
				*found = true;
	}
}

bool
keeper_command_linger(void)
{
	const struct timespec pause = { .tv_nsec = ROUND_MS * 1000000L };
	sigset_t wanted;
	bool found;
	pid_t pid;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, KEEPER_ORPHANED);
	for (int ms = 0; ms < LINGER_MS; ms += ROUND_MS) {
		do {
			pid = waitpid(-1, NULL, WNOHANG);
		} while (pid > 0);
		if (pid == -1 && errno == ECHILD)
			return false;
		found = false;
		keeper_proc_children(getpid(), look_at, &found);
		if (!found)
			return false;
		if (sigtimedwait(&wanted, NULL, &pause) == KEEPER_ORPHANED)
			return true;
	}
	return false;
}

/* --- the end ----------------------------------------------------------- */

void
keeper_command_die(int signo)
{
	static const struct rlimit none = { 0, 0 };
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	signal(signo, SIG_DFL);
	kill(getpid(), signo);
	sigemptyset(&set);
	sigaddset(&set, signo);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
