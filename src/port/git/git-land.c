/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "git-landed.h"
#include "git-private.h"

/*
 * Landing: the branch moves by compare-and-swap, and a tree that has it checked
 * out moves with it or not at all. The order, each step of which another git
 * that runs in the same tree at the same time must respect, or is blocked by:
 *
 *   1 write down what is about to happen; objects on disk
 *   2 index.lock: no other git writes the index; look at files and index
 *   3 update-ref up to "prepare": no other git moves HEAD or the branch; is
 *     HEAD still on it?
 *   4 files, with a copy of the index; has a rebase begun meanwhile? The copy
 *     becomes the index
 *   5 "commit": the branch moves
 *   6 wait for gits that had read HEAD before; put back what such a one took to
 *     another branch; let go; everything on disk; cross out what was written
 *
 * Killed before 5, the next landing puts files and index back; behind it, they
 * follow.
 */

#define LAND_DEADLINE_MS (INT64_C(10) * 60 * 1000)
#define LAND_REFLOG      "llmc: landed"

/* Another git that read HEAD before us writes it before it has not run for this
 * time; on a busy machine that may come late. */
#define QUIET_MS       1000
#define QUIET_MOST_MS  (30 * 1000)
#define QUIET_LOOK_MS  10
#define SYNC_FILES_MAX 100 /* one by one; more: the whole file system */
#define CLAIM_MS       100 /* between two looks at another landing */
#define LEFT_LOOK_MS   20
#define CUT_OFF_MS     200 /* for a helper that was killed to be gone */

/* An update-ref without its landing has reached the end of its input. It ends
 * by itself, unless a hook holds it. */
#define LEFT_ENDS_MS ((int64_t)GIT_TRIES * GIT_RETRY_MS)

static const char gitlink_mode[] = "160000";
static const char just_left[] = "another branch was just checked out";

static void __attribute__((noreturn)) land_landed(struct git_move *move);

/* --- letting go, and the end ------------------------------------------- */

/* Let go of all locks at once; the branch's is dropped without waiting. */
static void
let_go(struct git_move *move)
{
	git_hold_free(take_ptr(&move->hold));
	if (move->claim.active && move->claim.fd != -1) {
		git_claim_unlock(&move->claim, "HEAD.lock");
		git_claim_unlock(&move->claim, "index.lock");
	}
}

/* The same once the branch's is gone. */
static void
leave(struct git_move *move)
{
	if (move->hold != NULL)
		git_hold_abort(move->hold);
	let_go(move);
}

/* However the helper ends: cross out what was written down, if all of it is
 * done or undone. A git that was killed has left the locks of the refs. */
static void
land_undo(struct git_op *op)
{
	struct git_move *move = op->self;

	let_go(move);
	if (move->recorded && !move->touched && move->claim.active &&
	    git_claim_sweep(&move->claim))
		git_claim_clear(&move->claim);
	git_claim_release(&move->claim);
}

/* End with this result, after everything was let go. */
static void __attribute__((noreturn))
land_end(struct git_move *move, enum git_land_result result, const char *detail)
{
	leave(move);
	git_move_end(move, result, detail);
}

/* The same; `what` in `where` is what it waits for. */
static void __attribute__((noreturn)) land_wait(struct git_move *move,
    enum git_land_result result, const char *what, const char *where)
{
	move->where = where;
	land_end(move, result, git_op_text(&move->op, "%s in %s", what, where));
}

static const char *
place(const struct git_move *move)
{
	return move->tree != NULL ? move->tree : move->op.dir;
}

/* A user was faster: the trees are looked at once more. */
static bool
land_retry(struct git_move *move)
{
	if (move->tries++ >= GIT_TRIES)
		land_wait(move, GIT_LAND_DIRTY, just_left, place(move));
	return true;
}

/* --- what is asked for ------------------------------------------------- */

