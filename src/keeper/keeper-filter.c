/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "keeper-filter.h"

/* The architecture of a call, and the one of 32-bit programs with the first of
 * its three numbers, which follow each other. */
#if defined(__x86_64__)
#define OWN_ARCH    AUDIT_ARCH_X86_64
#define OTHER_ARCH  AUDIT_ARCH_I386
#define OTHER_FIRST 286
#elif defined(__aarch64__)
#define OWN_ARCH    AUDIT_ARCH_AARCH64
#define OTHER_ARCH  AUDIT_ARCH_ARM
#define OTHER_FIRST 309
#endif

#define X32_BIT 0x40000000U /* of a number, on x86_64 */

#define LOAD(field)                        \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
	    (uint32_t)offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
/* Go on, or skip so many. */
#define IF_EQUAL(value, skip) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
/* As a kernel without keyrings answers. */
#define REFUSE RETURN(SECCOMP_RET_ERRNO | ENOSYS)

static const struct sock_filter filter[] = {
#ifdef OWN_ARCH
	LOAD(arch),
	IF_EQUAL(OTHER_ARCH, 5),
	LOAD(nr),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_FIRST, 0, 2),
	BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, OTHER_FIRST + 2, 1, 0),
	REFUSE,
	RETURN(SECCOMP_RET_ALLOW),
	IF_EQUAL(OWN_ARCH, 1),
	BPF_STMT(BPF_JMP | BPF_JA, 1),
	REFUSE,
#endif
	LOAD(nr),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~X32_BIT),
	IF_EQUAL(SYS_add_key, 1),
	REFUSE,
	IF_EQUAL(SYS_request_key, 1),
	REFUSE,
	IF_EQUAL(SYS_keyctl, 1),
	REFUSE,
	RETURN(SECCOMP_RET_ALLOW),
};

int
keeper_filter_open(int fd)
{
	int made = memfd_create("filter", 0);
	int r = 0;

	if (made == -1)
		return -errno;
	if (write(made, filter, sizeof filter) != (ssize_t)sizeof filter ||
	    lseek(made, 0, SEEK_SET) != 0 ||
	    (made != fd && dup2(made, fd) == -1))
		r = -errno;
	if (made != fd)
		close(made);
	return r;
}

void
keeper_filter_leave_keyring(void)
{
	/* Where it cannot be left, the filter keeps it out of reach. */
	(void)syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
}
