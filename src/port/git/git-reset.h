/* SPDX-License-Identifier: ISC */

/* Resets a worktree. git-work.h has the common rules. */
#ifndef GIT_RESET_H
#define GIT_RESET_H

#include "git-salvage.h"

struct git;

struct git_reset {
	/* Whose work it is, and where that is saved. */
	struct git_salvage keep;
	const char *onto; /* a branch or a commit: where keep.branch goes */
	/* The worktree was on keep.branch at this commit, with nothing
	 * uncommitted, when it was last looked at, and what the commit has is
	 * kept elsewhere; NULL = look. */
	const char *head;
	/* A commit that is known to have the tree of `head`, NULL = none: if
	 * that is the tip of onto, only the branch moves. */
	const char *same;
	bool find_base; /* onto is a commit that is built on keep.onto */
};

/* The only way to set a worktree back: save what would be lost, as
 * git_salvage() does it, end a rebase, move the branch to the tip of `onto`,
 * remove changes and untracked files, keep ignored ones. If it cannot be saved,
 * nothing is changed. A file that is too big to be saved, and a repository
 * inside that is in the way of a file of the branch, are moved to
 * <worktree>.kept-<stamp>; the message of the saved commit names them.
 *
 * Where nothing is uncommitted, or `head` says so, nothing is forced: what
 * somebody changes at the same time is in the way, and is saved then. An
 * index.lock that a dead git left more than ten minutes ago is removed.
 *
 * saved.clean is "" here; saved.base is the tip of keep.onto if that is `onto`,
 * and where a commit left it if find_base is set. */
void git_reset(struct git *git, const char *dir, const struct git_reset *what,
    git_salvage_fn *fn, void *arg);

#endif
