/* SPDX-License-Identifier: ISC */

/* The files of a working tree as one tree, uncommitted ones too, and what has
 * changed since an earlier one. git-work.h has the common rules. */
#ifndef GIT_SNAPSHOT_H
#define GIT_SNAPSHOT_H

#include "git-work.h"

struct git;

struct git_snapshot_change {
	const char *path;
	const char *blob; /* "" = the file is gone */
	bool own; /* differs from where the work began: it did not come from
		   * the branch */
};

/* Valid until the callback returns. */
struct git_snapshot {
	const char *tree;
	bool compared; /* false: the earlier tree is not there any more */
	const struct git_snapshot_change *changes;
	size_t count;
};
/* snapshot: NULL with an error. */
typedef void git_snapshot_fn(
    const struct git_snapshot *snapshot, const struct err *err, void *arg);

/* onto: the landing branch. before: the tree to compare with, "" = where the
 * work began. dirty: something may be uncommitted; files that are ignored, too
 * big or cannot be read are left out. Changes neither the index nor files. */
void git_snapshot(struct git *git, const char *dir, const char *onto,
    const char *before, bool dirty, git_snapshot_fn *fn, void *arg);

#endif
