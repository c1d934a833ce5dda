/* SPDX-License-Identifier: ISC */

/* What has happened in a working tree since a commit: the rules of git-work.h
 * hold. */
#ifndef GIT_SINCE_H
#define GIT_SINCE_H

#include "git-work.h"

struct git;

/* Paths are sorted, each once; valid until the callback returns. */
struct git_since {
	bool known; /* the commit exists; else there is only the dirt */
	int commits; /* that HEAD has, and neither the commit nor the branch */
	const char *const *files; /* changed by them */
	size_t file_count;
	const char *const *dirt; /* with uncommitted changes, or untracked */
	size_t dirt_count;
};
typedef void
git_since_fn(const struct git_since *since, const struct err *err, void *arg);
/* commit: an id in hex, may be shortened. */
void git_since_read(struct git *git, const char *dir, const char *commit,
    const char *branch, git_since_fn *fn, void *arg);

/* The files of a commit that differ from where it left the branch: what would
 * change if it landed. Sorted; both names of a file that was moved. */
void git_since_own(struct git *git, const char *dir, const char *commit,
    const char *branch, git_list_fn *fn, void *arg);

#endif
