/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "child-exec.h"
#include "child.h"
#include "loop.h"
#include "procref.h"

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

/* It has been reaped. */
static void
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

#define OUTPUT_MAX     (64 * 1024)
#define GRACE_MS       5000
#define DRAIN_MS       200 /* how long to read a pipe that outlives the child */
#define KILL_MS        5000 /* how long to wait after SIGKILL */
#define READ_PER_EVENT (64 * 1024)

enum child_stream {
	STREAM_OUT,
	STREAM_ERR,
	STREAM_COUNT
};

struct child {
	struct loop *loop;
	child_fn *done;
	void (*said)(const char *bytes, size_t len, void *arg);
	void *arg;
	pid_t pid;
	int pidfd; /* -1: use SIGCHLD instead */
	struct loop_watch *pid_watch;
	struct loop_signal *pid_signal;
	struct loop_call *pid_check;
	struct child_pipe {
		struct child *child;
		int fd;
		struct loop_watch *watch;
		struct child_output *output;
	} pipes[STREAM_COUNT];
	int input_fd;
	struct loop_watch *input_watch;
	struct buf input;
	size_t input_sent;
	int status_fd; /* reports why it could not start, or end of file */
	size_t output_max;
	int64_t began_ms, grace_ms;
	struct loop_timer *deadline; /* the deadline, then the grace period,
				      * then KILL_MS */
	struct loop_timer *drain;
	bool ending, dead;
	bool in_group; /* of a copy of a process (child_spec.call) */
	struct child_result result;
};

/* Children without a caller that waits; reaped when the next one starts. */
static struct {
	pid_t *pids;
	size_t count;
} child_orphans;

static void
child_orphans_collect(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < child_orphans.count; i++) {
		pid_t pid = child_orphans.pids[i];

		if (waitpid(pid, NULL, WNOHANG) == 0)
			child_orphans.pids[kept++] = pid;
		else
			reaper_forget(pid);
	}
	child_orphans.count = kept;
	if (kept == 0) {
		free(child_orphans.pids);
		child_orphans.pids = NULL;
	}
}

static void
child_orphans_add(pid_t pid)
{
	child_orphans.pids = xreallocarray(child_orphans.pids,
	    child_orphans.count + 1, sizeof *child_orphans.pids);
	child_orphans.pids[child_orphans.count++] = pid;
	child_orphans_collect();
}

void
child_result_init(struct child_result *result)
{
	memset(result, 0, sizeof *result);
	buf_init(&result->out.head);
	buf_init(&result->out.tail);
	buf_init(&result->err.head);
	buf_init(&result->err.tail);
}

void
child_result_release(struct child_result *result)
{
	buf_release(&result->out.head);
	buf_release(&result->out.tail);
	buf_release(&result->err.head);
	buf_release(&result->err.tail);
}

bool
child_succeeded(const struct child_result *result)
{
	return result->start_error == 0 && result->exited &&
	    result->status == 0;
}

void
child_result_describe(const struct child_result *result, struct buf *out)
{
	const char *name;

	if (result->start_error != 0) {
		buf_addf(out, "could not be started (%s): %s",
		    result->start_step, strerror(-result->start_error));
		return;
	}
	if (result->exited)
		buf_addf(out, "exited with status %d", result->status);
	else if ((name = sigabbrev_np(result->signal)) != NULL)
		buf_addf(out, "killed by SIG%s", name);
	else
		buf_addf(out, "killed by signal %d", result->signal);
	if (!result->timed_out && !result->cancelled)
		return;
	buf_addf(out, "; it was %s after ",
	    result->timed_out ? "stopped" : "cancelled");
	text_add_duration(out, result->duration_ms);
}

void
child_output_text(const struct child_output *output, struct buf *out)
{
	uint64_t kept = output->head.len + output->tail.len;

	buf_add(out, output->head.data, output->head.len);
	if (output->total > kept)
		buf_addf(out, "\n[... %llu bytes omitted ...]\n",
		    (unsigned long long)(output->total - kept));
	buf_add(out, output->tail.data, output->tail.len);
}

/* The first half of max stays in head. The tail is trimmed to the second half
 * whenever it has grown to twice that. */
static void
output_add(
    struct child_output *output, size_t max, const char *bytes, size_t len)
{
	size_t half = max / 2, room = half - output->head.len;

