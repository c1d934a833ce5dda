/* SPDX-License-Identifier: ISC */

/*
 * Repositories inside a worktree: those that somebody made or cloned there, and
 * the clones of its submodules. They go with the worktree, so what only they
 * have must be found first. Private to the git-*.c files.
 */
#ifndef GIT_NESTED_H
#define GIT_NESTED_H

#include <stdbool.h>
#include <stddef.h>

#include "git-op.h"

struct git_nested {
	char **gitdirs; /* absolute paths; NULL = none */
	size_t at; /* the one that is asked about */
	size_t question; /* and what is asked */
	char *work_tree; /* of that one; NULL = not known, or none */
	bool no_index; /* git cannot read that of the worktree */
};

void git_nested_release(struct git_nested *nested);

/* Three steps: list the untracked repositories of op->dir, the ignored ones,
 * and the clones of submodules below gitdir. */
enum git_op_next
git_nested_ask_untracked(struct git_nested *nested, struct git_op *op);
enum git_op_next git_nested_untracked(struct git_nested *nested,
    struct git_op *op, const struct git_answer *answer);
enum git_op_next
git_nested_ask_ignored(struct git_nested *nested, struct git_op *op);
enum git_op_next git_nested_ignored(struct git_nested *nested,
    struct git_op *op, const struct git_answer *answer);
void git_nested_add_submodules(struct git_nested *nested, const char *gitdir);

/* A step: has each a remote, no commit that no remote has, and no change that
 * is not committed? The operation fails with -ENOTEMPTY if something would be
 * lost. */
enum git_op_next git_nested_ask(struct git_nested *nested, struct git_op *op);
enum git_op_next git_nested_answer(struct git_nested *nested, struct git_op *op,
    const struct git_answer *answer);

#endif
