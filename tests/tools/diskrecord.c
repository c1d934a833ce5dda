/* SPDX-License-Identifier: ISC */

/*
 * Preloaded into a program and all that it runs, records what they do to the
 * files below a folder, in one order: what is created, written, renamed and
 * removed, and what is synced.
 *
 *   DISKRECORD_LOG   file that gets the records (struct diskrecord)
 *   DISKRECORD_ROOT  the folder
 *
 * A write is recorded with the whole file as it is then. Read by
 * tests/port/disk-replay.c, which builds what a power cut leaves.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "diskrecord.h"

struct turn {
	int log; /* -1 = not recorded */
};

static void *
real(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	if (p == NULL)
		abort();
	return p;
}

static int
raw_open(const char *path, int flags, mode_t mode)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static bool
is_below(const char *path)
{
	const char *root = getenv("DISKRECORD_ROOT");
	size_t len = root != NULL ? strlen(root) : 0;

	return len > 0 && strncmp(path, root, len) == 0 && path[len] == '/';
}

/* The path of a descriptor; false if it is none of ours. */
static bool
path_of(int fd, char out[PATH_MAX])
{
	char name[64];
	ssize_t n;

	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	n = readlink(name, out, PATH_MAX - 1);
	if (n <= 0)
		return false;
	out[n] = '\0';
	return is_below(out);
}

/* Remove ".", ".." and double slashes. */
static void
tidy(char *path)
{
	char *out = path, *at = path, *end;

	while (*at != '\0') {
		while (*at == '/')
			at++;
		end = at + strcspn(at, "/");
		if (end - at == 2 && at[0] == '.' && at[1] == '.') {
			while (out > path && *--out != '/')
				;
		} else if (end > at && !(end - at == 1 && at[0] == '.')) {
			*out++ = '/';
			memmove(out, at, (size_t)(end - at));
			out += end - at;
		}
		at = end;
	}
	*out = '\0';
}

/* The absolute path; false if it is none of ours. */
static bool
resolve(int dir, const char *path, char out[PATH_MAX])
{
	size_t len = 0;

	if (path[0] != '/') {
		char name[64];
		ssize_t n;

		snprintf(name, sizeof name,
		    dir == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d",
		    dir);
		n = readlink(name, out, PATH_MAX - 1);
		if (n <= 0)
			return false;
		len = (size_t)n;
	}
	snprintf(out + len, PATH_MAX - len, "/%s", path);
	tidy(out);
	return is_below(out);
}

/* One call at a time, of all processes. */
static struct turn
turn_begin(bool ours)
{
	const char *log = getenv("DISKRECORD_LOG");
	struct turn turn = { -1 };

	if (!ours || log == NULL)
		return turn;
	turn.log =
	    raw_open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (turn.log == -1 || flock(turn.log, LOCK_EX) == -1)
		abort();
	return turn;
}

static void
turn_end(struct turn turn)
{
	int saved = errno;

	if (turn.log != -1)
		syscall(SYS_close, turn.log);
	errno = saved;
}

/* The whole file, or nothing. */
static char *
contents(int fd, size_t *ret_len)
{
	char name[64], *data;
	struct stat st;
	ssize_t n;
	int in;

	*ret_len = 0;
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	in = raw_open(name, O_RDONLY | O_CLOEXEC, 0);
	if (in == -1 || fstat(in, &st) == -1)
		abort();
	data = malloc((size_t)st.st_size + 1);
	if (data == NULL)
		abort();
	n = pread(in, data, (size_t)st.st_size, 0);
	*ret_len = n > 0 ? (size_t)n : 0;
	syscall(SYS_close, in);
	return data;
}

