/* SPDX-License-Identifier: ISC */

/*
 * Copies of what git does not track, from one tree into another, made in a
 * helper. Files are cloned (FICLONE) where the file system can do that, and
 * copied elsewhere: a hard link would let a tool that writes in place change
 * the other tree's file. Links are copied as links, and none is followed.
 *
 * copy_*: repo.copy_files, from the root into a worktree that is in use: each
 * file is replaced atomically. What git tracks in the worktree is left alone,
 * and so is what is the same already (kind, size, mode and time of change).
 */
#ifndef COPY_H
#define COPY_H

struct copy;
struct err;
struct git;

/* err NULL = everything has been copied */
typedef void copy_fn(const struct err *err, void *arg);

/* Begin, from the root of git; fn is called once, from the loop, unless the
 * copy is freed before. git knows whose tree it is, and in which box it may run
 * there. entries as in setup.h. */
struct copy *copy_begin(struct git *git, const char *worktree,
    const char *const *entries, copy_fn *fn, void *arg);
void copy_free(struct copy *copy);

/*
 * A folder that a setup makes (node_modules), so that the setup has less to do.
 * Waits: for helpers.
 */

struct seed_result {
	size_t files;
	size_t cloned; /* of those */
};

/* Copy from/path to to/path, which must not be there: -EEXIST. -ENOENT: there
 * is nothing to copy. What was begun is removed after an error. until_ms: of
 * the monotonic clock; -ETIME when that has come. */
int seed_folder(const char *from, const char *to, const char *path,
    int64_t until_ms, struct seed_result *ret_result, struct err *err);

#endif
