/* SPDX-License-Identifier: ISC */

/*
 * How operations on worktrees and branches (git-work.h) are written: as one
 * function in a helper process, or, for a landing, as a table of steps, each a
 * command for git and what its answer means. Either runs in one slot of the
 * worktree's queue. Private to the git-*.c files.
 */
#ifndef GIT_OP_H
#define GIT_OP_H

#include "git-work.h"
#include "git.h"

struct child;
struct git_list;
struct git_op;
struct git_records;
struct git_trees;

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
	char *dir;
	/* After git_op_need_gitdir(): its own, and the one that all share. */
	char *gitdir, *common;
	char *onto; /* NULL where git_op_need_onto() is not used */
	char onto_id[GIT_ID_SIZE], head_id[GIT_ID_SIZE]; /* after it */
	struct err err;

	struct child *child; /* the helper */

	/* Of git_follow_run(): where the branch goes, and where it was. */
	char followed[GIT_ID_SIZE], follows[GIT_ID_SIZE];
	bool follows_known, follow_gone;

	/* The command being composed; cleared when it has run. */
	char **args, **env;
	struct buf input;
	const char *run_dir; /* NULL = dir */
	int64_t deadline_ms;
	int stdin_fd; /* these as in git_command */
	bool once, linger;
	int64_t delay_ms;

	/* Of an operation in a helper. */
	void (*run)(struct git_op *op);
	void (*undo)(struct git_op *op); /* in the helper, before it ends */
	void *ret; /* what `run` leaves there, `finish` finds there */
	size_t ret_size;
	struct buf told; /* git_op_tell() */
	char **texts; /* git_op_text() */
	const char *verb; /* of the last command */
	struct git_answer answer; /* valid as long as the operation */
	struct err answer_err;
	bool tolerant; /* git_op_try() returns -1 if git did not end */

	/* The whole operation. `finish` tells the caller; `release` frees what
	 * the operation itself holds, NULL = nothing; then self is freed. */
	void *self;
	void (*finish)(struct git_op *op, const struct err *err);
	git_work_fn *work_fn; /* without `finish` */
	void *arg;
	void (*release)(struct git_op *op);
};

/*
 * An operation that is written as one function: `run` is called in a helper,
 * which is a copy of this process (child.h), when the queue is free. There
 * every command is waited for, and what cannot go on ends the helper. A daemon
 * that is killed takes the helper along, and a git under way runs to its end.
 *
 * size is that of a struct that begins with a git_op; git_op_begin() starts it
 * once that is filled in. Texts live as long as the operation. Of all that
 * `run` changes, `finish` sees op->err, what `ret` points at, and what was
 * told.
 */
void *git_op_new(size_t size, struct git *git, const char *dir,
    const char *onto, void (*run)(struct git_op *op),
    void (*finish)(struct git_op *op, const struct err *err));
void git_op_begin(struct git_op *op, bool both_queues);
char *git_op_text(struct git_op *op, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
char *git_op_copy(struct git_op *op, const char *text);

/* A list for `finish`, by its letter. The caller releases it; it ends with a
 * NULL that is not counted. */
void git_op_tell(struct git_op *op, char letter, const char *text);
void
git_op_tell_all(struct git_op *op, char letter, const struct git_list *list);
void
git_op_told(const struct git_op *op, char letter, struct git_list *ret_list);

/* An operation whose answer is a list. */
struct git_op_list {
	struct git_op op;
	char *name; /* of what it is about */
	git_list_fn *fn;
};
#define GIT_OP_LIST 'l' /* the letter */
void git_op_list(struct git *git, const char *dir, const char *onto,
    const char *name, void (*run)(struct git_op *op), git_list_fn *fn,
    void *arg);

/* The following are for `run`. */

/* End the helper: with this error, with op->err, or with what git said last. */
void git_op_die(struct git_op *op, int code, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
void git_op_die_of(struct git_op *op) __attribute__((noreturn));
void git_op_die_as(struct git_op *op) __attribute__((noreturn));
struct err git_op_complaint(struct git_op *op); /* what git said last */

/* Run git with the arguments so far and these: its exit status; or what it
 * printed, where only 0 is good. */
int git_op_try(struct git_op *op, ...) __attribute__((sentinel));
const char *git_op_must(struct git_op *op, ...) __attribute__((sentinel));

/* The ids of several names (NULL terminated), "" for those that name nothing.
 */
void git_op_find_ids(
    struct git_op *op, const char *const *names, char (*ids)[GIT_ID_SIZE]);
bool git_op_is_ancestor(struct git_op *op, const char *id, const char *of);

/* The status of op->dir, for git_status_next(). */
void git_op_status(struct git_op *op, struct git_records *ret_records);
int git_op_try_status(struct git_op *op, struct git_records *ret_records);

/* The list of worktrees; forget the one at that path, and remove it if it is
 * there. */
void git_op_trees(struct git_op *op, struct git_trees *trees);
void git_op_unregister(struct git_op *op, const char *path);

/* op->gitdir and op->common; op->onto_id and op->head_id; who commits. */
void git_op_need_gitdir(struct git_op *op);
void git_op_need_onto(struct git_op *op);
int git_op_look_onto(struct git_op *op); /* negative with op->err set */
void git_op_need_identity(struct git_op *op);

/* Start an operation; op is part of the allocated self, which is freed in the
 * end. both_queues: it changes the list of worktrees, so nothing else of the
 * repository's queue may run. */
void git_op_start(struct git_op *op, struct git *git, const char *dir,
    const struct git_op_step *steps, size_t count, bool both_queues);

/* Go on after GIT_OP_WAIT, from the loop, with what `ask` would have
 * returned. */
void git_op_resume(struct git_op *op, enum git_op_next next);

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

/* Exit status 0 = yes, 1 = no. */
enum git_op_next
git_op_ask_ancestor(struct git_op *op, const char *ancestor, const char *of);

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
