/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "keeper-namespace.h"

pid_t
keeper_namespace_fork(void)
{
	unsigned long flags = CLONE_NEWPID | CLONE_NEWNS;
	long pid;

	if (geteuid() != 0)
		flags |= CLONE_NEWUSER;
	/* The C library's clone() wants another stack. */
	pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
	return pid == -1 ? -errno : (pid_t)pid;
}

static int
write_file(pid_t child, const char *name, const char *text)
{
	char path[64];
	int fd, r = 0;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)child, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd == -1)
		return -errno;
	if (write(fd, text, strlen(text)) == -1)
		r = -errno;
	close(fd);
	return r;
}

int
keeper_namespace_map(pid_t child)
{
	char uids[64], gids[64];
	int r;

	if (geteuid() == 0)
		return 0;
	snprintf(uids, sizeof uids, "%u %u 1\n", geteuid(), geteuid());
	snprintf(gids, sizeof gids, "%u %u 1\n", getegid(), getegid());
	r = write_file(child, "setgroups", "deny");
	if (r == 0)
		r = write_file(child, "uid_map", uids);
	if (r == 0)
		r = write_file(child, "gid_map", gids);
	return r;
}

int
keeper_namespace_mount(void)
{
	/* Mounts of the machine still arrive; ours do not get out. */
	if (mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) == -1)
		return -errno;
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		NULL) == -1)
		return -errno;
	return 0;
}
