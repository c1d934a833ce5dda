/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "child.h"
#include "git-hold.h"
#include "git-move.h"
#include "git-rebase.h"
#include "git-save.h"
#include "git-stand.h"
#include "git-start.h"
#include "git.h"
#include "loop.h"

/* Called from the loop, once. */
typedef void git_stump_fn(bool is_stump, void *arg);

struct git_stump;

static void git_stump_free(struct git_stump *stump);

/* For a big file, and the user's filters. */
#define STUMP_DEADLINE_MS (INT64_C(10) * 60 * 1000)

struct git_stump {
	struct child *child; /* NULL = it has ended */
	int fd; /* the file */
	off_t at; /* so far they are the same */
	bool differs;
	bool longer; /* the version goes on behind the end of the file */
	git_stump_fn *fn;
	void *arg;
};

/* The next piece of the version. */
static void
stump_said(const char *bytes, size_t len, void *arg)
{
	struct git_stump *stump = arg;
	char piece[4096];
	ssize_t n;

	while (len > 0 && !stump->differs && !stump->longer) {
		n = pread(stump->fd, piece,
		    len < sizeof piece ? len : sizeof piece, stump->at);
		stump->longer = n == 0;
		stump->differs =
		    n == -1 || memcmp(piece, bytes, (size_t)n) != 0;
		if (n <= 0)
			break;
		stump->at += n;
		bytes += n;
		len -= (size_t)n;
	}
	if (stump->child != NULL && (stump->differs || stump->longer))
		child_cancel(stump->child);
}

static void
stump_ended(const struct child_result *result, void *arg)
{
	struct git_stump *stump = arg;

	(void)result; /* it may have been told to end */
	stump->child = NULL;
	stump->fn(stump->longer && !stump->differs, stump->arg);
}

/* Compare `path` of the tree with the blob, as git would write it there. What
 * cannot be compared is no stump. */
static int
git_stump_new(struct git *git, const char *tree, const char *path,
    const char *id, git_stump_fn *fn, void *arg, struct git_stump **ret_stump,
    struct err *err)
{
	cleanup_free char *full = file_join(tree, path);
	cleanup_free char *option = xasprintf("--path=%s", path);
	const char *const args[] = { "cat-file", "--filters", option, id,
		NULL };
	cleanup_strv char **argv = NULL, **env = NULL;
	struct child_spec spec = { .said = stump_said,
		.deadline_ms = STUMP_DEADLINE_MS };
	struct git_stump *stump;
	int r = git_environment(git, tree, NULL, &env, err);

