/* SPDX-License-Identifier: ISC */

/*
 * Landing: the branch moves by compare-and-swap, and a tree that has it checked
 * out moves with it or not at all.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "git-changes.h"
#include "git-land-check.h"
#include "git-land.h"
#include "git-op.h"
#include "git-trees.h"
#include "mem.h"

/* For a big tree and the user's hooks. */
#define LAND_DEADLINE_MS (INT64_C(10) * 60 * 1000)
#define LAND_INDEX       "llmc-landing.index"
#define LAND_REFLOG      "llmc: landed"

struct land_op {
	struct git_op op; /* onto: where the branch must be */
	char *branch, *id_name;
	bool overlap;
	char tip[GIT_ID_SIZE], id[GIT_ID_SIZE];
	char *tree; /* the checkout that goes along, NULL = none */
	struct buf changes; /* text that check points into */
	struct git_land_check check;
	char *index; /* temporary one */
	struct err refused; /* why git did not move it */
	bool held; /* another git holds a lock */
	int tries; /* that found the lock */
	enum git_land_result result;
	struct buf detail;
	git_land_fn *fn;
	void *arg;
	void *owned; /* freed in the end, NULL = nothing */
};

static enum git_op_next
land_end(struct land_op *land, enum git_land_result result)
{
	land->result = result;
	return GIT_OP_DONE;
}

static enum git_op_next
land_moved(struct land_op *land)
{
	buf_clear(&land->detail);
	buf_addf(&land->detail, "%s is at %.12s, no longer at %.12s",
	    land->branch, land->tip, land->op.onto_id);
	return land_end(land, GIT_LAND_MOVED);
}

static enum git_op_next
land_ask_ids(struct git_op *op)
{
	const struct land_op *land = op->self;
	cleanup_free char *branch = git_op_branch_name(land->branch);
	cleanup_free char *id = xasprintf("%s^{commit}", land->id_name);

	return git_op_ask_ids(op, (const char *[]){ branch, id, NULL });
}

static enum git_op_next
land_ids(struct git_op *op, const struct git_answer *answer)
{
	struct land_op *land = op->self;
	char ids[2][GIT_ID_SIZE];

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, ids, nitems(ids));
	if (ids[0][0] == '\0')
		return git_op_fail(op, -ENOENT, "there is no branch %s in %s",
		    land->branch, op->dir);
	if (ids[1][0] == '\0')
		return git_op_fail(op, -ENOENT, "there is no commit %s in %s",
		    land->id_name, op->dir);
	memcpy(land->tip, ids[0], GIT_ID_SIZE);
	memcpy(land->id, ids[1], GIT_ID_SIZE);
	return GIT_OP_NEXT;
}

static enum git_op_next
land_ask_landed(struct git_op *op)
{
	const struct land_op *land = op->self;

	return git_op_ask_ancestor(op, land->id, land->tip);
}

static enum git_op_next
land_landed(struct git_op *op, const struct git_answer *answer)
{
	struct land_op *land = op->self;

	if (answer->status > 1)
		return git_op_complain(op, answer);
	if (answer->status == 0)
		return land_end(land, GIT_LANDED);
	if (strcmp(land->tip, op->onto_id) != 0)
		return land_moved(land);
	return GIT_OP_NEXT;
}

static enum git_op_next
land_ask_forward(struct git_op *op)
{
	const struct land_op *land = op->self;

	return git_op_ask_ancestor(op, op->onto_id, land->id);
}

static enum git_op_next
land_forward(struct git_op *op, const struct git_answer *answer)
{
	const struct land_op *land = op->self;

	if (answer->status > 1)
		return git_op_complain(op, answer);
	if (answer->status == 1)
		return git_op_fail(op, -EINVAL,
		    "%.12s is not on top of %.12s: landing it would lose "
		    "commits",
		    land->id, op->onto_id);
	return GIT_OP_NEXT;
}

static enum git_op_next
land_wait_as(struct land_op *land, enum git_land_result result,
    const char *what, const char *where)
{
	buf_clear(&land->detail);
	buf_addf(&land->detail, "%s in %s", what, where);
	return land_end(land, result);
}

static enum git_op_next
land_wait(struct land_op *land, const char *what, const char *where)
{
	return land_wait_as(land, GIT_LAND_DIRTY, what, where);
}