static void
find_names(struct git_move *move)
{
	struct git_op *op = &move->op;
	char ids[3][GIT_ID_SIZE];

	if (git_is_id(op->onto, strlen(op->onto)) &&
	    git_is_id(move->id_name, strlen(move->id_name))) {
		strlcpy(op->onto_id, op->onto, GIT_ID_SIZE);
		strlcpy(move->id, move->id_name, GIT_ID_SIZE);
		return;
	}
	git_op_find_ids(op,
	    (const char *[]){
		git_op_text(op, "refs/heads/%s^{commit}", op->onto),
		git_op_text(op, "%s^{commit}", op->onto),
		git_op_text(op, "%s^{commit}", move->id_name), NULL },
	    ids);
	memcpy(op->onto_id, ids[ids[0][0] == '\0'], GIT_ID_SIZE);
	memcpy(move->id, ids[2], GIT_ID_SIZE);
	if (op->onto_id[0] == '\0')
		git_op_die(op, -ENOENT, "there is no branch or commit %s in %s",
		    op->onto, op->dir);
	if (move->id[0] == '\0')
		git_op_die(op, -ENOENT, "there is no commit %s in %s",
		    move->id_name, op->dir);
}

/* What it changes, and whether it is on top. The usual one is one commit on
 * top: both in one answer. */
static bool
find_changes(struct git_move *move)
{
	struct git_op *op = &move->op;
	size_t len;

	move->head_id = move->from_id = op->onto_id;
	move->other_id = move->to_id = move->id;
	git_op_must(op, "diff-tree", "-r", "-z", "--no-renames",
	    "--ignore-submodules=none", "--root", "-m", "--format=%P", move->id,
	    NULL);
	if (strcmp(op->answer.out, op->onto_id) == 0) {
		len = strlen(op->answer.out);
		if (len < op->answer.out_len)
			len++; /* and a line break */
		if (len < op->answer.out_len)
			len++;
		buf_clear(&move->changes);
		buf_add(&move->changes, op->answer.out + len,
		    op->answer.out_len - len);
		return true;
	}
	if (!move->instead && !git_op_is_ancestor(op, op->onto_id, move->id))
		return false;
	git_move_changes(move);
	return true;
}

/* --- one landing at a time --------------------------------------------- */

static void
take_claim(struct git_move *move)
{
	struct git_op *op = &move->op;
	char *gitdir = git_dirs_gitdir(op->dir);
	int64_t waited_ms = 0;
	int r;

	if (gitdir == NULL)
		git_op_die(op, -ENOENT, "%s is not a working tree", op->dir);
	move->common = git_dirs_common(gitdir);
	while ((r = git_claim_take(&move->claim, move->common, &op->err)) < 0) {
		if (r != -EAGAIN)
			git_op_die_of(op);
		memset(&op->err, 0, sizeof op->err);
		waited_ms += CLAIM_MS;
		if (waited_ms > (int64_t)GIT_TRIES * GIT_RETRY_MS)
			land_wait(move, GIT_LAND_HELD,
			    "another landing is in progress", op->dir);
		git_pause(CLAIM_MS);
	}
}

/* What we are about to do, on disk before it begins; and with it all that the
 * new commit consists of. */
static void
record(struct git_move *move)
{
	struct git_op *op = &move->op;
	const char *const folders[] = {
		git_op_text(op, "%s/objects", move->common), move->common, NULL
	};

	git_claim_clear(&move->claim);
	move->claim.tree = xstrdup(move->tree != NULL ? move->tree : "");
	move->claim.gitdir = move->gitdir != NULL ? xstrdup(move->gitdir) :
						    git_dirs_gitdir(op->dir);
	move->claim.branch = xstrdup(move->branch);
	memcpy(move->claim.old_id, op->onto_id, GIT_ID_SIZE);
	memcpy(move->claim.new_id, move->id, GIT_ID_SIZE);
	if (git_claim_write(&move->claim, &op->err) < 0)
		git_op_die_of(op);
	move->recorded = true;
	if (!move->synced && git_sync(true, folders, &op->err) < 0)
		git_op_die_of(op);
	move->synced = true;
}

/* --- what an earlier landing left -------------------------------------- */

/* Put files and index where the branch is. What the user has changed since
 * stays as it is. */
