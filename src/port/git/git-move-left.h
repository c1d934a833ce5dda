/* SPDX-License-Identifier: ISC */

/*
 * The steps of a landing (git-move.h) about what another one left that was cut
 * off: its locks are removed, and files and index follow the branch, whichever
 * of the two commits that is at. For git-land.c only.
 */
#ifndef GIT_MOVE_LEFT_H
#define GIT_MOVE_LEFT_H

#include "git-op.h"

enum git_op_next git_move_left(struct git_op *op);
enum git_op_next git_move_left_ask_tip(struct git_op *op);
enum git_op_next
git_move_left_tip(struct git_op *op, const struct git_answer *answer);
enum git_op_next git_move_left_lock(struct git_op *op);
enum git_op_next git_move_left_stumps(struct git_op *op);
enum git_op_next git_move_left_put(struct git_op *op);

#endif
