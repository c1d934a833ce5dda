/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "keeper-private.h"

/* --- /proc ------------------------------------------------------------- */

#define PATH_SIZE   64
#define STAT_SIZE   1024
#define FIELD_PPID  4
#define FIELD_START 22

/* What getdents64(2) fills in; the C library has no name for it. */
struct entry {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

ssize_t
keeper_proc_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	int error;

	if (fd == -1)
		return -errno;
	n = read(fd, text, size - 1);
	error = errno;
	close(fd);
	if (n == -1)
		return -error;
	text[n] = '\0';
	return n;
}

/* A numeric field of /proc/PID/stat, counted from 1; 0 if it is gone. */
static uint64_t
stat_field(pid_t pid, int field)
{
	char path[PATH_SIZE], text[STAT_SIZE];
	const char *s;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (keeper_proc_read(path, text, sizeof text) <= 0)
		return 0;
	/* The name, field 2, may have blanks and parentheses. */
	s = strrchr(text, ')');
	for (int i = 2; s != NULL && i < field; i++)
		s = strchr(s + 1, ' ');
	return s != NULL ? strtoull(s, NULL, 10) : 0;
}

bool
keeper_proc_is_stopped(pid_t pid)
{
	char path[PATH_SIZE], text[STAT_SIZE];
	const char *s;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (keeper_proc_read(path, text, sizeof text) <= 0)
		return false;
	s = strrchr(text, ')');
	return s != NULL && strncmp(s, ") T ", 4) == 0;
}

uint64_t
keeper_proc_start_time(pid_t pid)
{
	return stat_field(pid, FIELD_START);
}

/* The entries of /proc that one getdents64(2) returned. */
static int
look_at(const char *entries, size_t size, pid_t parent,
    void (*fn)(pid_t pid, void *arg), void *arg)
{
	int count = 0;

	for (size_t at = 0; at < size;) {
		const struct entry *entry = (const void *)(entries + at);
		pid_t pid = (pid_t)strtol(entry->name, NULL, 10);

		at += entry->reclen;
		if (pid <= 0 || stat_field(pid, FIELD_PPID) != (uint64_t)parent)
			continue;
		count++;
		fn(pid, arg);
	}
	return count;
}

static int
search(pid_t parent, void (*fn)(pid_t pid, void *arg), void *arg)
{
	_Alignas(struct entry) char entries[4096];
	int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int count = 0;
	long n;

	if (fd == -1)
		return -errno;
	while ((n = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0)
		count += look_at(entries, (size_t)n, parent, fn, arg);
	close(fd);
	return count;
}

/* The kernel's list of children. -ENOENT: it has none, or the process is gone.
 */
static int
read_list(pid_t parent, void (*fn)(pid_t pid, void *arg), void *arg)
{
	char path[PATH_SIZE], text[4096], *s = text, *end;
	int count = 0;
	ssize_t r;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent,
	    (int)parent);
	r = keeper_proc_read(path, text, sizeof text);
	if (r < 0)
		return (int)r;
	for (;; s = end, count++) {
		pid_t pid = (pid_t)strtol(s, &end, 10);

		/* The last one may be cut off. */
		if (end == s || *end != ' ')
			return count;
		fn(pid, arg);
	}
}

/* Not every kernel has the list, and it may be short while processes end. */
int
keeper_proc_children(pid_t parent, void (*fn)(pid_t pid, void *arg), void *arg)
{
	int count = read_list(parent, fn, arg);

	return count > 0 ? count : search(parent, fn, arg);
}

int
keeper_proc_glance(pid_t parent, void (*fn)(pid_t pid, void *arg), void *arg)
{
	int count = read_list(parent, fn, arg);

	return count >= 0 ? count : search(parent, fn, arg);
}

/* --- orphans ----------------------------------------------------------- */

#define KEEPER_REAPER_ROUND_MS 10
#define KEEPER_REAPER_ROUNDS   500

int
keeper_reaper_begin(void)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1) == -1 ? -errno : 0;
}

static void
end_one(pid_t pid, void *arg)
{
	(void)arg;
	kill(pid, SIGKILL);
}

bool
keeper_reaper_end_all(void)
{
	const struct timespec pause = { .tv_nsec =
					    KEEPER_REAPER_ROUND_MS * 1000000L };
	sigset_t child;
	pid_t pid;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (int round = 0; round < KEEPER_REAPER_ROUNDS; round++) {
		do {
			pid = waitpid(-1, NULL, WNOHANG);
		} while (pid > 0);
		if (pid == -1 && errno == ECHILD)
			return true;
		keeper_proc_children(getpid(), end_one, NULL);
		sigtimedwait(&child, NULL, &pause);
	}
	return false;
}

/* --- the control group ------------------------------------------------- */

