/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

#include "procref.h"

#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1u << 2) /* Linux 6.9 */
#endif

#define PROCREF_BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"

#define PROCREF_EXITING 0x4 /* PF_EXITING in the kernel */

struct procref_stat {
	char state;
	pid_t parent;
	pid_t group;
	unsigned flags;
	long threads;
	uint64_t start_time;
	int wait_status;
};

static bool procref_no_pidfd;

void
procref_disable_pidfd(bool disable)
{
	procref_no_pidfd = disable;
}

int
procref_pidfd_open(pid_t pid)
{
	int fd;

	if (procref_no_pidfd)
		return -ENOSYS;
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	return fd == -1 ? -errno : fd;
}

static int
procref_pidfd_signal(int pidfd, int signo, unsigned flags)
{
	if (syscall(SYS_pidfd_send_signal, pidfd, signo, NULL, flags) == -1)
		return -errno;
	return 0;
}

/* One read returns a whole file of /proc. */
static int
procref_read_proc(const char *path, char *out, size_t size)
{
	cleanup_fd int fd = -1;
	ssize_t n;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return -errno;
	do
		n = read(fd, out, size - 1);
	while (n == -1 && errno == EINTR);
	if (n == -1)
		return -errno;
	out[n] = '\0';
	return 0;
}

static int
procref_read_boot_id(char out[PROCREF_BOOT_ID_SIZE])
{
	char line[PROCREF_BOOT_ID_SIZE + 1];
	int r = procref_read_proc(PROCREF_BOOT_ID_PATH, line, sizeof line);

	if (r < 0)
		return r;
	line[strcspn(line, "\n")] = '\0';
	if (strlen(line) != PROCREF_BOOT_ID_SIZE - 1)
		return -EINVAL;
	memcpy(out, line, PROCREF_BOOT_ID_SIZE);
	return 0;
}

/* The name in field 2 may contain blanks, newlines and parentheses, but nothing
 * after it does, so the last parenthesis ends it. */
static int
procref_read_stat(pid_t pid, struct procref_stat *ret_stat)
{
	struct procref_stat st;
	char path[64], text[1024];
	const char *end;
	unsigned long long start;
	int r;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	r = procref_read_proc(path, text, sizeof text);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	end = strrchr(text, ')');
	/* Fields 3, 4, 5, 9, 20 and 22, and the last one. */
	if (end == NULL ||
	    sscanf(end + 1,
		" %c %d %d %*s %*s %*s %u %*s %*s %*s %*s %*s %*s %*s %*s"
		" %*s %*s %ld %*s %llu",
		&st.state, &st.parent, &st.group, &st.flags, &st.threads,
		&start) != 6)
		return -ESRCH;
	st.start_time = start;
	st.wait_status = (int)strtol(strrchr(text, ' '), NULL, 10);
	*ret_stat = st;
	return 0;
}

/* A main thread that exits before the others also looks like a zombie. */
static bool
procref_stat_is_dead(const struct procref_stat *st)
{
	return strchr("ZXx", st->state) != NULL && st->threads <= 1;
}

/* The stat of exactly this process, dead or alive. */
static int
procref_find(const struct procref *ref, struct procref_stat *ret_stat)
{
	char boot_id[PROCREF_BOOT_ID_SIZE];
	struct procref_stat st;
	int r;

	if (ref->pid <= 0)
		return -ESRCH;
	r = procref_read_boot_id(boot_id);
	if (r < 0)
		return r;
	if (strcmp(boot_id, ref->boot_id) != 0)
		return -ESRCH;
	r = procref_read_stat(ref->pid, &st);
	if (r < 0)
		return r;
	if (st.start_time != ref->start_time)
		return -ESRCH;
	*ret_stat = st;
	return 0;
}

/* Errors of pidfd_open() that do not mean that the process is gone. */
static bool
procref_can_do_without(int code)
{
	static const int codes[] = { -ENOSYS, -EPERM, -EMFILE, -ENFILE, -ENODEV,
		-ENOMEM };

	for (size_t i = 0; i < nitems(codes); i++)
		if (code == codes[i])
			return true;
	return false;
}

