/* SPDX-License-Identifier: ISC */

/* Finds the paths that an entry of repo.copy_files stands for. Private to
 * copy*.c. */
#ifndef COPY_MATCH_H
#define COPY_MATCH_H

#include <stddef.h>

struct err;

struct copy_match {
	char **paths; /* relative, no link in front of the last part */
	size_t count, cap;
};

void copy_match_add(struct copy_match *list, char *path); /* takes path */
void copy_match_release(struct copy_match *list);

/* Append the paths that exist. -EINVAL for an entry that leads out of the root,
 * or names the folder of git or llmc, or one that contains the worktree; a
 * pattern skips those three folders. */
int copy_match(const char *root, const char *worktree,
    const char *const *entries, struct copy_match *list, struct err *err);

#endif