#define KEEPER_CGROUP_ROUND_MS 10
#define KEEPER_CGROUP_ROUNDS   500

static char home[PATH_MAX]; /* the group that the keeper is in; "": none */
static char own[PATH_MAX];
static int kill_fd = -1;
static bool made;

/* Where the groups are mounted: alone, or beside those of version 1. */
static const char *
mount_point(void)
{
	static const char *const places[] = { "/sys/fs/cgroup",
		"/sys/fs/cgroup/unified" };
	struct statfs fs;

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (statfs(places[i], &fs) == 0 &&
		    fs.f_type == CGROUP2_SUPER_MAGIC)
			return places[i];
	return NULL;
}

static int
find_home(void)
{
	static char text[PATH_MAX];
	const char *mounted = mount_point(), *path;
	ssize_t r = keeper_proc_read("/proc/self/cgroup", text, sizeof text);
	int n;

	if (r < 0)
		return (int)r;
	path = strstr(text, "0::/");
	if (mounted == NULL || path == NULL ||
	    (path != text && path[-1] != '\n'))
		return -EOPNOTSUPP;
	path += strlen("0::");
	n = snprintf(home, sizeof home, "%s%.*s", mounted,
	    (int)strcspn(path, "\n"), path);
	if (n < 0 || (size_t)n >= sizeof home) {
		home[0] = '\0';
		return -ENAMETOOLONG;
	}
	return 0;
}

/* A group inside the one that we are in: there we may be allowed to make one.
 * Its name is never used again, not even by a process with the same pid in
 * another namespace. */
static int
name_own(void)
{
	int n = snprintf(own, sizeof own, "%s/llmc-keeper-%d-%llu", home,
	    (int)getpid(),
	    (unsigned long long)keeper_proc_start_time(getpid()));

	return n < 0 || (size_t)n >= sizeof own ? -ENAMETOOLONG : 0;
}

static int
open_file(const char *dir, const char *name)
{
	static char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/%s", dir, name);
	int fd;

	if (n < 0 || (size_t)n >= sizeof path)
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd == -1 ? -errno : fd;
}

int
keeper_cgroup_make(struct keeper *keeper)
{
	const char *dir = keeper->cgroup;
	int r = find_home();

	if (dir == NULL) {
		if (r == 0)
			r = name_own();
		if (r < 0)
			return r;
		dir = own;
	}
	made = mkdir(dir, 0755) == 0;
	if (!made && (errno != EEXIST || dir == own))
		return -errno;
	kill_fd = open_file(dir, "cgroup.kill");
	if (kill_fd < 0) {
		r = kill_fd;
		if (made)
			rmdir(dir);
		return r;
	}
	keeper->cgroup = dir;
	return 0;
}

int
keeper_cgroup_add(const struct keeper *keeper, pid_t pid)
{
	int fd = open_file(keeper->cgroup, "cgroup.procs");
	int r = 0;

	if (fd < 0)
		return fd;
	if (dprintf(fd, "%d\n", (int)pid) < 0)
		r = -errno;
	close(fd);
	return r;
}

void
keeper_cgroup_kill(void)
{
	if (kill_fd >= 0 && write(kill_fd, "1", 1) == -1)
		return; /* what is left is ended one by one */
}

long
keeper_cgroup_oom_kills(const struct keeper *keeper)
{
	static const char name[] = "\noom_kill ";
	static char path[PATH_MAX], text[4096];
	const char *dir = keeper->cgroup, *line;
	int n;

	/* A scope that was made for us; others have their own counts. */
	if (dir == NULL && find_home() == 0 &&
	    strstr(strrchr(home, '/'), "/llmc-") != NULL)
		dir = home;
	if (dir == NULL)
		return 0;
	n = snprintf(path, sizeof path, "%s/memory.events", dir);
	if (n < 0 || (size_t)n >= sizeof path ||
	    keeper_proc_read(path, text, sizeof text) < 0)
		return 0;
	line = strstr(text, name);
	return line != NULL ? strtol(line + sizeof name - 1, NULL, 10) : 0;
}

void
keeper_cgroup_leave(void)
{
	int fd = home[0] != '\0' ? open_file(home, "cgroup.procs") : -1;

	if (fd < 0)
		return;
	dprintf(fd, "0\n");
	close(fd);
}

void
keeper_cgroup_remove(const struct keeper *keeper)
{
	const struct timespec pause = { .tv_nsec =
					    KEEPER_CGROUP_ROUND_MS * 1000000L };

	if (keeper->cgroup == NULL || !made)
		return;
	for (int round = 0; round < KEEPER_CGROUP_ROUNDS; round++) {
		if (rmdir(keeper->cgroup) == 0 || errno != EBUSY)
			return;
		nanosleep(&pause, NULL);
	}
}
