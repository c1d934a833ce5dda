/* SPDX-License-Identifier: ISC */

/*
 * The part of an operation that saves work as git_salvage() says. Everything
 * that throws work away begins with it: a reset, the removal of a worktree, the
 * end of a rebase. Private to the git-*.c files.
 */
#ifndef GIT_SAVE_H
#define GIT_SAVE_H

#include "git-op.h"
#include "git-salvage.h"
#include "git-stage.h"

struct err;
struct git_sync;
struct loop;

/* err is NULL when all of it is there. */
typedef void git_sync_fn(const struct err *err, void *arg);

/* Start at once: the whole file systems of these paths, or only the files and
 * folders themselves, where they still exist. */
int git_sync_new(struct loop *loop, bool whole, const char *const *paths,
    struct git_sync **ret_sync, struct err *err);

/* Have fn called from the loop when it is done, also if it is already. */
void git_sync_wait(struct git_sync *sync, git_sync_fn *fn, void *arg);

/* fn is not called any more; the program may still run. NULL is fine. */
void git_sync_free(struct git_sync *sync);

/* In a helper, after git_op_need_gitdir(): all that was written to the
 * repository until now is on disk. */
void git_sync_run(struct git_op *op);

/* op.self is an object that begins with this one. */
struct git_save {
	struct git_op op;
	char *worker, *branch, *landed, *ref;
	struct git_aside aside;
	bool moves; /* the files go away afterwards: what git cannot save is
		     * moved aside (git-stage.h) instead of refused */
	bool leave; /* as in git_salvage */
	int64_t total; /* bytes of files so far, with `leave` */
	struct buf left; /* a line about each that is left out */
	struct buf others; /* paths to save, NUL terminated */
	struct buf moved; /* a line about each that was moved */
	char **nested; /* untracked repositories, each with a last slash */

	char *index; /* temporary one, so that the real one stays */
	char head_tree[GIT_ID_SIZE], branch_id[GIT_ID_SIZE];
	char old[GIT_ID_SIZE], old_tree[GIT_ID_SIZE], old_head[GIT_ID_SIZE];
	char tree[GIT_ID_SIZE], staged_id[GIT_ID_SIZE];
	bool staged; /* the index has contents that no file has */
	bool unmerged;

	/* What `finish` sees. */
	struct git_save_out {
		bool nothing; /* no ref was needed */
		bool clean; /* HEAD is on the branch, nothing is uncommitted */
		bool conflict; /* of a rebase */
		char head[GIT_ID_SIZE], base[GIT_ID_SIZE];
	} out;
	git_salvage_fn *fn;
};

/* As git_op_new(), of an operation that fn is told of as in git-salvage.h.
 * what: NULL for one that uses only its lists of files. */
void *git_save_new(size_t size, struct git *git, const char *dir,
    const char *onto, const struct git_salvage *what, bool moves,
    void (*run)(struct git_op *op), git_salvage_fn *fn, void *arg);

/* In the helper, after git_op_need_gitdir() and git_op_need_onto(). Commits
 * that op->onto has are safe, too. It may run more than once in an operation.
 */
void git_save_run(struct git_save *save);

/* The same for what op->head_id has, of a branch without a worktree. */
void git_save_commits(struct git_save *save);

#endif
