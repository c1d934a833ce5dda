/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-changes.h"
#include "git-land-check.h"
#include "git-land.h"
#include "git-move-files.h"
#include "git-move.h"
#include "git-op.h"
#include "git-records.h"
#include "git-stand.h"
#include "git-worktree.h"

static enum git_op_next
git_land_where_stray(struct git_op *op, const struct git_answer *answer);
static enum git_op_next git_land_where_ask_stray(struct git_op *op);
static enum git_op_next git_land_where(struct git_op *op);

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

/* Add whole paths: the first of the files in the way, and the files of git that
 * change with the index, the branch, or the end of a merge or a rebase. */
static void
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

/*
 * Landing: the branch moves by compare-and-swap, and a tree that has it checked
 * out moves with it or not at all. The order, each step of which another git
 * that runs in the same tree at the same time must respect, or is told of:
 *
 *   1 write down what is about to happen (git-claim.h); objects on disk
 *   2 index.lock: nobody else writes the index; look at files and index
 *   3 update-ref up to "prepare": nobody else moves HEAD or the branch; is HEAD
 *     still on it?
 *   4 files, with a copy of the index; the copy becomes the index
 *   5 "commit": the branch moves
 *   6 wait for gits that had read HEAD before; put back what such a one took to
 *     another branch; let go; everything on disk; cross out what was written
 *
 * Killed before 5, the next landing puts files and index back; behind it, they
 * follow.
 */

#define LAND_DEADLINE_MS (INT64_C(10) * 60 * 1000)

static const char gitlink_mode[] = "160000";

struct land_op {
	struct git_move move;
	struct git_op op; /* onto: where the branch must be */
	char *id_name;
	bool forward; /* id is known to be on top of onto */
	git_land_fn *fn;
	git_work_fn *settle_fn; /* used instead: nothing is to land */
	void *arg;
};

/* --- what is asked for ------------------------------------------------ */

static bool
is_id(const char *name)
{
	size_t len = strlen(name);

	return (len == 40 || len == 64) &&
	    strspn(name, "0123456789abcdef") == len;
}

static enum git_op_next
land_ask_names(struct git_op *op)
{
	struct land_op *land = op->self;
	cleanup_free char *branch = git_op_branch_name(op->onto);
	cleanup_free char *other = xasprintf("%s^{commit}", op->onto);
	cleanup_free char *id = xasprintf("%s^{commit}", land->id_name);

	if (land->settle_fn != NULL)
		return GIT_OP_NEXT;
	if (!is_id(op->onto) || !is_id(land->id_name))
		return git_op_ask_ids(
		    op, (const char *[]){ branch, other, id, NULL });
	strlcpy(op->onto_id, op->onto, GIT_ID_SIZE);
	strlcpy(land->move.id, land->id_name, GIT_ID_SIZE);
	return GIT_OP_NEXT;
}

static enum git_op_next
land_names(struct git_op *op, const struct git_answer *answer)
{
	struct land_op *land = op->self;
	char ids[3][GIT_ID_SIZE];

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, ids, nitems(ids));
	memcpy(op->onto_id, ids[0][0] != '\0' ? ids[0] : ids[1], GIT_ID_SIZE);
	memcpy(land->move.id, ids[2], GIT_ID_SIZE);
	if (op->onto_id[0] == '\0')
		return git_op_fail(op, -ENOENT,
		    "there is no branch or commit %s in %s", op->onto, op->dir);
	if (land->move.id[0] == '\0')
		return git_op_fail(op, -ENOENT, "there is no commit %s in %s",
		    land->id_name, op->dir);
	return GIT_OP_NEXT;
}

/* The usual one is one commit on top: what it changes and that it is on top,
 * in one answer. */
static enum git_op_next
land_ask_forward(struct git_op *op)
{
	const struct land_op *land = op->self;

	if (land->settle_fn != NULL)
		return GIT_OP_DONE;
	return git_op_args(op, "diff-tree", "-r", "-z", "--no-renames",
	    "--ignore-submodules=none", "--root", "-m", "--format=%P",
	    land->move.id, NULL);
}

