/* SPDX-License-Identifier: ISC */

/*
 * What git cannot save, because it is too big, cannot be read or is a
 * repository of its own, is
 * moved out of a worktree before that is reset: from <worktree>/<path> to
 * <worktree>.kept-<name>/<path>, where no reset comes. Private to the git-*.c
 * files.
 */
#ifndef GIT_ASIDE_H
#define GIT_ASIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "git-op.h"

struct git_aside {
	char *name;
	bool replaces; /* what is there; else it stays, and "-2" or more is
			* added to the name */
};

/* Why a file cannot be put into the repository, in words behind its name, and
 * its size; NULL = it can be. Hashing and compressing a big one would take
 * minutes. */
const char *
git_aside_reason(const char *dir, const char *path, int64_t *ret_size);

/* Move it, and add a line about it to `words`. */
int git_aside_move(const char *dir, const struct git_aside *aside,
    const char *path, struct buf *words, struct err *err);

/* A step: move the repositories of this list, paths with a last slash, that are
 * in the way of a file of op->onto. */
enum git_op_next git_aside_ask_nested(struct git_op *op, char *const *nested);
enum git_op_next git_aside_nested(struct git_op *op, char *const *nested,
    const struct git_aside *aside, struct buf *words,
    const struct git_answer *answer);

#endif
