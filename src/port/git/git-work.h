/* SPDX-License-Identifier: ISC */

/*
 * What is done to worktrees and branches, as whole operations on git.h: facts
 * in one look, worktrees made and mended, work saved, squashed and landed.
 * Each is safe to run again after a crash in the middle.
 *
 * Callbacks come once, from the loop, and not at all when git_free() comes
 * first. err is NULL on success; with an error facts, lists, refs and ids are
 * NULL, and err carries what git said (-EIO), or -ENOENT for a directory,
 * branch or commit that is not there, -EBUSY for what another git or a rebase
 * holds, -ENOKEY where git does not know who commits, -ETIMEDOUT. Arguments are
 * copied; directories are absolute and the top of a working tree. `onto` is a
 * branch or anything else that names a commit; a branch goes before a tag of
 * the same name.
 *
 * An operation has its worktree's queue to itself, so operations on one
 * worktree happen in the order they were asked for.
 *
 * Commits made here are not signed. A repository inside of a worktree that is
 * not a submodule of it is somebody's own affair: it is not counted, not saved,
 * not committed and not cleaned away; only git_work_remove() takes it along.
 */
#ifndef GIT_WORK_H
#define GIT_WORK_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct git;

#define GIT_ID_SIZE 65 /* a SHA-256 name in hex */

typedef void git_work_fn(const struct err *err, void *arg);

/* Facts of a working tree against a branch; from git itself, not from files'
 * names or words on a screen. */
struct git_facts {
	char head[GIT_ID_SIZE]; /* "" = unborn */
	char onto[GIT_ID_SIZE]; /* tip of the branch, "" where all is unborn */
	char branch[256]; /* checked out, "" = detached */
	int ahead, behind; /* commits HEAD has more, has less */
	bool diverged; /* both */
	int changed; /* tracked files with changes, staged or not */
	int untracked; /* not ignored */
	bool rebasing; /* a rebase (or am) is in progress */
	int conflicts; /* unmerged paths in the index */
};
typedef void
git_facts_fn(const struct git_facts *facts, const struct err *err, void *arg);
void git_work_facts(struct git *git, const char *dir, const char *branch,
    git_facts_fn *fn, void *arg);

/* Unmerged paths, NULL terminated, valid until the callback returns; NULL with
 * an error. */
typedef void git_list_fn(
    const char *const *list, size_t count, const struct err *err, void *arg);
void git_work_conflicts(
    struct git *git, const char *dir, git_list_fn *fn, void *arg);

/* A worktree at dir on `branch`, made from the tip of `onto` where branch does
 * not exist. Repairs what is half there: a missing folder, a stale
 * registration, a lost .git, an unfinished worktree, a folder without
 * registration that is empty. A worktree that is there is left as it is,
 * whatever it has checked out. -EEXIST when something else lies at dir, -EBUSY
 * when the branch is checked out elsewhere. */
void git_work_add(struct git *git, const char *dir, const char *branch,
    const char *onto, git_work_fn *fn, void *arg);

/* Save everything that would be lost (commits of HEAD and of `branch` that are
 * not in `onto`, changes, untracked files that are not ignored) as a commit
 * under refs/llmc/salvage/<worker>/<stamp>. Changes neither index nor files.
 * Commits are reachable from it as its parents; in the middle of a rebase HEAD
 * and the branch are two. With the same stamp again, what was saved before
 * stays reachable too. ref is "" when there was nothing to save. -EUCLEAN: git
 * does not take the folder for a worktree any more. */
typedef void git_ref_fn(const char *ref, const struct err *err, void *arg);
struct git_salvage {
	const char *worker;
	const char *branch; /* need not exist */
	const char *onto;
	const char *stamp; /* a time, fit for a ref's name */
};
void git_work_salvage(struct git *git, const char *dir,
    const struct git_salvage *what, git_ref_fn *fn, void *arg);

/* Remove the locks that a git which was killed left on the worktree's index,
 * its HEAD and its branch. For a worktree that nobody works in. */
void git_work_unlock(struct git *git, const char *dir, const char *branch,
    git_work_fn *fn, void *arg);