static enum git_op_next
land_forward(struct git_op *op, const struct git_answer *answer)
{
	struct land_op *land = op->self;
	struct git_move *move = &land->move;
	size_t len = strlen(answer->out);

	if (answer->status != 0)
		return git_op_complain(op, answer);
	move->head_id = move->from_id = op->onto_id;
	move->other_id = move->to_id = move->id;
	land->forward = strcmp(answer->out, op->onto_id) == 0;
	if (!land->forward)
		return GIT_OP_NEXT;
	if (len < answer->out_len)
		len++; /* and a line break */
	if (len < answer->out_len)
		len++;
	buf_clear(&move->changes);
	buf_add(&move->changes, answer->out + len, answer->out_len - len);
	return git_move_go(move, MOVE_TREES);
}

static enum git_op_next
land_ask_ancestor(struct git_op *op)
{
	const struct land_op *land = op->self;

	return git_op_ask_ancestor(op, op->onto_id, land->move.id);
}

static enum git_op_next
land_ancestor(struct git_op *op, const struct git_answer *answer)
{
	struct land_op *land = op->self;

	if (answer->status > 1)
		return git_op_complain(op, answer);
	land->forward = answer->status == 0;
	/* Landed already, maybe, below later commits. */
	return land->forward ? GIT_OP_NEXT :
			       git_move_go(&land->move, MOVE_LEAVE);
}

/* --- behind the move -------------------------------------------------- */

/* Where a user went with the files of the branch, who had read HEAD before it
 * moved. */
static enum git_op_next
land_ask_after(struct git_op *op)
{
	struct git_move *move = op->self;

	if (git_dirs_is_on(move->gitdir, move->branch))
		return git_move_go(move, MOVE_LEAVE);
	op->run_dir = move->tree;
	return git_op_ask_ids(op, (const char *[]){ "HEAD^{commit}", NULL });
}

static enum git_op_next
land_after(struct git_op *op, const struct git_answer *answer)
{
	struct git_move *move = op->self;
	char head[GIT_ID_SIZE];

	git_op_ids(answer, &head, 1);
	/* A branch that was made behind the move has it all. */
	if (answer->status != 0 || strcmp(head, move->id) == 0)
		return git_move_go(move, MOVE_LEAVE);
	return git_move_files_copy(op);
}

static enum git_op_next
land_ask_repair(struct git_op *op)
{
	struct git_move *move = op->self;
	cleanup_free char *index = git_claim_index(&move->claim);

	op->run_dir = move->tree;
	op->deadline_ms = LAND_DEADLINE_MS;
	git_move_config(move, &op->env, false);
	git_op_env(op, "GIT_INDEX_FILE=%s", index);
	return git_op_args(
	    op, "read-tree", "-m", "-u", move->id, op->onto_id, NULL);
}

static enum git_op_next
land_repair(struct git_op *op, const struct git_answer *answer)
{
	struct git_move *move = op->self;

	if (answer->status == 0)
		return git_move_files_put(op);
	git_claim_remove_index(&move->claim);
	return GIT_OP_NEXT;
}

static enum git_op_next
land_leave(struct git_op *op)
{
	return git_move_go(op->self, MOVE_LEAVE);
}

/* Only the ref has moved. Did somebody check the branch out just before it
 * did? Then it goes back, and is moved once more together with their tree. */
static enum git_op_next
land_ask_back(struct git_op *op)
{
	struct git_move *move = op->self;
	cleanup_free char *ref = xasprintf("refs/heads/%s", move->branch);
	struct git_trees trees = { 0 };
	bool taken;

	git_move_let_go(move);
	taken = git_dirs_trees(op->dir, &trees, &op->err) == 0 &&
	    git_trees_on(&trees, move->branch, NULL) != NULL;
	git_trees_release(&trees);
	if (!taken)
		return git_move_end(move, GIT_LANDED);
	git_move_config(move, &op->env, true);
	return git_op_args(op, "update-ref", "-m", GIT_MOVE_REFLOG ", undone",
	    ref, op->onto_id, move->id, NULL);
}

