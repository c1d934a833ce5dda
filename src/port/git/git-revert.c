/* SPDX-License-Identifier: ISC */

/* Reverts a landed commit. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "git-land.h"
#include "git-op.h"
#include "git-records.h"
#include "git-revert.h"
#include "mem.h"
#include "text.h"

#define REVERT_USAGE 129 /* git's exit status for options it does not know */

struct revert_op {
	struct git_op op;
	char *branch, *commit_name, *message;
	bool overlap;
	char tip[GIT_ID_SIZE], tip_tree[GIT_ID_SIZE];
	char commit[GIT_ID_SIZE];
	char before[GIT_ID_SIZE]; /* tree of its parent */
	char undo[GIT_ID_SIZE]; /* a commit that only undoes it */
	char tree[GIT_ID_SIZE]; /* of the branch without it */
	char id[GIT_ID_SIZE]; /* "" = undone already */
	git_id_fn *fn;
	void *arg;
};

/* What is needed while the new commit lands. */
struct revert_landing {
	char id[GIT_ID_SIZE];
	git_id_fn *fn;
	void *arg;
};

static enum git_op_next
revert_ask_ids(struct git_op *op)
{
	const struct revert_op *revert = op->self;
	cleanup_free char *tip = git_op_branch_name(revert->branch);
	cleanup_free char *tip_tree =
	    xasprintf("refs/heads/%s^{tree}", revert->branch);
	cleanup_free char *commit =
	    xasprintf("%s^{commit}", revert->commit_name);
	cleanup_free char *before =
	    xasprintf("%s^{commit}^1^{tree}", revert->commit_name);

	if (revert->message[strspn(revert->message, " \t\r\n")] == '\0')
		return git_op_fail(
		    op, -EINVAL, "a commit without a message cannot land");
	return git_op_ask_ids(
	    op, (const char *[]){ tip, tip_tree, commit, before, NULL });
}

static enum git_op_next
revert_ids(struct git_op *op, const struct git_answer *answer)
{
	struct revert_op *revert = op->self;
	char ids[4][GIT_ID_SIZE];

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, ids, nitems(ids));
	if (ids[0][0] == '\0' || ids[1][0] == '\0')
		return git_op_fail(op, -ENOENT, "there is no branch %s in %s",
		    revert->branch, op->dir);
	if (ids[2][0] == '\0')
		return git_op_fail(op, -ENOENT, "there is no commit %s in %s",
		    revert->commit_name, op->dir);
	if (ids[3][0] == '\0')
		return git_op_fail(op, -EINVAL,
		    "%.12s has no parent: there is nothing to revert to",
		    ids[2]);
	memcpy(revert->tip, ids[0], GIT_ID_SIZE);
	memcpy(revert->tip_tree, ids[1], GIT_ID_SIZE);
	memcpy(revert->commit, ids[2], GIT_ID_SIZE);
	memcpy(revert->before, ids[3], GIT_ID_SIZE);
	return GIT_OP_NEXT;
}

static enum git_op_next
revert_ask_landed(struct git_op *op)
{
	const struct revert_op *revert = op->self;

	return git_op_ask_ancestor(op, revert->commit, revert->tip);
}

static enum git_op_next
revert_landed(struct git_op *op, const struct git_answer *answer)
{
	const struct revert_op *revert = op->self;

	if (answer->status > 1)
		return git_op_complain(op, answer);
	if (answer->status == 1)
		return git_op_fail(op, -ENOENT,
		    "there is no commit %.12s in %s", revert->commit,
		    revert->branch);
	return GIT_OP_NEXT;
}

/* merge-tree finds the base of a merge by itself (it can be told only since
 * git 2.40): between the tip and this commit, that is the one to be undone. It
 * is always the same commit, whoever asks and whenever; nobody sees it. */
static enum git_op_next
revert_ask_undo(struct git_op *op)
{
	static const char *const roles[] = { "AUTHOR", "COMMITTER" };
	const struct revert_op *revert = op->self;

	for (size_t i = 0; i < nitems(roles); i++) {
		git_op_env(op, "GIT_%s_NAME=llmc", roles[i]);
		git_op_env(op, "GIT_%s_EMAIL=llmc", roles[i]);
		git_op_env(op, "GIT_%s_DATE=@0 +0000", roles[i]);
	}
	return git_op_args(op, "commit-tree", revert->before, "-p",
	    revert->commit, "-m", "undo", NULL);
}

static enum git_op_next
revert_undo(struct git_op *op, const struct git_answer *answer)
{
	struct revert_op *revert = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	strlcpy(revert->undo, answer->out, sizeof revert->undo);
	return GIT_OP_NEXT;
}

