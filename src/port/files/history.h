/* SPDX-License-Identifier: ISC */

/* What is kept of failures: a line for each in failures.jsonl, and a folder of
 * evidence.
 *
 * failures.jsonl is the overseer's memory. Appended and synced; an incomplete
 * last line and lines that are not events are ignored. Written by one process
 * at a time, the one that holds the overseer's lock. Read by anybody. */
#ifndef HISTORY_H
#define HISTORY_H

#include <sys/types.h>

#include "remedy.h"

struct err;
struct workspace;

struct history {
	struct spiral_event *events; /* oldest first */
	size_t count; /* at most HISTORY_MAX */
	size_t unsaved; /* the last ones, which are not in the file yet */
};

/* The last HISTORY_MAX events. No file is an empty history. Changes nothing on
 * the disk. */
#define HISTORY_MAX 500
int history_load(const struct workspace *workspace, struct history *ret_history,
    struct err *err);
void history_release(struct history *history);

/* Append to the history; takes ownership of the strings and empties *event. The
 * next history_save() writes it to the file. */
void history_note(struct history *history, struct spiral_event *event);

/* Write new events to the file. On failure they stay in the history, so that
 * the next decisions count them, and the next call writes them first. A file of
 * more than four times HISTORY_MAX lines is replaced by one with the last
 * HISTORY_MAX. */
int history_save(const struct workspace *workspace, struct history *history,
    struct err *err);

/* Both. */
int history_add(const struct workspace *workspace, struct history *history,
    struct spiral_event *event, struct err *err);

/* The first manual intervention file, by name; owned by the caller, NULL =
 * there is none. */
char *history_manual_file(const struct workspace *workspace);

/*
 * What is known about a failure: read when the failure is noticed, before
 * anything is ended or cleaned up, and then kept as a folder,
 * .llmc/evidence/<stamp>/. Every part is bounded; a part that cannot be read is
 * left out.
 */

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