static enum git_op_next
land_back(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	return git_move_again(op->self);
}

/* --- what became of it ------------------------------------------------ */

static enum git_op_next
land_ask_tip(struct git_op *op)
{
	const struct git_move *move = op->self;
	cleanup_free char *branch = git_op_branch_name(move->branch);

	return git_op_ask_ids(op, (const char *[]){ branch, NULL });
}

static enum git_op_next
land_tip(struct git_op *op, const struct git_answer *answer)
{
	struct git_move *move = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, &move->tip, 1);
	if (move->tip[0] == '\0')
		return git_op_fail(op, -ENOENT, "there is no branch %s in %s",
		    move->branch, op->dir);
	return GIT_OP_NEXT;
}

/* At the commit, or above it by now: landed, whatever git said. */
static enum git_op_next
land_ask_verdict(struct git_op *op)
{
	const struct git_move *move = op->self;

	return git_op_ask_ancestor(op, move->id, move->tip);
}

static enum git_op_next
land_verdict(struct git_op *op, const struct git_answer *answer)
{
	const struct land_op *land = op->self;
	struct git_move *move = op->self;
	const char *where = move->tree != NULL ? move->tree : op->dir;

	if (answer->status > 1)
		return git_op_complain(op, answer);
	if (answer->status == 0)
		return git_move_end(move, GIT_LANDED);
	if (strcmp(move->tip, op->onto_id) != 0) {
		buf_clear(&move->detail);
		buf_addf(&move->detail, "%s is at %.12s, no longer at %.12s",
		    move->branch, move->tip, op->onto_id);
		return git_move_end(move, GIT_LAND_MOVED);
	}
	if (!land->forward)
		return git_op_fail(op, -EINVAL,
		    "%.12s is not on top of %.12s: landing it would lose "
		    "commits",
		    move->id, op->onto_id);
	if (move->held)
		return git_move_end_with(move, GIT_LAND_HELD,
		    "another git process holds a lock", where);
	if (move->refused.code == 0)
		return git_move_end_with(move, GIT_LAND_DIRTY,
		    "another branch was just checked out", where);
	op->err = move->refused;
	return GIT_OP_FAIL;
}

/* --- submodules ------------------------------------------------------- */

/* One that is as the old commit left it goes along, where it has the new one.
 * What has a branch or commits of its own stays. */
static bool
submodule_follows(const struct git_change *change, const char *dir)
{
	cleanup_free char *gitdir = git_dirs_gitdir(dir);
	char at[GIT_ID_SIZE];

	if (change->status != 'M' || strcmp(change->mode, gitlink_mode) != 0 ||
	    gitdir == NULL)
		return false;
	git_dirs_detached(gitdir, at, sizeof at);
	return strcmp(at, change->old_id) == 0;
}

static enum git_op_next
land_ask_submodules(struct git_op *op)
{
	struct land_op *land = op->self;
	struct git_move *move = &land->move;

	if (!move->touched)
		git_claim_clear(&move->claim);
	while (
	    move->tree != NULL && move->submodule < move->check.changes.count) {
		const struct git_change *change =
		    &move->check.changes.v[move->submodule++];
		cleanup_free char *dir = file_join(move->tree, change->path);

		if (!submodule_follows(change, dir))
			continue;
		op->run_dir = move->tree;
		git_move_config(move, &op->env, false);
		return git_op_args(op, "--literal-pathspecs", "submodule",
		    "--quiet", "update", "--no-fetch", "--checkout", "--",
		    change->path, NULL);
	}
	return GIT_OP_DONE;
}

static enum git_op_next
land_submodules(struct git_op *op, const struct git_answer *answer)
{
	(void)op;
	(void)answer; /* without the commit, or with changes, it stays */
	return GIT_OP_AGAIN;
}