	output->total += len;
	if (room > 0) {
		if (room > len)
			room = len;
		buf_add(&output->head, bytes, room);
		bytes += room;
		len -= room;
	}
	buf_add(&output->tail, bytes, len);
	if (output->tail.len > 2 * half)
		buf_consume(&output->tail, output->tail.len - half);
}

static void
pipe_close(struct child_pipe *p)
{
	loop_watch_free(take_ptr(&p->watch));
	p->fd = fd_close(p->fd);
}

static void
child_input_close(struct child *child)
{
	loop_watch_free(take_ptr(&child->input_watch));
	child->input_fd = fd_close(child->input_fd);
	explicit_bzero(child->input.data, child->input.len); /* a token */
	buf_release(&child->input);
}

/* Frees everything but the process. */
static void
child_free(struct child *child)
{
	for (int i = 0; i < STREAM_COUNT; i++)
		pipe_close(&child->pipes[i]);
	child_input_close(child);
	loop_watch_free(child->pid_watch);
	loop_signal_free(child->pid_signal);
	loop_call_free(child->pid_check);
	loop_timer_free(child->deadline);
	loop_timer_free(child->drain);
	fd_close(child->pidfd);
	fd_close(child->status_fd);
	child_result_release(&child->result);
	free(child);
}

static void
child_read_start_error(struct child *child)
{
	struct child_exec_failure failure;
	ssize_t n = read(child->status_fd, &failure, sizeof failure);

	if (n != (ssize_t)sizeof failure)
		return;
	child->result.start_error = -failure.error;
	child->result.start_step = failure.in_chdir ? "chdir" : "exec";
}

/* Signal all others of our own group; where /proc cannot be read, this child at
 * least. */
static void
signal_others(pid_t child, int signo)
{
	cleanup_dir DIR *proc = opendir("/proc");
	const char *name;
	int64_t pid;

	while ((name = dir_next(proc)) != NULL)
		if (text_parse_int(name, 1, INT32_MAX, &pid) &&
		    pid != getpid() && getpgid((pid_t)pid) == getpgrp())
			kill((pid_t)pid, signo);
	if (proc == NULL)
		kill(child, signo);
}

/* An unreaped leader still holds its pid, so the group id cannot have been
 * reused: kill the rest of the group first, then reap. What one in our own
 * group has started ends with us, unless it had to be ended itself. */
static void
child_reap(struct child *child)
{
	siginfo_t info = { 0 };

	if (!child->in_group)
		kill(-child->pid, SIGKILL);
	else if (child->ending)
		signal_others(child->pid, SIGKILL);
	if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG) == -1 ||
	    info.si_pid == 0) {
		/* Either someone else reaped it, or it does not die. */
		child->result.signal = SIGKILL;
		child_orphans_add(child->pid);
		return;
	}
	reaper_forget(child->pid);
	child->result.exited = info.si_code == CLD_EXITED;
	if (child->result.exited)
		child->result.status = info.si_status;
	else
		child->result.signal = info.si_status;
}

static void
child_finish(struct child *child)
{
	child_fn *done = child->done;
	void *arg = child->arg;

	child_reap(child);
	child_read_start_error(child);
	child->result.duration_ms = clock_mono_ms() - child->began_ms;
	for (int i = 0; i < STREAM_COUNT; i++) {
		pipe_close(&child->pipes[i]);
		if (child->pipes[i].output != NULL) {
			struct child_output *output = child->pipes[i].output;
			size_t max = child->output_max;

			if (output->tail.len > max / 2)
				buf_consume(
				    &output->tail, output->tail.len - max / 2);
		}
	}
	done(&child->result, arg);
	child_free(child);
}

static void
child_drained(void *arg)
{
	child_finish(arg);
}

static bool
child_open_pipes(const struct child *child)
{
	for (int i = 0; i < STREAM_COUNT; i++)
		if (child->pipes[i].fd != -1)
			return true;
	return false;
}

/* Check whether it has exited, without reaping it. */
static void
child_check(void *arg)
{
	struct child *child = arg;
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)child->pid, &info,
		WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid == 0)
		return;
	if (child->dead)
		return;
	child->dead = true;
	loop_watch_free(take_ptr(&child->pid_watch));
	loop_timer_free(take_ptr(&child->deadline));
	child_input_close(child);
	if (child_open_pipes(child))
		child->drain =
		    loop_after(child->loop, DRAIN_MS, child_drained, child);
	else
		child_finish(child);
}

