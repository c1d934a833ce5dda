/* SPDX-License-Identifier: ISC */

/*
 * What is known about a failure: read when the failure is noticed, before
 * anything is ended or cleaned up, and then kept as a folder,
 * .llmc/evidence/<stamp>/. Every part is bounded; a part that cannot be read is
 * left out.
 */
#ifndef EVIDENCE_H
#define EVIDENCE_H

#include <stddef.h>
#include <sys/types.h>

struct err;
struct workspace;

#define EVIDENCE_KEEP     20 /* folders; older ones are removed */
#define EVIDENCE_PART_MAX ((size_t)256 * 1024) /* bytes: the end of a file */

struct evidence {
	char *dir; /* absolute; NULL = nothing could be kept */
	char *registration, *heartbeat, *failure; /* texts; NULL = none */
	char *autod_log, *auto_log, *task_pool_log, *post_accept_log;
	char *standard_error;
	char *workers; /* a line each, from state.json */
	char *task_error; /* of the last failed task, or NULL */
	char *stack; /* kernel stack, wchan, status, of a process that hangs */
};

/* Read what there is now; nothing is written, so that a restart need not wait
 * for the disk. pid 0 = the process is gone. stderr_file: where the daemon's
 * standard error went, or NULL. *ret_evidence is released by the caller. */
void evidence_read(const struct workspace *workspace, pid_t pid,
    const char *stderr_file, struct evidence *ret_evidence);
/* Write what was read to the disk, without keys and passwords (remedy-mask.h),
 * and set evidence->dir. On failure (nothing
 * could be written, there is no folder) the texts are still valid. */
int evidence_save(const struct workspace *workspace, const char *stamp,
    struct evidence *evidence, struct err *err);
void evidence_release(struct evidence *evidence);

#endif