static void
settle_files(struct git_move *move)
{
	struct git_op *op = &move->op;
	struct git_claim *claim = &move->claim;
	char tip[GIT_ID_SIZE];
	const char *rows;
	bool changes;
	size_t len;
	int r;

	git_op_branch_tip(op, claim->branch, tip);
	move->head_id = move->to_id = claim->old_id;
	move->other_id = move->from_id = claim->new_id;
	if (strcmp(tip, claim->new_id) == 0) {
		move->head_id = move->to_id = claim->new_id;
		move->other_id = move->from_id = claim->old_id;
	} else if (strcmp(tip, claim->old_id) != 0) {
		return;
	}
	while ((r = git_claim_lock(claim, "index.lock", &op->err)) < 0) {
		if (r != -EEXIST)
			git_op_die_of(op);
		memset(&op->err, 0, sizeof op->err);
		if (move->tries++ >= GIT_TRIES)
			land_wait(move, GIT_LAND_HELD,
			    "another git process holds the index", move->tree);
		git_pause(GIT_RETRY_MS);
	}
	git_move_changes(move);
	if (git_move_look(move, claim->branch) == MOVE_STANDS_HERE) {
		git_move_remove_partial_files(move);
		rows = git_move_staged(move, &len);
		git_move_copy_index(move);
		git_land_check_forgive(&move->check);
		git_move_adopt(move);
		if (git_move_read(move, &changes)) {
			git_move_restage(move, rows, len);
			git_move_put_index(move);
		} else if (!changes) {
			/* As when the disk is full: what is written down
			 * stays, and the next landing tries again. */
			if (move->refused.code != 0) {
				op->err = move->refused;
				git_op_die_of(op);
			}
			git_op_die(op, -EIO,
			    "a landing that was cut off cannot be undone in "
			    "%s: %s",
			    move->tree,
			    op->answer.err != NULL ? op->answer.err->msg :
						     op->answer.complaint);
		}
	}
	git_claim_remove_index(claim);
}

/* It was a landing of before, or our own that failed in the middle. */
static void
settle(struct git_move *move)
{
	struct git_claim *claim = &move->claim;
	int64_t waited_ms = 0;

	if (move->hold != NULL)
		git_hold_abort(move->hold);
	git_hold_free(take_ptr(&move->hold));
	if (!claim->active)
		return;
	while (!git_claim_sweep(claim)) {
		waited_ms += LEFT_LOOK_MS;
		if (waited_ms == LEFT_ENDS_MS)
			git_claim_end_updater(claim);
		if (waited_ms > 2 * LEFT_ENDS_MS)
			land_wait(move, GIT_LAND_HELD,
			    "a git of an earlier landing still runs",
			    move->op.dir);
		git_pause(LEFT_LOOK_MS);
	}
	if (claim->tree[0] != '\0' && claim->files &&
	    file_is_dir(claim->tree) &&
	    git_dirs_is_on(claim->gitdir, claim->branch)) {
		move->tree = git_op_copy(&move->op, claim->tree);
		move->gitdir = git_op_copy(&move->op, claim->gitdir);
		settle_files(move);
	}
	let_go(move);
	git_claim_clear(claim);
	move->touched = false;
	move->where = move->tree;
	move->tree = move->gitdir = NULL;
	/* Its paths lie in move->changes, which this landing fills anew. */
	git_changes_release(&move->check.changes);
}

/* --- locks ------------------------------------------------------------- */

static bool
try_lock(struct git_move *move, const char *name)
{
	struct git_op *op = &move->op;
	int r = git_claim_lock(&move->claim, name, &op->err);

	if (r < 0 && r != -EEXIST)
		git_op_die_of(op);
	memset(&op->err, 0, sizeof op->err);
	return r == 0;
}

/* Another git has a lock. False: it keeps it. */
static bool
wait_for_lock(struct git_move *move)
{
	move->held = move->tries++ >= GIT_TRIES;
	if (!move->held) {
		memset(&move->refused, 0, sizeof move->refused);
		git_pause(GIT_RETRY_MS);
	}
	return !move->held;
}

static void
forget_hold(struct git_move *move)
{
	move->held = git_hold_is_locked(move->hold);
	err_set(&move->refused, move->held ? -EBUSY : -EIO,
	    "git update-ref: %s", git_hold_complaint(move->hold));
	git_hold_free(take_ptr(&move->hold));
}

