/* SPDX-License-Identifier: ISC */

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "e2e.h"
#include "enclave.h"

#define TAKE_MS 20000

static void
tell_kernel(const char *file, const char *text)
{
	FILE *out = fopen(file, "we");

	if (out == NULL)
		return; /* the next step will fail */
	fputs(text, out);
	fclose(out);
}

/* As root if we are, otherwise as root of a new user namespace. */
static int
leave(int flags)
{
	unsigned uid = (unsigned)geteuid(), gid = (unsigned)getegid();

	if (unshare(flags) == 0)
		return 0;
	if (unshare(flags | CLONE_NEWUSER) == -1)
		return -errno;
	tell_kernel("/proc/self/setgroups", "deny");
	tell_kernel("/proc/self/uid_map", e2e_path("0 %u 1", uid));
	tell_kernel("/proc/self/gid_map", e2e_path("0 %u 1", gid));
	return 0;
}

static const char *
say_no(const char *what, int error)
{
	return e2e_path("%s: %s", what, strerror(error));
}

const char *
enclave_small_disk(const char *dir, unsigned kib)
{
	struct e2e_run *run;
	int r = leave(CLONE_NEWNS);

	if (r < 0)
		return say_no("no mount namespace", -r);
	run = e2e_sh(NULL, e2e_path("cp -a '%s' '%s.files'", dir, dir));
	ck_assert_int_eq(run->status, 0);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1 ||
	    mount("tmpfs", dir, "tmpfs", 0, e2e_path("size=%uk", kib)) == -1)
		return say_no("no tmpfs", errno);
	run = e2e_sh(NULL, e2e_path("cp -a '%s.files/.' '%s/'", dir, dir));
	ck_assert_msg(run->status == 0, "%s", e2e_shown(run->err));
	return NULL;
}

static int
set_frozen(const char *dir, bool frozen)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (fd == -1)
		return -1;
	r = ioctl(fd, frozen ? FIFREEZE : FITHAW, 0);
	close(fd);
	return r;
}

void
enclave_release_disk(const char *dir)
{
	umount2(dir, MNT_DETACH);
}

/* Thaws what a test that was killed has frozen; knows its end by a pipe. */
static void
guard_disk(const char *dir)
{
	int ends[2];
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid > 0) {
		close(ends[0]); /* ours stays open until we end */
		return;
	}
	setsid();
	close(ends[1]);
	for (int fd = 0; fd < 3; fd++)
		dup2(ends[0], fd);
	while (read(ends[0], &byte, 1) == -1 && errno == EINTR)
		continue;
	set_frozen(dir, false);
	_exit(0);
}

const char *
enclave_freezing_disk(const char *dir)
{
	struct e2e_run *run;
	int r = geteuid() == 0 ? leave(CLONE_NEWNS) : -EPERM;

	if (r < 0)
		return say_no("no mount namespace of root's", -r);
	run = e2e_sh(NULL, e2e_path("cp -a '%s' '%s.files'", dir, dir));
	ck_assert_int_eq(run->status, 0);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1)
		return say_no("no mount namespace", errno);
	run = e2e_sh(NULL,
	    e2e_path("PATH=$PATH:/usr/sbin:/sbin; truncate -s 64M '%s.disk' && "
		     "mkfs.ext4 -q -F '%s.disk' && "
		     "mount -o loop '%s.disk' '%s'",
		dir, dir, dir, dir));
	if (run->status != 0)
		return e2e_path(
		    "no file system on a loop device: %s", run->err);
	if (set_frozen(dir, true) == -1 || set_frozen(dir, false) == -1)
		return say_no("the file system cannot be frozen", errno);
	run = e2e_sh(NULL, e2e_path("cp -a '%s.files/.' '%s/'", dir, dir));
	ck_assert_msg(run->status == 0, "%s", e2e_shown(run->err));
	guard_disk(dir);
	return NULL;
}

void
enclave_freeze(const char *dir)
{
	ck_assert_int_eq(set_frozen(dir, true), 0);
}

void
enclave_thaw(const char *dir)
{
	ck_assert_int_eq(set_frozen(dir, false), 0);
}

const char *
enclave_obey_modes(void)
{
	/* Root gets the capability back after each exec, unless it is removed
	 * from the bounding set. It can still search every folder: the programs
	 * under test may be below someone's home. */
	if (geteuid() == 0 &&
	    prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0) == -1)
		return say_no("the capability cannot be dropped", errno);
	return NULL;
}

const char *
enclave_run(void (*body)(void))
{
	int r = leave(CLONE_NEWPID | CLONE_NEWNS), status = 0;
	pid_t pid;

	if (r < 0)
		return say_no("no process id namespace", -r);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1 ||
		    mount("proc", "/proc", "proc", 0, NULL) == -1)
			_exit(77);
		body();
		exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return "no /proc for a process id namespace";
	ck_assert_int_eq(status, 0);
	return NULL;
}

bool
enclave_take_pid(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uint64_t)(uintptr_t)&pid,
		.set_tid_size = 1,
	};
	int64_t end = clock_mono_ms() + TAKE_MS;
	long r;

	waitpid(pid, NULL, 0); /* we reap orphans: a zombie keeps its id */
	/* So does a group or session with a member that is about to exit. */
	while ((r = syscall(SYS_clone3, &args, sizeof args)) == -1 &&
	    errno == EEXIST && clock_mono_ms() < end)
		poll(NULL, 0, 10);
	if (r == 0) {
		for (;;)
			pause();
	}
	return r == pid;
}
