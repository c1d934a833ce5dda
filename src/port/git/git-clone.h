/* SPDX-License-Identifier: ISC */

/*
 * The working tree of a worker in a sandbox: a repository of its
 * own that borrows the objects of the user's (alternates), instead of a linked
 * worktree. In its box all of git works, and nothing of the user's repository
 * can be written or deleted. git-clone.h brings commits back.
 *
 * The clone has the worker's branch, the branch that work lands on, who
 * commits, and no remote.
 */
#ifndef GIT_CLONE_H
#define GIT_CLONE_H

#include "git.h"

struct err;

struct git_import_spec {
	const char *root; /* the repository's working tree */
	const char *dir; /* the clone's */
	const char *const *box; /* words that run a program in the worker's
				 * box; NULL = none: only for tests */
	const char *id; /* the commit */
	int64_t max; /* bytes of new objects, 0 = GIT_IMPORT_MAX */
};

/* Waits for it. -EFBIG, -EINVAL (an object is broken), -ENOENT (the clone has
 * no such commit), -ETIMEDOUT, -EIO. Of what is refused no object is in the
 * repository. */
int git_import(const struct git_import_spec *spec, struct err *err);

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

/* Is a clone also as good as a worktree there? Submodules are not: the URLs
 * that they have in a clone may be others. Nothing that a worker can write in a
 * clone changes the answer. */
bool git_clone_suits(const char *git_dir);

/* Waits for it. -EEXIST if something is at dir that is not an empty folder;
 * -ENOTSUP for a partial clone, Git LFS and a reftable. A clone that was not
 * finished is removed. */
int git_clone_make(const struct git_clone_spec *spec, struct err *err);

#endif