static const struct git_op_step land_steps[MOVE_COUNT] = {
	[MOVE_NAMES] = { .ask = land_ask_names, .answer = land_names },
	[MOVE_CLAIM] = { .ask = git_move_claim },
	[MOVE_LEFT] = { .ask = git_move_left },
	[MOVE_LEFT_TIP] = { .ask = git_move_left_ask_tip,
	    .answer = git_move_left_tip },
	[MOVE_LEFT_LOCK] = { .ask = git_move_left_lock },
	[MOVE_LEFT_CHANGES] = { .ask = git_move_files_ask_changes,
	    .answer = git_move_files_changes },
	[MOVE_LEFT_STATUS] = { .ask = git_move_files_ask_status,
	    .answer = git_move_files_status },
	[MOVE_LEFT_SUSPECTS] = { .ask = git_move_files_ask_suspects },
	[MOVE_LEFT_COMPARE] = { .ask = git_move_files_ask_compare,
	    .answer = git_move_files_compare },
	[MOVE_LEFT_STUMPS] = { .ask = git_move_left_stumps },
	[MOVE_LEFT_STAGED] = { .ask = git_move_files_ask_staged,
	    .answer = git_move_files_staged },
	[MOVE_LEFT_COPY] = { .ask = git_move_files_copy },
	[MOVE_LEFT_ADOPT] = { .ask = git_move_files_ask_adopt },
	[MOVE_LEFT_READ] = { .ask = git_move_files_ask_read,
	    .answer = git_move_files_read,
	    .tolerant = true },
	[MOVE_LEFT_REFRESH] = { .ask = git_move_files_ask_refresh,
	    .answer = git_move_files_refresh },
	[MOVE_LEFT_RESTAGE] = { .ask = git_move_files_ask_restage },
	[MOVE_LEFT_PUT] = { .ask = git_move_left_put },
	[MOVE_FORWARD] = { .ask = land_ask_forward, .answer = land_forward },
	[MOVE_ANCESTOR] = { .ask = land_ask_ancestor, .answer = land_ancestor },
	[MOVE_CHANGES] = { .ask = git_move_files_ask_changes,
	    .answer = git_move_files_changes },
	[MOVE_TREES] = { .ask = git_land_where },
	[MOVE_STRAY] = { .ask = git_land_where_ask_stray,
	    .answer = git_land_where_stray,
	    .tolerant = true },
	[MOVE_RECORD] = { .ask = git_move_record },
	[MOVE_SYNC] = { .ask = git_move_sync },
	[MOVE_LOCK] = { .ask = git_move_lock },
	[MOVE_STATUS] = { .ask = git_move_files_ask_status,
	    .answer = git_move_files_status },
	[MOVE_SUSPECTS] = { .ask = git_move_files_ask_suspects },
	[MOVE_COMPARE] = { .ask = git_move_files_ask_compare,
	    .answer = git_move_files_compare },
	[MOVE_HOLD] = { .ask = git_move_hold },
	[MOVE_COPY] = { .ask = git_move_files_copy },
	[MOVE_ADOPT] = { .ask = git_move_files_ask_adopt },
	[MOVE_READ] = { .ask = git_move_files_ask_read,
	    .answer = git_move_files_read,
	    .tolerant = true },
	[MOVE_REFRESH] = { .ask = git_move_files_ask_refresh,
	    .answer = git_move_files_refresh },
	[MOVE_PUT] = { .ask = git_move_files_put },
	[MOVE_COMMIT] = { .ask = git_move_commit },
	[MOVE_QUIET] = { .ask = git_move_quiet },
	[MOVE_AFTER] = { .ask = land_ask_after, .answer = land_after },
	[MOVE_REPAIR] = { .ask = land_ask_repair, .answer = land_repair },
	[MOVE_REPAIRED] = { .ask = land_leave },
	[MOVE_SWAP_LOCK] = { .ask = git_move_swap_lock },
	[MOVE_SWAP] = { .ask = git_move_ask_swap,
	    .answer = git_move_swap,
	    .tolerant = true },
	[MOVE_SWAP_QUIET] = { .ask = git_move_quiet },
	[MOVE_BACK] = { .ask = land_ask_back, .answer = land_back },
	[MOVE_LEAVE] = { .ask = git_move_leave },
	[MOVE_TIP] = { .ask = land_ask_tip, .answer = land_tip },
	[MOVE_VERDICT] = { .ask = land_ask_verdict, .answer = land_verdict },
	[MOVE_LAST_SYNC] = { .ask = git_move_last_sync },
	[MOVE_SUBMODULES] = { .ask = land_ask_submodules,
	    .answer = land_submodules,
	    .tolerant = true },
};

