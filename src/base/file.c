/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define FILE_READ_STEP 65536
#define FILE_LINKS_MAX 40 /* same limit as the kernel */
#define FILE_NAME_PART 200 /* bytes of the name used in a temporary name */
#define FILE_RANDOM    "XXXXXX" /* replaced by mkostemps(3) */
#define FILE_OWN       "/.llmc/" /* no links below it: file.h */

static int remove_at(int parent, const char *name, dev_t device, int depth);

/* Only regular files are accepted. */
static int
file_check_type(const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	if (S_ISLNK(st->st_mode))
		return -ELOOP;
	return S_ISREG(st->st_mode) ? 0 : -EINVAL;
}

/* The part of a path below our own folder, NULL = it is elsewhere. A project
 * may lie in a folder of that name itself, so the last one counts. */
static const char *
file_below_own(const char *path)
{
	const char *below = NULL, *at = path;

	while ((at = strstr(at, FILE_OWN)) != NULL)
		below = at += strlen(FILE_OWN) - 1;
	return below == NULL ? NULL : below + 1;
}

/* open(2), but in our own folder no part of the path may be a link. A kernel
 * that cannot say so is asked about the last part only. */
static int
file_open_any(const char *path, int flags, mode_t mode)
{
	struct open_how how = { .flags = (unsigned)flags,
		.mode = (flags & O_CREAT) != 0 ? mode : 0,
		.resolve = RESOLVE_NO_SYMLINKS };
	const char *below = file_below_own(path);
	cleanup_free char *top = NULL;
	cleanup_fd int dir = -1;
	int fd;

	if (below == NULL) {
		fd = open(path, flags, mode);
		return fd == -1 ? -errno : fd;
	}
	top = xstrndup(path, (size_t)(below - path));
	dir = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir == -1)
		return -errno;
	fd = (int)syscall(
	    SYS_openat2, dir, *below != '\0' ? below : ".", &how, sizeof how);
	if (fd == -1 && (errno == ENOSYS || errno == EPERM))
		fd = open(path, flags | O_NOFOLLOW, mode);
	return fd == -1 ? -errno : fd;
}

/* O_NONBLOCK keeps a fifo from blocking us. */
static int
file_open_regular(const char *path, int flags, mode_t mode, struct stat *ret_st)
{
	cleanup_fd int fd = -1;
	struct stat st;
	int r;

	fd = file_open_any(
	    path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, mode);
	if (fd < 0)
		return fd == -ENXIO ? -EINVAL : fd; /* a socket, a fifo */
	if (fstat(fd, &st) == -1)
		return -errno;
	r = file_check_type(&st);
	if (r < 0)
		return r;
	*ret_st = st;
	return take_fd(&fd);
}

int
file_open(const char *path, int flags, mode_t mode)
{
	struct stat st;

	return file_open_regular(path, flags, mode, &st);
}

