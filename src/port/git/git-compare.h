/* SPDX-License-Identifier: ISC */

/* Compares files with what was saved of them. git-work.h has the common
 * rules. */
#ifndef GIT_COMPARE_H
#define GIT_COMPARE_H

#include "git-work.h"

struct git;

/* Paths; each file is in one list at most. */
struct git_compared {
	const char *const *lost; /* gone, or as in `base` again */
	const char *const *changed; /* there, with contents of its own */
	size_t lost_count, changed_count;
};
/* compared: NULL with an error, and valid until the callback returns. */
typedef void git_compare_fn(
    const struct git_compared *compared, const struct err *err, void *arg);

/* Of the files that differ between the commits `base` and `saved`: those that
 * are not, in the working tree at dir, as in `saved` any more. It is their
 * contents that are compared. Index and files are not changed. */
void git_compare(struct git *git, const char *dir, const char *base,
    const char *saved, git_compare_fn *fn, void *arg);

#endif
