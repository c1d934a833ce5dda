/* SPDX-License-Identifier: ISC */

/* Saves or commits work that would be lost. git-work.h has the common rules. */
#ifndef GIT_SALVAGE_H
#define GIT_SALVAGE_H

#include "git-work.h"

struct git;

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
	/* Files that are moved aside (git-stage.h) go to the place of this name
	 * and replace what is there; NULL = to a new place, of the stamp. */
	const char *aside;
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

#endif