int
file_check(const char *path)
{
	cleanup_fd int fd =
	    file_open_any(path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
	struct stat st;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	return fstat(fd, &st) == -1 ? -errno : file_check_type(&st);
}

bool
file_is_misplaced(int code)
{
	return code == -ELOOP || code == -EINVAL || code == -EISDIR;
}

const char *
file_strerror(int code)
{
	switch (code) {
	case -ELOOP:
		return "it is a symbolic link, or behind one; remove the link";
	case -EINVAL:
		return "it is not a regular file; move it away";
	case -EISDIR:
		return "it is a folder; move it away";
	default:
		return strerror(-code);
	}
}

static int
file_fail(struct err *err, int code, const char *what, const char *path)
{
	return err_set(err, code, "%s %s: %s", what, path, file_strerror(code));
}

/* st_size cannot be trusted: files in /proc report 0. */
int
file_read_fd(int fd, size_t max, struct buf *buf)
{
	size_t before = buf->len;
	ssize_t n;

	for (;;) {
		buf_reserve(buf, FILE_READ_STEP);
		n = read(fd, buf->data + buf->len, FILE_READ_STEP);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 ? 0 : -errno;
		buf_grew(buf, (size_t)n);
		if (buf->len - before > max)
			return -EFBIG;
	}
}

int
file_read(const char *path, size_t max, struct buf *buf, struct err *err)
{
	cleanup_fd int fd = -1;
	size_t before = buf->len;
	struct stat st = { 0 };
	int r;

	fd = file_open_regular(path, O_RDONLY, 0, &st);
	if (fd < 0)
		return file_fail(err, fd, "cannot read", path);
	if (st.st_size > 0 && (uintmax_t)st.st_size > max)
		r = -EFBIG;
	else
		r = file_read_fd(fd, max, buf);
	if (r == 0)
		return 0;
	buf_truncate(buf, before);
	if (r == -EFBIG)
		return err_set(err, r,
		    "cannot read %s: it is longer than %zu bytes", path, max);
	return file_fail(err, r, "cannot read", path);
}

int
file_write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;
	ssize_t n;

	while (len > 0) {
		n = write(fd, at, len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -errno;
		if (n == 0)
			return -EIO;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* The directory part, "." if there is none; the caller frees it. */
static char *
file_dir_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return xstrdup(".");
	return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static const char *
file_name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

/* Resolve a symbolic link at the end of path, even a dangling one, which
 * realpath(3) would refuse. The caller frees the result; NULL with errno on
 * failure. */
static char *
file_resolve(const char *path)
{
	cleanup_free char *at = xstrdup(path);
	char target[PATH_MAX];
	ssize_t n;

	for (int i = 0; i < FILE_LINKS_MAX; i++) {
		cleanup_free char *dir = NULL;
		char *next;

		n = readlink(at, target, sizeof target - 1);
		if (n == -1 && errno != EINVAL && errno != ENOENT)
			return NULL;
		if (n == -1)
			return take_ptr(&at);
		target[n] = '\0';
		dir = file_dir_of(at);
		next = file_join(dir, target);
		free(at);
		at = next;
	}
	errno = ELOOP;
	return NULL;
}

/* Write bytes, owner, mode, then sync, in that order: changing the owner may
 * clear mode bits, and no other user may read the file before the owner is
 * right. */
static int
file_fill(int fd, const void *bytes, size_t len, mode_t mode,
    const struct stat *old, bool sync)
{
	int r = file_write_all(fd, bytes, len);

	if (r < 0)
		return r;
	/* Only root can give a file away, and only to a user of its namespace.
	 * The contents matter more than the owner. */
	if (old != NULL && fchown(fd, old->st_uid, old->st_gid) == -1 &&
	    errno != EPERM && errno != EINVAL)
		return -errno;
	if (fchmod(fd, old != NULL ? old->st_mode & 07777 : mode) == -1)
		return -errno;
	return sync && fsync(fd) == -1 ? -errno : 0;
}

/* Some file systems do not support fsync on directories and return EINVAL. */
static int
file_sync_dir(int fd)
{
	return fsync(fd) == -1 && errno != EINVAL ? -errno : 0;
}

static int
file_open_dir(const char *path)
{
	cleanup_free char *dir = file_dir_of(path);

	return file_open_any(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

static char *
file_temporary_name(const char *path)
{
	cleanup_free char *dir = file_dir_of(path), *name = NULL;
	const char *base = file_name_of(path);
	size_t len = text_cut(base, strlen(base), FILE_NAME_PART);

	name = xasprintf(".%.*s." FILE_RANDOM ".tmp", (int)len, base);
	return file_join(dir, name);
}

static int
file_replace_at(
    const char *path, const void *bytes, size_t len, mode_t mode, bool sync)
{
	cleanup_fd int dir = -1, fd = -1;
	cleanup_free char *temporary = NULL;
	struct stat st;
	bool found;
	int r;

	found = lstat(path, &st) == 0;
	if (!found && errno != ENOENT)
		return -errno;
	r = found ? file_check_type(&st) : 0;
	if (r < 0)
		return r;
	dir = file_open_dir(path);
	if (dir < 0)
		return dir;
	temporary = file_temporary_name(path);
	fd = mkostemps(temporary, (int)strlen(".tmp"), O_CLOEXEC);
	if (fd == -1)
		return -errno;
	r = file_fill(fd, bytes, len, mode, found ? &st : NULL, sync);
	if (r == 0 && rename(temporary, path) == -1)
		r = -errno;
	if (r < 0) {
		unlink(temporary);
		return r;
	}
	return sync ? file_sync_dir(dir) : 0;
}

static int
file_replace_any(const char *path, const void *bytes, size_t len, mode_t mode,
    bool sync, struct err *err)
{
	cleanup_free char *target = NULL;
	int r;

	target =
	    file_below_own(path) != NULL ? xstrdup(path) : file_resolve(path);
	if (target == NULL)
		r = -errno;
	else
		r = file_replace_at(target, bytes, len, mode, sync);
	if (r < 0)
		return file_fail(err, r, "cannot write", path);
	return 0;
}

int
file_replace(const char *path, const void *bytes, size_t len, mode_t mode,
    struct err *err)
{
	return file_replace_any(path, bytes, len, mode, true, err);
}

int
file_replace_soon(const char *path, const void *bytes, size_t len, mode_t mode,
    struct err *err)
{
	return file_replace_any(path, bytes, len, mode, false, err);
}

const char *
dir_next(DIR *dir)
{
	const struct dirent *entry = dir != NULL ? readdir(dir) : NULL;

	while (entry != NULL &&
	    (strcmp(entry->d_name, ".") == 0 ||
		strcmp(entry->d_name, "..") == 0))
		entry = readdir(dir);
	return entry != NULL ? entry->d_name : NULL;
}

void
dir_cleanup(DIR **dir)
{
	if (*dir != NULL)
		closedir(*dir);
}

bool
file_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Could both be the temporary name of one file? */
static bool
file_is_like(const char *name, const char *template)
{
	size_t len = strlen(template);
	size_t random = len - strlen(FILE_RANDOM ".tmp");

	return strlen(name) == len && strncmp(name, template, random) == 0 &&
	    strcmp(name + len - strlen(".tmp"), ".tmp") == 0;
}

void
file_replace_tidy(const char *path)
{
	cleanup_free char *template = file_temporary_name(path);
	cleanup_free char *folder = file_dir_of(path);
	cleanup_dir DIR *dir = opendir(folder);
	const char *name;

	while ((name = dir_next(dir)) != NULL)
		if (file_is_like(name, file_name_of(template)))
			unlinkat(dirfd(dir), name, 0);
}

/* A folder below our own that is somewhere else. */
static bool
file_is_own_link(const char *path)
{
	struct stat st;

	return file_below_own(path) != NULL && lstat(path, &st) == 0 &&
	    S_ISLNK(st.st_mode);
}

int
file_mkdirs(const char *path, mode_t mode, struct err *err)
{
	cleanup_free char *part = xstrdup(path);
	char *end = part;
	int saved;

	if (*path == '\0')
		return err_errno(err, -ENOENT, "cannot create a directory");
	while (*end != '\0') {
		char kept;

		end += strspn(end, "/");
		end += strcspn(end, "/");
		kept = *end;
		*end = '\0';
		/* Any error is fine if the directory exists. */
		if (mkdir(part, mode) == -1) {
			saved = errno == EEXIST ? ENOTDIR : errno;
			if (file_is_own_link(part))
				saved = ELOOP;
			else if (file_is_dir(part))
				saved = 0;
			if (saved != 0)
				return file_fail(err, -saved,
				    "cannot create the directory", part);
		}
		*end = kept;
	}
	return 0;
}

/* Does the file end in the middle of a record? */
static int
file_is_torn(int fd, off_t size, bool *ret_torn)
{
	char last = '\n';

	if (size > 0 && pread(fd, &last, 1, size - 1) == -1)
		return -errno;
	*ret_torn = last != '\n';
	return 0;
}

/* One system call, so that records of several writers do not mix. After a short
 * write, the rest could end up after another writer's record, so the record
 * stays incomplete. */
static int
file_append_record(int fd, const void *bytes, size_t len, bool torn)
{
	char newline[] = "\n";
	struct iovec part[2];
	ssize_t n;

	part[0].iov_base = newline;
	part[0].iov_len = torn ? 1 : 0;
	memcpy(&part[1].iov_base, &bytes, sizeof bytes);
	part[1].iov_len = len;
	do
		n = writev(fd, part, nitems(part));
	while (n == -1 && errno == EINTR);
	if (n == -1)
		return -errno;
	return (size_t)n == part[0].iov_len + len ? 0 : -ENOSPC;
}

static int
file_append_at(
    const char *path, const void *bytes, size_t len, mode_t mode, bool sync)
{
	cleanup_fd int fd = -1, dir = -1;
	struct stat st = { 0 };
	bool torn = false;
	int r;

	fd = file_open_regular(path, O_RDWR | O_APPEND | O_CREAT, mode, &st);
	if (fd < 0)
		return fd;
	r = file_is_torn(fd, st.st_size, &torn);
	if (r == 0)
		r = file_append_record(fd, bytes, len, torn);
	if (r < 0 || !sync)
		return r;
	if (fdatasync(fd) == -1)
		return -errno;
	if (st.st_size > 0)
		return 0;
	/* The file is new: its name must survive a crash too. */
	dir = file_open_dir(path);
	return dir < 0 ? dir : file_sync_dir(dir);
}

int
file_append(const char *path, const void *bytes, size_t len, mode_t mode,
    bool sync, struct err *err)
{
	int r = file_append_at(path, bytes, len, mode, sync);

	if (r < 0)
		return file_fail(err, r, "cannot append to", path);
	return 0;
}

int
file_make_private(const char *path, off_t *ret_size, struct err *err)
{
	struct stat st = { 0 };
	cleanup_fd int fd =
	    file_open_regular(path, O_WRONLY | O_CREAT, 0600, &st);

	if (fd < 0)
		return file_fail(err, fd, "cannot open", path);
	if (fchmod(fd, 0600) == -1)
		return err_errno(err, -errno, "cannot protect %s", path);
	if (ret_size != NULL)
		*ret_size = st.st_size;
	return 0;
}

bool
file_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

bool
file_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *
file_join(const char *dir, const char *name)
{
	size_t len = strlen(dir);

	if (*name == '/' || len == 0)
		return xstrdup(name);
	while (len > 0 && dir[len - 1] == '/')
		len--;
	return xasprintf("%.*s/%s", (int)len, dir, name);
}

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
