/* SPDX-License-Identifier: ISC */

/* How many lines a commit adds and removes. The rules of git-work.h hold. */
#ifndef GIT_LINES_H
#define GIT_LINES_H

#include "git-work.h"

struct git;

/* Binary files count nothing. Without an answer in time it is -ETIMEDOUT: a
 * huge change is not worth the wait. */
typedef void
git_lines_fn(int64_t added, int64_t removed, const struct err *err, void *arg);
void git_lines_read(struct git *git, const char *dir, const char *base,
    const char *commit, git_lines_fn *fn, void *arg);

/* Add up what diff-tree --numstat -z printed. */
void git_lines_sum(
    const char *out, size_t len, int64_t *ret_added, int64_t *ret_removed);

#endif
