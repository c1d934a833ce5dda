/* SPDX-License-Identifier: ISC */

/*
 * Single refs, read and written as git does it, without a git process: a
 * landing looks at a handful of them. -ENOTSUP wherever git may know better
 * (another format, a ref that names a ref, a lock): ask git then. Private to
 * the git-*.c files.
 */
#ifndef GIT_REFS_H
#define GIT_REFS_H

#include "git-work.h"

/* The id that a ref of the repository has, given by its full name. -ENOENT if
 * there is none. */
int git_refs_read(const char *common, const char *ref, char out[GIT_ID_SIZE]);

/* The commit that HEAD of a worktree names; -ENOENT if it is unborn. */
int
git_refs_head(const char *gitdir, const char *common, char out[GIT_ID_SIZE]);

/* Set a ref that only llmc writes, without a reflog. */
int git_refs_write(const char *common, const char *ref, const char *id);

/* Remove such a ref; it may be gone already. */
int git_refs_drop(const char *common, const char *ref);

/* Remove the locks of all refs in such a folder, "refs/llmc/x/", that a killed
 * process left there: only while no other one writes them. */
void git_refs_unlock(const char *common, const char *folder);

#endif
