/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "file.h"
#include "git-dirs.h"
#include "git-land-way.h"
#include "git-move.h"
#include "git-records.h"
#include "mem.h"
#include "strv.h"

/* Of the files in the way. Those behind them are listed when one of these has
 * changed and the landing is tried again. */
#define FILES_MAX 64

static void
add_git_files(const char *gitdir, char ***paths)
{
	static const char *const names[] = { "index", "HEAD", "MERGE_HEAD",
		"CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-apply",
		"rebase-merge", "sequencer" };

	for (size_t i = 0; i < nitems(names); i++)
		strv_take(paths, file_join(gitdir, names[i]));
}

void
git_land_way_list(const struct git_move *move, char ***paths)
{
	cleanup_free char *gitdir = NULL;
	struct git_records records;
	const char *path;
	int count = 0;

	if (move->where == NULL)
		return;
	gitdir = git_dirs_gitdir(move->where);
	if (gitdir != NULL)
		add_git_files(gitdir, paths);
	else /* it has to be repaired, or to appear */
		strv_take(paths, file_join(move->where, ".git"));
	git_records_init(
	    &records, move->check.in_way.data, move->check.in_way.len);
	while (
	    count++ < FILES_MAX && (path = git_records_next(&records)) != NULL)
		strv_take(paths, file_join(move->where, path));
}