static void
child_pidfd_event(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	child_check(arg);
}

/* Not directly from the signal callback: child_check() may free the signal. */
static void
child_sigchld(int signo, void *arg)
{
	struct child *child = arg;

	(void)signo;
	loop_call_request(child->pid_check);
}

static void
child_pipe_event(int fd, unsigned what, void *arg)
{
	struct child_pipe *p = arg;
	struct child *child = p->child;
	char bytes[READ_PER_EVENT];
	ssize_t n = read(fd, bytes, sizeof bytes);

	(void)what;
	if (n > 0) {
		output_add(p->output, child->output_max, bytes, (size_t)n);
		if (child->said != NULL && p == &child->pipes[STREAM_OUT])
			child->said(bytes, (size_t)n, child->arg);
		return;
	}
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	pipe_close(p);
	if (child->dead && !child_open_pipes(child))
		child_finish(child);
}

static void
child_input_event(int fd, unsigned what, void *arg)
{
	struct child *child = arg;
	ssize_t n = write(fd, child->input.data + child->input_sent,
	    child->input.len - child->input_sent);

	(void)what;
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		child->input_sent += (size_t)n;
	/* EPIPE: the child does not want the rest. */
	if (n == -1 || child->input_sent == child->input.len)
		child_input_close(child);
}

/* Signal the group. A child that has not reached setsid() yet leads no group
 * and gets the signal alone. The pid is safe to use until it is reaped. One in
 * our own group is the only one that is waited for there. */
static void
child_signal(const struct child *child, int signo)
{
	if (child->in_group)
		signal_others(child->pid, signo);
	else if (kill(-child->pid, signo) == -1 && errno == ESRCH)
		kill(child->pid, signo);
}

static void
child_unkillable(void *arg)
{
	struct child *child = arg;

	/* It is stuck in the kernel; do not make the caller wait for it. */
	child->dead = true;
	child_finish(child);
}

static void
child_kill(void *arg)
{
	struct child *child = arg;

	child_signal(child, SIGKILL);
	loop_timer_set(
	    &child->deadline, child->loop, KILL_MS, child_unkillable, child);
}

static void
child_end(struct child *child)
{
	if (child->ending || child->dead)
		return;
	child->ending = true;
	child_signal(child, SIGTERM);
	child_signal(child, SIGCONT); /* a stopped process does not act on
				       * SIGTERM */
	loop_timer_set(
	    &child->deadline, child->loop, child->grace_ms, child_kill, child);
}

static void
child_timed_out(void *arg)
{
	struct child *child = arg;

	child->result.timed_out = true;
	child_end(child);
}

void
child_cancel(struct child *child)
{
	if (!child->ending && !child->dead)
		child->result.cancelled = true;
	child_end(child);
}

void
child_abandon(struct child *child)
{
	child_signal(child, SIGKILL);
	child_orphans_add(child->pid);
	child_free(child);
}