static void
record(struct turn turn, char op, ino_t ino, const char *path,
    const char *path2, int fd)
{
	struct diskrecord head = { .op = op, .ino = ino };
	struct iovec parts[4];
	char *data = NULL;
	size_t len = 0;
	int saved = errno;

	if (turn.log == -1)
		return;
	if (fd != -1)
		data = contents(fd, &len);
	head.path_len = (uint32_t)strlen(path);
	head.path2_len = (uint32_t)strlen(path2);
	head.data_len = (uint32_t)len;
	parts[0] = (struct iovec){ &head, sizeof head };
	parts[1] = (struct iovec){ (void *)(uintptr_t)path, head.path_len };
	parts[2] = (struct iovec){ (void *)(uintptr_t)path2, head.path2_len };
	parts[3] = (struct iovec){ data, len };
	if (syscall(SYS_writev, turn.log, parts, 4) == -1)
		abort();
	free(data);
	errno = saved;
}

static ino_t
inode_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 ? st.st_ino : 0;
}

/* --- files ------------------------------------------------------------ */

static int
do_open(int dir, const char *path, int flags, mode_t mode)
{
	char all[PATH_MAX];
	bool ours =
	    (flags & (O_CREAT | O_TRUNC)) != 0 && resolve(dir, path, all);
	struct turn turn = turn_begin(ours);
	ino_t before = ours ? inode_of(all) : 0;
	int fd = (int)syscall(SYS_openat, dir, path, flags, mode);
	struct stat st;

	if (fd != -1 && ours && fstat(fd, &st) == 0) {
		if (before == 0)
			record(turn, DISK_CREATE, st.st_ino, all, "", -1);
		else if ((flags & O_TRUNC) != 0)
			record(turn, DISK_WRITE, st.st_ino, all, "", -1);
	}
	turn_end(turn);
	return fd;
}

#define OPEN_MODE(flags, mode)                                             \
	do {                                                               \
		va_list ap;                                                \
                                                                           \
		va_start(ap, flags);                                       \
		if (((flags)&O_CREAT) || ((flags)&O_TMPFILE) == O_TMPFILE) \
			mode = va_arg(ap, mode_t);                         \
		va_end(ap);                                                \
	} while (0)

int
open(const char *path, int flags, ...)
{
	mode_t mode = 0;

	OPEN_MODE(flags, mode);
	return do_open(AT_FDCWD, path, flags, mode);
}

int
open64(const char *path, int flags, ...)
{
	mode_t mode = 0;

	OPEN_MODE(flags, mode);
	return do_open(AT_FDCWD, path, flags, mode);
}

int
openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;

	OPEN_MODE(flags, mode);
	return do_open(dir, path, flags, mode);
}

int
openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;

	OPEN_MODE(flags, mode);
	return do_open(dir, path, flags, mode);
}

static bool
is_file(int fd, struct stat *st)
{
	return fstat(fd, st) == 0 && S_ISREG(st->st_mode);
}

#define RECORDED_WRITE(fd, call)                                           \
	do {                                                               \
		char path[PATH_MAX];                                       \
		struct stat st;                                            \
		bool ours = is_file(fd, &st) && path_of(fd, path);         \
		struct turn turn = turn_begin(ours);                       \
		ssize_t n = (ssize_t)(call);                               \
                                                                           \
		if (n >= 0 && ours)                                        \
			record(turn, DISK_WRITE, st.st_ino, path, "", fd); \
		turn_end(turn);                                            \
		return n;                                                  \
	} while (0)

ssize_t
write(int fd, const void *data, size_t len)
{
	RECORDED_WRITE(fd, syscall(SYS_write, fd, data, len));
}

ssize_t
writev(int fd, const struct iovec *parts, int count)
{
	RECORDED_WRITE(fd, syscall(SYS_writev, fd, parts, count));
}

ssize_t
pwrite(int fd, const void *data, size_t len, off_t at)
{
	RECORDED_WRITE(fd, syscall(SYS_pwrite64, fd, data, len, at));
}

ssize_t
pwrite64(int fd, const void *data, size_t len, off64_t at)
{
	RECORDED_WRITE(fd, syscall(SYS_pwrite64, fd, data, len, at));
}

ssize_t
sendfile(int out, int in, off_t *at, size_t len)
{
	RECORDED_WRITE(out, syscall(SYS_sendfile, out, in, at, len));
}

