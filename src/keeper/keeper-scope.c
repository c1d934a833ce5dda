/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "keeper-scope.h"

#define ABI_SCOPES  6
#define GET_VERSION 1U

/* As of that ABI; older system headers have a shorter one. */
struct ruleset {
	uint64_t handled_fs, handled_net, scoped;
};

int
keeper_scope_check(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, GET_VERSION);

	if (abi == -1)
		return -errno;
	return abi < ABI_SCOPES ? -EOPNOTSUPP : 0;
}

int
keeper_scope_enter(unsigned scopes)
{
	const struct ruleset ruleset = { .scoped = scopes };
	int fd = (int)syscall(
	    SYS_landlock_create_ruleset, &ruleset, sizeof ruleset, 0U);
	int r = 0;

	if (fd == -1)
		return -errno;
	if (syscall(SYS_landlock_restrict_self, fd, 0U) == -1 &&
	    (errno != EPERM || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
		syscall(SYS_landlock_restrict_self, fd, 0U) == -1))
		r = -errno;
	close(fd);
	return r;
}
