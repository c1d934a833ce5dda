/* SPDX-License-Identifier: ISC */

/*
 * A worktree of llmc's own that candidates are built in. Of the files of a
 * commit it has only those named .gitattributes: that is where git looks for
 * the attributes of a merge (merge=, text=), not in the commits that it
 * merges. The rules of git-work.h hold.
 */
#ifndef GIT_MERGE_PLACE_H
#define GIT_MERGE_PLACE_H

#include "git-work.h"

struct git;

struct git_merge_place {
	const char *dir;
	/* The commit whose attributes lie there, "" = unknown. Private. */
	char attributes[GIT_ID_SIZE];
};

/* Make the worktree if it is not there. One that no longer belongs to this
 * repository, because that was moved or copied, is removed and made anew:
 * nothing in it is worth keeping, and nobody else may work there.
 *
 * attributes: give it those of the commit (full id), too. That needs no git
 * process if it has those of the same commit already, one if they are not
 * different in this commit.
 *
 * place must live until fn is called or git_free() is. */
void git_merge_place_prepare(struct git *git, struct git_merge_place *place,
    const char *commit, bool attributes, git_work_fn *fn, void *arg);

#endif
