/* SPDX-License-Identifier: ISC */

/*
 * How a branch moves together with its checkout: locks, files, index, branch,
 * in the one order in which neither a user who works in the same tree nor a
 * kill between two steps loses anything. git-land.c owns the table of steps;
 * these are the ones about locks and the branch, and what all of them share.
 * For git-land.c and git-move-*.c only.
 */
#ifndef GIT_MOVE_H
#define GIT_MOVE_H

#include "git-claim.h"
#include "git-land-check.h"
#include "git-land.h"
#include "git-op.h"

struct err;
struct git_hold;
struct git_stump;
struct git_sync;
struct loop_timer;

#define GIT_MOVE_REFLOG "llmc: landed"

enum git_move_step {
	/* What is asked for, and what an earlier landing left. */
	MOVE_NAMES,
	MOVE_CLAIM,
	MOVE_LEFT,
	MOVE_LEFT_TIP,
	MOVE_LEFT_LOCK,
	MOVE_LEFT_CHANGES,
	MOVE_LEFT_STATUS,
	MOVE_LEFT_SUSPECTS,
	MOVE_LEFT_COMPARE,
	MOVE_LEFT_STUMPS,
	MOVE_LEFT_STAGED,
	MOVE_LEFT_COPY,
	MOVE_LEFT_ADOPT,
	MOVE_LEFT_READ,
	MOVE_LEFT_REFRESH,
	MOVE_LEFT_RESTAGE,
	MOVE_LEFT_PUT,
	/* May it land, and where is it checked out? */
	MOVE_FORWARD,
	MOVE_ANCESTOR,
	MOVE_CHANGES,
	MOVE_TREES,
	MOVE_STRAY,
	MOVE_RECORD,
	MOVE_SYNC,
	/* With a checkout. */
	MOVE_LOCK,
	MOVE_STATUS,
	MOVE_SUSPECTS,
	MOVE_COMPARE,
	MOVE_HOLD,
	MOVE_COPY,
	MOVE_ADOPT,
	MOVE_READ,
	MOVE_REFRESH,
	MOVE_PUT,
	MOVE_COMMIT,
	MOVE_QUIET,
	MOVE_AFTER,
	MOVE_REPAIR,
	MOVE_REPAIRED,
	/* Without one: jumped to. */
	MOVE_SWAP_LOCK,
	MOVE_SWAP,
	MOVE_SWAP_QUIET,
	MOVE_BACK,
	/* The end, jumped to as well: let go, then tell. */
	MOVE_LEAVE,
	MOVE_TIP,
	MOVE_VERDICT,
	MOVE_LAST_SYNC,
	MOVE_SUBMODULES,
	MOVE_COUNT
};

/* The first member of the operation's self. */
struct git_move {
	struct git_op *op;
	char *branch;
	bool overlap;
	char tip[GIT_ID_SIZE], id[GIT_ID_SIZE];
	char *common;
	char *tree, *gitdir; /* the checkout; tree NULL = none */
	char *stray; /* a worktree of llmc's own that has the branch */
	struct git_claim claim;
	struct git_hold *hold;
	struct git_sync *sync;
	struct git_stump *stump;
	struct loop_timer *timer;
	int tries; /* that met a lock, or a user who was faster */
	int64_t waited_ms;
	bool again; /* from the look at the trees on */
	bool recorded; /* the claim tells of this landing */
	bool synced; /* what the commit consists of is on disk */
	bool sync_failed; /* once, after the branch had moved */

	/* What is looked at: HEAD's commit, the one whose content may be there
	 * already, and between which two the files move. */
	const char *head_id, *other_id, *from_id, *to_id;
	struct buf changes; /* text that check points into */
	struct git_land_check check;
	bool refreshed;
	bool settling; /* what a landing left that was cut off */
	bool settled;
	struct buf staged; /* rows of the index that are the user's own */
	size_t stumps; /* versions of changes that files were compared with */
	bool touched; /* files may be ahead of the branch */
	size_t submodule; /* the change that is looked at next */

	enum git_land_result result;
	bool decided; /* that holds; else where the branch is tells */
	struct buf detail;
	char *where; /* the tree it is about; NULL = none */
	struct err refused; /* why git did not move it */
	bool held; /* by another git's lock */
	bool busy_files; /* the user has changed them since we looked */
};

void git_move_init(struct git_move *move, struct git_op *op);
void git_move_release(struct git_move *move);

/* Go on with that step. */
enum git_op_next git_move_go(struct git_move *move, enum git_move_step step);

/* End with this result, after everything was let go. `what` in `where` is the
 * detail. */
enum git_op_next
git_move_end(struct git_move *move, enum git_land_result result);
enum git_op_next git_move_end_with(struct git_move *move,
    enum git_land_result result, const char *what, const char *where);

/* A user was faster: let go, and look at the trees once more. */
enum git_op_next git_move_again(struct git_move *move);

/* Settings of one git: its hooks, and that a ref or an index is on disk before
 * it gets its name. */
void git_move_config(struct git_move *move, char ***env, bool hooks);

/* Let go of all locks at once; the branch's is dropped without waiting. */
void git_move_let_go(struct git_move *move);

/* And cross out what was written down, if all of it is done or undone. */
void git_move_forget(struct git_move *move);
enum git_op_next git_move_claim(struct git_op *op);
enum git_op_next git_move_record(struct git_op *op);
enum git_op_next git_move_sync(struct git_op *op);
enum git_op_next git_move_lock(struct git_op *op);
enum git_op_next git_move_hold(struct git_op *op);
enum git_op_next git_move_commit(struct git_op *op);
enum git_op_next git_move_quiet(struct git_op *op);
enum git_op_next git_move_swap_lock(struct git_op *op);
enum git_op_next git_move_ask_swap(struct git_op *op);
enum git_op_next git_move_swap(struct git_op *op, const struct git_answer *a);
enum git_op_next git_move_leave(struct git_op *op);
enum git_op_next git_move_last_sync(struct git_op *op);
enum git_op_next git_move_left(struct git_op *op);
enum git_op_next git_move_left_ask_tip(struct git_op *op);
enum git_op_next
git_move_left_tip(struct git_op *op, const struct git_answer *answer);
enum git_op_next git_move_left_lock(struct git_op *op);
enum git_op_next git_move_left_stumps(struct git_op *op);
enum git_op_next git_move_left_put(struct git_op *op);

#endif