static void
land_tell_settled(struct land_op *land, const struct err *err)
{
	struct err busy = { 0 };

	if (err == NULL && land->move.result == GIT_LAND_HELD) {
		err_set(&busy, -EBUSY, "%s", land->move.detail.data);
		err = &busy;
	}
	land->settle_fn(err, land->arg);
}

/* The claim is free before the caller hears: it may land the next one. */
static void
land_finish(struct git_op *op, const struct err *err)
{
	struct land_op *land = op->self;
	struct git_move *move = &land->move;
	cleanup_strv char **places = NULL;

	if (err == NULL && move->result == GIT_LAND_DIRTY)
		git_land_way_list(move, &places);
	git_move_forget(move);
	if (land->settle_fn != NULL)
		land_tell_settled(land, err);
	else if (err != NULL)
		land->fn(
		    GIT_LAND_FAILED, "", strv_const(places), err, land->arg);
	else
		land->fn(move->result, move->detail.data, strv_const(places),
		    NULL, land->arg);
}

static void
land_release(struct git_op *op)
{
	struct land_op *land = op->self;

	git_move_release(&land->move);
	free(land->id_name);
}

static void
land_start(struct land_op *land, struct git *git, const char *branch,
    const char *onto, const char *id)
{
	git_move_init(&land->move, &land->op);
	land->move.branch = xstrdup(branch);
	land->id_name = xstrdup(id);
	land->op.onto = xstrdup(onto);
	land->op.self = land;
	land->op.finish = land_finish;
	land->op.release = land_release;
	git_op_start(&land->op, git, git_root(git), land_steps,
	    nitems(land_steps), false);
}

void
git_land(struct git *git, const char *branch, const char *onto, const char *id,
    bool overlap, git_land_fn *fn, void *arg)
{
	struct land_op *land = xcalloc(1, sizeof *land);

	land->move.overlap = overlap;
	land->fn = fn;
	land->arg = arg;
	land_start(land, git, branch, onto, id);
}

void
git_land_settle(struct git *git, git_work_fn *fn, void *arg)
{
	struct land_op *land = xcalloc(1, sizeof *land);

	land->settle_fn = fn;
	land->arg = arg;
	land_start(land, git, "", "", "");
}

static enum git_op_next
wait_for(struct git_move *move, const char *what, const char *where)
{
	return git_move_end_with(move, GIT_LAND_DIRTY, what, where);
}

/* What a person is in the middle of with HEAD on the branch, the tree clean or
 * not; NULL = nothing. */
static const char *
find_doing(const struct git_op *op)
{
	static const struct {
		const char *name, *words;
	} doings[] = {
		{ "MERGE_HEAD", "a merge is in progress" },
		{ "CHERRY_PICK_HEAD", "a cherry-pick is in progress" },
		{ "REVERT_HEAD", "a revert is in progress" },
		{ "rebase-apply", "git am is in progress" },
		{ "sequencer", "a cherry-pick or revert is in progress" },
	};

	for (size_t i = 0; i < nitems(doings); i++)
		if (git_op_has(op, doings[i].name))
			return doings[i].words;
	return NULL;
}

static enum git_op_next
judge_on(struct git_move *move, const struct git_tree *on)
{
	const char *doing;

	if (on->missing)
		return wait_for(move,
		    "the branch is checked out in a locked worktree that is "
		    "not there (mount it, or type: git worktree unlock)",
		    on->path);
	move->tree = xstrdup(on->path);
	move->gitdir = git_dirs_gitdir(on->path);
	if (move->gitdir == NULL)
		return wait_for(move,
		    "the .git file of a worktree is damaged (repair it with: "
		    "git worktree repair)",
		    move->tree);
	if (!git_dirs_is_on(move->gitdir, move->branch))
		return wait_for(move,
		    "the branch is checked out by another name, a symbolic "
		    "reference",
		    move->tree);
	xstrset(&move->op->gitdir, move->gitdir);
	doing = find_doing(move->op);
	return doing != NULL ? wait_for(move, doing, move->tree) : GIT_OP_NEXT;
}