ssize_t
sendfile64(int out, int in, off64_t *at, size_t len)
{
	RECORDED_WRITE(out, syscall(SYS_sendfile, out, in, at, len));
}

static int
do_truncate(int fd, off_t len)
{
	RECORDED_WRITE(fd, syscall(SYS_ftruncate, fd, len));
}

int
ftruncate(int fd, off_t len)
{
	return do_truncate(fd, len);
}

int
ftruncate64(int fd, off64_t len)
{
	return do_truncate(fd, len);
}

/* stdio writes without the functions above. */
static ssize_t
do_flush(FILE *file, int fd)
{
	RECORDED_WRITE(fd, fflush(file));
}

int
fclose(FILE *file)
{
	int (*close_it)(FILE *) = NULL;
	int fd = fileno(file);

	*(void **)&close_it = real("fclose");
	if (fd != -1 && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
		do_flush(file, fd);
	return close_it(file);
}

/* --- names ------------------------------------------------------------ */

static int
do_rename(
    int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	char all[PATH_MAX], all2[PATH_MAX];
	bool ours = resolve(to_dir, to, all2) && resolve(from_dir, from, all);
	struct turn turn = turn_begin(ours);
	ino_t ino = ours ? inode_of(all) : 0;
	int r = (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);

	if (r == 0 && ours)
		record(turn, DISK_RENAME, ino, all, all2, -1);
	turn_end(turn);
	return r;
}

int
rename(const char *from, const char *to)
{
	return do_rename(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return do_rename(from_dir, from, to_dir, to, 0);
}

int
renameat2(
    int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	return do_rename(from_dir, from, to_dir, to, flags);
}

int
link(const char *from, const char *to)
{
	char all[PATH_MAX];
	bool ours = resolve(AT_FDCWD, to, all);
	struct turn turn = turn_begin(ours);
	int r = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);

	if (r == 0 && ours)
		record(turn, DISK_LINK, inode_of(all), all, "", -1);
	turn_end(turn);
	return r;
}

static int
do_unlink(int dir, const char *path, int flags)
{
	char all[PATH_MAX];
	bool ours = resolve(dir, path, all);
	struct turn turn = turn_begin(ours);
	int r = (int)syscall(SYS_unlinkat, dir, path, flags);

	if (r == 0 && ours)
		record(turn, DISK_REMOVE, 0, all, "", -1);
	turn_end(turn);
	return r;
}

int
unlink(const char *path)
{
	return do_unlink(AT_FDCWD, path, 0);
}

int
unlinkat(int dir, const char *path, int flags)
{
	return do_unlink(dir, path, flags);
}

int
rmdir(const char *path)
{
	return do_unlink(AT_FDCWD, path, AT_REMOVEDIR);
}

int
mkdir(const char *path, mode_t mode)
{
	char all[PATH_MAX];
	bool ours = resolve(AT_FDCWD, path, all);
	struct turn turn = turn_begin(ours);
	int r = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);

	if (r == 0 && ours)
		record(turn, DISK_MKDIR, 0, all, "", -1);
	turn_end(turn);
	return r;
}

/* --- syncs ------------------------------------------------------------ */

static int
do_sync(int fd)
{
	char path[PATH_MAX];
	bool ours = path_of(fd, path);
	struct turn turn = turn_begin(ours);
	struct stat st;

	if (ours && fstat(fd, &st) == 0)
		record(turn, DISK_SYNC, st.st_ino, path, "", -1);
	turn_end(turn);
	return 0;
}

int
fsync(int fd)
{
	return do_sync(fd);
}

int
fdatasync(int fd)
{
	return do_sync(fd);
}

int
syncfs(int fd)
{
	struct turn turn = turn_begin(true);

	(void)fd;
	record(turn, DISK_SYNC_ALL, 0, "", "", -1);
	turn_end(turn);
	return 0;
}

void
sync(void)
{
	syncfs(-1);
}
