/* SPDX-License-Identifier: ISC */

/* Compares files with what was saved of them. git-work.h has the common
 * rules. */
#ifndef GIT_COMPARE_H
#define GIT_COMPARE_H

#include "git-work.h"

struct git;

/* Of the files that differ between the commits `base` and `saved`: the paths of
 * those that are not, in the working tree at dir, as in `saved` any more. It is
 * their contents that are compared. Index and files are not changed. */
void git_compare(struct git *git, const char *dir, const char *base,
    const char *saved, git_list_fn *fn, void *arg);

#endif