static enum git_op_next
land_trees(struct git_op *op, const struct git_answer *answer)
{
	struct land_op *land = op->self;
	struct git_trees trees = { 0 };
	const struct git_tree *on, *other;
	enum git_op_next next = GIT_OP_NEXT;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_trees_parse(&trees, answer->out, answer->out_len);
	on = git_trees_on(&trees, land->branch, NULL);
	other = on != NULL ? git_trees_on(&trees, land->branch, on) : NULL;
	if (other != NULL)
		next = land_wait(land,
		    "the branch is checked out twice, the second time",
		    other->path);
	for (size_t i = 0; i < trees.count && next == GIT_OP_NEXT; i++)
		if (trees.v[i].branch == NULL &&
		    git_land_check_rebases(trees.v[i].path, land->branch))
			next = land_wait(land,
			    "a rebase of the branch is in progress",
			    trees.v[i].path);
	if (on != NULL && next == GIT_OP_NEXT) {
		free(land->tree);
		land->tree = xstrdup(on->path);
	}
	git_trees_release(&trees);
	return next;
}

static enum git_op_next
land_ask_swap(struct git_op *op)
{
	const struct land_op *land = op->self;
	cleanup_free char *ref = xasprintf("refs/heads/%s", land->branch);

	if (land->tree != NULL)
		return GIT_OP_NEXT;
	return git_op_args(op, "update-ref", "-m", LAND_REFLOG, ref, land->id,
	    op->onto_id, NULL);
}

/* The position of the branch shows whether it moved; keep the message. */
static enum git_op_next
land_tried(struct git_op *op, const struct git_answer *answer)
{
	struct land_op *land = op->self;

	if (answer->status != 0) {
		git_op_complain(op, answer);
		land->refused = op->err;
		land->held = answer->locked;
		memset(&op->err, 0, sizeof op->err);
	}
	return GIT_OP_NEXT;
}

static enum git_op_next
land_ask_gitdir(struct git_op *op)
{
	const struct land_op *land = op->self;

	if (land->tree == NULL)
		return GIT_OP_NEXT;
	op->run_dir = land->tree;
	return git_op_ask_gitdir(op);
}

static enum git_op_next
land_ask_changes(struct git_op *op)
{
	struct land_op *land = op->self;

	if (land->tree == NULL)
		return GIT_OP_NEXT;
	if (git_op_has(op, "MERGE_HEAD") || git_op_has(op, "CHERRY_PICK_HEAD"))
		return land_wait(
		    land, "a merge or cherry-pick is in progress", land->tree);
	return git_op_args(op, "diff-tree", "-r", "-z", "--no-renames",
	    op->onto_id, land->id, NULL);
}

static enum git_op_next
land_changes(struct git_op *op, const struct git_answer *answer)
{
	struct land_op *land = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_add(&land->changes, answer->out, answer->out_len);
	git_land_check_init(&land->check, land->tree, land->overlap);
	git_changes_parse(
	    &land->check.changes, land->changes.data, land->changes.len);
	return GIT_OP_NEXT;
}

static enum git_op_next
land_ask_status(struct git_op *op)
{
	const struct land_op *land = op->self;

	if (land->tree == NULL)
		return GIT_OP_NEXT;
	op->run_dir = land->tree;
	return git_op_args(op, "status", "--porcelain=v2", "-z", "--branch",
	    "--untracked-files=no", "--ignore-submodules=dirty", "--no-renames",
	    "--no-ahead-behind", NULL);
}

static enum git_op_next
land_judge(struct land_op *land)
{
	if (land->check.in_way_count == 0)
		return GIT_OP_NEXT;
	buf_clear(&land->detail);
	git_land_check_describe(&land->check, &land->detail);
	return land_end(land, GIT_LAND_DIRTY);
}

static enum git_op_next
land_status(struct git_op *op, const struct git_answer *answer)
{
	struct land_op *land = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_land_check_status(&land->check, answer->out, answer->out_len);
	if (strcmp(land->check.branch, land->branch) != 0)
		return land_wait(
		    land, "another branch was just checked out", land->tree);
	if (strcmp(land->check.head, op->onto_id) != 0) {
		strlcpy(land->tip, land->check.head, sizeof land->tip);
		return land_moved(land);
	}
	return land_judge(land);
}

static void
remove_index(const struct land_op *land)
{
	cleanup_free char *lock = NULL;

	if (land->index == NULL)
		return;
	lock = xasprintf("%s.lock", land->index);
	unlink(lock);
	unlink(land->index);
}

/* An index with only the suspected files, as landed; git compares the files
 * with it. */
