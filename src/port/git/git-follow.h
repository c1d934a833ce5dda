/* SPDX-License-Identifier: ISC */

/*
 * The branch of a worker whose HEAD is detached (git-stand.h) is moved to where
 * HEAD is, once that is known to be a commit that is there with all it needs.
 * The worker itself cannot write refs. Every operation that looks at the work
 * of such a tree begins with it, so a daemon that was killed before needs no
 * other repair. git-work.h has the common rules.
 */
#ifndef GIT_FOLLOW_H
#define GIT_FOLLOW_H

#include "git-op.h"
#include "git-work.h"

/* After git_op_need_gitdir(): op->followed is the commit that HEAD and the
 * branch are at. The branch stays where it is while it is checked out
 * elsewhere: then only HEAD has the work. Nothing is done, and it is "", where
 * git_home() says that the tree is not detached, and in a rebase. A HEAD that
 * the worker has put on a branch is detached where it is; at the worker's own
 * commit, if it names none. -EIO if the commit is not whole. What the branch
 * had before is in its reflog. Of a clone, the commit is imported by its id
 * (git-clone.h), whatever branch of its own HEAD is on. */
void git_follow_run(struct git_op *op);

/* Where else the branch of the worker at dir is checked out; NULL = nowhere. A
 * ref is never moved under a checkout that does not follow: with HEAD detached,
 * git lets the user check out the branch. The caller frees. */
int git_follow_elsewhere(
    const struct git *git, const char *dir, char **ret_path, struct err *err);

/* -EBUSY if it is. */
void git_follow_check_trees(struct git_op *op);

/* Where refs are read-only, git cannot remove those of its own that it notes a
 * commit in, because that needs a lock beside all refs: CHERRY_PICK_HEAD stays
 * during and after a rebase, and git takes it for a cherry-pick in progress.
 * Remove it for a tree that is detached, but not another than REBASE_HEAD
 * during a rebase: the worker may pick a commit then. Part of git_follow_run().
 */
void git_follow_tidy(const struct git_op *op);

/* The same for a worktree whose folder is gone, without git_op_need_gitdir():
 * what its HEAD had is not lost with it. A commit that is not whole is left. */
void git_follow_gone(struct git_op *op);

/* Only that. */
void git_follow(struct git *git, const char *dir, git_id_fn *fn, void *arg);

#endif