/* From here on no other git can move HEAD or the branch. */
static bool
hold(struct git_move *move)
{
	struct git_op *op = &move->op;
	cleanup_strv char **env = NULL;
	struct git_hold_spec spec = { .dir = move->tree,
		.branch = move->branch,
		.old_id = op->onto_id,
		.new_id = move->id,
		.reason = LAND_REFLOG };

	git_move_config(move, true, &env);
	spec.env = strv_const(env);
	if (git_hold_new(op->git, &spec, &move->hold, &op->err) < 0 ||
	    git_claim_note_updater(
		&move->claim, git_hold_pid(move->hold), &op->err) < 0)
		git_op_die_of(op);
	if (git_hold_prepare(move->hold))
		return true;
	forget_hold(move);
	return false;
}

/* A git that read HEAD before the move may still be about to write it. */
static void
wait_for_quiet(const struct git_move *move)
{
	git_lock_wait_quiet(place(move), QUIET_MS, QUIET_MOST_MS);
}

/* --- the move ---------------------------------------------------------- */

/* Where a user went with the files of the branch, who had read HEAD before it
 * moved. */
static void
look_after(struct git_move *move)
{
	struct git_op *op = &move->op;

	if (git_dirs_is_on(move->gitdir, move->branch))
		return;
	op->run_dir = move->tree;
	op->tolerant = true;
	/* A branch that was made behind the move has it all. */
	if (git_op_try(op, "rev-parse", "--verify", "--quiet", "HEAD^{commit}",
		NULL) != 0 ||
	    strcmp(op->answer.out, move->id) == 0)
		return;
	git_move_copy_index(move);
	op->run_dir = move->tree;
	op->tolerant = true;
	op->deadline_ms = LAND_DEADLINE_MS;
	git_move_config(move, false, &op->env);
	git_op_env(op, "GIT_INDEX_FILE=%s", git_claim_index(&move->claim));
	if (git_op_try(
		op, "read-tree", "-m", "-u", move->id, op->onto_id, NULL) == 0)
		git_move_put_index(move);
	git_claim_remove_index(&move->claim);
}

/* With its checkout. Returns whether the trees have to be looked at again; the
 * branch has not moved then. */
static bool
move_with_tree(struct git_move *move)
{
	struct git_op *op = &move->op;
	bool busy_files = false;

	for (;;) {
		/* From here on no other git writes the index. */
		while (!try_lock(move, "index.lock"))
			if (!wait_for_lock(move))
				return false;
		switch (git_move_look(move, move->branch)) {
		case MOVE_STANDS_HERE:
			break;
		case MOVE_STANDS_HIGHER:
			return false;
		case MOVE_STANDS_ELSEWHERE:
			return land_retry(move);
		}
		if (move->check.in_way_count > 0) {
			struct buf detail = BUF_INIT;

			git_land_check_describe(&move->check, &detail);
			move->where = move->tree;
			land_end(move, GIT_LAND_DIRTY, detail.data);
		}
		if (hold(move))
			break;
		if (!move->held)
			return false;
		let_go(move);
		if (!wait_for_lock(move))
			return false;
	}
	/* A switch that had the index before us may have moved HEAD since we
	 * looked. */
	if (git_claim_note_head(&move->claim, &op->err) < 0 ||
	    !git_dirs_is_on(move->gitdir, move->branch)) {
		memset(&op->err, 0, sizeof op->err);
		return land_retry(move);
	}
	git_move_copy_index(move);
	git_move_adopt(move);
	if (git_move_read(move, &busy_files)) {
		/* One that began since: an abort would take back what lands. */
		if (git_move_is_in_the_way(move)) {
			settle(move);
			find_changes(move);
			return land_retry(move);
		}
		git_move_put_index(move);
		if (git_hold_commit(move->hold)) {
			git_hold_free(take_ptr(&move->hold));
			move->touched = false;
			wait_for_quiet(move);
			look_after(move);
			land_landed(move);
		}
		/* The files are there, the branch may be or not. */
		forget_hold(move);
	} else {
		move->refused = git_op_complaint(op);
	}
	settle(move);
	if (busy_files)
		land_end(move, GIT_LAND_DIRTY, move->refused.msg);
	return false;
}

