/* SPDX-License-Identifier: ISC */

/* The differences between two trees, as git prints them. Malformed parts are
 * skipped. Private to the git-*.c files. */
#ifndef GIT_CHANGES_H
#define GIT_CHANGES_H

#include "git-work.h"

/* diff-tree -r -z --no-renames, raw, sorted by path; paths point into the
 * text. */
struct git_change {
	char status; /* A, D, M, T */
	char old_mode[8], mode[8]; /* zeros where it is not */
	char old_id[GIT_ID_SIZE]; /* zeros when added */
	char id[GIT_ID_SIZE]; /* new, zeros when deleted */
	const char *path;
};
struct git_changes {
	struct git_change *v;
	size_t count;
};
void
git_changes_parse(struct git_changes *changes, const char *out, size_t len);
void git_changes_release(struct git_changes *changes);
const struct git_change *
git_changes_find(const struct git_changes *changes, const char *path);
/* Is a change below the folder `path`? */
bool git_changes_below(const struct git_changes *changes, const char *path);

#endif
