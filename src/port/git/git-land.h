/* SPDX-License-Identifier: ISC */

/* Moves a branch, and its checkouts with it. git.h has the common rules.
 */
#ifndef GIT_LAND_H
#define GIT_LAND_H

#include "git.h"

struct git;

enum git_land_result {
	GIT_LANDED,
	GIT_LAND_MOVED, /* the branch is not at `onto` any more: rebase again */
	GIT_LAND_DIRTY, /* the user's checkout blocks it: wait */
	GIT_LAND_BUSY, /* the same, and only the user can end it: a rebase, say,
			* that they have begun */
	GIT_LAND_HELD, /* another git holds a lock, or it was killed: try again
			* soon */
	GIT_LAND_FAILED, /* err says why */
};

/* Move `branch` from onto to id by compare-and-swap. Where the main working
 * tree (or any worktree of the user's) has it checked out, the tree is updated
 * too, under the locks of git, and a dirty one makes it wait: any change to
 * a tracked file, or (overlap) only changes to files the landing touches, and
 * untracked files, ignored or not, that would be overwritten. A file that has
 * the landed content already does not block it. id may be many commits ahead.
 * What an earlier landing left that was killed is finished or undone first. The
 * commit is on disk before the branch moves, and that before fn is called.
 * Whatever a user has begun and not finished makes it wait, too, in a tree that
 * has the branch or with the branch itself: a merge, a rebase, a cherry-pick, a
 * revert, git am, a bisect. A held lock is waited for as usual, then
 * GIT_LAND_HELD; nothing is left half moved. If it has landed already, also
 * below later commits: GIT_LANDED. detail is a sentence for GIT_LAND_DIRTY,
 * GIT_LAND_BUSY (naming files), GIT_LAND_HELD and GIT_LAND_MOVED, else "".
 * places: files of the checkout and of its git directory (whole paths, NULL
 * terminated) of which one changes when one of the two ends, and it may be one
 * that is not there yet; else empty. */
typedef void git_land_fn(enum git_land_result result, const char *detail,
    const char *const *places, const struct err *err, void *arg);

/* keep: what is kept by a ref of its own once it has landed (git-landed.h),
 * "ID COMMIT", NULL terminated; NULL = nothing. The refs are there before fn is
 * called, also where the landing was cut off, and this finds it landed. */
void
git_land(struct git *git, const char *branch, const char *onto, const char *id,
    const char *const *keep, bool overlap, git_land_fn *fn, void *arg);

/* The same for commits that were made anew (git-replay.h): the branch goes from
 * onto to id, which need not be on top of it. */
void git_land_instead(struct git *git, const char *branch, const char *onto,
    const char *id, const char *const *keep, bool overlap, git_land_fn *fn,
    void *arg);

/* Finish or undo what a landing left that was killed, as the next one would: a
 * user's git meets its locks until then. For a daemon that starts; without such
 * a landing no git runs. -EBUSY while another landing is under way, or another
 * git holds the index. */
void git_land_settle(struct git *git, git_work_fn *fn, void *arg);

#endif
