/* SPDX-License-Identifier: ISC */

/*
 * One process, the leader of the group, that reads what the command prints and
 * writes it into the files immediately, so that nothing is lost if the command
 * has to be killed. Output beyond the limits is read too, or SIGPIPE would end
 * the command.
 *
 * All signals are blocked: only SIGKILL ends it before the command has ended.
 * Everything that can fail, including all memory, is done before the .pid is
 * written, which says that the command may have begun; only the fork comes
 * after it.
 */
#include "base.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "errand-run.h"
#include "errand.h"
#include "sibling.h"

#define LINGER_MS     1000 /* for others that keep its output open at the end */
#define ALONE_MS      30000 /* beyond the deadline, at which autod ends it */
#define GRACE_MS      5000 /* from SIGTERM to SIGKILL */
#define LOCK_FD       100 /* above the numbers that scripts use in redirections */
#define CHUNK         65536
#define STATUS_UNABLE 126 /* the shell's status for what cannot be executed */

struct stream {
	int pipe; /* -1 = it has ended */
	int end; /* the command's end of the pipe */
	int file;
	size_t room; /* bytes that are still kept */
	bool said; /* something is in the file */
	bool failed; /* something could not be written */
	char tail[ERRAND_TAIL_MAX]; /* the end of what is not kept */
	size_t tail_len;
};

enum {
	OUT,
	ERR,
	STREAMS
};

struct run {
	struct json_object *record;
	char **argv; /* of the command */
	char *stem;
	char *pid_path, *pid_part, *status_path, *status_part;
	struct stream streams[STREAMS];
	int signals; /* readable when the command has ended */
	int null;
	pid_t pid;
	int status; /* -1 = it runs */
	int64_t give_up_ms; /* it is ended then; for its output, when it has
			     * ended */
	bool late; /* it was asked to end, as nobody else did */
};

/* --- what is needed, before anything happens --------------------------- */

/* Only autod runs this: if a person did, it would end the person's shell. */
static int
check_caller(const char *stem, struct err *err)
{
	cleanup_free char *path = errand_files_path(stem, ".lock");
	struct stat lock, input;

	if (getpgrp() == getpid() && stat(path, &lock) == 0 &&
	    fstat(STDIN_FILENO, &input) == 0 && lock.st_dev == input.st_dev &&
	    lock.st_ino == input.st_ino)
		return 0;
	return err_set(
	    err, -EPERM, "llmc errand is for autod only; it holds %s", path);
}

static int
load(struct run *run, const char *file, struct err *err)
{
	size_t len = strlen(file), suffix_len = strlen(ERRAND_JSON);
	const char *command = NULL;
	int r;

	if (len <= suffix_len ||
	    strcmp(file + len - suffix_len, ERRAND_JSON) != 0)
		return err_set(
		    err, -EINVAL, "%s is not the record of an errand", file);
	run->stem = xstrndup(file, len - suffix_len);
	r = check_caller(run->stem, err);
	if (r == 0)
		r = json_load(file, ERRAND_JSON_MAX, &run->record, err);
	if (r == 0)
		r = json_get_string(run->record, "", "command", &command, err);
	if (r == 0)
		run->argv = kept_shell(command, 0);
	run->pid_path = errand_files_path(run->stem, ".pid");
	run->pid_part = errand_files_path(run->stem, ".pid.tmp");
	run->status_path = errand_files_path(run->stem, ".status");
	run->status_part = errand_files_path(run->stem, ".status.tmp");
	return r;
}

static int
open_stream(struct run *run, int which, const char *suffix, size_t max)
{
	cleanup_free char *path = errand_files_path(run->stem, suffix);
	struct stream *stream = &run->streams[which];
	int ends[2];

	/* One byte more shows that it was cut. */
	stream->room = max + 1;
	stream->file = file_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (stream->file < 0)
		return stream->file;
	if (pipe2(ends, O_CLOEXEC) == -1)
		return -errno;
	stream->pipe = ends[0];
	stream->end = ends[1];
	return 0;
}

static int
open_all(struct run *run, struct err *err)
{
	sigset_t all, ended;
	int r;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	run->signals = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
	run->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (run->signals == -1 || run->null == -1)
		return err_errno(err, -errno, "%s", run->stem);
	r = open_stream(run, OUT, ".out", ERRAND_OUT_MAX);
	if (r == 0)
		r = open_stream(run, ERR, ".err", ERRAND_ERR_MAX);
	return r < 0 ? err_errno(err, r, "%s", run->stem) : 0;
}

