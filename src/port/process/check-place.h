/* SPDX-License-Identifier: ISC */

/*
 * A worktree of llmc's own, .llmc/checks/NAME, in which the commands of a check
 * run: put at a commit (git-check-tree.h), set up as a worker's worktree is
 * (setup.h), with a box for its commands (box.h).
 */
#ifndef CHECK_PLACE_H
#define CHECK_PLACE_H

#include "git-check-tree.h"

struct check_place;
struct err;
struct git;
struct loop;
struct settings;
struct workspace;

struct check_place_spec {
	struct loop *loop;
	struct git *git;
	const struct workspace *workspace;
	struct settings *const *settings; /* where those of now are */
	const char *name;
	int index; /* of its place: place.h */
	bool keeps; /* what a setup made, for the next check as well */
};

struct check_place *check_place_new(const struct check_place_spec *spec);
/* The git's callbacks must not come any more. */
void check_place_free(struct check_place *place);
const char *check_place_dir(const struct check_place *place);

/* err NULL = ready; -ECHILD: the setup command has failed. broken: the worktree
 * had been replaced, by a check or from outside; what was there is kept at that
 * path, and the worktree was made anew; else NULL. One is kept: if that is
 * still there, it is an error. */
typedef void
check_place_fn(const char *broken, const struct err *err, void *arg);

/* what: valid until fn was called; its `keep` is not used. afresh: nothing is
 * kept. */
void
check_place_begin(struct check_place *place, const struct git_check_tree *what,
    bool afresh, check_place_fn *fn, void *arg);

/* End it: fn is called, from the loop. */
void check_place_cancel(struct check_place *place);

/* The words before those of a command there, NULL = there is no box, and the
 * variables of its place; valid until the next call. */
int check_place_box(struct check_place *place, const char *const **ret_prefix,
    const char *const **ret_env, struct err *err);

/* The check is over. What the setup made is kept only if it has passed, so that
 * no work that fails leaves anything to others. */
void check_place_over(struct check_place *place, bool passed);

#endif
