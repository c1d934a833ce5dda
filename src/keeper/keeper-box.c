/* SPDX-License-Identifier: ISC */

/*
 * What a box needs of the keeper. Before bwrap: nothing open, a keyring of its
 * own, a filter of system calls, and a copy of bwrap that nobody can change.
 * In the box: the init, which starts the program and collects orphans.
 *
 * bwrap has an init itself, but without the filter, and with memory that every
 * process of its user may write. Who rules it can end the outer bwrap while the
 * box goes on, and write to the file that is executed. This one has the filter
 * and cannot be looked into; the outer bwrap ends when it does, and it does not
 * before the kernel has ended the last process of its pid namespace.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper-private.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* Linux 6.3 */
#endif

/* The ABIs of this machine, and the number of a call in the second one, that of
 * 32-bit programs. On x86_64 that is i386; all of x32 is refused. */
#if defined(__x86_64__)
#define OWN_ARCH         AUDIT_ARCH_X86_64
#define OTHER_ARCH       AUDIT_ARCH_I386
#define OTHER(i386, arm) i386
#define X32_BIT          0x40000000U /* of a number */
#elif defined(__aarch64__)
#define OWN_ARCH         AUDIT_ARCH_AARCH64
#define OTHER_ARCH       AUDIT_ARCH_ARM
#define OTHER(i386, arm) arm
#elif defined(__i386__)
#define OWN_ARCH AUDIT_ARCH_I386
#elif defined(__arm__)
#define OWN_ARCH AUDIT_ARCH_ARM
#elif defined(__riscv) && __riscv_xlen == 64
#define OWN_ARCH AUDIT_ARCH_RISCV64
#else
#define OWN_ARCH 0 /* nobody has written its table: there are no boxes */
#endif
#ifndef OTHER
#define OTHER(i386, arm) NONE
#endif

#define NONE (-1) /* the ABI has no such call */
#ifndef SYS_socketcall
#define SYS_socketcall NONE
#endif
#ifndef SYS_umount
#define SYS_umount NONE
#endif

#define SOCKETCALL_SOCKET 1

/* As of 424, calls have one number in all ABIs. */
#define SAME(nr) nr, nr

/* For the first argument: refuse the call always, if it is the value, or if it
 * has the bit. */
enum keeper_when {
	KEEPER_ALWAYS,
	KEEPER_IS,
	KEEPER_HAS
};

struct keeper_refused {
	int own, other;
	int error; /* what the call fails with */
	enum keeper_when when;
	uint32_t value;
};

/*
 * What nothing in a box needs, and what leads out of it or has often done so:
 * other processes, memory and descriptors of theirs, interfaces of the kernel
 * that hold no mount, user or network namespace, the hypervisor, and user
 * namespaces, in which a process is root and has the rest of the kernel.
 *
 * ENOSYS is the answer of a kernel without it, which programs expect: they do
 * without, or (clone3, whose flags a filter cannot read) use an older call.
 */
