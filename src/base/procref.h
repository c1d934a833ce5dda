/* SPDX-License-Identifier: ISC */

/*
 * A reference to a process that is safe against pid reuse: pid, start time,
 * boot id, and a pidfd while we hold it. No bare pid is ever signalled.
 *
 * A reference can be written to a file (procref_to_json) and found again after
 * a restart (procref_from_json + procref_open). If the boot id or the start
 * time differs, or there is no such process, it is gone.
 */
#ifndef PROCREF_H
#define PROCREF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct json_object;

#define PROCREF_BOOT_ID_SIZE 37

struct procref {
	pid_t pid; /* 0 = refers to nothing */
	uint64_t start_time; /* field 22 of /proc/PID/stat, clock ticks */
	char boot_id[PROCREF_BOOT_ID_SIZE];
	int pidfd; /* -1 if not open or not supported */
};

#define PROCREF_INIT            \
	{                       \
		0, 0, { 0 }, -1 \
	}

/* Refer to a running process and open its pidfd if the kernel supports it.
 * -ESRCH if there is none. A zombie counts as gone, except for its parent. The
 * reference must be initialised (PROCREF_INIT or all zeroes); it owns its
 * pidfd. This and procref_from_json() release what it referred to before. */
int procref_set(struct procref *ref, pid_t pid);
int procref_set_self(struct procref *ref);

/* Open the pidfd of a reference loaded from a file, after checking that it
 * still refers to the same process. -ESRCH if it is gone. */
int procref_open(struct procref *ref);

/* Close the pidfd and reset to PROCREF_INIT. */
void procref_release(struct procref *ref);

/* Is the process running? A zombie is not. */
bool procref_alive(const struct procref *ref);

/* Send a signal to exactly that process; -ESRCH if it is gone. Signal 0 only
 * checks. */
int procref_signal(const struct procref *ref, int signo);

/* The same for its process group, while the process leads one: even as a
 * zombie, but not after it was reaped. */
int procref_signal_group(const struct procref *ref, int signo);

/* {"pid":1,"start_time":2,"boot_id":"..."}; the caller owns the object. */
struct json_object *procref_to_json(const struct procref *ref);
int procref_from_json(
    struct procref *ref, struct json_object *json, struct err *err);

/* The state letter of /proc/PID/stat (R, S, D, T, Z...), or 0 if it is gone. */
char procref_state(const struct procref *ref);

/* Is it exiting (the kernel is still tearing it down, which takes as long as
 * its slowest descriptor: 15 ms for inotify) or a zombie? Returns 0 with the
 * status as wait(2) gives it, which is 0 if it may not be read. -EAGAIN if it
 * is not exiting, -ESRCH if it is gone. */
int procref_ending(const struct procref *ref, int *ret_wait_status);

/* For tests: behave as on a kernel without pidfd_open(2). */
void procref_disable_pidfd(bool disable);

/* pidfd_open(2), or -ENOSYS after procref_disable_pidfd(true). */
int procref_pidfd_open(pid_t pid);

#endif