static enum git_op_next
land_ask_suspects(struct git_op *op)
{
	struct land_op *land = op->self;

	if (land->tree == NULL || land->check.suspects.len == 0)
		return GIT_OP_NEXT;
	land->index = file_join(op->gitdir, LAND_INDEX);
	remove_index(land); /* left by one that was killed */
	op->run_dir = land->tree;
	git_op_env(op, "GIT_INDEX_FILE=%s", land->index);
	buf_add(
	    &op->input, land->check.suspects.data, land->check.suspects.len);
	return git_op_args(op, "update-index", "-z", "--index-info", NULL);
}

static enum git_op_next
land_ask_compare(struct git_op *op)
{
	const struct land_op *land = op->self;

	if (land->index == NULL)
		return GIT_OP_NEXT;
	op->run_dir = land->tree;
	git_op_env(op, "GIT_INDEX_FILE=%s", land->index);
	return git_op_args(op, "diff", "--name-only", "-z", "--no-ext-diff",
	    "--no-textconv", "--no-renames", "--ignore-submodules=dirty", NULL);
}

static enum git_op_next
land_compare(struct git_op *op, const struct git_answer *answer)
{
	struct land_op *land = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_land_check_blame_all(&land->check, answer->out, answer->out_len);
	return land_judge(land);
}

/* They are as landed; when the index says so, git has nothing to overwrite. */
static enum git_op_next
land_ask_adopt(struct git_op *op)
{
	const struct land_op *land = op->self;

	if (land->index == NULL)
		return GIT_OP_NEXT;
	op->run_dir = land->tree;
	buf_add(
	    &op->input, land->check.suspects.data, land->check.suspects.len);
	return git_op_args(op, "update-index", "-z", "--index-info", NULL);
}

static enum git_op_next
land_adopt(struct git_op *op, const struct git_answer *answer)
{
	struct land_op *land = op->self;

	if (answer->locked)
		return land_wait_as(land, GIT_LAND_HELD,
		    "another git process holds the index", land->tree);
	return answer->status == 0 ? GIT_OP_NEXT : git_op_complain(op, answer);
}

static enum git_op_next
land_ask_merge(struct git_op *op)
{
	struct land_op *land = op->self;

	if (land->tree == NULL)
		return GIT_OP_NEXT;
	land->held = false;
	memset(&land->refused, 0, sizeof land->refused);
	op->run_dir = land->tree;
	op->once = true;
	op->delay_ms = land->tries > 0 ? GIT_RETRY_MS : 0;
	op->deadline_ms = LAND_DEADLINE_MS;
	git_op_env(op, "GIT_REFLOG_ACTION=%s", LAND_REFLOG);
	return git_op_args(op, "merge", "--ff-only", "--quiet", "--no-stat",
	    "--no-squash", "--no-autostash", "--no-overwrite-ignore", land->id,
	    NULL);
}

/* A lock on the ref is found after the files were written: restore them, or
 * they would block the next landing. */
static enum git_op_next
land_ask_undo(struct git_op *op)
{
	const struct land_op *land = op->self;

	if (land->tree == NULL || !land->held)
		return GIT_OP_NEXT;
	op->run_dir = land->tree;
	op->once = land->tries < GIT_TRIES;
	return git_op_args(
	    op, "read-tree", "-m", "-u", land->id, op->onto_id, NULL);
}

static enum git_op_next
land_undone(struct git_op *op, const struct git_answer *answer)
{
	struct land_op *land = op->self;

	(void)answer; /* an index that is locked was not touched either */
	if (land->tries++ == GIT_TRIES)
		return GIT_OP_NEXT;
	op->at--;
	return GIT_OP_AGAIN;
}

static enum git_op_next
land_ask_tip(struct git_op *op)
{
	const struct land_op *land = op->self;
	cleanup_free char *branch = git_op_branch_name(land->branch);

	return git_op_ask_ids(op, (const char *[]){ branch, NULL });
}

static enum git_op_next
land_tip(struct git_op *op, const struct git_answer *answer)
{
	struct land_op *land = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, &land->tip, 1);
	return GIT_OP_NEXT;
}

/* At the commit, or above it by now: landed, whatever git said. */
static enum git_op_next
land_ask_verdict(struct git_op *op)
{
	const struct land_op *land = op->self;

	if (land->tip[0] == '\0')
		return git_op_fail(op, -ENOENT,
		    "branch %s no longer exists in %s", land->branch, op->dir);
	return git_op_ask_ancestor(op, land->id, land->tip);
}