static const struct keeper_refused refused[] = {
	{ SYS_ptrace, OTHER(26, 26), EPERM, 0, 0 },
	{ SYS_process_vm_readv, OTHER(347, 376), EPERM, 0, 0 },
	{ SYS_process_vm_writev, OTHER(348, 377), EPERM, 0, 0 },
	{ SAME(438), EPERM, 0, 0 }, /* pidfd_getfd */
	{ SYS_kcmp, OTHER(349, 378), EPERM, 0, 0 },

	{ SAME(425), ENOSYS, 0, 0 }, /* io_uring_setup */
	{ SAME(426), ENOSYS, 0, 0 }, /* io_uring_enter */
	{ SAME(427), ENOSYS, 0, 0 }, /* io_uring_register */
	{ SYS_userfaultfd, OTHER(374, 388), EPERM, 0, 0 },
	{ SYS_bpf, OTHER(357, 386), EPERM, 0, 0 },
	{ SYS_perf_event_open, OTHER(336, 364), EPERM, 0, 0 },
	{ SYS_add_key, OTHER(286, 309), ENOSYS, 0, 0 },
	{ SYS_request_key, OTHER(287, 310), ENOSYS, 0, 0 },
	{ SYS_keyctl, OTHER(288, 311), ENOSYS, 0, 0 },

	{ SYS_socket, OTHER(359, 281), EAFNOSUPPORT, KEEPER_IS, AF_VSOCK },
	/* Its family is in memory, which a filter cannot read. */
	{ SYS_socketcall, OTHER(102, 102), ENOSYS, KEEPER_IS,
	    SOCKETCALL_SOCKET },

	{ SYS_mount, OTHER(21, 21), EPERM, 0, 0 },
	{ SYS_umount, OTHER(22, 22), EPERM, 0, 0 },
	{ SYS_umount2, OTHER(52, 52), EPERM, 0, 0 },
	{ SYS_pivot_root, OTHER(217, 218), EPERM, 0, 0 },
	{ SAME(428), EPERM, 0, 0 }, /* open_tree */
	{ SAME(429), EPERM, 0, 0 }, /* move_mount */
	{ SAME(430), EPERM, 0, 0 }, /* fsopen */
	{ SAME(431), EPERM, 0, 0 }, /* fsconfig */
	{ SAME(432), EPERM, 0, 0 }, /* fsmount */
	{ SAME(433), EPERM, 0, 0 }, /* fspick */
	{ SAME(442), EPERM, 0, 0 }, /* mount_setattr */
	{ SAME(467), EPERM, 0, 0 }, /* open_tree_attr */
	{ SYS_unshare, OTHER(310, 337), EPERM, KEEPER_HAS, CLONE_NEWUSER },
	{ SYS_setns, OTHER(346, 375), EPERM, 0, 0 },
	{ SYS_clone, OTHER(120, 120), EPERM, KEEPER_HAS, CLONE_NEWUSER },
	{ SAME(435), ENOSYS, 0, 0 }, /* clone3 */
};

#define REFUSED_COUNT (sizeof refused / sizeof refused[0])

/* Five instructions a call, a few around them; of two ABIs. */
static struct sock_filter code[2 * (5 * REFUSED_COUNT + 8)];
static size_t code_len;

static void
emit(unsigned op, uint32_t value, unsigned yes, unsigned no)
{
	if (code_len < sizeof code / sizeof code[0])
		code[code_len++] = (struct sock_filter){ (uint16_t)op,
			(uint8_t)yes, (uint8_t)no, value };
}

