/* SPDX-License-Identifier: ISC */

/*
 * Is a file the beginning of a version of it, and no more? That is what a git
 * leaves that was killed, or found the disk full, while it wrote it. Private to
 * the git-*.c files.
 */
#ifndef GIT_STUMP_H
#define GIT_STUMP_H

#include <stdbool.h>

struct err;
struct git;
struct git_stump;

/* Called from the loop, once. */
typedef void git_stump_fn(bool is_stump, void *arg);

/* Compare `path` of the tree with the blob, as git would write it there. What
 * cannot be compared is no stump. */
int git_stump_new(struct git *git, const char *tree, const char *path,
    const char *id, git_stump_fn *fn, void *arg, struct git_stump **ret_stump,
    struct err *err);

/* fn is not called any more. NULL is fine. */
void git_stump_free(struct git_stump *stump);

#endif
