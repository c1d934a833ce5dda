/* SPDX-License-Identifier: ISC */

/*
 * What to watch of a checkout that blocks a landing (git-move.h), so that one
 * knows when to try again. For git-land.c only.
 */
#ifndef GIT_LAND_WAY_H
#define GIT_LAND_WAY_H

struct git_move;

/* Add whole paths: the first of the files in the way, and the files of git that
 * change with the index, the branch, or the end of a merge or a rebase. */
void git_land_way_list(const struct git_move *move, char ***paths);

#endif