static void
emit_load(size_t offset)
{
	emit(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void
emit_refuse(int error)
{
	emit(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error, 0, 0);
}

/* Of a call that has this number. The low half of an argument comes first on
 * all these machines, and is all that the kernel looks at in these calls. */
static void
emit_call(const struct keeper_refused *call, int nr)
{
	if (nr == NONE)
		return;
	if (call->when == KEEPER_ALWAYS) {
		emit(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1);
		emit_refuse(call->error);
		return;
	}
	emit(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 4);
	emit_load(offsetof(struct seccomp_data, args));
	emit(BPF_JMP | BPF_K | (call->when == KEEPER_IS ? BPF_JEQ : BPF_JSET),
	    call->value, 0, 1);
	emit_refuse(call->error);
	emit(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* The answers to the calls of one ABI; the others go on behind them. */
static void
emit_abi(uint32_t arch, bool own)
{
	size_t jump;

	emit_load(offsetof(struct seccomp_data, arch));
	emit(BPF_JMP | BPF_JEQ | BPF_K, arch, 1, 0);
	jump = code_len;
	emit(BPF_JMP | BPF_JA, 0, 0, 0);
	emit_load(offsetof(struct seccomp_data, nr));
#ifdef X32_BIT
	if (own) {
		emit(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
		emit_refuse(ENOSYS);
	}
#endif
	for (size_t i = 0; i < REFUSED_COUNT; i++)
		emit_call(&refused[i], own ? refused[i].own : refused[i].other);
	emit(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	code[jump].k = (uint32_t)(code_len - jump - 1);
}

/* Have it open at that descriptor, which the next program inherits. Negative
 * errno, and the open descriptor is closed. */
static int
put_at(int made, int fd)
{
	int r = 0;

	if (made == fd)
		return fcntl(fd, F_SETFD, 0) == -1 ? -errno : 0;
	if (dup2(made, fd) == -1)
		r = -errno;
	close(made);
	return r;
}

/* Have the filter's program readable at this descriptor. */
static int
open_filter(int fd)
{
	size_t size;
	int made;

	if (OWN_ARCH == 0)
		return -EOPNOTSUPP;
	emit_abi(OWN_ARCH, true);
#ifdef OTHER_ARCH
	emit_abi(OTHER_ARCH, false);
#endif
	emit_refuse(ENOSYS); /* an ABI that is not in the tables */
	size = code_len * sizeof code[0];
	made = memfd_create("filter", MFD_CLOEXEC);
	if (made == -1)
		return -errno;
	if (write(made, code, size) != (ssize_t)size ||
	    lseek(made, 0, SEEK_SET) != 0) {
		int r = -errno;

		close(made);
		return r;
	}
	return put_at(made, fd);
}

/* Have a copy of the file open there that can be executed, and changed by
 * nobody, whatever holds it open. */
static int
open_sealed(int fd, const char *file)
{
	int from = open(file, O_RDONLY | O_CLOEXEC);
	int made, r = 0;
	ssize_t n;

	if (from == -1)
		return -errno;
	made =
	    memfd_create("bwrap", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
	if (made == -1 && errno == EINVAL)
		made = memfd_create("bwrap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (made == -1) {
		r = -errno;
		close(from);
		return r;
	}
	while ((n = sendfile(made, from, NULL, INT32_MAX)) > 0)
		continue;
	if (n == -1 || fchmod(made, 0555) == -1 ||
	    fcntl(made, F_ADD_SEALS,
		F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == -1)
		r = -errno;
	close(from);
	if (r < 0) {
		close(made);
		return r;
	}
	return put_at(made, fd);
}

/* A socket that a box was to mask may have gone since its words were made: a
 * mount there would leave an empty file in a folder of the user, which keeps
 * the owner of the socket from making it again, and fail in a read-only one. */
static void
keeper_drop_masks(char **argv)
{
	char **to = argv;
	struct stat st;

	while (*argv != NULL && strcmp(*argv, "--") != 0) {
		if (strcmp(*argv, "--ro-bind") == 0 && argv[1] != NULL &&
		    strcmp(argv[1], "/dev/null") == 0 && argv[2] != NULL &&
		    lstat(argv[2], &st) == -1 && errno == ENOENT)
			argv += 3;
		else
			*to++ = *argv++;
	}
	while (*argv != NULL)
		*to++ = *argv++;
	*to = NULL;
}

int
keeper_box_become(char **argv, const struct keeper_bare *bare)
{
	int r = bare->scoped ? keeper_scope_enter(KEEPER_SCOPE_ABSTRACT) : 0;

	if (r < 0) {
		keeper_say("cannot close abstract sockets: %s", strerror(-r));
		return KEEPER_FAILED;
	}
	/* What our keeper holds, the lock of a check say, is not for a box. */
	close_range(STDERR_FILENO + 1, ~0U, 0);
	/* Leave the session keyring for a new one. Where it cannot be left, the
	 * filter keeps it out of reach. */
	(void)syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	if (bare->filter != -1 && (r = open_filter(bare->filter)) < 0) {
		keeper_say("cannot make a filter: %s", strerror(-r));
		return KEEPER_FAILED;
	}
	if (bare->seal != -1 &&
	    (r = open_sealed(bare->seal, bare->sealed)) < 0) {
		keeper_say("cannot make a sealed copy of %s: %s", bare->sealed,
		    strerror(-r));
		return KEEPER_FAILED;
	}
	keeper_drop_masks(argv);
	execvp(argv[0], argv);
	keeper_exec_failed(argv[0]);
	return KEEPER_FAILED;
}

int
keeper_box_init(char **argv, int spare)
{
	int status = W_EXITCODE(KEEPER_FAILED, 0);
	pid_t program, pid;

	/* Neither its memory nor its files are open to its own user then. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 || getpid() != 1) {
		keeper_say("--init is for the first process of a box");
		return KEEPER_FAILED;
	}
	close_range((unsigned)spare, ~0U, 0);
	program = fork();
	if (program == 0) {
		execvp(argv[0], argv);
		_exit(keeper_exec_failed(argv[0]));
	}
	if (program == -1)
		return keeper_exec_failed(argv[0]);
	close_range(STDERR_FILENO + 1, ~0U, 0);
	do
		pid = wait(&status);
	while (pid != program && (pid != -1 || errno == EINTR));
	/* The kernel ends what is left. */
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
				     WEXITSTATUS(status);
}
