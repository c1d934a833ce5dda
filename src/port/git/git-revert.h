/* SPDX-License-Identifier: ISC */

/* Reverts a landed commit. git-work.h has the common rules. */
#ifndef GIT_REVERT_H
#define GIT_REVERT_H

#include <stdbool.h>

#include "git-work.h"

struct git;

/* Revert a landed commit: make a commit on top of `branch` that undoes it,
 * landed like any other (compare-and-swap, the user's checkout is updated too).
 * id is that of the new commit. -EBUSY if the branch moved or the checkout
 * blocks it, -EEXIST if it conflicts with later commits, -EINVAL for a commit
 * without a parent, -ENOTSUP with a git older than 2.38: then nothing has
 * changed. For a commit that is undone already, id is "". Of a merge,
 * everything that it brought to its first parent is undone. */
void git_revert(struct git *git, const char *branch, const char *commit,
    const char *message, bool overlap, git_id_fn *fn, void *arg);

#endif
