/* SPDX-License-Identifier: ISC */

/* Worktrees: made, repaired, removed, reset, rebased; and work that would be
 * lost is saved. git.h has the common rules. */
#ifndef GIT_WORKTREE_H
#define GIT_WORKTREE_H

#include "git.h"

struct err;

/* Make a worktree at dir on `branch`, which is created at the tip of `onto` if
 * it does not exist. Repairs an incomplete one: a missing folder, a stale
 * registration, a lost .git, an unfinished worktree, an empty folder without
 * registration. A complete worktree is left as it is, whatever it has checked
 * out. -EEXIST if something else is at dir, -EBUSY if the branch is checked out
 * elsewhere. */
void git_worktree_add(struct git *git, const char *dir, const char *branch,
    const char *onto, git_work_fn *fn, void *arg);

/* Check out the submodules that the user's checkout has, and those in them,
 * from its own clones: git asks no other machine. Those that are there already
 * go to the commit that HEAD names. Nothing to do is success; an error has
 * git's words about the first one that cannot be had, and the rest is done all
 * the same. Not for a sandbox: git may link the objects of both. */
void
git_submodules(struct git *git, const char *dir, git_work_fn *fn, void *arg);

/* Remove the lock files that a killed git left on the worktree's index, its
 * HEAD and its branch. For a worktree that is not in use. */
void git_worktree_unlock(struct git *git, const char *dir, const char *branch,
    git_work_fn *fn, void *arg);

/* Save everything that would be lost (commits of HEAD and of `branch` that are
 * not in `onto`, changes, untracked files that are not ignored) as a commit
 * under refs/llmc/salvage/<worker>/<stamp>. Changes neither index nor files.
 * Commits are reachable from it as its parents; in the middle of a rebase HEAD
 * and the branch are two. With the same stamp again, what was saved before
 * stays reachable too; so do contents that only the index has. -EUCLEAN: git
 * does not take the folder for a worktree any more. -EFBIG: a file is too big,
 * or cannot be read. `saved` is NULL with an error, and valid until the
 * callback returns. */
struct git_salvaged {
	const char *ref; /* "" = there was nothing to save */
	/* HEAD, if it is on `branch` and nothing was uncommitted; else "". */
	const char *clean;
	/* Of a reset: the commit of the landing branch that the worktree is
	 * built on now; "" = not asked for. */
	const char *base;
};
typedef void git_salvage_fn(
    const struct git_salvaged *saved, const struct err *err, void *arg);
struct git_salvage {
	const char *worker;
	const char *branch; /* need not exist */
	const char *onto; /* the landing branch */
	const char *stamp; /* a time, fit for names of refs and files */
	/* Files that are moved aside go to the place of this
	 * name and replace what is there; NULL = to a new place, of the stamp.
	 */
	const char *keep_as;
	bool leave; /* nothing goes away: leave out files that are too big or
		     * cannot be read, and what is more than 1 GiB together;
		     * the message of the commit names them */
};
void git_salvage(struct git *git, const char *dir,
    const struct git_salvage *what, git_salvage_fn *fn, void *arg);

/* Put leftovers into the last commit, or into a new one with `message` when
 * the branch has none of its own. Nothing to do is success. -EBUSY in the
 * middle of a rebase and with unmerged paths, -EFBIG if an untracked file is
 * too big or cannot be read. */
void git_salvage_commit(struct git *git, const char *dir, const char *onto,
    const char *message, git_work_fn *fn, void *arg);

struct git_reset {
	/* Whose work it is, and where that is saved. */
	struct git_salvage keep;
	const char *onto; /* a branch or a commit: where keep.branch goes */
	/* The worktree was on keep.branch at this commit, with nothing
	 * uncommitted, when it was last looked at, and what the commit has is
	 * kept elsewhere; NULL = look. */
	const char *head;
	/* A commit that is known to have the tree of `head`, NULL = none: if
	 * that is the tip of onto, only the branch moves. */
	const char *same;
	bool find_base; /* onto is a commit that is built on keep.onto */
};

