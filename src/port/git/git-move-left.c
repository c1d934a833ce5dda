/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "git-dirs.h"
#include "git-hold.h"
#include "git-move-left.h"
#include "git-move.h"
#include "git-stump.h"
#include "mem.h"

#define LEFT_LOOK_MS 20
/* An update-ref without its landing has reached the end of its input. It ends
 * by itself, unless a hook holds it. */
#define LEFT_ENDS_MS ((int64_t)GIT_TRIES * GIT_RETRY_MS)

static void
left_aborted(const struct git_hold_result *result, void *arg)
{
	struct git_move *move = arg;

	(void)result;
	git_hold_free(take_ptr(&move->hold));
	git_op_resume(move->op, GIT_OP_AGAIN);
}

/* It was a landing of before, or our own that failed in the middle. */
static enum git_op_next
left_done(struct git_move *move)
{
	git_move_let_go(move);
	git_claim_clear(&move->claim);
	move->settling = move->touched = false;
	xstrset(&move->where, move->tree);
	free(take_ptr(&move->tree));
	free(take_ptr(&move->gitdir));
	if (move->refused.code == 0)
		return git_move_go(move, MOVE_FORWARD);
	if (!move->busy_files)
		return git_move_go(move, MOVE_LEAVE);
	buf_clear(&move->detail);
	buf_adds(&move->detail, move->refused.msg);
	return git_move_end(move, GIT_LAND_DIRTY);
}

static enum git_op_next
left_wait_for_updater(struct git_move *move)
{
	move->waited_ms += LEFT_LOOK_MS;
	if (move->waited_ms == LEFT_ENDS_MS)
		git_claim_end_updater(&move->claim);
	if (move->waited_ms <= 2 * LEFT_ENDS_MS)
		return git_move_later(move, LEFT_LOOK_MS);
	return git_move_end_with(move, GIT_LAND_HELD,
	    "a git of an earlier landing still runs", move->op->dir);
}

enum git_op_next
git_move_left(struct git_op *op)
{
	struct git_move *move = op->self;
	struct git_claim *claim = &move->claim;

	if (move->hold != NULL) {
		git_hold_abort(move->hold, left_aborted, move);
		return GIT_OP_WAIT;
	}
	if (!claim->active)
		return git_move_go(move, MOVE_FORWARD);
	if (!git_claim_sweep(claim))
		return left_wait_for_updater(move);
	move->waited_ms = 0;
	if (claim->tree[0] == '\0' || !claim->files ||
	    !file_is_dir(claim->tree) ||
	    !git_dirs_is_on(claim->gitdir, claim->branch))
		return left_done(move);
	move->settling = true;
	move->settled = false;
	move->stumps = 0;
	xstrset(&move->tree, claim->tree);
	xstrset(&move->gitdir, claim->gitdir);
	return GIT_OP_NEXT;
}

enum git_op_next
git_move_left_ask_tip(struct git_op *op)
{
	const struct git_move *move = op->self;
	cleanup_free char *branch = git_op_branch_name(move->claim.branch);

	return git_op_ask_ids(op, (const char *[]){ branch, NULL });
}

enum git_op_next
git_move_left_tip(struct git_op *op, const struct git_answer *answer)
{
	struct git_move *move = op->self;
	struct git_claim *claim = &move->claim;
	char tip[GIT_ID_SIZE];

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, &tip, 1);
	if (strcmp(tip, claim->old_id) == 0) {
		move->head_id = move->to_id = claim->old_id;
		move->other_id = move->from_id = claim->new_id;
		return GIT_OP_NEXT;
	}
	if (strcmp(tip, claim->new_id) == 0) {
		move->head_id = move->to_id = claim->new_id;
		move->other_id = move->from_id = claim->old_id;
		return GIT_OP_NEXT;
	}
	return left_done(move);
}

enum git_op_next
git_move_left_lock(struct git_op *op)
{
	struct git_move *move = op->self;
	int r = git_claim_lock(&move->claim, "index.lock", &op->err);

	if (r == 0)
		return GIT_OP_NEXT;
	if (r != -EEXIST)
		return GIT_OP_FAIL;
	memset(&op->err, 0, sizeof op->err);
	if (move->tries++ < GIT_TRIES)
		return git_move_later(move, GIT_RETRY_MS);
	return git_move_end_with(move, GIT_LAND_HELD,
	    "another git process holds the index", move->tree);
}

/* The version that files are compared with next, and whose. */
static const struct git_change *
left_version(const struct git_move *move, const char **ret_id)
{
	const struct git_changes *changes = &move->check.changes;
	const struct git_change *change;

	if (move->stumps / 2 >= changes->count)
		return NULL;
	change = &changes->v[move->stumps / 2];
	*ret_id = move->stumps % 2 == 0 ? change->id : change->old_id;
	return change;
}

static void
left_compared(bool is_stump, void *arg)
{
	struct git_move *move = arg;
	const char *id;
	const struct git_change *change = left_version(move, &id);
	cleanup_free char *path = file_join(move->tree, change->path);

	git_stump_free(take_ptr(&move->stump));
	if (is_stump)
		unlink(path);
	move->stumps++;
	git_op_resume(move->op, GIT_OP_AGAIN);
}

/* A file that a git was writing when it ended is the beginning of the one
 * version or of the other. Nobody wrote anything into it that is not in that:
 * it is removed, and a file that is missing is written again. */
enum git_op_next
git_move_left_stumps(struct git_op *op)
{
	struct git_move *move = op->self;
	const struct git_change *change;
	const char *id;

	for (; (change = left_version(move, &id)) != NULL; move->stumps++) {
		cleanup_free char *path =
		    git_land_check_leftover(&move->check, change);

		if (path == NULL || strspn(id, "0") == strlen(id))
			continue;
		if (git_stump_new(op->git, move->tree, change->path, id,
			left_compared, move, &move->stump, &op->err) < 0)
			return GIT_OP_FAIL;
		return GIT_OP_WAIT;
	}
	return GIT_OP_NEXT;
}

/* What could not be settled, as the user has changed it since, stays as it
 * is. */
enum git_op_next
git_move_left_put(struct git_op *op)
{
	struct git_move *move = op->self;
	cleanup_free char *real = file_join(move->gitdir, "index");
	cleanup_free char *index = git_claim_index(&move->claim);

	if (move->settled && rename(index, real) == -1)
		return git_op_fail(
		    op, -errno, "replacing %s: %s", real, strerror(errno));
	git_claim_remove_index(&move->claim);
	return left_done(move);
}
