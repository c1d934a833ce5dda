/* SPDX-License-Identifier: ISC */

/*
 * Claude Code's own task files (<list>/<id>.json): what a file says, which
 * tasks may be started, which is next. Pure: takes the bytes of a file, returns
 * new text. Unknown members are kept.
 */
#ifndef TASKFILE_H
#define TASKFILE_H

#include "box-plan.h"
#include "work-record.h"

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

/*
 * The head of a task's text: lines before the prompt that say something about
 * the task. They are optional, and a blank line or the prompt itself ends them:
 *
 *   Priority: high
 *   Added by: auto-1 (strict)
 *   Landed before: 3f2a91c
 *   Verification: {"artifacts": [{"path": "out.json", "json": true}]}
 *   Result: report
 *   Recovery: reassign
 *   Wants: docker gpu
 *
 *   Make the parser faster.
 *
 * Case does not matter. A line with another word, or of another form, is part
 * of the prompt. A task whose result is a report changes no file: it is done
 * with what its agent says at the end. The recovery says what becomes of it
 * when all attempts have failed. What it wants are words for what its host must
 * have (hosts-rules.h). The contract (contract.h) is on one line. Who
 * added it is said of agents only, with the sandbox of that one. Pure.
 */

#define TASK_HEAD_COMMIT_SIZE   65 /* the longest id of a commit */
#define TASK_HEAD_CONTRACT_SIZE 8192
#define TASK_HEAD_MAKER_SIZE    64 /* the longest name of a worker */
#define TASK_HEAD_WANTS_SIZE    512
#define TASK_WANT_MAX           64 /* bytes of a word */
#define TASK_WANTS_MAX          16 /* words */

struct task_head {
	enum priority priority;
	char commit[TASK_HEAD_COMMIT_SIZE]; /* what it landed as when it was
					     * done before; "" = it was not */
	char contract[TASK_HEAD_CONTRACT_SIZE]; /* its text; "" = none */
	char maker[TASK_HEAD_MAKER_SIZE]; /* the worker whose agent added it;
					   * "" = a person did */
	enum box_mode sandbox; /* of that worker then */
	char agent[TASK_HEAD_MAKER_SIZE]; /* a card or a kind of agents; "" =
					   * any */
	bool report; /* its result is a report, and no commit */
	const char *recovery; /* a word, static; NULL = not said */
	char wants[TASK_HEAD_WANTS_SIZE]; /* words, a blank between them */
};

/* Is it a word for what a host has? Lower case letters, digits, and . _ : + -
 * inside. */
bool task_want_is(const char *word);
/* The words of a text, with blanks or commas between them: a strv. False: one
 * is none, or there are too many. */
bool task_wants_read(const char *text, char ***ret_words);

/* The head, and where the prompt begins; without a head that is text itself.
 * Blanks and a byte order mark before the head do not count. */
const char *task_head_read(const char *text, struct task_head *ret_head);

/* Append the text of a task. The prompt must not begin with a blank;
 * task_head_read() then returns both as they were. */
void task_head_write(
    const struct task_head *head, const char *prompt, struct buf *out);

/* The contract, which the caller owns; NULL = none. -EINVAL: it is no
 * contract, and the task must not begin without it. */
int task_head_contract(const struct task_head *head,
    struct json_object **ret_contract, struct err *err);
/* Put a contract (may be NULL) into a head. -E2BIG: it is too long. */
int task_head_set_contract(
    struct task_head *head, struct json_object *contract, struct err *err);

#endif
