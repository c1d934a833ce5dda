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

#include <stdbool.h>
#include <stdint.h>

#include "git-op.h"
#include "git-work.h"

struct git_clone;
struct git_import;
struct loop;

struct git_import_spec {
	const char *root; /* the repository's working tree */
	const char *dir; /* the clone's */
	const char *const *box; /* words that run a program in the worker's
				 * box; NULL = none: only for tests */
	const char *id; /* the commit */
	const char *ref; /* the full name of the ref to set to it, whatever it
			  * was; NULL = none, the objects only */
	int64_t max; /* bytes of new objects, 0 = GIT_IMPORT_MAX */
};

/* fn is called once, from the loop, unless it is freed before. -EFBIG, -EINVAL
 * (an object is broken), -ENOENT (the clone has no such commit), -ETIMEDOUT,
 * -EIO. The spec is copied. NULL with err set if nothing was started. */
struct git_import *
git_import_new(struct loop *loop, const struct git_import_spec *spec,
    git_work_fn *fn, void *arg, struct err *err);
bool git_clone_op_is(const struct git_op *op);

/* A name for a ref of the repository, by its full name, that a git in op->dir
 * understands: itself, or in a clone its id, or what names nothing. After
 * GIT_OP_GITDIR. The caller frees. */
char *git_clone_op_ref(const struct git_op *op, const char *ref);

/* A step: have the commit in the repository, if it comes from a clone. */
enum git_op_next git_clone_op_ask_import(struct git_op *op, const char *id);

/* The commits of op->onto, from the repository, and of HEAD: GIT_OP_ONTO for a
 * clone. */
enum git_op_next git_clone_op_ask_onto(struct git_op *op);

/* A step: delete a folder with all in it. */
enum git_op_next git_clone_op_ask_delete(struct git_op *op, const char *folder);

/* A step, after GIT_OP_ONTO, before the clone's git directory goes away: have
 * what only its index, its other branches and its stashes name. Those are saved
 * as `ref`, if there are any. saved: the index is saved already. Else -EBUSY in
 * a rebase and with unmerged files. */
enum git_op_next
git_clone_op_ask_keep(struct git_op *op, const char *ref, bool saved);

/* Of operations that end. */
void git_clone_op_release(struct git_op *op);

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

/* fn is called once, from the loop, unless it is freed before. -EEXIST if
 * something is at dir that is not an empty folder; -ENOTSUP as
 * git_clone_check(). A clone that was not finished is removed. The spec is
 * copied. */
struct git_clone *
git_clone_new(struct loop *loop, const struct git_clone_spec *spec,
    git_work_fn *fn, void *arg, struct err *err);
void git_clone_free(struct git_clone *clone); /* only before fn */

#endif
