/* SPDX-License-Identifier: ISC */

/*
 * Steps that put all that has changed in a worktree into an index: the one that
 * save->index names, or the real one. For a salvage and for a commit of what is
 * left over. op->self begins with a struct git_save. Private to the git-*.c
 * files.
 */
#ifndef GIT_STAGE_H
#define GIT_STAGE_H

#include <stdbool.h>

#include "git-op.h"

struct git_save;

struct git_aside {
	char *name;
	bool replaces; /* what is there; else it stays, and "-2" or more is
			* added to the name */
};

/* Move it, and add a line about it to `words`. */
int git_aside_move(const char *dir, const struct git_aside *aside,
    const char *path, struct buf *words, struct err *err);

/* A step: move the repositories of this list, paths with a last slash, that are
 * in the way of a file of op->onto. */
enum git_op_next git_aside_ask_nested(struct git_op *op, char *const *nested);
enum git_op_next git_aside_nested(struct git_op *op, char *const *nested,
    const struct git_aside *aside, struct buf *words,
    const struct git_answer *answer);
void git_stage_use_index(struct git_op *op);

/* Is this path, as git lists it, a repository inside? */
bool git_stage_is_folder(const char *path);

/* GIT_OP_NEXT for a file that git can take. One that is too big or cannot be
 * read is moved aside, or is an error if save->moves is not set. */
enum git_op_next git_stage_check(struct git_save *save, const char *path);

/* For a temporary index, in this order: contents as they are in the files,
 * never converted, so that what git cannot convert is saved too. */
enum git_op_next git_stage_ask_modified(struct git_op *op);
enum git_op_next
git_stage_modified(struct git_op *op, const struct git_answer *answer);
enum git_op_next git_stage_ask_list(struct git_op *op);
enum git_op_next
git_stage_others(struct git_op *op, const struct git_answer *answer);
enum git_op_next git_stage_ask_hash(struct git_op *op);
enum git_op_next
git_stage_hash(struct git_op *op, const struct git_answer *answer);
enum git_op_next git_stage_ask_info(struct git_op *op);
enum git_op_next git_stage_ask_links(struct git_op *op);

#define GIT_STAGE_RAW                                                    \
	{ .ask = git_stage_ask_modified, .answer = git_stage_modified }, \
	    { .ask = git_stage_ask_list, .answer = git_stage_others },   \
	    { .ask = git_stage_ask_hash, .answer = git_stage_hash },     \
	    { .ask = git_stage_ask_info },                               \
	{                                                                \
		.ask = git_stage_ask_links                               \
	}

/* For a commit, in this order: as `git add` does it. */
enum git_op_next git_stage_ask_tracked(struct git_op *op);
enum git_op_next
git_stage_list(struct git_op *op, const struct git_answer *answer);
enum git_op_next git_stage_ask_others(struct git_op *op);

#endif
