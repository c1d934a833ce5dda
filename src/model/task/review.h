/* SPDX-License-Identifier: ISC */

/*
 * A review of finished work: comments, by a person (llmc reject) or by another
 * agent (auto.review), and what follows from those of an agent. Pure.
 *
 * With auto.review, the commit that a task has finished with waits for the
 * verdict of a reviewer, which is an agent with a task of its own (source
 * REVIEW_SOURCE) in a worktree at that commit. What it approves lands: this
 * commit and no other. Findings go back to the author, REVIEW_ROUNDS times for
 * a task; then a person decides. A reviewer that ends without a verdict is
 * replaced, REVIEW_TRIES of them look at one commit; then a person decides.
 */
#ifndef REVIEW_H
#define REVIEW_H

#include "task.h"

struct buf;
struct err;
struct json_object;

/* --- comments --------------------------------------------------------- */

#define COMMENTS_MAX     100
#define COMMENT_FILE_MAX 1024 /* bytes */
#define COMMENT_TEXT_MAX 4096
#define COMMENT_CODE_MAX 200

/* A comment, or a list of them, {"file", "line", "text"}: file may be missing
 * (it is about all of the work), and line (about all of the file); "side"
 * ("old", "new") is kept, and "code", the line itself, by which it is found
 * where its number is another one; what is too long of it is cut. -EINVAL with
 * what is wrong, -E2BIG. The caller owns *ret_list. */
int comment_read(struct json_object *entry, const char *at,
    struct json_object **ret_comment, struct err *err);
int comments_read(struct json_object *list, const char *at,
    struct json_object **ret_list, struct err *err);
/* One of them, from "FILE:LINE: TEXT", "FILE: TEXT" or "TEXT"; NULL: it is
 * empty. What is too long is cut. The caller owns it. */
struct json_object *comment_from_line(const char *line);
/* Append the words of the turn that they are sent back with: one item each.
 * commit: that they are about, or NULL. */
void
comments_text(struct json_object *list, const char *commit, struct buf *out);

/* --- the verdict of an agent ------------------------------------------- */

#define REVIEW_SOURCE "review" /* task->source of a reviewer's task */
#define REVIEW_ROUNDS 2
#define REVIEW_TRIES  2

/* What a reviewer says, as the member "verdict" of its report; NULL
 * terminated. */
#define REVIEW_SAYS_APPROVE  "approve"
#define REVIEW_SAYS_FINDINGS "findings"
extern const char *const review_verdict_words[];

/* Is it the task of a reviewer? */
bool review_is(const struct task *task);
/* The id of the task whose work a reviewer's task is about, and the commit,
 * within its key. NULL: it is no such task. The caller frees the id. */
char *review_task(const struct task *task, const char **ret_commit);

/* What follows for work that has finished as this commit (NULL = it is not
 * known). */
enum review_step {
	REVIEW_LAND, /* it may land */
	REVIEW_BEGIN, /* a reviewer is to look at it */
	REVIEW_WAIT, /* one does */
	REVIEW_BACK, /* the findings go to its author */
	REVIEW_ASK, /* a person decides */
};

/* wanted: auto.review is set; open: a reviewer has a task about this commit. */
enum review_step review_next(
    const struct task *task, bool wanted, const char *commit, bool open);

/* A reviewer begins to look at this commit. */
void review_begin(struct task *task, const char *commit);
/* The reviewer of this commit has ended: with this report (NULL = none), or
 * because of `why` (NULL = not known). False: that review is not waited for any
 * more, and nothing has changed. */
bool review_end(struct task *task, const char *commit,
    struct json_object *report, const char *why);
/* Its findings are sent back. */
void review_sent_back(struct task *task);

/* Append, for its author, the findings; for a person, why it is asked and what
 * to type. who: the setting; worker: of the author. */
void review_findings(const struct task *task, struct buf *out);
void review_asks(const struct task *task, const char *who, const char *worker,
    struct buf *out);

/* The task of a reviewer: what it is to look at and what it is to say. diff:
 * of the work; what is too long for a prompt is left out, with its files
 * named. who: as the setting says; scoped: its tools can be limited to those
 * that read. */
struct task *
review_task_new(const char *id, const struct task *of, const char *commit,
    const char *diff, size_t len, const char *who, bool scoped, int64_t now_ms);

#endif