/* The first tree that a worker or a check has put on the branch. */
static const struct git_tree *
find_stray(const struct git_move *move, const struct git_trees *trees)
{
	const char *const *own = git_own(move->op->git);
	const struct git_tree *on = NULL;

	while ((on = git_trees_on(trees, move->branch, on)) != NULL)
		for (size_t i = 0; own[i] != NULL; i++)
			if (!on->missing && git_dirs_is_below(on->path, own[i]))
				return on;
	return NULL;
}

static enum git_op_next
judge_trees(struct git_move *move, const struct git_trees *trees)
{
	const struct git_tree *on = git_trees_on(trees, move->branch, NULL);
	const struct git_tree *other =
	    on != NULL ? git_trees_on(trees, move->branch, on) : NULL;

	free(take_ptr(&move->tree));
	free(take_ptr(&move->gitdir));
	if (other != NULL)
		return wait_for(move,
		    "the branch is checked out twice, the second time",
		    other->path);
	for (size_t i = 0; i < trees->count; i++)
		if (trees->v[i].branch == NULL &&
		    git_land_check_rebases(trees->v[i].path, move->branch))
			return wait_for(move,
			    "a rebase of the branch is in progress",
			    trees->v[i].path);
	return on != NULL ? judge_on(move, on) : GIT_OP_NEXT;
}

/* Sets move->tree and move->gitdir, NULL = nowhere; or ends the landing with
 * what it waits for. */
static enum git_op_next
git_land_where(struct git_op *op)
{
	struct git_move *move = op->self;
	struct git_trees trees = { 0 };
	const struct git_tree *stray;
	enum git_op_next next;
	cleanup_free char *target = git_dirs_alias(move->common, move->branch);

	if (target != NULL)
		return git_op_fail(op, -ENOTSUP,
		    "%s is a symbolic reference to %s; name that branch in "
		    "repo.default_branch",
		    move->branch, target);
	if (git_dirs_trees(op->dir, &trees, &op->err) < 0)
		return GIT_OP_FAIL;
	stray = find_stray(move, &trees);
	xstrset(&move->stray, stray != NULL ? stray->path : NULL);
	next = stray != NULL ? GIT_OP_NEXT : judge_trees(move, &trees);
	git_trees_release(&trees);
	if (next == GIT_OP_NEXT)
		git_move_files_begin(move);
	return next;
}

/* By compare-and-swap: it may have left the branch by now. */
static enum git_op_next
git_land_where_ask_stray(struct git_op *op)
{
	struct git_move *move = op->self;

	if (move->stray == NULL)
		return GIT_OP_NEXT;
	op->run_dir = move->stray;
	git_move_config(move, &op->env, false);
	return git_op_args(op, "update-ref", "--no-deref", "-m",
	    "llmc: left the landing branch", "HEAD", op->onto_id, op->onto_id,
	    NULL);
}

static enum git_op_next
git_land_where_stray(struct git_op *op, const struct git_answer *answer)
{
	struct git_move *move = op->self;

	if (answer->status == 0 && move->tries++ < GIT_TRIES)
		return git_move_go(move, MOVE_TREES);
	if (answer->locked)
		return git_move_end_with(move, GIT_LAND_HELD,
		    "another git process holds a lock", move->stray);
	/* Unless the branch has moved. */
	err_set(&move->refused, -EIO,
	    "%s has the landing branch checked out, and cannot be taken off "
	    "it: %s",
	    move->stray,
	    answer->err != NULL ? answer->err->msg : answer->complaint);
	return git_move_go(move, MOVE_LEAVE);
}
