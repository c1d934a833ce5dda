/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "keeper-cgroup.h"
#include "keeper-proc.h"
#include "keeper.h"

#define ROUND_MS 10
#define ROUNDS   500

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
	const struct timespec pause = { .tv_nsec = ROUND_MS * 1000000L };

	if (keeper->cgroup == NULL || !made)
		return;
	for (int round = 0; round < ROUNDS; round++) {
		if (rmdir(keeper->cgroup) == 0 || errno != EBUSY)
			return;
		nanosleep(&pause, NULL);
	}
}
