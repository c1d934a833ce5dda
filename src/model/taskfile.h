/* SPDX-License-Identifier: ISC */

/*
 * Claude Code's own task files (<list>/<id>.json): what is in one, which may be
 * begun, which is next. Pure: a file's bytes in, a new text out. Members that
 * are not known stay as they are.
 */
#ifndef TASKFILE_H
#define TASKFILE_H

#include <stdbool.h>
#include <stddef.h>

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
	char *owner; /* NULL = none (an empty one too) */
	char *label; /* metadata.label; NULL = none */
	char *failed; /* why it was given up (metadata.llmc_failed); NULL = it
		       * was not. Who removes that member lets it be tried
		       * again. */
	int priority; /* metadata.priority: 0..4, clamped, 3 when not given */
	char **blocked_by; /* NULL terminated ids */
	struct json_object *json; /* as read; NULL = a stand-in for a file that
				   * cannot be read: it is not completed */
};

#define TASKFILE_SIZE_MAX ((size_t)1024 * 1024)

/* Required: id, subject, description, status; blocks and blockedBy are arrays
 * of strings when there. -EINVAL names the member; -E2BIG. */
int taskfile_parse(
    const char *bytes, size_t len, struct taskfile **ret_task, struct err *err);
void taskfile_free(struct taskfile *task);

/* In progress, without owner: what its dependents wait for. */
struct taskfile *taskfile_stand_in(const char *id);

/* Pending, no owner, not given up, every blocker completed. A blocker that is
 * not there blocks. */
bool taskfile_eligible(
    const struct taskfile *task, struct taskfile *const *all, size_t count);

/* A blocker that does not exist, or a circle of blockers through this task
 * (completed ones block nobody): words (with the path of the circle) are
 * appended. Such a task never becomes eligible: it is quarantined. */
bool taskfile_broken(const struct taskfile *task, struct taskfile *const *all,
    size_t count, struct buf *words);

/* As numbers where both are, else as text. */
int taskfile_compare_ids(const char *a, const char *b);

/* The next one of the eligible, or NULL: labels not in use first (no label is
 * always free; if all are in use, any), then lowest priority value, then lowest
 * id. active: labels in use, NULL terminated; those of owned tasks in progress
 * count as well. */
const struct taskfile *taskfile_select(
    struct taskfile *const *all, size_t count, const char *const *active);

/* The file's new text with another status, owner and reason why it was given
 * up (NULL = removed). Not of a stand-in. */
void taskfile_write(const struct taskfile *task, enum taskfile_status status,
    const char *owner, const char *failed, struct buf *out);

/* What a worker is told: subject, a blank line, description. Without the blank
 * line where one of them is empty. */
void taskfile_text(const struct taskfile *task, struct buf *out);

#endif
