/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "keeper-private.h"

#define NOT_EXECUTABLE 126
#define NOT_FOUND      127

void
keeper_say(const char *fmt, ...)
{
	static const char head[] = "keeper: ";
	char line[1024];
	size_t used = sizeof head - 1, room = sizeof line - sizeof head;
	va_list ap;
	int n;

	memcpy(line, head, sizeof head);
	va_start(ap, fmt);
	n = vsnprintf(line + used, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		used += (size_t)n < room ? (size_t)n : room - 1;
	line[used++] = '\n';
	if (write(STDERR_FILENO, line, used) == -1)
		return; /* it has no reader */
}

int
keeper_exec_failed(const char *program)
{
	int error = errno;

	keeper_say("cannot start %s: %s", program, strerror(error));
	return error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}

#define ABI_SCOPES  6
#define GET_VERSION 1U

/* As of that ABI; older system headers have a shorter one. */
struct ruleset {
	uint64_t handled_fs, handled_net, scoped;
};

int
keeper_scope_check(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, GET_VERSION);

	if (abi == -1)
		return -errno;
	return abi < ABI_SCOPES ? -EOPNOTSUPP : 0;
}

int
keeper_scope_enter(unsigned scopes)
{
	const struct ruleset ruleset = { .scoped = scopes };
	int fd = (int)syscall(
	    SYS_landlock_create_ruleset, &ruleset, sizeof ruleset, 0U);
	int r = 0;

	if (fd == -1)
		return -errno;
	if (syscall(SYS_landlock_restrict_self, fd, 0U) == -1 &&
	    (errno != EPERM || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
		syscall(SYS_landlock_restrict_self, fd, 0U) == -1))
		r = -errno;
	close(fd);
	return r;
}

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

/* In the inner process and in the program, which is 0 there: put it into the
 * group of the keeper. */
static void
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

/* Does the process write to a pipe that is our output? */
static void
keeper_command_look_at(pid_t pid, void *arg)
{
	bool *found = arg;
	struct stat ours, its;
	char path[64];

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
		if (stat(path, &its) == -1 || !S_ISFIFO(its.st_mode))
			continue;
		for (int own = STDOUT_FILENO; own <= STDERR_FILENO; own++)
			if (fstat(own, &ours) == 0 &&
			    ours.st_dev == its.st_dev &&
			    ours.st_ino == its.st_ino)
				*found = true;
	}
}

/* In the inner process, when the program has ended: wait a little for those who
 * still write to its output, such as `tee` in a script. True if the keeper is
 * gone. */
static bool
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
		keeper_proc_children(getpid(), keeper_command_look_at, &found);
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

/* Make the calling process's group the one that the terminal talks to: keys
 * and changes of size reach it and not the keeper. All signals must be blocked.
 * Without a terminal this does nothing. */
static void
keeper_terminal_take(void)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

	if (fd == -1)
		return;
	tcsetpgrp(fd, getpgrp());
	close(fd);
}

static void
continue_group(pid_t pid, void *arg)
{
	const pid_t *group = arg;

	if (getpgid(pid) == *group && keeper_proc_is_stopped(pid))
		kill(-*group, SIGCONT);
}

#define LOOK_SECONDS 2

struct box_signal {
	int signo, sent;
};

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
	pid_t group = program;

	/* By the parent of the process that leads the group: continue the
	 * group if one of its processes is stopped. Its leader tells us
	 * that; but one that was stopped between vfork(2) and execve(2)
	 * keeps the leader from stopping, and both would wait for ever. A
	 * job of a shell has a group of its own. */
	keeper_proc_glance(group, continue_group, &group);
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

/* The program may have ended at the same time as the keeper: the signal is
 * still pending. */
static bool
is_orphaned(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 &&
	    sigismember(&pending, KEEPER_ORPHANED) == 1;
}

/* Of a command, to the keeper: 0 when the program is there, then how it ended,
 * as waitpid(2) says. */
static void
say(const struct keeper *keeper, int number)
{
	if (write(keeper->said, &number, sizeof number) == -1)
		return; /* the keeper is gone */
}

static _Noreturn void
finish(const struct keeper *keeper, int status)
{
	if (keeper->command) {
		if (keeper_command_linger())
			finish_orphaned(keeper);
		say(keeper, status);
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

/* In the program of a command, in its group and before it takes signals: wait
 * until the keeper has resent what came too early. One that comes now is
 * pending for both, and must not arrive twice. */
static void
hold(const struct keeper *keeper)
{
	char byte;

	if (read(keeper->go, &byte, 1) != 1)
		_exit(KEEPER_FAILED); /* the keeper is gone */
}

void
keeper_program_run(const struct keeper *keeper)
{
	const struct timespec look = { .tv_sec = LOOK_SECONDS };
	pid_t program;
	sigset_t all;
	int signo;

	if (keeper->command) {
		/* In the inner process, before it starts the program: leave
		 * the group. In a pid namespace the program gets the
		 * keeper's pid. */
		if (has_groups(keeper))
			setpgid(0, 0);
		else
			choose_pid(keeper->pid);
	}
	program = fork();
	if (program == 0) {
		int r = 0;

		if (keeper->command) {
			keeper_command_join(keeper, 0);
			hold(keeper);
		} else {
			setpgid(0, 0);
		}
		if (keeper->terminal)
			keeper_terminal_take();
		/* bwrap is in the foreground with the agent, and its end would
		 * be the agent's. Agents set a handler, and reset this for
		 * their children. */
		if (keeper->terminal && keeper->mode == KEEPER_BOX) {
			signal(SIGINT, SIG_IGN);
			signal(SIGQUIT, SIG_IGN);
		}
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (keeper->mode == KEEPER_SCOPE)
			r = keeper_scope_enter(KEEPER_SCOPE_SIGNAL);
		if (r < 0) {
			keeper_say(
			    "cannot enter a signal scope: %s", strerror(-r));
			_exit(KEEPER_FAILED);
		}
		sigprocmask(SIG_SETMASK, &keeper->mask, NULL);
		execvp(keeper->argv[0], keeper->argv);
		_exit(keeper_exec_failed(keeper->argv[0]));
	}
	if (program == -1) {
		keeper_say(
		    "cannot start %s: %s", keeper->argv[0], strerror(errno));
		_exit(KEEPER_FAILED);
	}
	if (keeper->command) {
		keeper_command_join(keeper, program);
		say(keeper, 0);
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
