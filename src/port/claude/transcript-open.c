/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem.h"
#include "transcript-open.h"

#define BOX         "/.llmc/box/"
#define FILE_DEPTH  2 /* folder and file below projects */
#define FOLDER_MORE 1 /* <id>/subagents instead of <id>.jsonl */

/* The last `depth` parts of a path; the slash before them becomes a NUL. */
static char *
split(char *path, int depth)
{
	char *slash = path + strlen(path);

	while (depth-- > 0 && slash > path)
		do
			slash--;
		while (slash > path && *slash != '/');
	*slash = '\0';
	return slash + 1;
}

static int
open_below(const char *path, int depth, int flags)
{
	cleanup_free char *base = xstrdup(path);
	cleanup_fd int dir = -1;
	char *part, *slash;
	int fd;

	if (path[0] != '/')
		return -EINVAL;
	part = split(base, depth + (strstr(path, BOX) != NULL));
	dir = open(
	    base[0] != '\0' ? base : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (dir >= 0 && (slash = strchr(part, '/')) != NULL) {
		*slash = '\0';
		fd = openat(
		    dir, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd == -1)
			return -errno;
		fd_close(dir);
		dir = fd;
		part = slash + 1;
	}
	if (dir < 0)
		return -errno;
	fd = openat(dir, part, flags | O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd == -1 ? -errno : fd;
}

int
transcript_open_file(const char *path)
{
	cleanup_fd int fd = open_below(path, FILE_DEPTH, O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
		return -EINVAL;
	return take_fd(&fd);
}

int
transcript_open_folder(const char *path)
{
	return open_below(path, FILE_DEPTH + FOLDER_MORE, O_DIRECTORY);
}