/* The branch is not checked out, and must not be checked out now. Returns as
 * above. */
static bool
move_alone(struct git_move *move)
{
	struct git_op *op = &move->op;
	const char *ref = git_op_text(op, "refs/heads/%s", move->branch);
	struct git_trees trees = { 0 };

	for (;;) {
		while (!try_lock(move, "index.lock") ||
		    !try_lock(move, "HEAD.lock")) {
			git_claim_unlock(&move->claim, "index.lock");
			if (!wait_for_lock(move))
				return false;
		}
		if (git_dirs_is_on(move->claim.gitdir, move->branch) ||
		    git_move_is_in_the_way(move))
			return land_retry(move);
		git_move_config(move, true, &op->env);
		op->once = op->linger = op->tolerant = true;
		op->stdin_fd = move->claim.fd;
		if (git_op_try(op, "update-ref", "-m", LAND_REFLOG, ref,
			move->id, op->onto_id, NULL) == 0)
			break;
		move->refused = git_op_complaint(op);
		if (!op->answer.locked)
			return false;
		/* As a hold that met a lock. */
		let_go(move);
		if (!wait_for_lock(move))
			return false;
	}
	git_claim_unlock(&move->claim, "HEAD.lock");
	wait_for_quiet(move);
	let_go(move);
	/* Was the branch checked out just before it moved, or its rebase begun?
	 * Then it goes back, and is moved once more together with that tree. */
	if (git_dirs_trees(op->dir, false, &trees, &op->err) < 0 ||
	    (git_trees_on(&trees, move->branch, NULL) == NULL &&
		!git_move_is_taken_back(move)))
		land_landed(move);
	git_move_config(move, true, &op->env);
	git_op_must(op, "update-ref", "-m", LAND_REFLOG ", undone", ref,
	    op->onto_id, move->id, NULL);
	return land_retry(move);
}

static bool
land_once(struct git_move *move)
{
	if (!git_move_find_tree(move))
		return false;
	record(move);
	return move->tree != NULL ? move_with_tree(move) : move_alone(move);
}

/* --- what became of it ------------------------------------------------- */

