/* SPDX-License-Identifier: ISC */

/* The one commit of a landing: the rules of git-work.h hold. */
#ifndef GIT_SQUASH_H
#define GIT_SQUASH_H

#include "git-work.h"

struct git;

/* One commit with HEAD's tree on top of `onto`, author and dates of the last
 * commit (so that asking twice gives the same commit), under the private ref
 * refs/llmc/landing/<worker>; HEAD does not move. id is "" when the tree equals
 * onto's: already incorporated. -ESTALE when HEAD is not on top of onto, as the
 * commit would undo what onto has more. No hooks run. */
void git_squash(struct git *git, const char *dir, const char *worker,
    const char *onto, const char *message, git_id_fn *fn, void *arg);

#endif
