/* SPDX-License-Identifier: ISC */

/* Removes a worktree. git-work.h has the common rules. */
#ifndef GIT_REMOVE_H
#define GIT_REMOVE_H

#include "git-op.h"
#include "git-salvage.h"

struct git;

/* text: the contents of the file. A file that git would read differently, such
 * as one with a continued line, is not plain. */
bool git_config_is_plain(const char *text);

/* Save what would be lost, as git_reset() does it, and remove the worktree and
 * its branch. It is no error if they are gone already. A folder that is not a
 * worktree of the repository is left alone, -EEXIST. -ENOTEMPTY, and
 * nothing is removed, if there is a repository inside (ignored, too), or a
 * clone of a submodule, that has no remote, commits that no remote has, or
 * changes. saved.clean is "" here. */
void git_remove(struct git *git, const char *dir,
    const struct git_salvage *what, git_salvage_fn *fn, void *arg);

#endif
