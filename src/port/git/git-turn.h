/* SPDX-License-Identifier: ISC */

/*
 * Turns the worktree of a worker into a clone of its own (git-clone.h) and
 * back, where it stands: only its .git changes, by one rename. Files, index and
 * HEAD stay, so nothing has to be saved. git-work.h has the common rules.
 */
#ifndef GIT_TURN_H
#define GIT_TURN_H

#include "git-work.h"

struct git;

struct git_turn {
	const char *branch; /* the worker's */
	const char *onto; /* the landing branch */
	const char *keep; /* the ref that saves branches and stashes of a clone
			   * that becomes a worktree */
};

/* For a tree that no agent works in, with HEAD detached. home() must say that
 * it is a clone from when its .git is a folder. -ENOTSUP as git_clone_check(),
 * and with submodules; -EBUSY if what is unmerged would be lost. */
void git_turn_to_clone(struct git *git, const char *dir,
    const struct git_turn *turn, git_work_fn *fn, void *arg);
void git_turn_to_worktree(struct git *git, const char *dir,
    const struct git_turn *turn, git_work_fn *fn, void *arg);

#endif
