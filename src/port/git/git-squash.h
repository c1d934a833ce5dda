/* SPDX-License-Identifier: ISC */

/* Makes the one commit that lands. git-work.h has the common rules. */
#ifndef GIT_SQUASH_H
#define GIT_SQUASH_H

#include "git-work.h"

struct git;

/* One commit with HEAD's tree on top of `onto`, author and dates of the last
 * commit (so that asking twice gives the same commit), under the private ref
 * refs/llmc/landing/<worker>; HEAD does not move. id is "" if the tree equals
 * onto's: already incorporated. -ESTALE if HEAD does not contain onto, because
 * the commit would undo what it lacks. No hooks run. */
void git_squash(struct git *git, const char *dir, const char *worker,
    const char *onto, const char *message, git_id_fn *fn, void *arg);

#endif