int
procref_set(struct procref *ref, pid_t pid)
{
	struct procref new = { .pid = pid, .pidfd = -1 };
	cleanup_fd int pidfd = -1;
	struct procref_stat st;
	int r;

	if (pid <= 0)
		return -ESRCH;
	pidfd = procref_pidfd_open(pid);
	/* Anything else: no such process, or a thread's number. */
	if (pidfd < 0 && !procref_can_do_without(pidfd))
		return -ESRCH;
	r = procref_read_boot_id(new.boot_id);
	if (r == 0)
		r = procref_read_stat(pid, &st);
	if (r < 0)
		return r;
	if (procref_stat_is_dead(&st) && st.parent != getpid())
		return -ESRCH;
	/* It is still there, so what was read in between was about this
	 * process. */
	if (pidfd >= 0 && procref_pidfd_signal(pidfd, 0, 0) == -ESRCH)
		return -ESRCH;
	new.start_time = st.start_time;
	new.pidfd = pidfd < 0 ? -1 : take_fd(&pidfd);
	procref_release(ref);
	*ref = new;
	return 0;
}

int
procref_set_self(struct procref *ref)
{
	return procref_set(ref, getpid());
}

int
procref_open(struct procref *ref)
{
	struct procref now = PROCREF_INIT;
	int r;

	r = procref_set(&now, ref->pid);
	if (r < 0)
		return r;
	if (now.start_time != ref->start_time ||
	    strcmp(now.boot_id, ref->boot_id) != 0) {
		procref_release(&now);
		return -ESRCH;
	}
	procref_release(ref);
	*ref = now;
	return 0;
}

void
procref_release(struct procref *ref)
{
	static const struct procref none = PROCREF_INIT;

	/* An empty reference owns nothing; it may be all zeroes. */
	if (ref->pid != 0)
		fd_close(ref->pidfd);
	*ref = none;
}

bool
procref_alive(const struct procref *ref)
{
	struct pollfd ended = { .fd = ref->pidfd, .events = POLLIN };
	struct procref_stat st;

	if (ref->pid > 0 && ref->pidfd >= 0)
		return poll(&ended, 1, 0) == 0;
	return procref_find(ref, &st) == 0 && !procref_stat_is_dead(&st);
}

int
procref_signal(const struct procref *ref, int signo)
{
	int r;

	if (!procref_alive(ref))
		return -ESRCH;
	if (ref->pidfd >= 0) {
		r = procref_pidfd_signal(ref->pidfd, signo, 0);
		if (r != -ENOSYS)
			return r;
	}
	return kill(ref->pid, signo) == -1 ? -errno : 0;
}

int
procref_signal_group(const struct procref *ref, int signo)
{
	struct procref_stat st;
	int r;

	r = procref_find(ref, &st);
	if (r < 0)
		return r;
	/* kill(-1) would signal every process. */
	if (st.group != ref->pid || ref->pid == 1)
		return -ESRCH;
	if (ref->pidfd >= 0) {
		r = procref_pidfd_signal(
		    ref->pidfd, signo, PIDFD_SIGNAL_PROCESS_GROUP);
		if (r != -ENOSYS && r != -EINVAL)
			return r;
	}
	return kill(-ref->pid, signo) == -1 ? -errno : 0;
}

char
procref_state(const struct procref *ref)
{
	struct procref_stat st;

	return procref_find(ref, &st) < 0 ? 0 : st.state;
}

int
procref_ending(const struct procref *ref, int *ret_wait_status)
{
	struct procref_stat st;
	int r = procref_find(ref, &st);

	if (r < 0)
		return r;
	if ((st.flags & PROCREF_EXITING) == 0)
		return -EAGAIN;
	*ret_wait_status = st.wait_status;
	return 0;
}

struct json_object *
procref_to_json(const struct procref *ref)
{
	struct json_object *json = json_object_new_object();

	json_set_int(json, "pid", ref->pid);
	json_set_int(json, "start_time", (int64_t)ref->start_time);
	json_set_string(json, "boot_id", ref->boot_id);
	return json;
}

int
procref_from_json(
    struct procref *ref, struct json_object *json, struct err *err)
{
	struct procref new = PROCREF_INIT;
	const char *boot_id = "";
	int64_t pid = 0, start_time = 0;
	int r;

	r = json_get_int(json, "", "pid", 0, INT_MAX, &pid, err);
	if (r == 0)
		r = json_get_int(
		    json, "", "start_time", 0, INT64_MAX, &start_time, err);
	if (r == 0)
		r = json_get_string(json, "", "boot_id", &boot_id, err);
	if (r < 0)
		return r;
	if (pid > 0 && strlen(boot_id) != PROCREF_BOOT_ID_SIZE - 1)
		return err_set(err, -EINVAL,
		    "boot_id: expected a boot id of %d characters",
		    PROCREF_BOOT_ID_SIZE - 1);
	if (pid > 0) {
		new.pid = (pid_t)pid;
		new.start_time = (uint64_t)start_time;
		memcpy(new.boot_id, boot_id, PROCREF_BOOT_ID_SIZE);
	}
	procref_release(ref);
	*ref = new;
	return 0;
}
