/* SPDX-License-Identifier: ISC */

/*
 * Copies files that git does not track from the root into a worktree: a small
 * piece in each pass of the loop, each file replaced atomically. What git
 * tracks in the worktree is left alone, and so is what is the same already
 * (kind, size, mode and time of change). Links are copied as links.
 */
#ifndef COPY_H
#define COPY_H

struct copy;
struct err;
struct loop;

/* err NULL = everything has been copied */
typedef void copy_fn(const struct err *err, void *arg);

/* Begin; fn is called once, from the loop, unless the copy is freed before.
 * entries as in setup.h. */
struct copy *copy_begin(struct loop *loop, const char *root,
    const char *worktree, const char *const *entries, copy_fn *fn, void *arg);
void copy_free(struct copy *copy);

#endif
