/* SPDX-License-Identifier: ISC */

/*
 * Claude Code's own task files (<list>/<id>.json): what a file says, which
 * tasks may be started, which is next. Pure: takes the bytes of a file, returns
 * new text. Unknown members are kept.
 */
#ifndef TASKFILE_H
#define TASKFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "priority.h"

struct buf;
struct err;
struct json_object;

enum taskfile_status {
	TASKFILE_PENDING,
	TASKFILE_IN_PROGRESS,
	TASKFILE_COMPLETED,
	TASKFILE_STATUS_COUNT
};

struct taskfile {
	char *id, *subject, *description;
	enum taskfile_status status;
	char *owner; /* NULL = none or empty */
	char *label; /* metadata.label; NULL = none */
	char *failed; /* why it was given up (metadata.llmc_failed); NULL = it
		       * was not. Removing that member allows another try. */
	char *landed; /* the commit it landed as before, when it is to be done
		       * again (metadata.llmc_landed); NULL = it is new */
	struct json_object *contract; /* metadata.verification, an object
				       * (contract.h); a part of json; NULL =
				       * none */
	enum priority priority; /* metadata.priority: a number or a word */
	char **blocked_by; /* NULL terminated ids */
	struct json_object *json; /* as read; NULL = stands for a file that
				   * cannot be read and does not count as
				   * completed */
};

#define TASKFILE_SIZE_MAX ((size_t)1024 * 1024)

/* Required: id, subject, description, status; blocks and blockedBy must be
 * arrays of strings if present. -EINVAL names the member; -E2BIG. */
int taskfile_parse(
    const char *bytes, size_t len, struct taskfile **ret_task, struct err *err);
void taskfile_free(struct taskfile *task);

/* A placeholder, in progress and without owner, so that dependent tasks
 * wait. */
struct taskfile *taskfile_stand_in(const char *id);

/* Pending, no owner, not given up, every blocker completed. A missing blocker
 * blocks too. The rule of taskfile_select(), public for its tests. */
bool taskfile_eligible(
    const struct taskfile *task, struct taskfile *const *all, size_t count);

/* Does it have a blocker that does not exist, or is it part of a cycle of
 * blockers (completed ones do not block)? If so, append the reason (with the
 * path of the cycle). Such a task can never become eligible: it is
 * quarantined. */
bool taskfile_broken(const struct taskfile *task, struct taskfile *const *all,
    size_t count, struct buf *words);

/* Compare as numbers if both are numbers, otherwise as text. */
int taskfile_compare_ids(const char *a, const char *b);

/* The next eligible task, or NULL: labels not in use first (no label is always
 * free; if all are in use, any), then by priority, then lowest id.
 * active: labels in use, NULL terminated; labels of owned tasks in progress
 * count too. */
const struct taskfile *taskfile_select(
    struct taskfile *const *all, size_t count, const char *const *active);

/* The file's new text with this status, owner and reason for giving up (NULL
 * removes it). Not for a placeholder. */
void taskfile_write(const struct taskfile *task, enum taskfile_status status,
    const char *owner, const char *failed, struct buf *out);

/* The file's new text with another priority; the rest stays. */
void taskfile_write_priority(
    const struct taskfile *task, enum priority priority, struct buf *out);

/* The file's new text as a task that waits, though it was given up or completed
 * before; commit: what it landed as, NULL = as the file says. */
void taskfile_write_again(
    const struct taskfile *task, const char *commit, struct buf *out);

/* The prompt for a worker: subject, a blank line, description; without the
 * blank line if one of them is empty. */
void taskfile_text(const struct taskfile *task, struct buf *out);

#endif
