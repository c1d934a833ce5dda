/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "child-exec.h"
#include "child.h"

/* What the new process needs: its three standard descriptors, and the pipe on
 * which it reports a failure. */
struct exec_plan {
	const char *const *argv;
	int (*call)(void *arg);
	void *call_arg;
	pid_t parent; /* with `call` */
	char **env;
	const char *cwd;
	int std[3];
	int status;
	int extra; /* above CHILD_EXTRA_FD, -1 = none */
	bool detach, in_group;
};

static bool is_copy;

bool
child_exec_is_copy(void)
{
	return is_copy;
}

/* Move the descriptor above 2, so that no dup2 in the child overwrites it.
 * Takes ownership of fd. Returns negative errno. */
static int
exec_fd(int fd)
{
	int moved;

	if (fd == -1)
		return -errno;
	if (fd > 2)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (moved == -1)
		moved = -errno;
	fd_close(fd);
	return moved;
}

static int
exec_pipe(int ret[2])
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) == -1)
		return -errno;
	fds[0] = exec_fd(fds[0]);
	fds[1] = exec_fd(fds[1]);
	if (fds[0] < 0 || fds[1] < 0) {
		int r = fds[0] < 0 ? fds[0] : fds[1];

		fd_close(fds[0]);
		fd_close(fds[1]);
		return r;
	}
	ret[0] = fds[0];
	ret[1] = fds[1];
	return 0;
}

static bool
env_same_name(const char *a, const char *b)
{
	size_t len = strcspn(a, "=");

	return len == strcspn(b, "=") && strncmp(a, b, len) == 0;
}

static bool
env_edited(const char *entry, const char *const *edits)
{
	for (; edits != NULL && *edits != NULL; edits++)
		if (env_same_name(entry, *edits))
			return true;
	return false;
}

/* Our environment with the edits applied; only the array is allocated. */
static char **
env_build(const char *const *edits)
{
	size_t count = 0, n = 0;
	char **env;

	for (char **e = environ; e != NULL && *e != NULL; e++)
		count++;
	for (size_t i = 0; edits != NULL && edits[i] != NULL; i++)
		count++;
	env = xcalloc(count + 1, sizeof *env);
	for (char **e = environ; e != NULL && *e != NULL; e++)
		if (!env_edited(*e, edits))
			env[n++] = *e;
	for (size_t i = 0; edits != NULL && edits[i] != NULL; i++) {
		if (strchr(edits[i], '=') == NULL ||
		    env_edited(edits[i], edits + i + 1))
			continue;
		memcpy(&env[n++], &edits[i], sizeof *env);
	}
	return env;
}

static void __attribute__((noreturn)) child_report(int status, bool in_chdir)
{
	struct child_exec_failure failure;

	memset(&failure, 0, sizeof failure);
	failure.error = errno;
	failure.in_chdir = in_chdir;
	if (write(status, &failure, sizeof failure) == -1)
		_exit(126);
	_exit(127);
}

static void
child_close_from(int first)
{
	long max;

	if (close_range((unsigned)first, ~0u, 0) == 0)
		return;
	max = sysconf(_SC_OPEN_MAX);
	if (max < 0 || max > 65536)
		max = 65536;
	for (int fd = first; fd < max; fd++)
		close(fd);
}

/* Runs in the new process: nothing here may allocate or take a lock. */
static void
child_become(const struct exec_plan *plan)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	if (!plan->in_group)
		setsid();
	if (plan->detach) {
		int status = plan->status;
		int left[2] = { -1, -1 };
		pid_t pid = -1;
		char byte;

		/* Continue in a second process with its own session, outside
		 * the process group that child.c kills when the leader dies.
		 * The leader must not exit before that; it waits for end of
		 * file on the pipe. */
		if (pipe2(left, O_CLOEXEC) == 0)
			pid = fork();
		if (pid == -1)
			child_report(status, false);
		if (pid > 0) {
			close(left[1]);
			if (read(left[0], &byte, 1) == -1)
				_exit(126);
			_exit(0);
		}
		setsid();
		close(left[0]);
		close(left[1]);
	}
	for (int signo = 1; signo < NSIG; signo++)
		sigaction(signo, &dfl, NULL);
	for (int i = 0; i < 3; i++)
		if (dup2(plan->std[i], i) == -1)
			child_report(plan->status, false);
	if (plan->status != 3) {
		/* Descriptors above 2 have been copied by now. */
		if (dup2(plan->status, 3) == -1)
			child_report(plan->status, false);
		fcntl(3, F_SETFD, FD_CLOEXEC);
	}
	if (plan->extra == -1) {
		child_close_from(4);
	} else {
		if (dup2(plan->extra, CHILD_EXTRA_FD) == -1)
			child_report(3, false);
		for (int fd = 4; fd < CHILD_EXTRA_FD; fd++)
			close(fd);
		child_close_from(CHILD_EXTRA_FD + 1);
	}
	if (plan->cwd != NULL && chdir(plan->cwd) == -1)
		child_report(3, true);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (plan->call != NULL) {
		struct sigaction ignore = { .sa_handler = SIG_IGN };

		/* The parent waits for the byte: until then we hold copies
		 * of its locks. */
		sigaction(SIGPIPE, &ignore, NULL);
		/* What it runs is ended, and it undoes what is half done. */
		sigaction(SIGTERM, &ignore, NULL);
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 ||
		    getppid() != plan->parent || write(3, "", 1) != 1)
			_exit(126);
		close(3);
		is_copy = true;
		log_mute();
		prctl(PR_SET_NAME, "helper"); /* not another daemon */
		clock_virtual_end();
		_exit(plan->call(plan->call_arg));
	}
	environ = plan->env; /* search the new PATH */
	execvp(plan->argv[0], (char *const *)(uintptr_t)plan->argv);
	child_report(3, false);
}

