/* SPDX-License-Identifier: ISC */

/*
 * The head of a task's text: lines before the prompt that say something about
 * the task. They are optional, and a blank line or the prompt itself ends them:
 *
 *   Priority: high
 *   Landed before: 3f2a91c
 *   Added by: auto-1 (strict)
 *   Verification: {"artifacts": [{"path": "out.json", "json": true}]}
 *   Result: report
 *
 *   Make the parser faster.
 *
 * Case does not matter. A line with another word, or of another form, is part
 * of the prompt. A task whose result is a report changes no file: it is done
 * with what its agent says at the end. The contract (contract.h) is on one
 * line. Who added it is said of agents only, with the sandbox of that one.
 * Pure.
 */
#ifndef TASK_HEAD_H
#define TASK_HEAD_H

#include <stdbool.h>

#include "box-plan.h"
#include "priority.h"

struct buf;
struct err;
struct json_object;

#define TASK_HEAD_COMMIT_SIZE   65 /* the longest id of a commit */
#define TASK_HEAD_CONTRACT_SIZE 8192
#define TASK_HEAD_MAKER_SIZE    64 /* the longest name of a worker */

struct task_head {
	enum priority priority;
	char commit[TASK_HEAD_COMMIT_SIZE]; /* what it landed as when it was
					     * done before; "" = it was not */
	char contract[TASK_HEAD_CONTRACT_SIZE]; /* its text; "" = none */
	char maker[TASK_HEAD_MAKER_SIZE]; /* the worker whose agent added it;
					   * "" = a person did */
	enum box_mode sandbox; /* of that worker then */
	bool report; /* its result is a report, and no commit */
};

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
