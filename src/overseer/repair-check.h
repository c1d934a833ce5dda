/* SPDX-License-Identifier: ISC */

/*
 * Steps of a repair, before its fix lands: the rules that hold for all work.
 * The daemon and its landing queue are down, so the fix is tested here: it
 * changes no path that must not land, none that only a person may change, and
 * auto.check_command passes on exactly the commit that lands.
 */
#ifndef REPAIR_CHECK_H
#define REPAIR_CHECK_H

#include "box.h"
#include "operation.h"

struct child;
struct git_salvage;
struct repair;
struct setup;

struct repair_check {
	char *dir; /* the worktree that the check runs in */
	struct box box; /* that its commands run in */
	struct setup *setup;
	struct child *child;
};

operation_fn repair_check_paths;
operation_fn repair_check_place;
operation_fn repair_check_setup;
operation_fn repair_check_run;
operation_fn repair_check_cancel; /* of the run */

void repair_check_release(struct repair *r);

/*
 * Steps of a repair that works in the user's own checkout: what is not
 * committed there is saved before the session begins, and must still be there
 * when it has ended.
 */

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