void
child_reap_inherited(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

void
child_release(struct child *child)
{
	child_orphans_add(child->pid);
	child_free(child);
}

pid_t
child_pid(const struct child *child)
{
	return child->pid;
}

static void
child_watch(struct child *child)
{
	child->pidfd = procref_pidfd_open(child->pid);
	if (child->pidfd >= 0)
		child->pid_watch = loop_watch_new(child->loop, child->pidfd,
		    LOOP_READ, child_pidfd_event, child);
	if (child->pid_watch == NULL) {
		child->pid_check =
		    loop_call_new(child->loop, child_check, child);
		child->pid_signal =
		    loop_signal_new(child->loop, SIGCHLD, child_sigchld, child);
		/* It may have died before the handler was installed. */
		loop_call_request(child->pid_check);
	}
	for (int i = 0; i < STREAM_COUNT; i++)
		if (child->pipes[i].fd != -1)
			child->pipes[i].watch =
			    loop_watch_new(child->loop, child->pipes[i].fd,
				LOOP_READ, child_pipe_event, &child->pipes[i]);
	if (child->input_fd == -1)
		return;
	child->input_watch = loop_watch_new(
	    child->loop, child->input_fd, LOOP_WRITE, child_input_event, child);
	/* Without its whole input the child must not run to its end. */
	if (child->input_watch == NULL)
		child_signal(child, SIGKILL);
}

static struct child *
child_new(
    struct loop *loop, const struct child_spec *spec, child_fn *done, void *arg)
{
	struct child *child = xcalloc(1, sizeof *child);

	child->loop = loop;
	child->done = done;
	child->said = spec->said;
	child->arg = arg;
	child->pidfd = child->input_fd = child->status_fd = -1;
	child_result_init(&child->result);
	buf_init(&child->input);
	child->pipes[STREAM_OUT].output = &child->result.out;
	child->pipes[STREAM_ERR].output = &child->result.err;
	for (int i = 0; i < STREAM_COUNT; i++) {
		child->pipes[i].child = child;
		child->pipes[i].fd = -1;
	}
	child->output_max =
	    spec->output_max > 0 ? spec->output_max : OUTPUT_MAX;
	child->grace_ms = spec->grace_ms > 0 ? spec->grace_ms : GRACE_MS;
	child->in_group = spec->in_group && child_exec_is_copy();
	child->began_ms = clock_mono_ms();
	return child;
}

int
child_spawn(struct loop *loop, const struct child_spec *spec, child_fn *done,
    void *arg, struct child **ret_child, struct err *err)
{
	struct child_exec_pipes ends;
	struct child *child;
	int r;
	pid_t pid;

	if ((spec->argv != NULL) + (spec->shell != NULL) +
		    (spec->call != NULL) !=
		1 ||
	    (spec->argv != NULL && spec->argv[0] == NULL))
		return err_set(err, -EINVAL, "no program to run");
	if (spec->input != NULL && spec->stdin_fd > 0)
		return err_set(err, -EINVAL, "input and stdin_fd are both set");
	child_orphans_collect();
	log_debug("run %s%s",
	    spec->shell != NULL    ? "sh -c " :
		spec->argv != NULL ? spec->argv[0] :
				     "a function",
	    spec->shell != NULL ? spec->shell : "");
	r = child_exec(spec, &ends, err);
	if (r < 0)
		return r;
	child = child_new(loop, spec, done, arg);
	child->pid = ends.pid;
	/* child_reap() waits for this one. */
	pid = child->pid;
	known.pids =
	    xreallocarray(known.pids, known.count + 1, sizeof *known.pids);
	known.pids[known.count++] = pid;
	child->pipes[STREAM_OUT].fd = ends.out;
	child->pipes[STREAM_ERR].fd = ends.err;
	child->input_fd = ends.in;
	child->status_fd = ends.status;
	buf_add(&child->input, spec->input, spec->input_len);
	child->deadline = loop_after(loop,
	    spec->deadline_ms > 0 ? spec->deadline_ms : CHILD_DEADLINE_MS,
	    child_timed_out, child);
	child_watch(child);
	if (ret_child != NULL)
		*ret_child = child;
	return 0;
}

struct child_sync {
	struct loop *loop;
	struct child_result *result;
};

static void
child_sync_done(const struct child_result *result, void *arg)
{
	struct child_sync *sync = arg;
	struct child_result *copy = sync->result;

	*copy = *result;
	buf_init(&copy->out.head);
	buf_init(&copy->out.tail);
	buf_init(&copy->err.head);
	buf_init(&copy->err.tail);
	buf_add(&copy->out.head, result->out.head.data, result->out.head.len);
	buf_add(&copy->out.tail, result->out.tail.data, result->out.tail.len);
	buf_add(&copy->err.head, result->err.head.data, result->err.head.len);
	buf_add(&copy->err.tail, result->err.tail.data, result->err.tail.len);
	loop_stop(sync->loop, 0);
}

int
child_run(const struct child_spec *spec, struct child_result *ret_result,
    struct err *err)
{
	struct child_sync sync = { loop_new(), ret_result };
	const char *name;
	int r;

	child_result_init(ret_result);
	r = child_spawn(sync.loop, spec, child_sync_done, &sync, NULL, err);
	if (r == 0) {
		loop_run(sync.loop);
		r = ret_result->start_error;
		name = spec->argv != NULL ? spec->argv[0] : "/bin/sh";
		if (r < 0)
			err_errno(err, r, "cannot start %s (%s)", name,
			    ret_result->start_step);
	}
	loop_free(sync.loop);
	return r;
}
