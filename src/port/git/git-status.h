/* SPDX-License-Identifier: ISC */

/* Reads the output of git status, one entry at a time; texts point into it.
 * Malformed parts are skipped. Private to the git-*.c files. */
#ifndef GIT_STATUS_H
#define GIT_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#include "git-work.h"

struct git_records;

/* status --porcelain=v2 -z --branch --no-renames */
enum git_status_kind {
	GIT_STATUS_HEAD, /* text = id of the commit, "" = unborn */
	GIT_STATUS_BRANCH, /* text = its name, "" = detached */
	GIT_STATUS_CHANGED,
	GIT_STATUS_UNMERGED,
	GIT_STATUS_UNTRACKED
};
struct git_status_entry {
	enum git_status_kind kind;
	const char *text; /* else a path */
	/* Of a changed one: it is in the index like that, and the file differs
	 * from the index. */
	bool submodule, staged, unstaged;
	/* The same; zeros where it does not exist. */
	char head_id[GIT_ID_SIZE], index_id[GIT_ID_SIZE];
};
bool git_status_next(
    struct git_records *records, struct git_status_entry *ret_entry);

#endif
