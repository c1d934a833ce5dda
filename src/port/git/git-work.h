/* SPDX-License-Identifier: ISC */

/*
 * What operations on worktrees and branches have in common: git-facts.h,
 * git-worktree.h, git-salvage.h, git-reset.h, git-rebase.h, git-squash.h and
 * git-land.h. Each is safe to run again after a crash in the middle.
 *
 * Callbacks come once, from the loop, and not at all when git_free() comes
 * first. err is NULL on success; with an error facts, lists, refs and ids are
 * NULL, and err has the message of git (-EIO), or -ENOENT for a directory,
 * branch or commit that does not exist, -EBUSY for what another git or a rebase
 * holds, -ENOKEY if git does not know who commits, -ETIMEDOUT. -EUCLEAN: the
 * directory is not, or no longer, a worktree of this repository (git-verify.h):
 * the worker that it belongs to must be put aside. Arguments are
 * copied; directories are absolute and the top of a working tree. `onto` is a
 * branch or anything else that names a commit; a branch takes precedence over a
 * tag of the same name.
 *
 * An operation has its worktree's queue to itself, so operations on one
 * worktree happen in the order they were asked for.
 *
 * Commits made here are not signed. A repository inside of a worktree that is
 * not a submodule of it is left alone: it is not counted, not saved, not
 * committed and not cleaned; only git_worktree_remove() removes it, too.
 */
#ifndef GIT_WORK_H
#define GIT_WORK_H

struct err;

#define GIT_ID_SIZE 65 /* a SHA-256 name in hex */

typedef void git_work_fn(const struct err *err, void *arg);
typedef void git_id_fn(const char *id, const struct err *err, void *arg);

/* A list of texts, NULL terminated, valid until the callback returns; NULL with
 * an error. */
typedef void git_list_fn(
    const char *const *list, size_t count, const struct err *err, void *arg);

#endif