/* The only way to set a worktree back: save what would be lost, as
 * git_salvage() does it, end a rebase, move the branch to the tip of `onto`,
 * remove changes and untracked files, keep ignored ones. If it cannot be saved,
 * nothing is changed. A file that is too big to be saved, and a repository
 * inside that is in the way of a file of the branch, are moved to
 * <worktree>.kept-<stamp>; the message of the saved commit names them.
 *
 * Where nothing is uncommitted, or `head` says so, nothing is forced: a change
 * made at the same time stops it, and is saved then. An index.lock that a dead
 * git left more than ten minutes ago is removed.
 *
 * saved.clean is "" here; saved.base is the tip of keep.onto if that is `onto`,
 * and where a commit left it if find_base is set. */
void git_reset(struct git *git, const char *dir, const struct git_reset *what,
    git_salvage_fn *fn, void *arg);

/* Save what would be lost, as git_reset() does it, and remove the worktree and
 * its branch. It is no error if they are gone already. A folder that is not a
 * worktree of the repository is left alone, -EEXIST. -ENOTEMPTY, and
 * nothing is removed, if there is a repository inside (ignored, too), or a
 * clone of a submodule, that has no remote, commits that no remote has, or
 * changes. saved.clean is "" here. */
void git_remove(struct git *git, const char *dir,
    const struct git_salvage *what, git_salvage_fn *fn, void *arg);

/* Rebase onto a commit. A stale rebase is aborted first. conflict: it stopped
 * at one, and is left there for the worker. Resolutions that the user's rerere
 * knows are used and the rebase goes on. After an error no rebase is left
 * behind. */
typedef void git_rebase_fn(bool conflict, const struct err *err, void *arg);

void git_rebase(struct git *git, const char *dir, const char *onto,
    const struct git_salvage *keep, git_rebase_fn *fn, void *arg);

/* Put the branch back to where it was before the rebase. What has been resolved
 * so far is saved first, as git_reset() does it; if that fails, the rebase
 * stays. */
void git_rebase_abort(struct git *git, const char *dir,
    const struct git_salvage *keep, git_salvage_fn *fn, void *arg);

/* One commit with HEAD's tree on top of `onto`, author and dates of the last
 * commit (so that asking twice gives the same commit), under the private ref
 * refs/llmc/landing/<worker>; HEAD does not move. id is "" if the tree equals
 * onto's: already incorporated. -ESTALE if HEAD does not contain onto, because
 * the commit would undo what it lacks. No hooks run. */
void git_squash(struct git *git, const char *dir, const char *worker,
    const char *onto, const char *message, git_id_fn *fn, void *arg);

/* May git run there? As git_verify() says (-EUCLEAN, -ENOENT); looks at files
 * only. */
int git_stand_look(const struct git *git, const char *dir, struct err *err);

/* Is HEAD on no branch? Looks at files only. True also for a clone, and for a
 * tree that is broken, which others tell. */
bool git_stand_is_detached(const struct git *git, const char *dir);

/* From now on the tree stands in the other way: detached at the commit that
 * HEAD names (of any branch; of its own, if HEAD names none), or on its branch
 * again, which has followed before. For a tree that no agent works in; home()
 * must say the new way from when fn is called. Index and files stay, a rebase
 * goes on. -EUCLEAN if it is to be attached and HEAD is on another branch. */
void git_follow_set(struct git *git, const char *dir, const char *branch,
    bool detached, git_work_fn *fn, void *arg);

/* Where else the branch of the worker at dir is checked out; NULL = nowhere. A
 * ref is never moved under a checkout that does not follow: with HEAD detached,
 * git lets the user check out the branch. The caller frees. */
int git_follow_elsewhere(
    const struct git *git, const char *dir, char **ret_path, struct err *err);

/*
 * Turns the worktree of a worker into a clone of its own (git-clone.h) and
 * back, where it stands: only its .git changes, by one rename. Files, index
 * and HEAD stay, so nothing has to be saved.
 */

struct git_turn {
	const char *branch; /* the worker's */
	const char *onto; /* the landing branch */
	const char *keep; /* the ref that saves branches and stashes of a clone
			   * that becomes a worktree */
};

/* For a tree that no agent works in, with HEAD detached. home() must say that
 * it is a clone from when its .git is a folder. -ENOTSUP as git_clone_check(),
 * and with submodules; -EBUSY if what is unmerged would be lost. */
void git_turn_to_clone(struct git *git, const char *dir,
    const struct git_turn *turn, git_work_fn *fn, void *arg);
void git_turn_to_worktree(struct git *git, const char *dir,
    const struct git_turn *turn, git_work_fn *fn, void *arg);

#endif