static enum git_op_next
land_verdict(struct git_op *op, const struct git_answer *answer)
{
	struct land_op *land = op->self;

	if (answer->status > 1)
		return git_op_complain(op, answer);
	if (answer->status == 0) {
		land->result = GIT_LANDED;
		return land->tree == NULL ? GIT_OP_NEXT : GIT_OP_DONE;
	}
	if (strcmp(land->tip, op->onto_id) != 0)
		return land_moved(land);
	if (land->held)
		return land_wait_as(land, GIT_LAND_HELD,
		    "another git process holds a lock",
		    land->tree != NULL ? land->tree : op->dir);
	if (land->refused.code == 0)
		return land_wait(land, "another branch was just checked out",
		    land->tree != NULL ? land->tree : op->dir);
	op->err = land->refused;
	return GIT_OP_FAIL;
}

/* Only the ref has moved. Did somebody check the branch out just before it did?
 * Then their tree is updated now, or the ref is moved back. */
static enum git_op_next
land_ask_follow(struct git_op *op)
{
	const struct land_op *land = op->self;

	if (land->tree == NULL)
		return GIT_OP_DONE;
	op->run_dir = land->tree;
	op->deadline_ms = LAND_DEADLINE_MS;
	return git_op_args(
	    op, "read-tree", "-m", "-u", op->onto_id, land->id, NULL);
}

static enum git_op_next
land_follow(struct git_op *op, const struct git_answer *answer)
{
	(void)op;
	return answer->status == 0 ? GIT_OP_DONE : GIT_OP_NEXT;
}

static enum git_op_next
land_ask_back(struct git_op *op)
{
	struct land_op *land = op->self;
	cleanup_free char *ref = xasprintf("refs/heads/%s", land->branch);

	land_wait(land,
	    "the branch was just checked out, and its files block the landing",
	    land->tree);
	return git_op_args(op, "update-ref", "-m", LAND_REFLOG ", undone", ref,
	    op->onto_id, land->id, NULL);
}

static const struct git_op_step land_steps[] = {
	GIT_OP_ONTO,
	{ .ask = land_ask_ids, .answer = land_ids },
	{ .ask = land_ask_landed, .answer = land_landed },
	{ .ask = land_ask_forward, .answer = land_forward },
	{ .ask = git_op_ask_trees, .answer = land_trees },
	{ .ask = land_ask_swap, .answer = land_tried },
	{ .ask = land_ask_gitdir, .answer = git_op_gitdir },
	{ .ask = land_ask_changes, .answer = land_changes },
	{ .ask = land_ask_status, .answer = land_status },
	{ .ask = land_ask_suspects },
	{ .ask = land_ask_compare, .answer = land_compare },
	{ .ask = land_ask_adopt, .answer = land_adopt },
	{ .ask = land_ask_merge, .answer = land_tried, .tolerant = true },
	{ .ask = land_ask_undo, .answer = land_undone },
	{ .ask = land_ask_tip, .answer = land_tip },
	{ .ask = land_ask_verdict, .answer = land_verdict },
	{ .ask = git_op_ask_trees, .answer = land_trees },
	{ .ask = land_ask_follow, .answer = land_follow },
	{ .ask = land_ask_back },
};

static void
land_finish(struct git_op *op, const struct err *err)
{
	struct land_op *land = op->self;

	if (err != NULL)
		land->fn(GIT_LAND_FAILED, "", err, land->arg);
	else
		land->fn(land->result, land->detail.data, NULL, land->arg);
}

static void
land_release(struct git_op *op)
{
	struct land_op *land = op->self;

	remove_index(land);
	git_land_check_release(&land->check);
	free(land->branch);
	free(land->id_name);
	free(land->tree);
	free(land->index);
	free(land->owned);
	buf_release(&land->changes);
	buf_release(&land->detail);
}

static void
land_start(struct land_op *land, struct git *git, const char *branch,
    const char *onto, const char *id)
{
	land->branch = xstrdup(branch);
	land->id_name = xstrdup(id);
	buf_init(&land->changes);
	buf_init(&land->detail);
	git_land_check_init(&land->check, NULL, land->overlap);
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

	land->overlap = overlap;
	land->fn = fn;
	land->arg = arg;
	land_start(land, git, branch, onto, id);
}

void
git_land_owned(struct git *git, const char *branch, const char *onto,
    const char *id, bool overlap, git_land_fn *fn, void *owned)
{
	struct land_op *land = xcalloc(1, sizeof *land);

	land->overlap = overlap;
	land->fn = fn;
	land->arg = land->owned = owned;
	land_start(land, git, branch, onto, id);
}
