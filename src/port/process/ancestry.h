/* SPDX-License-Identifier: ISC */

/*
 * The parents of a process, from /proc, up to init. A parent cannot be another
 * process with the same number: it is older than its child, and what does not
 * fit is read again.
 */
#ifndef ANCESTRY_H
#define ANCESTRY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

#define ANCESTRY_PROC "/proc"
#define ANCESTRY_MAX  128 /* of generations */

struct ancestor {
	pid_t pid;
	uint64_t start_time; /* field 22 of /proc/PID/stat */
};

/* The process itself first. Ends at init, at the top of the pid namespace that
 * proc shows, and at a process that another user's /proc hides. Returns how
 * many; -ESRCH: it has ended; -ELOOP: more than max; -ESTALE: its parents
 * change all the time. proc is ANCESTRY_PROC, except in tests. */
int ancestry_read(
    const char *proc, pid_t pid, struct ancestor *ret_list, size_t max);

/* The environment that a process was started with, as the kernel kept it;
 * appended. Negative errno: it cannot be read. */
int ancestry_environment(const char *proc, pid_t pid, struct buf *environment);
/* A variable's value in it; NULL = it has none. */
const char *ancestry_variable(const struct buf *environment, const char *name);

/* The process of a pidfd: its pid in the pid namespace of proc, -ESRCH if it
 * was reaped, 0 if it is outside of the namespace. */
pid_t ancestry_pidfd(const char *proc, int pidfd);

#endif