static void
add_existing(char ***paths, const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 &&
	    (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		strv_add(paths, path);
}

/* The branch, and the folders that name it; those of a branch with slashes may
 * be new. And what shall not look like a change of the user's to it. */
static int
sync_landed(struct git_move *move, bool whole)
{
	struct git_op *op = &move->op;
	const struct git_changes *changes = &move->check.changes;
	cleanup_strv char **paths = NULL;
	char *name =
	    git_op_text(op, "%s/refs/heads/%s", move->common, move->branch);
	char *slash;

	whole |= changes->count > SYNC_FILES_MAX;
	add_existing(&paths, name);
	while ((slash = strrchr(name, '/')) != NULL &&
	    slash > name + strlen(move->common)) {
		*slash = '\0';
		add_existing(&paths, name);
	}
	add_existing(&paths, git_op_text(op, "%s/packed-refs", move->common));
	for (size_t i = 0; i < strv_count(move->keep); i++)
		add_existing(&paths,
		    git_op_text(op, "%s/" GIT_LANDED_REFS "%.*s", move->common,
			(int)strcspn(move->keep[i], " "), move->keep[i]));
	if (move->keep != NULL)
		add_existing(&paths,
		    git_op_text(op, "%s/" GIT_LANDED_REFS ".", move->common));
	if (move->tree != NULL && move->gitdir != NULL) {
		add_existing(&paths, git_op_text(op, "%s/index", move->gitdir));
		add_existing(&paths, git_op_text(op, "%s/.", move->gitdir));
		for (size_t i = 0; i < changes->count && !whole; i++)
			add_existing(&paths,
			    git_op_text(
				op, "%s/%s", move->tree, changes->v[i].path));
	}
	return git_sync(whole, strv_const(paths), NULL);
}

/* A submodule that is as the old commit left it goes along, where it has the
 * new one. What has a branch or commits of its own stays. */
static void
move_submodules(struct git_move *move)
{
	struct git_op *op = &move->op;

	for (size_t i = 0; move->tree != NULL && i < move->check.changes.count;
	     i++) {
		const struct git_change *change = &move->check.changes.v[i];
		char at[GIT_ID_SIZE], *gitdir;

		if (change->status != 'M' ||
		    strcmp(change->mode, gitlink_mode) != 0)
			continue;
		gitdir = git_dirs_gitdir(
		    git_op_text(op, "%s/%s", move->tree, change->path));
		if (gitdir == NULL)
			continue;
		git_dirs_detached(gitdir, at, sizeof at);
		if (strcmp(at, change->old_id) != 0)
			continue;
		op->run_dir = move->tree;
		op->tolerant = true;
		git_move_config(move, false, &op->env);
		/* Without the commit, or with changes, it stays. */
		git_op_try(op, "--literal-pathspecs", "submodule", "--quiet",
		    "update", "--no-fetch", "--checkout", "--", change->path,
		    NULL);
	}
}

/* Keep what has landed, whatever becomes of the branch. One that cannot be kept
 * has landed all the same. */
static void
keep_landed(struct git_move *move)
{
	struct git_op *op = &move->op;

	for (size_t i = 0; i < strv_count(move->keep); i++) {
		const char *id = move->keep[i];
		size_t len = strcspn(id, " ");
		const char *ref =
		    git_op_text(op, GIT_LANDED_REFS "%.*s", (int)len, id);

		if (git_refs_write(move->common, ref, id + len + 1) != 0)
			buf_addf(
			    &op->input, "update %s %s\n", ref, id + len + 1);
	}
	if (op->input.len == 0)
		return;
	op->tolerant = true;
	git_op_no_hooks(op);
	git_op_try(op, "update-ref", "--stdin", NULL);
}

/* The branch has moved, and git has put it on disk. What may be lost in a power
 * cut now are files and index: what is written down stays for who settles
 * that. */
static void
land_landed(struct git_move *move)
{
	leave(move);
	keep_landed(move);
	memset(&move->op.err, 0, sizeof move->op.err);
	if (sync_landed(move, false) < 0) {
		git_pause(GIT_RETRY_MS);
		move->touched = sync_landed(move, true) < 0;
	}
	if (!move->touched)
		git_claim_clear(&move->claim);
	move_submodules(move);
	land_end(move, GIT_LANDED, "");
}

/* At the commit, or above it by now: landed, whatever git said. */
static void __attribute__((noreturn)) judge(struct git_move *move, bool forward)
{
	struct git_op *op = &move->op;
	char tip[GIT_ID_SIZE];

	git_op_branch_tip(op, move->branch, tip);
	if (tip[0] == '\0')
		git_op_die(op, -ENOENT, "there is no branch %s in %s",
		    move->branch, op->dir);
	if (git_op_is_ancestor(op, move->id, tip))
		land_landed(move);
	if (strcmp(tip, op->onto_id) != 0)
		land_end(move, GIT_LAND_MOVED,
		    git_op_text(op, "%s is at %.12s, no longer at %.12s",
			move->branch, tip, op->onto_id));
	if (!forward)
		git_op_die(op, -EINVAL,
		    "%.12s is not on top of %.12s: landing it would lose "
		    "commits",
		    move->id, op->onto_id);
	if (move->held)
		land_wait(move, GIT_LAND_HELD, GIT_MOVE_LOCKED, place(move));
	if (move->refused.code == 0)
		land_wait(move, GIT_LAND_DIRTY, just_left, place(move));
	op->err = move->refused;
	git_op_die_of(op);
}

static void
land_run(struct git_op *op)
{
	struct git_move *move = op->self;
	bool forward;

	if (move->settle_fn == NULL)
		find_names(move);
	take_claim(move);
	settle(move);
	if (move->settle_fn != NULL)
		return;
	forward = find_changes(move);
	while (forward && land_once(move))
		leave(move);
	leave(move);
	judge(move, forward);
}

/* --- in the daemon ------------------------------------------------------ */

static void
land_finish(struct git_op *op, const struct err *err)
{
	const struct git_move *move = op->self;
	cleanup_git_list struct git_list details = { 0 }, places = { 0 };
	const char *detail;

	git_op_told(op, GIT_MOVE_DETAIL, &details);
	git_op_told(op, GIT_MOVE_PLACE, &places);
	detail = details.count > 0 ? details.v[0] : "";
	if (move->settle_fn != NULL) {
		struct err busy = { 0 };

		if (err == NULL && move->result == GIT_LAND_HELD) {
			err_set(&busy, -EBUSY, "%s", detail);
			err = &busy;
		}
		move->settle_fn(err, op->arg);
	} else if (op->lost) {
		/* It may have landed: the next one finds out. */
		move->fn(GIT_LAND_HELD, err->msg, places.v, NULL, op->arg);
	} else {
		move->fn(err != NULL ? GIT_LAND_FAILED : move->result, detail,
		    places.v, err, op->arg);
	}
}

/* Where the branch has moved, index and files have, too. */
static bool
has_moved(const struct git_claim *claim)
{
	cleanup_free char *ref = xasprintf("refs/heads/%s", claim->branch);
	char tip[GIT_ID_SIZE];

	return git_refs_read(claim->common, ref, tip) == 0 &&
	    strcmp(tip, claim->new_id) == 0;
}

/* The helper was killed. A landing that was cut off keeps the index locked if
 * files may have moved without the branch; otherwise its locks are in the
 * user's way for nothing. */
static void
land_release(struct git_op *op)
{
	struct git_move *move = op->self;
	struct git_claim *claim = &move->claim;
	cleanup_free char *gitdir = NULL, *common = NULL;

	git_land_check_release(&move->check);
	buf_release(&move->changes);
	strv_clear(&move->keep);
	if (!op->cut_off || (gitdir = git_dirs_gitdir(op->dir)) == NULL)
		return;
	common = git_dirs_common(gitdir);
	/* Its update-ref ends right behind it, unless a hook holds it. */
	for (int64_t ms = 0; ms < CUT_OFF_MS; ms += QUIET_LOOK_MS) {
		if (git_claim_take(claim, common, NULL) == 0 &&
		    (claim->updater.pid == 0 ||
			!procref_alive(&claim->updater)))
			break;
		git_pause(QUIET_LOOK_MS);
	}
	if (claim->fd != -1 && claim->active) {
		if (!claim->files && git_claim_sweep(claim))
			git_claim_clear(claim);
		else if (claim->files && has_moved(claim))
			git_claim_unlock(claim, "index.lock");
	}
	git_claim_release(claim);
}

static struct git_move *
land_new(struct git *git, const char *branch, const char *onto, const char *id,
    void *arg)
{
	struct git_move *move = git_op_new(
	    sizeof *move, git, git_root(git), onto, land_run, land_finish);
	struct git_op *op = &move->op;

	move->branch = git_op_copy(op, branch);
	move->id_name = git_op_copy(op, id);
	buf_init(&move->changes);
	git_claim_init(&move->claim);
	git_land_check_init(&move->check, NULL, false);
	op->arg = arg;
	op->undo = land_undo;
	op->release = land_release;
	op->ret = &move->result;
	op->ret_size = sizeof move->result;
	return move;
}

static void
land_begin(struct git *git, const char *branch, const char *onto,
    const char *id, bool instead, const char *const *keep, bool overlap,
    git_land_fn *fn, void *arg)
{
	struct git_move *move = land_new(git, branch, onto, id, arg);

	move->instead = instead;
	for (; keep != NULL && *keep != NULL; keep++)
		strv_add(&move->keep, *keep);
	move->overlap = overlap;
	move->fn = fn;
	git_op_begin(&move->op, false);
}

void
git_land(struct git *git, const char *branch, const char *onto, const char *id,
    const char *const *keep, bool overlap, git_land_fn *fn, void *arg)
{
	land_begin(git, branch, onto, id, false, keep, overlap, fn, arg);
}

void
git_land_instead(struct git *git, const char *branch, const char *onto,
    const char *id, const char *const *keep, bool overlap, git_land_fn *fn,
    void *arg)
{
	land_begin(git, branch, onto, id, true, keep, overlap, fn, arg);
}

void
git_land_settle(struct git *git, git_work_fn *fn, void *arg)
{
	struct git_move *move = land_new(git, NULL, NULL, NULL, arg);

	move->settle_fn = fn;
	git_op_begin(&move->op, false);
}
