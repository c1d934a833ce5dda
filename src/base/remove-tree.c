/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "remove-tree.h"

static int remove_at(int parent, const char *name, dev_t device, int depth);

static int
open_folder(int parent, const char *name)
{
	return openat(
	    parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool
is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Returns the first error, and goes on behind it. */
static int
empty_folder(int parent, const char *name, dev_t device, int depth)
{
	int fd = open_folder(parent, name), r = 0;
	const char *entry;
	struct stat st;
	cleanup_dir DIR *stream = NULL;

	if (fd == -1)
		return -errno;
	if (fstat(fd, &st) == -1 || st.st_dev != device) {
		close(fd);
		return -EXDEV;
	}
	stream = fdopendir(fd);
	if (stream == NULL) {
		r = -errno;
		close(fd);
		return r;
	}
	while ((entry = dir_next(stream)) != NULL) {
		int one = remove_at(fd, entry, device, depth + 1);

		r = r < 0 ? r : one;
	}
	return r;
}

static int
remove_at(int parent, const char *name, dev_t device, int depth)
{
	struct stat st;
	int r = 0, flags = 0;

	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode)) {
		if (depth >= REMOVE_TREE_DEPTH)
			return -ENAMETOOLONG;
		flags = AT_REMOVEDIR;
		r = empty_folder(
		    parent, name, depth == 0 ? st.st_dev : device, depth);
	}
	/* Both ways fail for what is of another type by now. */
	if (unlinkat(parent, name, flags) == -1 && errno != ENOENT && r == 0)
		r = -errno;
	return r;
}

int
remove_tree(const char *path)
{
	cleanup_free char *name = xstrdup(path);
	size_t len = strlen(name);

	/* With a last slash, a link would be followed. */
	while (len > 1 && name[len - 1] == '/')
		name[--len] = '\0';
	return remove_at(AT_FDCWD, name, 0, 0);
}

int
remove_tree_below(const char *folder, const char *path)
{
	cleanup_free char *copy = xstrdup(path);
	cleanup_fd int fd = open_folder(AT_FDCWD, folder);
	char *name = copy + strspn(copy, "/");

	while (fd != -1 && *name != '\0') {
		char *end = name + strcspn(name, "/");
		char *next = end + strspn(end, "/");
		int below;

		*end = '\0';
		if (is_dots(name))
			return -EINVAL;
		if (*next == '\0')
			return remove_at(fd, name, 0, 0);
		below = open_folder(fd, name);
		if (below == -1)
			return errno == ENOENT ? 0 : -errno;
		close(fd);
		fd = below;
		name = next;
	}
	return fd != -1 ? -EINVAL : errno == ENOENT ? 0 : -errno;
}
