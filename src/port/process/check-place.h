/* SPDX-License-Identifier: ISC */

/*
 * How work is checked: in a worktree of llmc's own, and against its contract.
 *
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
struct json_object;
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

/*
 * What `llmc verify` does: check the artifacts of a contract in a commit. It is
 * a program of its own, with a deadline, so that neither git nor a big file
 * holds the daemon up. Nothing that the contract says is executed.
 *
 * Its request is a JSON object:
 *
 *   root      the user's working tree, whose repository has the commits
 *   contract  (contract.h)
 *   commit    that would land; "" = there is none
 *   base      where the work began; "" = not known: everything is new
 *   reported  was there a completion report?
 *   keep      folder for the artifacts if the checks fail
 */

/* Folders beside `keep` that stay; older ones are removed. */
#define VERIFY_KEPT_MAX 50

/* *ret_result (contract.h) is the caller's; if files were kept, it has
 * the folder as "kept". Negative errno: nothing could be found out. */
int verify_run(struct json_object *request, struct json_object **ret_result,
    struct err *err);

#endif
