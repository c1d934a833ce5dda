/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "keeper-proc.h"

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
