/* SPDX-License-Identifier: ISC */

/*
 * A branch held for a move: a `git update-ref --stdin` that has locked the
 * branch, and HEAD where that is on it, and waits for our word. Whatever ends
 * us ends it: at the end of its input it lets go and has changed nothing.
 * Private to the git-*.c files.
 */
#ifndef GIT_HOLD_H
#define GIT_HOLD_H

#include <sys/types.h>

struct err;
struct git;
struct git_hold;

struct git_hold_spec {
	const char *dir; /* the tree that has the branch */
	const char *branch;
	const char *old_id, *new_id;
	const char *reason; /* for the reflog */
	const char *const *env; /* as in git.h */
};

/* What became of it. */
struct git_hold_result {
	int status; /* 0 = it has moved the branch; else its exit status, -1
		     * if that says nothing */
	bool locked; /* another git has the branch or HEAD */
	const char *complaint;
};

/* Called from the loop, once; `result` is NULL for a branch that is held now,
 * and valid until the hold is freed. */
typedef void git_hold_fn(const struct git_hold_result *result, void *arg);

/* Start it; it has not locked anything. */
int git_hold_new(struct git *git, const struct git_hold_spec *spec,
    struct git_hold **ret_hold, struct err *err);
pid_t git_hold_pid(const struct git_hold *hold);

/* Our words. prepare: NULL or its end. commit, abort: its end. One that ended
 * by itself in between tells it then. A hook that takes longer than ten seconds
 * is ended, and git with it: behind a commit the branch may have moved then. */
void git_hold_prepare(struct git_hold *hold, git_hold_fn *fn, void *arg);
void git_hold_commit(struct git_hold *hold, git_hold_fn *fn, void *arg);
void git_hold_abort(struct git_hold *hold, git_hold_fn *fn, void *arg);

/* Let go without waiting; fn is not called. NULL is fine. */
void git_hold_free(struct git_hold *hold);

#endif
