/* SPDX-License-Identifier: ISC */

/*
 * The steps of a landing (git-move.h) that find where the branch is checked
 * out, and whether a person is in the middle of something there. For git-land.c
 * only.
 */
#ifndef GIT_LAND_WHERE_H
#define GIT_LAND_WHERE_H

#include "git-op.h"

/* Sets move->tree and move->gitdir, NULL = nowhere; or ends the landing with
 * what it waits for. */
enum git_op_next git_land_where(struct git_op *op);

/* A worktree of llmc's own has no business on the branch: its HEAD is detached,
 * and nothing else changes there. */
enum git_op_next git_land_where_ask_stray(struct git_op *op);
enum git_op_next
git_land_where_stray(struct git_op *op, const struct git_answer *answer);

#endif
