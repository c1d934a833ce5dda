/* SPDX-License-Identifier: ISC */

/* A worktree set back to a branch: the rules of git-work.h hold. */
#ifndef GIT_RESET_H
#define GIT_RESET_H

#include "git-work.h"

struct git;

/* Set the worktree back in place: rebase aborted, branch at the tip of `onto`,
 * changes and untracked files gone, ignored ones kept. Salvage first. An
 * index.lock that a dead git left more than ten minutes ago is removed. */
void git_reset(struct git *git, const char *dir, const char *branch,
    const char *onto, git_work_fn *fn, void *arg);

#endif
