/* SPDX-License-Identifier: ISC */

/*
 * The steps of a landing (git-move.h) about files and index of the checkout:
 * is something in the way, what has the other commit's content already, and the
 * move itself, on a copy of the index. For git-land.c and git-move-*.c only.
 */
#ifndef GIT_MOVE_FILES_H
#define GIT_MOVE_FILES_H

#include "git-op.h"

struct git_move;

/* Look at move->tree with move->changes; forgets what was found before. */
void git_move_files_begin(struct git_move *move);

enum git_op_next git_move_files_ask_changes(struct git_op *op);
enum git_op_next
git_move_files_changes(struct git_op *op, const struct git_answer *answer);
enum git_op_next git_move_files_ask_status(struct git_op *op);
enum git_op_next
git_move_files_status(struct git_op *op, const struct git_answer *answer);
enum git_op_next git_move_files_ask_suspects(struct git_op *op);
enum git_op_next git_move_files_ask_compare(struct git_op *op);
enum git_op_next
git_move_files_compare(struct git_op *op, const struct git_answer *answer);
/* What the user has staged in the way of a settling is kept aside while the
 * files move, and put back then. */
enum git_op_next git_move_files_ask_staged(struct git_op *op);
enum git_op_next
git_move_files_staged(struct git_op *op, const struct git_answer *answer);
enum git_op_next git_move_files_ask_restage(struct git_op *op);
enum git_op_next git_move_files_copy(struct git_op *op);
enum git_op_next git_move_files_ask_adopt(struct git_op *op);
enum git_op_next git_move_files_ask_read(struct git_op *op);
enum git_op_next
git_move_files_read(struct git_op *op, const struct git_answer *answer);
enum git_op_next git_move_files_ask_refresh(struct git_op *op);
enum git_op_next
git_move_files_refresh(struct git_op *op, const struct git_answer *answer);
enum git_op_next git_move_files_put(struct git_op *op);

#endif
