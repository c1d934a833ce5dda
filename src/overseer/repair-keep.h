/* SPDX-License-Identifier: ISC */

/*
 * Steps of a repair that works in the user's own checkout: what is not
 * committed there is saved before the session begins, and must still be there
 * when it has ended.
 */
#ifndef REPAIR_KEEP_H
#define REPAIR_KEEP_H

#include "operation.h"

struct git_salvage;
struct repair;

struct repair_keep {
	char *ref; /* NULL = nothing was uncommitted, or a worktree is used */
};

/* Where work of repairs is saved: refs/llmc/salvage/overseer/<time>. */
void repair_keep_place(const struct repair *r, struct git_salvage *ret_what);

operation_fn repair_keep_save;
/* What was thrown away is a failed repair; what has changed is only told. */
operation_fn repair_keep_check;

void repair_keep_release(struct repair *r);

#endif
