/* SPDX-License-Identifier: ISC */

/*
 * Preloaded into the daemon: while the file that LLMC_HANG names exists, its
 * next heartbeat waits in a system call that no signal ends. Used by
 * tests/e2e/test-failure-table-hangs.c.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int
is_heartbeat(const char *path)
{
	static const char name[] = "/auto.heartbeat.new";
	size_t len = strlen(path);

	return len >= sizeof name - 1 &&
	    strcmp(path + len - (sizeof name - 1), name) == 0;
}

int
unlink(const char *path)
{
	const char *hang = getenv("LLMC_HANG");

	while (hang != NULL && is_heartbeat(path) && access(hang, F_OK) == 0)
		poll(NULL, 0, -1);
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