static enum git_op_next
revert_ask_merge(struct git_op *op)
{
	const struct revert_op *revert = op->self;

	return git_op_args(op, "merge-tree", "--write-tree", "--name-only",
	    "--no-messages", "-z", revert->tip, revert->undo, NULL);
}

/* The tree's id has been read; the rest are paths. */
static enum git_op_next
revert_conflict(struct git_op *op, struct git_records *paths)
{
	const struct revert_op *revert = op->self;
	const char *first = git_records_next(paths);
	cleanup_buf struct buf words = BUF_INIT;
	int more = 0;

	while (first != NULL && git_records_next(paths) != NULL)
		more++;
	if (first != NULL) {
		buf_adds(&words, " in ");
		text_add_visible(
		    &words, first, text_cut(first, strlen(first), 200), false);
	}
	if (more > 0)
		buf_addf(&words, " and %d more", more);
	return git_op_fail(op, -EEXIST,
	    "%.12s cannot be reverted: later changes conflict with it%s",
	    revert->commit, words.data);
}

static enum git_op_next
revert_merge(struct git_op *op, const struct git_answer *answer)
{
	struct revert_op *revert = op->self;
	struct git_records records;
	const char *tree;

	if (answer->status == REVERT_USAGE)
		return git_op_fail(op, -ENOTSUP,
		    "reverting a commit needs git 2.38 or newer (git "
		    "merge-tree --write-tree)");
	if (answer->status > 1)
		return git_op_complain(op, answer);
	git_records_init(&records, answer->out, answer->out_len);
	tree = git_records_next(&records);
	if (answer->status == 1)
		return revert_conflict(op, &records);
	if (tree == NULL)
		return git_op_fail(
		    op, -EPROTO, "git merge-tree did not print a tree");
	strlcpy(revert->tree, tree, sizeof revert->tree);
	return strcmp(revert->tree, revert->tip_tree) == 0 ? GIT_OP_DONE :
							     GIT_OP_NEXT;
}

static enum git_op_next
revert_ask_commit(struct git_op *op)
{
	const struct revert_op *revert = op->self;

	buf_adds(&op->input, revert->message);
	return git_op_args(op, "commit-tree", revert->tree, "-p", revert->tip,
	    "-F", "-", NULL);
}

static enum git_op_next
revert_commit(struct git_op *op, const struct git_answer *answer)
{
	struct revert_op *revert = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	strlcpy(revert->id, answer->out, sizeof revert->id);
	return GIT_OP_NEXT;
}

static const struct git_op_step revert_steps[] = {
	{ .ask = revert_ask_ids, .answer = revert_ids },
	{ .ask = revert_ask_landed, .answer = revert_landed },
	{ .ask = revert_ask_undo, .answer = revert_undo },
	{ .ask = revert_ask_merge, .answer = revert_merge },
	GIT_OP_IDENTITY,
	{ .ask = revert_ask_commit, .answer = revert_commit },
};

static void
revert_done(enum git_land_result result, const char *detail,
    const char *const *places, const struct err *err, void *arg)
{
	const struct revert_landing *landing = arg;
	struct err busy = { 0 };

	(void)places;
	if (result == GIT_LANDED) {
		landing->fn(landing->id, NULL, landing->arg);
		return;
	}
	if (err == NULL)
		err_set(&busy, -EBUSY, "%s", detail);
	landing->fn(NULL, err != NULL ? err : &busy, landing->arg);
}

static void
revert_finish(struct git_op *op, const struct err *err)
{
	const struct revert_op *revert = op->self;
	struct revert_landing *landing;

	if (err != NULL || revert->id[0] == '\0') {
		revert->fn(err == NULL ? "" : NULL, err, revert->arg);
		return;
	}
	landing = xcalloc(1, sizeof *landing);
	strlcpy(landing->id, revert->id, sizeof landing->id);
	landing->fn = revert->fn;
	landing->arg = revert->arg;
	git_land_owned(op->git, revert->branch, revert->tip, revert->id,
	    revert->overlap, revert_done, landing);
}

static void
revert_release(struct git_op *op)
{
	struct revert_op *revert = op->self;

	free(revert->branch);
	free(revert->commit_name);
	free(revert->message);
}

void
git_revert(struct git *git, const char *branch, const char *commit,
    const char *message, bool overlap, git_id_fn *fn, void *arg)
{
	struct revert_op *revert = xcalloc(1, sizeof *revert);

	revert->branch = xstrdup(branch);
	revert->commit_name = xstrdup(commit);
	revert->message = xstrdup(message);
	revert->overlap = overlap;
	revert->fn = fn;
	revert->arg = arg;
	revert->op.self = revert;
	revert->op.finish = revert_finish;
	revert->op.release = revert_release;
	git_op_start(&revert->op, git, git_root(git), revert_steps,
	    nitems(revert_steps), false);
}
