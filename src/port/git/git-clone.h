/* SPDX-License-Identifier: ISC */

/*
 * The working tree of a worker in a sandbox: a repository of its
 * own that borrows the objects of the user's (alternates), instead of a linked
 * worktree. In its box all of git works, and nothing of the user's repository
 * can be written or deleted. git-import.h brings commits back.
 *
 * The clone has the worker's branch, the branch that work lands on, who
 * commits, and no remote.
 */
#ifndef GIT_CLONE_H
#define GIT_CLONE_H

#include <stdbool.h>

#include "git-work.h"

struct git_clone;
struct loop;

struct git_clone_spec {
	const char *root; /* the user's working tree */
	const char *git_dir; /* its git directory */
	const char *dir; /* to be made; its parent exists */
	/* Words that run a program in the worker's box; called when dir
	 * exists. *ret_prefix NULL = none: only for tests. */
	int (*box)(
	    void *arg, const char *dir, char ***ret_prefix, struct err *err);
	void *box_arg;
	const char *branch, *id; /* checked out */
	const char *landing, *landing_id; /* a branch for comparison; NULL =
					   * none */
	/* The git directory of a worktree, whose index and unfinished work are
	 * taken over: no files are written, and HEAD is detached. NULL = none.
	 */
	const char *from;
};

/* Why no clone can be made of this repository, in words, or 0: it is a partial
 * clone, has files in Git LFS, or keeps its refs in a reftable. Looks at files
 * only. */
int git_clone_check(const char *git_dir, struct err *err);
/* Is a clone also as good as a worktree there? Submodules are not: the URLs
 * that they have in a clone may be others. Nothing that a worker can write in a
 * clone changes the answer. */
bool git_clone_suits(const char *git_dir);

/* fn is called once, from the loop, unless it is freed before. -EEXIST if
 * something is at dir that is not an empty folder; -ENOTSUP as
 * git_clone_check(). A clone that was not finished is removed. The spec is
 * copied. */
struct git_clone *
git_clone_new(struct loop *loop, const struct git_clone_spec *spec,
    git_work_fn *fn, void *arg, struct err *err);
void git_clone_free(struct git_clone *clone); /* only before fn */

#endif
