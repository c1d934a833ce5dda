/* SPDX-License-Identifier: ISC */

/* A landed commit taken back: the rules of git-work.h hold. */
#ifndef GIT_REVERT_H
#define GIT_REVERT_H

#include <stdbool.h>

#include "git-work.h"

struct git;

/* Take a landed commit back: a commit on top of `branch` that undoes it, landed
 * like any other (compare-and-swap, the user's checkout goes along). id is the
 * new commit's. -EBUSY when the branch moved or the checkout is in the way,
 * -EEXIST when what came after it is in the way, -EINVAL for one without a
 * parent, -ENOTSUP with a git older than 2.38: then nothing has changed. A
 * commit that is undone already is 0, with id "". Of a merge, everything that
 * it brought to its first parent is undone. */
void git_revert(struct git *git, const char *branch, const char *commit,
    const char *message, bool overlap, git_id_fn *fn, void *arg);

#endif
