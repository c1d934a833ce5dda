/* SPDX-License-Identifier: ISC */

/*
 * Preloaded into a program, kills it at its n-th step. A step is what others
 * can see of it: a program that it starts (fork), and a file that it puts in
 * place or removes (rename, unlink). Those of its helpers (child_spec.call in
 * child.h), which die with it, count as well.
 *
 *   STEPKILL_PROGRAM  name of the program; others are left alone
 *   STEPKILL_ARM      file: steps count only while it exists, and it is
 *                     removed by the kill
 *   STEPKILL_N        which step, counted from 1; 0 only counts
 *   STEPKILL_COUNT    file that gets a line for each step: its name
 *   STEPKILL_WRITES   set: what SQLite does to a file is a step too, and so is
 *                     every sync
 *
 * The process ends right before the step. Used by tests/e2e/test-queue-kills.c
 * and others.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <dlfcn.h>

static const char *arm, *count_file; /* NULL = switched off */
static int with_writes;
static unsigned long wanted, *count; /* shared with its helpers */
static pid_t self; /* not its other children */

__attribute__((constructor)) static void
stepkill_begin(void)
{
	const char *program = getenv("STEPKILL_PROGRAM");
	const char *n = getenv("STEPKILL_N");

	if (program == NULL || n == NULL ||
	    strcmp(program, program_invocation_short_name) != 0)
		return;
	wanted = strtoul(n, NULL, 10);
	count_file = getenv("STEPKILL_COUNT");
	arm = getenv("STEPKILL_ARM");
	with_writes = getenv("STEPKILL_WRITES") != NULL;
	self = getpid();
	count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (count == MAP_FAILED)
		abort();
}

static int
is_ours(void)
{
	char name[16] = "";

	if (getpid() == self)
		return 1;
	prctl(PR_GET_NAME, name);
	return getppid() == self && strcmp(name, "helper") == 0;
}

static void
step(const char *name, const char *what)
{
	char line[512];
	unsigned long now;
	int saved = errno, fd, len;

	if (arm == NULL || count_file == NULL || !is_ours() ||
	    access(arm, F_OK) == -1) {
		errno = saved;
		return;
	}
	now = __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
	len = snprintf(line, sizeof line, "%lu %s %.400s\n", now, name, what);
	fd = open(count_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd == -1 || write(fd, line, (size_t)len) != len)
		abort();
	close(fd);
	if (now == wanted && syscall(SYS_unlinkat, AT_FDCWD, arm, 0) == 0) {
		kill(self, SIGKILL);
		raise(SIGKILL);
	}
	errno = saved;
}

pid_t
fork(void)
{
	pid_t (*real)(void) = NULL;

	*(void **)&real = dlsym(RTLD_NEXT, "fork");
	step("fork", "");
	return real();
}

int
rename(const char *from, const char *to)
{
	step("rename", to);
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
unlink(const char *path)
{
	step("unlink", path);
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

/* These are no calls of ours: we write by write() and replace files whole. */

static void
step_write(const char *name, int fd)
{
	char link[64], path[400];
	ssize_t len;
	int saved = errno;

	if (!with_writes)
		return;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof path - 1);
	path[len > 0 ? len : 0] = '\0';
	errno = saved;
	step(name, path);
}

ssize_t
pwrite64(int fd, const void *data, size_t len, off64_t at)
{
	step_write("pwrite", fd);
	return syscall(SYS_pwrite64, fd, data, len, at);
}

int
ftruncate64(int fd, off64_t len)
{
	step_write("ftruncate", fd);
	return (int)syscall(SYS_ftruncate, fd, len);
}

int
fdatasync(int fd)
{
	step_write("fdatasync", fd);
	return (int)syscall(SYS_fdatasync, fd);
}

int
fsync(int fd)
{
	step_write("fsync", fd);
	return (int)syscall(SYS_fsync, fd);
}