/* Set the worktree back in place: rebase aborted, branch at the tip of `onto`,
 * changes and untracked files gone, ignored ones kept. Salvage first. An
 * index.lock that a dead git left more than ten minutes ago is removed. */
void git_work_reset(struct git *git, const char *dir, const char *branch,
    const char *onto, git_work_fn *fn, void *arg);

/* Remove the worktree and its branch. What is gone already is success; a folder
 * that is not a worktree of the repository is left alone, -EEXIST. */
void git_work_remove(struct git *git, const char *dir, const char *branch,
    git_work_fn *fn, void *arg);

/* Put leftovers into the last commit, or into a new one with `message` when
 * the branch has none of its own. Nothing to do is success. -EBUSY in the
 * middle of a rebase and with unmerged paths. */
void git_work_commit_leftovers(struct git *git, const char *dir,
    const char *onto, const char *message, git_work_fn *fn, void *arg);

/* Rebase onto a commit. A stale rebase is aborted first. conflict: stopped at
 * one, and left there for the worker. Resolutions that the user's rerere knows
 * are taken and the rebase goes on. After an error no rebase is left behind. */
typedef void git_rebase_fn(bool conflict, const struct err *err, void *arg);
void git_work_rebase(struct git *git, const char *dir, const char *onto,
    git_rebase_fn *fn, void *arg);
void git_work_rebase_abort(
    struct git *git, const char *dir, git_work_fn *fn, void *arg);

/* Messages of the commits in onto..HEAD, oldest first, without their last
 * newlines. */
void git_work_messages(struct git *git, const char *dir, const char *onto,
    git_list_fn *fn, void *arg);

/* One commit with HEAD's tree on top of `onto`, author and dates of the last
 * commit (so that asking twice gives the same commit), under the private ref
 * refs/llmc/landing/<worker>; HEAD does not move. id is "" when the tree equals
 * onto's: already incorporated. -ESTALE when HEAD is not on top of onto, as the
 * commit would undo what onto has more. No hooks run. */
typedef void git_id_fn(const char *id, const struct err *err, void *arg);
void git_work_squash(struct git *git, const char *dir, const char *worker,
    const char *onto, const char *message, git_id_fn *fn, void *arg);

enum git_land_result {
	GIT_LANDED,
	GIT_LAND_MOVED, /* the branch is not at `onto` any more: rebase again */
	GIT_LAND_DIRTY, /* the user's checkout is in the way: wait */
	GIT_LAND_HELD, /* another git holds a lock: try again soon */
	GIT_LAND_FAILED, /* err says why */
};
/* Move `branch` from onto to id by compare-and-swap. Where the main working
 * tree (or any worktree of the user's) has it checked out, the tree goes along
 * by git's own fast-forward, and a dirty one makes it wait: any change to a
 * tracked file, or (overlap) only changes to files the landing touches, and
 * untracked files, ignored or not, that would be overwritten. A file that has
 * the landed content already is not in the way; that is how a fast-forward
 * that was killed in the middle is finished. A merge or a rebase of the branch
 * under way makes it wait, too. A held lock is waited for as everywhere, then
 * GIT_LAND_HELD; nothing is left half moved. Landed already is GIT_LANDED, also
 * below later commits. detail is a sentence for GIT_LAND_DIRTY (naming files),
 * GIT_LAND_HELD and GIT_LAND_MOVED, else "". */
typedef void git_land_fn(enum git_land_result result, const char *detail,
    const struct err *err, void *arg);
void git_work_land(struct git *git, const char *branch, const char *onto,
    const char *id, bool overlap, git_land_fn *fn, void *arg);

/* Take a landed commit back: a commit on top of `branch` that undoes it, landed
 * like any other (compare-and-swap, the user's checkout goes along). id is the
 * new commit's. -EBUSY when the branch moved or the checkout is in the way,
 * -EEXIST when what came after it is in the way, -EINVAL for one without a
 * parent, -ENOTSUP with a git older than 2.38: then nothing has changed. A
 * commit that is undone already is 0, with id "". Of a merge, everything that
 * it brought to its first parent is undone. */
void git_work_revert(struct git *git, const char *branch, const char *commit,
    const char *message, bool overlap, git_id_fn *fn, void *arg);

#endif
