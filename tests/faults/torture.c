/* SPDX-License-Identifier: ISC */

/*
 * Preloaded into a program, makes its n-th system call of the kinds below fail:
 *
 *   LLMC_TORTURE_N      which call, counted from 1; 0 only counts
 *   LLMC_TORTURE_ERRNO  how it fails; 0 = the process is killed there
 *   LLMC_TORTURE_COUNT  file for the number of calls seen (a 32-bit number)
 *                       and, from byte 16 on, the name of the one that failed
 *
 * Or makes every fsync(2) of the program, and of programs it runs, take
 * LLMC_TORTURE_SYNC_MS.
 *
 * A forked child continues its parent's count; an executed program is left
 * alone. Memory allocation does not fail. Used by tests/torture.sh.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct tally {
	uint32_t count;
	uint32_t unused[3];
	char name[48];
};

static struct tally *tally; /* shared with the file, NULL = switched off */
static uint32_t wanted;
static int failure;
static long sync_ms;

__attribute__((constructor)) static void
torture_begin(void)
{
	const char *n = getenv("LLMC_TORTURE_N");
	const char *error = getenv("LLMC_TORTURE_ERRNO");
	const char *file = getenv("LLMC_TORTURE_COUNT");
	const char *slow = getenv("LLMC_TORTURE_SYNC_MS");
	void *map;
	int fd;

	if (slow != NULL)
		sync_ms = strtol(slow, NULL, 10);
	if (n == NULL || error == NULL || file == NULL)
		return;
	wanted = (uint32_t)strtoul(n, NULL, 10);
	failure = (int)strtol(error, NULL, 10);
	fd = (int)syscall(SYS_openat, AT_FDCWD, file,
	    O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd == -1 || ftruncate(fd, sizeof *tally) == -1)
		abort();
	map = mmap(
	    NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		abort();
	syscall(SYS_close, fd);
	/* Programs run from here on are not tortured. */
	unsetenv("LD_PRELOAD");
	unsetenv("LLMC_TORTURE_N");
	unsetenv("LLMC_TORTURE_ERRNO");
	unsetenv("LLMC_TORTURE_COUNT");
	tally = map;
}

/* Should this call fail? Sets errno. */
static bool
fails(const char *name)
{
	if (tally == NULL ||
	    __atomic_add_fetch(&tally->count, 1, __ATOMIC_SEQ_CST) != wanted)
		return false;
	memccpy(tally->name, name, '\0', sizeof tally->name - 1);
	if (failure == 0)
		raise(SIGKILL);
	errno = failure;
	return true;
}

static void *
real(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	if (p == NULL)
		abort();
	return p;
}

static int
do_open(const char *name, int dir, const char *path, int flags, mode_t mode)
{
	if (fails(name))
		return -1;
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

/* The mode of an open(2), which is given only with some flags. */
static mode_t
open_mode(int flags, va_list ap)
{
	if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE)
		return va_arg(ap, mode_t);
	return 0;
}

int
open(const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = open_mode(flags, ap);
	va_end(ap);
	return do_open("open", AT_FDCWD, path, flags, mode);
}

int
open64(const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = open_mode(flags, ap);
	va_end(ap);
	return do_open("open", AT_FDCWD, path, flags, mode);
}

int
openat(int dir, const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = open_mode(flags, ap);
	va_end(ap);
	return do_open("openat", dir, path, flags, mode);
}

int
openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = open_mode(flags, ap);
	va_end(ap);
	return do_open("openat", dir, path, flags, mode);
}

