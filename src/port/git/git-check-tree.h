/* SPDX-License-Identifier: ISC */

/*
 * A worktree of llmc's own that checks run in. It is used again and again, and
 * nothing of an earlier check survives: the index is written anew, so that no
 * mark in it hides a file, every file is as in the commit, and all others are
 * removed, ignored ones too. Only what a setup made is kept, as long as it is
 * as that left it. The rules of git.h hold.
 */
#ifndef GIT_CHECK_TREE_H
#define GIT_CHECK_TREE_H

#include "git.h"

struct git;

struct git_check_tree {
	const char *commit; /* full id */
	/* Paths (patterns as in git_freeze) that are as in this commit instead,
	 * full id: changed, added or removed. NULL = none. */
	const char *judge;
	const char *const *protected_paths;
	/* The file that git_check_tree_keep() wrote, NULL = nothing is kept. */
	const char *keep;
	bool fetch; /* commits of submodules may be fetched */
	/* Those that the user's checkout has come from its clones, as by
	 * git_submodules(); one that cannot be had is left out. */
	bool submodules;
};

struct git_checked_out {
	struct git_list overlaid; /* paths that are as in `judge` and were
				   * different in the commit */
	/* Files that git takes for changed although it has just written them:
	 * their filter or their line ends do not fit the repository. */
	struct git_list modified;
	/* All that `keep` names is there, unchanged. If not, nothing of it is:
	 * the setup must run again. */
	bool kept;
};

/* out is NULL with an error, and valid until the callback returns. */
typedef void git_check_tree_fn(
    const struct git_checked_out *out, const struct err *err, void *arg);

/* Put the worktree at dir at the commit, detached. It is made if it is not
 * there, and repaired as git_worktree_add() does it; locks that a killed git
 * left and a rebase that a check began are removed. So nothing else may work
 * there. All files are there even if the user's checkout is sparse. No hook
 * runs. Other submodules are not populated; those that are (by a check) are set
 * to the commit's, and it is an error if their clone does not have that.
 *
 * Success means that HEAD and index are those of the commit, apart from the
 * overlaid paths, and that nothing else lies there but what is kept. -EBUSY:
 * something still writes there. -EUCLEAN: a check has made something else of
 * it; rename it and ask again. -EEXIST: what lies there is not ours.
 *
 * Needs five git processes (three where nothing lies there, and one to make
 * it), two more for protected paths that differ, three for what is kept. To
 * remove it: git_remove(). */
void git_check_tree_prepare(struct git *git, const char *dir,
    const struct git_check_tree *what, git_check_tree_fn *fn, void *arg);

/* Note all files there that the commit does not have, by their contents: a
 * setup has just made them. They are kept from now on by those who name the
 * file `keep`. It is not written (and removed) where that cannot be: a
 * repository inside, say. */
void git_check_tree_keep(struct git *git, const char *dir, const char *keep,
    git_work_fn *fn, void *arg);

/* After a check, which may have made commits of its own: in a sandbox their
 * objects are gone with it. HEAD is set to `commit`, and nothing there names
 * another object, so that git gc and git fsck of the user find none missing.
 * Files only; a tree that is broken stays as it is. */
void
git_check_tree_tidy(const struct git *git, const char *dir, const char *commit);

typedef void git_check_compare_fn(
    const struct git_list *paths, const struct err *err, void *arg);
/* After a check: which protected paths of `judge` (a commit or a tree) have
 * other contents now, or are gone. */
void git_check_tree_compare(struct git *git, const char *dir, const char *judge,
    const char *const *protected_paths, git_check_compare_fn *fn, void *arg);

#endif
