/* SPDX-License-Identifier: ISC */

/*
 * The head of a task's text: lines before the prompt that say something about
 * the task. They are optional, and a blank line or the prompt itself ends them:
 *
 *   Priority: high
 *   Landed before: 3f2a91c
 *
 *   Make the parser faster.
 *
 * Case does not matter. A line with another word, or of another form, is part
 * of the prompt. Pure.
 */
#ifndef TASK_HEAD_H
#define TASK_HEAD_H

#include "priority.h"

struct buf;

#define TASK_HEAD_COMMIT_SIZE 65 /* the longest id of a commit */

struct task_head {
	enum priority priority;
	char commit[TASK_HEAD_COMMIT_SIZE]; /* what it landed as when it was
					     * done before; "" = it was not */
};

/* The head, and where the prompt begins; without a head that is text itself.
 * Blanks and a byte order mark before the head do not count. */
const char *task_head_read(const char *text, struct task_head *ret_head);

/* Append the text of a task. The prompt must not begin with a blank;
 * task_head_read() then returns both as they were. */
void task_head_write(
    const struct task_head *head, const char *prompt, struct buf *out);

#endif
