/* SPDX-License-Identifier: ISC */

/*
 * How operations on worktrees and branches (git-work.h) are written: a table of
 * steps, each a command for git and what its answer means, run in one slot of
 * the worktree's queue. Private to the git-*.c files.
 */
#ifndef GIT_OP_H
#define GIT_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "errtext.h"
#include "git-work.h"
#include "git.h"

struct child;
struct git_import;
struct git_op;
struct git_sync;

enum git_op_next {
	GIT_OP_ASK, /* the question is in op (from `ask` only) */
	GIT_OP_WAIT, /* git_op_resume() will be called (from `ask` only) */
	GIT_OP_NEXT, /* go on with the next step */
	GIT_OP_AGAIN, /* go on with the step op->at, which may have been set */
	GIT_OP_DONE,
	GIT_OP_FAIL /* op->err says why */
};

struct git_op_step {
	enum git_op_next (*ask)(struct git_op *op);
	/* NULL: the exit status must be 0. */
	enum git_op_next (*answer)(
	    struct git_op *op, const struct git_answer *answer);
	bool tolerant; /* answer is also called if git did not end */
};

struct git_op {
	struct git *git;
	struct git_slot *slot;
	struct git_slot *root_slot; /* of an operation that needs both queues */
	const struct git_op_step *steps;
	size_t count, at;
	const struct git_op_step *caller; /* NULL = not in a git_op_call() */
	size_t caller_count, caller_at;
	char *dir;
	/* After GIT_OP_GITDIR: its own one, and the one that all share. */
	char *gitdir, *common;
	char *onto; /* may be NULL where GIT_OP_ONTO is not used */
	char onto_id[GIT_ID_SIZE], head_id[GIT_ID_SIZE]; /* after it */
	struct err err;

	/* What it waits for: git_sync_ask(), git_clone_op_ask_import(),
	 * git_clone_op_ask_delete(). */
	struct git_sync *sync;
	struct git_import *import;
	struct child *child;

	/* Of git_clone_op_ask_keep(). */
	char keep_tree[GIT_ID_SIZE + 8], keep_id[GIT_ID_SIZE];
	char **keep_parents, *keep_ref;
	bool keep_saved, keep_more;

	/* Of git_follow_ask(): where the branch goes, and where it was. */
	char followed[GIT_ID_SIZE], follows[GIT_ID_SIZE];
	bool follows_known, follow_gone;

	/* The question being composed; cleared before each step. */
	char **args, **env;
	struct buf input;
	const char *run_dir; /* NULL = dir */
	int64_t deadline_ms;
	int stdin_fd; /* these as in git_command */
	bool once, linger;
	int64_t delay_ms;

	/* The whole operation. `finish` tells the caller; `release` frees what
	 * the operation itself holds, NULL = nothing; then self is freed. */
	void *self;
	void (*finish)(struct git_op *op, const struct err *err);
	void (*release)(struct git_op *op);
};

/* Start an operation; op is part of the allocated self, which is freed in the
 * end. both_queues: it changes the list of worktrees, so nothing else of the
 * repository's queue may run. */
void git_op_start(struct git_op *op, struct git *git, const char *dir,
    const struct git_op_step *steps, size_t count, bool both_queues);

/* Go on after GIT_OP_WAIT, from the loop, with what `ask` would have
 * returned. */
void git_op_resume(struct git_op *op, enum git_op_next next);

/* Run these steps as a part of the operation, from an `ask`, whose result it
 * is. Where they are done, the step after that `ask` follows. Not from inside
 * of such a part. */
enum git_op_next
git_op_call(struct git_op *op, const struct git_op_step *steps, size_t count);

/* Compose the question; git_op_args returns GIT_OP_ASK. */
enum git_op_next git_op_args(struct git_op *op, ...) __attribute__((sentinel));
void git_op_arg(struct git_op *op, const char *arg);
/* The first arguments of a command that must run no hook: a relative
 * core.hooksPath names files of the worktree. */
void git_op_no_hooks(struct git_op *op);
void git_op_env(struct git_op *op, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Set op->err and return GIT_OP_FAIL. */
enum git_op_next git_op_fail(struct git_op *op, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
enum git_op_next
git_op_complain(struct git_op *op, const struct git_answer *answer);

/* Ask for the ids of several names at once (NULL terminated); the answer's ids
 * are "" for those that name nothing. */
enum git_op_next git_op_ask_ids(struct git_op *op, const char *const *names);
void git_op_ids(
    const struct git_answer *answer, char (*ids)[GIT_ID_SIZE], size_t count);

/* A commit of llmc itself, which must work even if git does not know who
 * commits. */
void git_op_own_name(struct git_op *op);

/* The name of a branch's commit, for git_op_ask_ids; the caller frees. */
char *git_op_branch_name(const char *branch);

/* The same of a branch of the repository, in op->dir, which may be a clone. */
char *git_op_known_branch(const struct git_op *op, const char *branch);

/* Ready made steps: the git directory of the worktree (or of run_dir), which is
 * found without git; the commits that `onto`
 * and HEAD name (-ENOENT for onto, "" for an unborn HEAD); whether git knows
 * whose commits it would make; the list of worktrees (a question only). */
enum git_op_next git_op_find_gitdir(struct git_op *op);
enum git_op_next git_op_ask_onto(struct git_op *op);
enum git_op_next
git_op_onto(struct git_op *op, const struct git_answer *answer);
enum git_op_next git_op_ask_identity(struct git_op *op);
enum git_op_next
git_op_identity(struct git_op *op, const struct git_answer *answer);
enum git_op_next git_op_ask_trees(struct git_op *op);

#define GIT_OP_GITDIR                     \
	{                                 \
		.ask = git_op_find_gitdir \
	}
#define GIT_OP_ONTO                                           \
	{                                                     \
		.ask = git_op_ask_onto, .answer = git_op_onto \
	}
#define GIT_OP_IDENTITY                                               \
	{                                                             \
		.ask = git_op_ask_identity, .answer = git_op_identity \
	}

/* Exit status 0 = yes, 1 = no. */
enum git_op_next
git_op_ask_ancestor(struct git_op *op, const char *ancestor, const char *of);

/* A question: forget the worktree at that path, and remove it if it is there.
 */
enum git_op_next git_op_ask_unregister(struct git_op *op, const char *path);

/* Is there nothing at that path, or an empty folder? */
bool git_op_place_is_free(const char *path);

/* The full name of the branch that a rebase has taken off HEAD; NULL = none.
 * The caller frees. */
char *git_op_rebased_branch(const char *gitdir);

/* An argument of log and rev-list: leave out what the worker began with
 * (git_home). Nothing, if that is not known or not here. */
void git_op_not_base(struct git_op *op);

/* Is there such a file in the git directory of the worktree? */
bool git_op_has(const struct git_op *op, const char *name);
bool git_op_rebasing(const struct git_op *op);
/* Remove the files of a rebase that git itself could not end, and the commits
 * it has noted: in a box git cannot remove any ref. */
void git_op_forget_rebase(const struct git_op *op);

#endif