	if (r < 0)
		return r;
	stump = xcalloc(1, sizeof *stump);
	stump->fn = fn;
	stump->arg = arg;
	stump->fd = open(full, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	stump->differs = stump->fd == -1;
	git_arguments(git, tree, args, &argv);
	spec.argv = strv_const(argv);
	spec.env = strv_const(env);
	r = child_spawn(
	    git_loop(git), &spec, stump_ended, stump, &stump->child, err);
	if (r < 0) {
		git_stump_free(stump);
		return r;
	}
	*ret_stump = stump;
	return 0;
}

/* fn is not called any more. NULL is fine. */
static void
git_stump_free(struct git_stump *stump)
{
	if (stump == NULL)
		return;
	if (stump->child != NULL)
		child_abandon(stump->child);
	fd_close(stump->fd);
	free(stump);
}

/* Another git that read HEAD before us writes it within this time, even on a
 * busy machine. */
#define QUIET_MS       1000
#define QUIET_LOOK_MS  10
#define SYNC_FILES_MAX 100 /* one by one; more: the whole file system */
#define CLAIM_MS       100 /* between two looks at another landing */

void
git_move_init(struct git_move *move, struct git_op *op)
{
	move->op = op;
	buf_init(&move->changes);
	buf_init(&move->staged);
	buf_init(&move->detail);
	git_claim_init(&move->claim);
	git_land_check_init(&move->check, NULL, false);
}

void
git_move_let_go(struct git_move *move)
{
	git_hold_free(take_ptr(&move->hold));
	if (move->claim.active && move->claim.fd != -1) {
		git_claim_unlock(&move->claim, "HEAD.lock");
		git_claim_unlock(&move->claim, "index.lock");
	}
}

void
git_move_forget(struct git_move *move)
{
	git_move_let_go(move);
	/* A git that was killed has left the locks of the refs. */
	if (move->recorded && !move->touched && move->claim.active &&
	    git_claim_sweep(&move->claim))
		git_claim_clear(&move->claim);
	git_claim_release(&move->claim);
}

/* Cut off while the files move: the index stays locked until they are settled,
 * as if we had been killed. */
void
git_move_release(struct git_move *move)
{
	if (move->touched)
		git_hold_free(take_ptr(&move->hold));
	else
		git_move_let_go(move);
	git_sync_free(move->sync);
	git_stump_free(move->stump);
	loop_timer_free(move->timer);
	git_claim_release(&move->claim);
	git_land_check_release(&move->check);
	free(move->branch);
	free(move->common);
	free(move->tree);
	free(move->gitdir);
	free(move->stray);
	free(move->where);
	buf_release(&move->changes);
	buf_release(&move->staged);
	buf_release(&move->detail);
}

enum git_op_next
git_move_go(struct git_move *move, enum git_move_step step)
{
	move->op->at = step;
	return GIT_OP_AGAIN;
}

enum git_op_next
git_move_end(struct git_move *move, enum git_land_result result)
{
	move->result = result;
	move->decided = true;
	return git_move_go(move, MOVE_LEAVE);
}

enum git_op_next
git_move_end_with(struct git_move *move, enum git_land_result result,
    const char *what, const char *where)
{
	buf_clear(&move->detail);
	buf_addf(&move->detail, "%s in %s", what, where);
	xstrset(&move->where, where);
	return git_move_end(move, result);
}

enum git_op_next
git_move_again(struct git_move *move)
{
	if (move->tries++ >= GIT_TRIES)
		return git_move_end_with(move, GIT_LAND_DIRTY,
		    "another branch was just checked out",
		    move->tree != NULL ? move->tree : move->op->dir);
	move->again = true;
	return git_move_go(move, MOVE_LEAVE);
}

static void
move_later(void *arg)
{
	struct git_move *move = arg;

	loop_timer_free(take_ptr(&move->timer));
	git_op_resume(move->op, GIT_OP_AGAIN);
}

/* Call the step again after a while. */
static enum git_op_next
git_move_later(struct git_move *move, int64_t ms)
{
	move->timer = loop_after(git_loop(move->op->git), ms, move_later, move);
	return GIT_OP_WAIT;
}

/* Only a hook of the repository's own folder, and of those only the one that
 * may refuse the move: a folder that the configuration names may lie in the
 * tree. */
void
git_move_config(struct git_move *move, char ***env, bool hooks)
{
	bool safe = hooks && git_runs_hooks(move->op->git) &&
	    git_dirs_hook_is_safe(move->common,
		move->tree != NULL ? move->tree : move->op->dir,
		"reference-transaction");

	strv_add(env, "GIT_CONFIG_COUNT=2");
	strv_add(env, "GIT_CONFIG_KEY_0=core.fsync");
	strv_add(env, "GIT_CONFIG_VALUE_0=added");
	strv_add(env, "GIT_CONFIG_KEY_1=core.hooksPath");
	strv_take(env,
	    safe ? xasprintf("GIT_CONFIG_VALUE_1=%s/hooks", move->common) :
		   xstrdup("GIT_CONFIG_VALUE_1=/dev/null"));
}

/* --- one landing at a time ------------------------------------------- */

enum git_op_next
git_move_claim(struct git_op *op)
{
	struct git_move *move = op->self;
	cleanup_free char *gitdir = git_dirs_gitdir(op->dir);
	int r;

	if (gitdir == NULL)
		return git_op_fail(
		    op, -ENOENT, "%s is not a working tree", op->dir);
	free(move->common);
	move->common = git_dirs_common(gitdir);
	r = git_claim_take(&move->claim, move->common, &op->err);
	if (r == 0) {
		move->waited_ms = 0;
		return GIT_OP_NEXT;
	}
	if (r != -EAGAIN)
		return GIT_OP_FAIL;
	memset(&op->err, 0, sizeof op->err);
	move->waited_ms += CLAIM_MS;
	if (move->waited_ms > (int64_t)GIT_TRIES * GIT_RETRY_MS)
		return git_move_end_with(move, GIT_LAND_HELD,
		    "another landing is in progress", op->dir);
	return git_move_later(move, CLAIM_MS);
}

/* What we are about to do, on disk before it begins; and with it all that the
 * new commit consists of. */
enum git_op_next
git_move_record(struct git_op *op)
{
	struct git_move *move = op->self;
	cleanup_free char *objects = file_join(move->common, "objects");
	const char *const folders[] = { objects, move->common, NULL };

	git_claim_clear(&move->claim);
	move->claim.tree = xstrdup(move->tree != NULL ? move->tree : "");
	move->claim.gitdir = move->gitdir != NULL ? xstrdup(move->gitdir) :
						    git_dirs_gitdir(op->dir);
	move->claim.branch = xstrdup(move->branch);
	memcpy(move->claim.old_id, op->onto_id, GIT_ID_SIZE);
	memcpy(move->claim.new_id, move->id, GIT_ID_SIZE);
	if (git_claim_write(&move->claim, &op->err) < 0)
		return GIT_OP_FAIL;
	move->recorded = true;
	if (!move->synced &&
	    git_sync_new(
		git_loop(op->git), true, folders, &move->sync, &op->err) < 0)
		return GIT_OP_FAIL;
	return GIT_OP_NEXT;
}

static void
move_synced(const struct err *err, void *arg)
{
	struct git_move *move = arg;
	enum git_op_next next = GIT_OP_NEXT;

	if (err != NULL) {
		move->op->err = *err;
		next = GIT_OP_FAIL;
	}
	git_sync_free(take_ptr(&move->sync));
	git_op_resume(move->op, next);
}

enum git_op_next
git_move_sync(struct git_op *op)
{
	struct git_move *move = op->self;

	if (move->synced)
		return GIT_OP_NEXT;
	move->synced = true;
	git_sync_wait(move->sync, move_synced, move);
	return GIT_OP_WAIT;
}

/* --- locks ----------------------------------------------------------- */

/* Another git has it: again in a while, then it is told. */
static enum git_op_next
move_held(struct git_move *move)
{
	if (move->tries++ < GIT_TRIES)
		return git_move_later(move, GIT_RETRY_MS);
	move->held = true;
	return git_move_go(move, MOVE_LEAVE);
}

static enum git_op_next
move_lock(struct git_move *move, const char *name)
{
	int r = git_claim_lock(&move->claim, name, &move->op->err);

	if (r == 0)
		return GIT_OP_NEXT;
	if (r != -EEXIST)
		return GIT_OP_FAIL;
	memset(&move->op->err, 0, sizeof move->op->err);
	return move_held(move);
}

/* From here on no other git writes the index. */
enum git_op_next
git_move_lock(struct git_op *op)
{
	struct git_move *move = op->self;

	if (move->tree == NULL)
		return git_move_go(move, MOVE_SWAP_LOCK);
	return move_lock(move, "index.lock");
}

static void
move_forget_hold(struct git_move *move, const struct git_hold_result *result)
{
	move->held = result->locked;
	err_set(&move->refused, result->locked ? -EBUSY : -EIO,
	    "git update-ref: %s", result->complaint);
	git_hold_free(take_ptr(&move->hold));
}

static enum git_op_next
move_not_held(struct git_move *move)
{
	if (!move->held || move->tries >= GIT_TRIES)
		return git_move_go(move, MOVE_LEAVE);
	git_move_let_go(move);
	move->op->at = MOVE_LOCK;
	return move_held(move);
}

/* From here on nobody moves HEAD or the branch. A switch that had the index
 * before us may have moved HEAD since we looked. */
static void
move_prepared(const struct git_hold_result *result, void *arg)
{
	struct git_move *move = arg;
	enum git_op_next next = GIT_OP_NEXT;

	if (result != NULL) {
		move_forget_hold(move, result);
		next = move_not_held(move);
	} else if (git_claim_note_head(&move->claim, &move->op->err) < 0 ||
	    !git_dirs_is_on(move->gitdir, move->branch)) {
		memset(&move->op->err, 0, sizeof move->op->err);
		next = git_move_again(move);
	}
	git_op_resume(move->op, next);
}

enum git_op_next
git_move_hold(struct git_op *op)
{
	struct git_move *move = op->self;
	char **env = NULL;
	struct git_hold_spec spec = { .dir = move->tree,
		.branch = move->branch,
		.old_id = op->onto_id,
		.new_id = move->id,
		.reason = GIT_MOVE_REFLOG };
	int r;

	git_move_config(move, &env, true);
	spec.env = strv_const(env);
	r = git_hold_new(op->git, &spec, &move->hold, &op->err);
	strv_free(env);
	if (r < 0 ||
	    git_claim_note_updater(
		&move->claim, git_hold_pid(move->hold), &op->err) < 0)
		return GIT_OP_FAIL;
	git_hold_prepare(move->hold, move_prepared, move);
	return GIT_OP_WAIT;
}

/* --- the branch ------------------------------------------------------ */

static void
move_committed(const struct git_hold_result *result, void *arg)
{
	struct git_move *move = arg;

	if (result->status == 0) {
		git_hold_free(take_ptr(&move->hold));
		move->result = GIT_LANDED;
		move->decided = true;
		move->touched = false;
		git_op_resume(move->op, GIT_OP_NEXT);
		return;
	}
	/* The files are there, the branch may be or not: settle that. */
	move_forget_hold(move, result);
	git_op_resume(move->op, git_move_go(move, MOVE_LEFT));
}

enum git_op_next
git_move_commit(struct git_op *op)
{
	struct git_move *move = op->self;

	git_hold_commit(move->hold, move_committed, move);
	return GIT_OP_WAIT;
}

/* A git that read HEAD before the move may still be about to write it. */
enum git_op_next
git_move_quiet(struct git_op *op)
{
	struct git_move *move = op->self;
	const char *dir = move->tree != NULL ? move->tree : op->dir;

	if (move->waited_ms < QUIET_MS && git_lock_runs_at(dir)) {
		move->waited_ms += QUIET_LOOK_MS;
		return git_move_later(move, QUIET_LOOK_MS);
	}
	move->waited_ms = 0;
	return GIT_OP_NEXT;
}

/* Nobody has it checked out: nobody may check it out now. */
enum git_op_next
git_move_swap_lock(struct git_op *op)
{
	struct git_move *move = op->self;
	enum git_op_next next;

	if (move->held) {
		move->held = false;
		move->tries++;
		return git_move_later(move, GIT_RETRY_MS);
	}
	next = move_lock(move, "index.lock");
	if (next != GIT_OP_NEXT)
		return next;
	next = move_lock(move, "HEAD.lock");
	if (next != GIT_OP_NEXT) {
		git_claim_unlock(&move->claim, "index.lock");
		return next;
	}
	if (!git_dirs_is_on(move->claim.gitdir, move->branch))
		return GIT_OP_NEXT;
	return git_move_again(move);
}

enum git_op_next
git_move_ask_swap(struct git_op *op)
{
	struct git_move *move = op->self;
	cleanup_free char *ref = xasprintf("refs/heads/%s", move->branch);

	git_move_config(move, &op->env, true);
	op->once = op->linger = true;
	op->stdin_fd = move->claim.fd;
	return git_op_args(op, "update-ref", "-m", GIT_MOVE_REFLOG, ref,
	    move->id, op->onto_id, NULL);
}

enum git_op_next
git_move_swap(struct git_op *op, const struct git_answer *answer)
{
	struct git_move *move = op->self;

	if (answer->status == 0) {
		git_claim_unlock(&move->claim, "HEAD.lock");
		return GIT_OP_NEXT;
	}
	git_op_complain(op, answer);
	move->refused = op->err;
	move->held = answer->locked;
	memset(&op->err, 0, sizeof op->err);
	if (!move->held || move->tries >= GIT_TRIES)
		return git_move_go(move, MOVE_LEAVE);
	/* As a hold that met a lock; an answer cannot wait. */
	git_move_let_go(move);
	return git_move_go(move, MOVE_SWAP_LOCK);
}

/* --- the end --------------------------------------------------------- */

static void
move_aborted(const struct git_hold_result *result, void *arg)
{
	struct git_move *move = arg;

	(void)result;
	git_hold_free(take_ptr(&move->hold));
	git_op_resume(move->op, GIT_OP_AGAIN);
}

/* Before it is told: all locks are gone, and what was cut off is settled. */
enum git_op_next
git_move_leave(struct git_op *op)
{
	struct git_move *move = op->self;

	if (move->hold != NULL) {
		git_hold_abort(move->hold, move_aborted, move);
		return GIT_OP_WAIT;
	}
	git_move_let_go(move);
	if (move->again) {
		move->again = false;
		return git_move_go(move, MOVE_TREES);
	}
	if (move->decided && move->result != GIT_LANDED)
		return GIT_OP_DONE;
	if (move->decided)
		return git_move_go(move, MOVE_LAST_SYNC);
	return GIT_OP_NEXT;
}

static void
add_existing(char ***paths, const char *dir, const char *name)
{
	cleanup_free char *path = file_join(dir, name);
	struct stat st;

	if (lstat(path, &st) == 0 &&
	    (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		strv_take(paths, take_ptr(&path));
}

/* The branch, and the folders that name it; those of a branch with slashes may
 * be new. */
static void
add_branch(char ***paths, const struct git_move *move)
{
	cleanup_free char *name = xasprintf("refs/heads/%s", move->branch);
	char *slash;

	add_existing(paths, move->common, name);
	while ((slash = strrchr(name, '/')) != NULL) {
		*slash = '\0';
		add_existing(paths, move->common, name);
	}
	add_existing(paths, move->common, "packed-refs");
}

/* The branch has moved, and git has put it on disk. What may be lost in a power
 * cut now are files and index: what is written down stays for who settles
 * that. */
static void
move_last_synced(const struct err *err, void *arg)
{
	struct git_move *move = arg;
	bool failed = err != NULL;
	enum git_op_next next = GIT_OP_NEXT;

	git_sync_free(take_ptr(&move->sync));
	if (failed && move->sync_failed)
		move->touched = true;
	else if (failed)
		next = git_move_later(move, GIT_RETRY_MS);
	move->sync_failed = failed;
	git_op_resume(move->op, next);
}

/* The branch, and what shall not look like a change of the user's to it. */
enum git_op_next
git_move_last_sync(struct git_op *op)
{
	struct git_move *move = op->self;
	const struct git_changes *changes = &move->check.changes;
	bool whole = changes->count > SYNC_FILES_MAX || move->sync_failed;
	char **paths = NULL;
	int r;

	add_branch(&paths, move);
	if (move->tree != NULL && move->gitdir != NULL) {
		add_existing(&paths, move->gitdir, "index");
		add_existing(&paths, move->gitdir, ".");
		for (size_t i = 0; i < changes->count && !whole; i++)
			add_existing(&paths, move->tree, changes->v[i].path);
	}
	git_sync_free(take_ptr(&move->sync));
	r = git_sync_new(
	    git_loop(op->git), whole, strv_const(paths), &move->sync, &op->err);
	strv_free(paths);
	if (r < 0) {
		memset(&op->err, 0, sizeof op->err);
		move->touched = true;
		return GIT_OP_NEXT;
	}
	git_sync_wait(move->sync, move_last_synced, move);
	return GIT_OP_WAIT;
}

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
	if (!git_claim_sweep(claim)) {
		move->waited_ms += LEFT_LOOK_MS;
		if (move->waited_ms == LEFT_ENDS_MS)
			git_claim_end_updater(&move->claim);
		if (move->waited_ms <= 2 * LEFT_ENDS_MS)
			return git_move_later(move, LEFT_LOOK_MS);
		return git_move_end_with(move, GIT_LAND_HELD,
		    "a git of an earlier landing still runs", move->op->dir);
	}
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
