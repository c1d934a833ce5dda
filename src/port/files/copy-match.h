/* SPDX-License-Identifier: ISC */

/* Which paths the entries of repo.copy_files mean. For the files of copy. */
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

/* Append what is there. -EINVAL for an entry that leads out of the root, or
 * names git's folder, llmc's, or one around the worktree; a pattern passes
 * over the last three. */
int copy_match(const char *root, const char *worktree,
    const char *const *entries, struct copy_match *list, struct err *err);

#endif
