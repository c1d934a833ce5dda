/* SPDX-License-Identifier: ISC */

/*
 * What is known about a failure: read when the failure is noticed, before
 * anything is ended or cleaned up, and then kept as a folder,
 * .llmc/evidence/<stamp>/. Every part is bounded; a part that cannot be read is
 * left out.
 */
#ifndef EVIDENCE_H
#define EVIDENCE_H

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
	char *workers; /* a line each, from the heartbeat */
	char *task_error; /* of the last failed task, or NULL */
	char *stack; /* kernel stack, wchan, status, of a process that hangs */
};

/* Read what the next daemon would replace: where this one hangs (pid 0 = it is
 * gone), its registration, heartbeat and record of a failure. Nothing is
 * written, so that a restart need not wait for the disk. *ret_evidence is
 * released by the caller. */
void evidence_read_first(const struct workspace *workspace, pid_t pid,
    struct evidence *ret_evidence);
/* The rest, which may follow the next start. said_file: where the daemon's
 * standard error went, or NULL; from byte `from` of it to before byte `to`. */
void evidence_read_rest(const struct workspace *workspace,
    const char *said_file, int64_t from, int64_t to, struct evidence *evidence);
/* Write what was read to the disk, without keys and passwords (excerpt.h),
 * and set evidence->dir. On failure (nothing
 * could be written, there is no folder) the texts are still valid. */
int evidence_save(const struct workspace *workspace, const char *stamp,
    struct evidence *evidence, struct err *err);
void evidence_release(struct evidence *evidence);

#endif