/* The child's standard input when it is not a pipe. Negative errno on
 * failure. */
static int
exec_input(const struct child_spec *spec)
{
	if (spec->stdin_fd > 0)
		return exec_fd(fcntl(spec->stdin_fd, F_DUPFD_CLOEXEC, 3));
	return exec_fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

/* Duplicates of what the caller gave it. Negative errno on failure. */
static int
exec_given(const struct child_spec *spec, int *ret_output, int *ret_extra)
{
	if (spec->output_fd > 0) {
		*ret_output =
		    exec_fd(fcntl(spec->output_fd, F_DUPFD_CLOEXEC, 3));
		if (*ret_output < 0)
			return *ret_output;
	}
	if (spec->extra_fd > 0) {
		*ret_extra =
		    fcntl(spec->extra_fd, F_DUPFD_CLOEXEC, CHILD_EXTRA_FD + 1);
		if (*ret_extra == -1)
			return -errno;
	}
	return 0;
}

/* vfork() spares the copy of our memory, a third of what a short git costs, and
 * when it returns the new process no longer holds our locks. We sleep until the
 * new process has called exec or exit; until then it uses our memory, and may
 * change only `environ` in it. */
static pid_t
child_fork(const struct exec_plan *plan)
{
	char **own = environ;
	sigset_t all, old;
	pid_t pid;
	int saved;

	/* Keep our signal handlers from running in the child. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	/* posix_spawn() cannot do all that a child needs here.
	 * NOLINTNEXTLINE(clang-analyzer-*) */
	pid = plan->detach || plan->call != NULL ? fork() : vfork();
	if (pid == 0)
		child_become(plan);
	saved = errno;
	environ = own;
	sigprocmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return pid;
}

/* Until the copy of us has let go of our locks. */
static int
await_copy(int status, pid_t pid)
{
	char byte;
	ssize_t n;
	int r = 0;

	do
		n = read(status, &byte, 1);
	while (n == -1 && errno == EINTR);
	if (n == -1) {
		r = -errno;
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
			continue;
	}
	return r;
}

static void
nonblocking(int fd)
{
	int flags;

	if (fd == -1)
		return;
	flags = fcntl(fd, F_GETFL);
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

int
child_exec(const struct child_spec *spec, struct child_exec_pipes *ret_pipes,
    struct err *err)
{
	const char *const shell[] = { "/bin/sh", "-c", spec->shell, NULL };
	enum {
		IN,
		OUT,
		ERR,
		STATUS,
		PIPES
	};
	int p[PIPES][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } };
	const bool captured = spec->output_fd <= 0;
	const bool wanted[PIPES] = { spec->input != NULL, captured,
		captured && !spec->merge_stderr, true };
	cleanup_free char **env = NULL;
	struct exec_plan plan;
	pid_t pid = -1;
	int r = 0, extra = -1;

	for (int i = 0; i < PIPES && r == 0; i++)
		if (wanted[i])
			r = exec_pipe(p[i]);
	if (r == 0 && !wanted[IN]) {
		r = exec_input(spec);
		if (r >= 0) {
			p[IN][0] = r;
			r = 0;
		}
	}
	if (r == 0)
		r = exec_given(spec, &p[OUT][1], &extra);
	if (r == 0) {
		env = env_build(spec->env);
		plan = (struct exec_plan){
			.argv = spec->shell != NULL ? shell : spec->argv,
			.call = spec->call,
			.call_arg = spec->call_arg,
			.parent = getpid(),
			.env = env,
			.cwd = spec->cwd,
			.std = { p[IN][0], p[OUT][1],
			    wanted[ERR] ? p[ERR][1] : p[OUT][1] },
			.status = p[STATUS][1],
			.extra = extra,
			.detach = spec->detach,
			.in_group = spec->in_group,
		};
		pid = child_fork(&plan);
		if (pid == -1)
			r = -errno;
	}
	fd_close(extra);
	p[IN][0] = fd_close(p[IN][0]);
	for (int i = OUT; i < PIPES; i++)
		p[i][1] = fd_close(p[i][1]);
	if (r == 0 && spec->call != NULL)
		r = await_copy(p[STATUS][0], pid);
	if (r < 0) {
		fd_close(p[IN][1]);
		for (int i = OUT; i < PIPES; i++)
			fd_close(p[i][0]);
		return err_errno(err, r, "cannot start a process");
	}
	*ret_pipes = (struct child_exec_pipes){ .pid = pid,
		.in = p[IN][1],
		.out = p[OUT][0],
		.err = p[ERR][0],
		.status = p[STATUS][0] };
	nonblocking(ret_pipes->in);
	nonblocking(ret_pipes->out);
	nonblocking(ret_pipes->err);
	nonblocking(ret_pipes->status);
	return 0;
}
