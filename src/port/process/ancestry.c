/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ancestry.h"
#include "buf.h"
#include "mem.h"

#define ENVIRON_MAX ((size_t)4 * 1024 * 1024)
#define TRIES_MAX   16 /* parents that end while they are looked at */

struct entry {
	struct ancestor self;
	pid_t parent;
};

static int
open_file(const char *proc, const char *dir, long number, const char *name)
{
	cleanup_free char *path =
	    xasprintf("%s/%s%ld%s", proc, dir, number, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd == -1 ? -errno : fd;
}

/* One read returns a whole line of /proc. */
static int
read_line(int fd, char *line, size_t size)
{
	ssize_t n;

	do
		n = read(fd, line, size - 1);
	while (n == -1 && errno == EINTR);
	if (n <= 0)
		return n == -1 ? -errno : -ESRCH;
	line[n] = '\0';
	return 0;
}

/* The name in field 2 may contain anything, but there is no parenthesis after
 * it. */
static int
read_stat(const char *proc, pid_t pid, struct entry *ret_entry)
{
	cleanup_fd int fd = open_file(proc, "", (long)pid, "/stat");
	struct entry entry = { .self.pid = pid };
	unsigned long long start;
	const char *end;
	char line[1024];

	if (fd < 0 || read_line(fd, line, sizeof line) < 0)
		return -ESRCH;
	end = strrchr(line, ')');
	/* Fields 4 and 22. */
	if (end == NULL ||
	    sscanf(end + 1,
		" %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		" %*s %*s %*s %*s %*s %llu",
		&entry.parent, &start) != 2)
		return -ESRCH;
	entry.self.start_time = start;
	*ret_entry = entry;
	return 0;
}

/* Is it this child's parent? If its parent is another one by now, that is
 * *ret_parent. Negative errno if the child has ended. */
static int
read_parent(const char *proc, const struct ancestor *child, pid_t parent,
    pid_t *ret_parent)
{
	struct entry now;

	if (read_stat(proc, child->pid, &now) < 0 ||
	    now.self.start_time != child->start_time)
		return -ESRCH;
	*ret_parent = now.parent;
	return now.parent == parent;
}

int
ancestry_read(
    const char *proc, pid_t pid, struct ancestor *ret_list, size_t max)
{
	struct entry entry;
	size_t count = 0;
	bool found;
	int r, tries = 0;

	while (pid > 0) {
		const struct ancestor *child =
		    count > 0 ? &ret_list[count - 1] : NULL;

		found = read_stat(proc, pid, &entry) == 0;
		if (!found && child == NULL)
			return -ESRCH;
		if (found &&
		    (child == NULL ||
			entry.self.start_time <= child->start_time)) {
			if (count == max)
				return -ELOOP;
			ret_list[count++] = entry.self;
			pid = entry.parent;
			continue;
		}
		r = read_parent(proc, child, pid, &pid);
		if (r < 0)
			return r;
		if (r > 0 && !found)
			break; /* hidden: another user's */
		if (r > 0 || ++tries > TRIES_MAX)
			return -ESTALE;
	}
	return (int)count;
}

int
ancestry_environment(const char *proc, pid_t pid, struct buf *environment)
{
	cleanup_fd int fd = open_file(proc, "", (long)pid, "/environ");
	ssize_t n;

	if (fd < 0)
		return fd;
	do {
		buf_reserve(environment, 65536);
		n = read(fd, environment->data + environment->len, 65536);
		if (n > 0)
			buf_grew(environment, (size_t)n);
	} while (n > 0 && environment->len < ENVIRON_MAX);
	return n == -1 ? -errno : 0;
}

const char *
ancestry_variable(const struct buf *environment, const char *name)
{
	const char *at = environment->data, *end = at + environment->len;
	size_t len = strlen(name);

	for (; at < end; at += strlen(at) + 1)
		if (strncmp(at, name, len) == 0 && at[len] == '=')
			return at + len + 1;
	return NULL;
}

pid_t
ancestry_pidfd(const char *proc, int pidfd)
{
	cleanup_fd int fd = open_file(proc, "self/fdinfo/", pidfd, "");
	char text[1024];
	const char *line;
	int pid;

	if (fd < 0 || read_line(fd, text, sizeof text) < 0)
		return -EBADF;
	line = strstr(text, "\nPid:");
	if (line == NULL || sscanf(line, "\nPid: %d", &pid) != 1)
		return -EBADF;
	return pid == -1 ? -ESRCH : pid;
}
