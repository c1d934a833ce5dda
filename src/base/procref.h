/* SPDX-License-Identifier: ISC */

/*
 * A reference to a process that cannot be fooled by pid reuse: pid, start time,
 * boot id, and a pidfd while we hold it. No bare pid is ever signalled.
 *
 * A reference can be written to a file (procref_to_json) and found again after
 * our own restart (procref_from_json + procref_open): another boot, another
 * start time or no such process all mean "gone".
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
	int pidfd; /* -1 where not open or not supported */
};

#define PROCREF_INIT            \
	{                       \
		0, 0, { 0 }, -1 \
	}

/* Refer to a process that runs now, and open its pidfd where the kernel can.
 * -ESRCH when there is none. A zombie counts as gone except for its parent. The
 * reference must be initialised (PROCREF_INIT or all zeroes); it owns its
 * pidfd, and what it referred to before is released, here and in
 * procref_from_json(). */
int procref_set(struct procref *ref, pid_t pid);
int procref_set_self(struct procref *ref);

/* Open the pidfd of a reference that came from a file, after checking that it
 * still means the same process. -ESRCH when it is gone. */
int procref_open(struct procref *ref);

/* Closes the pidfd, leaves PROCREF_INIT. */
void procref_release(struct procref *ref);

/* Does the process still run? A zombie does not. */
bool procref_alive(const struct procref *ref);

/* Send a signal to that process and to no other; -ESRCH when it is gone.
 * Signal 0 only checks. */
int procref_signal(const struct procref *ref, int signo);

/* The same to its process group, only while it still leads one: also as a
 * zombie, but no more once it is reaped. */
int procref_signal_group(const struct procref *ref, int signo);

/* {"pid":1,"start_time":2,"boot_id":"..."}; the caller owns the object. */
struct json_object *procref_to_json(const struct procref *ref);
int procref_from_json(
    struct procref *ref, struct json_object *json, struct err *err);

/* The one letter state of /proc/PID/stat (R, S, D, T, Z...), or 0 when gone. */
char procref_state(const struct procref *ref);

/* Is it past its last instruction, with the kernel still taking it down (which
 * lasts as long as its slowest descriptor: 15 ms for inotify), or a zombie? 0
 * and how it ended, as wait(2) tells it; also 0 when that may not be read.
 * -EAGAIN when it is not ending, -ESRCH when it is gone. */
int procref_ending(const struct procref *ref, int *ret_wait_status);

/* Tests: behave as on a kernel without pidfd_open(2). */
void procref_disable_pidfd(bool disable);

/* pidfd_open(2) honouring the switch above; negative errno. */
int procref_pidfd_open(pid_t pid);

#endif