/* Write a number into a small file, completely or not at all. */
static int
put(const char *part, const char *path, int number)
{
	cleanup_fd int fd = -1;
	char text[16];
	int len, r;

	if (part == NULL || path == NULL)
		return -EINVAL;
	fd = file_open(part, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return fd;
	len = snprintf(text, sizeof text, "%d\n", number);
	r = file_write_all(fd, text, (size_t)len);
	if (r == 0 && rename(part, path) == -1)
		r = -errno;
	return r;
}

/* --- the command ------------------------------------------------------ */

static void
keep_tail(struct stream *stream, const char *bytes, size_t len)
{
	size_t old = stream->tail_len;

	if (len > sizeof stream->tail) {
		bytes += len - sizeof stream->tail;
		len = sizeof stream->tail;
	}
	if (old > sizeof stream->tail - len)
		old = sizeof stream->tail - len;
	memmove(stream->tail, stream->tail + stream->tail_len - old, old);
	memcpy(stream->tail + old, bytes, len);
	stream->tail_len = old + len;
}

static void
keep(struct stream *stream, const char *bytes, size_t len)
{
	size_t fits = len > stream->room ? stream->room : len;

	stream->room -= fits;
	stream->said = true;
	if (file_write_all(stream->file, bytes, fits) < 0) {
		stream->failed = true;
		stream->room = 0;
	}
	keep_tail(stream, bytes + fits, len - fits);
}

static int
begin(struct run *run, struct err *err)
{
	sigset_t pending;
	int r = put(run->pid_part, run->pid_path, getpid());

	if (r < 0)
		return err_errno(err, r, "cannot write %s", run->pid_path);
	run->give_up_ms = clock_mono_ms() + ALONE_MS +
	    json_int_or(run->record, "deadline_ms", 0);
	/* The parent process may be gone by now. */
	dup2(run->null, STDOUT_FILENO);
	dup2(run->null, STDERR_FILENO);
	run->pid = fork();
	if (run->pid == 0) {
		const struct sigaction dfl = { .sa_handler = SIG_DFL };
		sigset_t none;

		/* In the new process: the keeper of the command, which ends
		 * with us. It keeps the lock too, so that the lock is free
		 * only when everything is gone. */
		for (int signo = 1; signo < NSIG; signo++)
			sigaction(signo, &dfl, NULL);
		if (fcntl(STDIN_FILENO, F_DUPFD, LOCK_FD) == -1)
			fcntl(STDIN_FILENO, F_DUPFD, STDERR_FILENO + 1);
		if (dup2(run->null, STDIN_FILENO) == -1 ||
		    dup2(run->streams[OUT].end, STDOUT_FILENO) == -1 ||
		    dup2(run->streams[ERR].end, STDERR_FILENO) == -1)
			_exit(STATUS_UNABLE);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execv(run->argv[0], run->argv);
		dprintf(
		    STDERR_FILENO, "%s: %s\n", run->argv[0], strerror(errno));
		_exit(STATUS_UNABLE);
	}
	if (run->pid == -1) {
		int error = errno;
		char words[128];
		int len = snprintf(words, sizeof words,
		    "cannot start a process: %s\n", strerror(error));

		/* The same message and status as from the shell. */
		keep(&run->streams[ERR], words, (size_t)len);
		run->status = STATUS_UNABLE;
	}
	for (int i = 0; i < STREAMS; i++)
		run->streams[i].end = fd_close(run->streams[i].end);
	/* The signal was sent to the group before the command was in it. */
	sigpending(&pending);
	if (run->pid > 0 && sigismember(&pending, SIGTERM) == 1)
		kill(0, SIGTERM);
	return 0;
}

/* --- until it has ended ----------------------------------------------- */

static void
hear(struct stream *stream)
{
	static char chunk[CHUNK];
	ssize_t n = read(stream->pipe, chunk, sizeof chunk);

	if (n > 0)
		keep(stream, chunk, (size_t)n);
	else if (n == 0 || errno != EINTR)
		stream->pipe = fd_close(stream->pipe);
}

static int64_t
left_ms(const struct run *run)
{
	if (run->status != -1 && run->streams[OUT].pipe == -1 &&
	    run->streams[ERR].pipe == -1)
		return 0;
	return run->give_up_ms - clock_mono_ms();
}

/* No daemon is there to end it. SIGTERM does not reach us. */
static void
end_late(struct run *run)
{
	run->late = true;
	run->give_up_ms += GRACE_MS;
	kill(0, SIGTERM);
	kill(0, SIGCONT);
}

static void
look(struct run *run)
{
	struct pollfd fds[] = {
		[OUT] = { run->streams[OUT].pipe, POLLIN, 0 },
		[ERR] = { run->streams[ERR].pipe, POLLIN, 0 },
		[STREAMS] = { run->signals, POLLIN, 0 },
	};

	int64_t left = clock_kernel_ms(left_ms(run));

	if (poll(fds, nitems(fds), left < INT_MAX ? (int)left : INT_MAX) == -1)
		return;
	for (int i = 0; i < STREAMS; i++)
		if (fds[i].revents != 0)
			hear(&run->streams[i]);
	if (fds[STREAMS].revents != 0) {
		struct signalfd_siginfo info;
		int status = 0;

		if (read(run->signals, &info, sizeof info) == -1 ||
		    waitpid(run->pid, &status, WNOHANG) != run->pid)
			return;
		run->status = WIFEXITED(status) ? WEXITSTATUS(status) :
						  128 + WTERMSIG(status);
		run->give_up_ms = clock_mono_ms() + LINGER_MS;
	}
}

/* A status says that the output is complete, also after a power cut. If the
 * output could not be written, or we ended the command, there is no status: the
 * result of the command is not known. */
static void __attribute__((noreturn)) finish(struct run *run)
{
	struct stream *out = &run->streams[OUT];

	/* The end of a long output says most about a failure. */
	if (out->tail_len > 0 && !out->failed &&
	    file_write_all(out->file, out->tail, out->tail_len) < 0)
		out->failed = true;
	if (!run->late &&
	    (!out->said || (!out->failed && fdatasync(out->file) == 0)))
		put(run->status_part, run->status_path, run->status);
	kill(0, SIGKILL); /* the rest of the group, and us */
	_exit(0);
}

int
errand_run(const char *file, struct err *err)
{
	struct run run = { .status = -1 };
	int r = load(&run, file, err);

	if (r == 0)
		r = open_all(&run, err);
	if (r == 0)
		r = begin(&run, err);
	if (r < 0) {
		json_object_put(run.record);
		strv_free(run.argv);
		free(run.stem);
		free(run.pid_path);
		free(run.pid_part);
		free(run.status_path);
		free(
		    run.status_part); /* the descriptors end with the process */
		return r;
	}
	while (left_ms(&run) > 0 || (run.status == -1 && !run.late)) {
		if (left_ms(&run) <= 0)
			end_late(&run);
		look(&run);
	}
	finish(&run);
}