/* Called by fortified programs. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

int
__open_2(const char *path, int flags)
{
	return do_open("open", AT_FDCWD, path, flags, 0);
}

int
__open64_2(const char *path, int flags)
{
	return do_open("open", AT_FDCWD, path, flags, 0);
}

int
mkostemps(char *path, int suffix, int flags)
{
	int (*next)(char *, int, int) = real("mkostemps");

	return fails("mkostemps") ? -1 : next(path, suffix, flags);
}

int
mkostemps64(char *path, int suffix, int flags)
{
	int (*next)(char *, int, int) = real("mkostemps64");

	return fails("mkostemps") ? -1 : next(path, suffix, flags);
}

ssize_t
read(int fd, void *bytes, size_t len)
{
	return fails("read") ? -1 : syscall(SYS_read, fd, bytes, len);
}

ssize_t
write(int fd, const void *bytes, size_t len)
{
	return fails("write") ? -1 : syscall(SYS_write, fd, bytes, len);
}

ssize_t
writev(int fd, const struct iovec *parts, int count)
{
	return fails("writev") ? -1 : syscall(SYS_writev, fd, parts, count);
}

static void
slow_down(void)
{
	struct timespec ts = { sync_ms / 1000, sync_ms % 1000 * 1000000 };

	if (sync_ms > 0)
		syscall(SYS_ppoll, NULL, 0, &ts, NULL, 0);
}

int
fsync(int fd)
{
	slow_down();
	return fails("fsync") ? -1 : (int)syscall(SYS_fsync, fd);
}

int
fdatasync(int fd)
{
	slow_down();
	return fails("fdatasync") ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int
fchmod(int fd, mode_t mode)
{
	return fails("fchmod") ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int
fchown(int fd, uid_t uid, gid_t gid)
{
	return fails("fchown") ? -1 : (int)syscall(SYS_fchown, fd, uid, gid);
}

int
rename(const char *from, const char *to)
{
	if (fails("rename"))
		return -1;
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
mkdir(const char *path, mode_t mode)
{
	if (fails("mkdir"))
		return -1;
	return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int
unlink(const char *path)
{
	if (fails("unlink"))
		return -1;
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

ssize_t
readlink(const char *restrict path, char *restrict to, size_t len)
{
	if (fails("readlink"))
		return -1;
	return syscall(SYS_readlinkat, AT_FDCWD, path, to, len);
}

int
stat64(const char *restrict path, struct stat64 *restrict st)
{
	int (*next)(const char *, struct stat64 *) = real("stat64");

	return fails("stat") ? -1 : next(path, st);
}

int
lstat64(const char *restrict path, struct stat64 *restrict st)
{
	int (*next)(const char *, struct stat64 *) = real("lstat64");

	return fails("lstat") ? -1 : next(path, st);
}

int
fstat64(int fd, struct stat64 *st)
{
	int (*next)(int, struct stat64 *) = real("fstat64");

	return fails("fstat") ? -1 : next(fd, st);
}

pid_t
fork(void)
{
	pid_t (*next)(void) = real("fork");

	return fails("fork") ? -1 : next();
}

/* A real one could not return from here. */
pid_t
vfork(void)
{
	return fork();
}

int
pipe2(int fds[2], int flags)
{
	return fails("pipe2") ? -1 : (int)syscall(SYS_pipe2, fds, flags);
}

int
dup2(int from, int to)
{
	int (*next)(int, int) = real("dup2");

	return fails("dup2") ? -1 : next(from, to);
}

int
close_range(unsigned first, unsigned last, int flags)
{
	if (fails("close_range"))
		return -1;
	return (int)syscall(SYS_close_range, first, last, flags);
}

int
execvp(const char *file, char *const *argv)
{
	int (*next)(const char *, char *const *) = real("execvp");

	return fails("execvp") ? -1 : next(file, argv);
}

/* The third argument is a word, a number or an address: pass it on. */
int
fcntl64(int fd, int command, ...)
{
	long argument;
	va_list ap;

	va_start(ap, command);
	argument = va_arg(ap, long);
	va_end(ap);
	if (fails("fcntl"))
		return -1;
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

int
epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	if (fails("epoll_ctl"))
		return -1;
	return (int)syscall(SYS_epoll_ctl, epoll, operation, fd, event);
}
