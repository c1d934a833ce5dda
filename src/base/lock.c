/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "lock.h"

bool
lock_is_at(int fd, const char *path)
{
	struct stat held, there;

	if (stat(path, &there) == -1)
		return errno != ENOENT && errno != ENOTDIR;
	return fstat(fd, &held) == -1 ||
	    (held.st_dev == there.st_dev && held.st_ino == there.st_ino);
}

int
lock_inherit(int fd, const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_OFD_SETLK, &lock) == -1)
		return -errno;
	return lock_is_at(fd, path) ? 0 : -ESTALE;
}

static int
take(const char *path, struct err *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	cleanup_fd int fd = file_open(path, O_RDWR | O_CREAT, 0600);

	if (fd < 0)
		return err_set(err, fd, "%s: %s", path, file_strerror(fd));
	if (fcntl(fd, F_OFD_SETLK, &lock) == -1) {
		if (errno == EAGAIN || errno == EACCES)
			return err_set(err, -EAGAIN,
			    "%s is held by another process", path);
		return err_errno(err, -errno, "%s", path);
	}
	return take_fd(&fd);
}

/* Again if the file was removed or replaced meanwhile. */
int
lock_try(const char *path, struct err *err)
{
	int fd = -1;

	do {
		fd_close(fd);
		fd = take(path, err);
	} while (fd >= 0 && !lock_is_at(fd, path));
	return fd;
}

int
lock_is_held(const char *path)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	cleanup_fd int fd = file_open(path, O_RDONLY, 0);

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	/* Ask about a read lock, which works with a read-only descriptor. */
	if (fcntl(fd, F_OFD_GETLK, &lock) == -1)
		return -errno;
	return lock.l_type != F_UNLCK;
}
