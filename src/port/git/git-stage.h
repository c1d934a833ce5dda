/* SPDX-License-Identifier: ISC */

/*
 * Puts all that has changed in a worktree into an index: the one that
 * save->index names, or the real one. For a salvage and for a commit of what is
 * left over, in a helper (git-op.h). op->self begins with a struct git_save.
 * Private to the git-*.c files.
 */
#ifndef GIT_STAGE_H
#define GIT_STAGE_H

#include "git-op.h"

struct git_save;

struct git_aside {
	char *name;
	bool replaces; /* what is there; else it stays, and "-2" or more is
			* added to the name */
};

/* Move it, and add a line about it to `words`. */
int git_aside_move(const char *dir, const struct git_aside *aside,
    const char *path, struct buf *words, struct err *err);

/* Move the repositories of this list, paths with a last slash, that are in the
 * way of a file of op->onto. */
void git_aside_nested(struct git_op *op, char *const *nested,
    const struct git_aside *aside, struct buf *words);
void git_stage_use_index(struct git_op *op);

/* Is this path, as git lists it, a repository inside? */
bool git_stage_is_folder(const char *path);

/* A file that is too big or cannot be read is moved aside, or is an error if
 * save->moves is not set. */
void git_stage_check(struct git_save *save, const char *path);

/* For a temporary index: contents as they are in the files, whatever a filter,
 * an encoding or line ends would make of it: what git cannot convert is saved,
 * too, and no program runs. */
void git_stage_raw(struct git_save *save);

/* For a commit: as `git add` does it. */
void git_stage_add(struct git_save *save);

#endif
