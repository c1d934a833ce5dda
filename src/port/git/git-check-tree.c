/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "git-check-tree.h"
#include "git-op.h"
#include "git-records.h"
#include "git-status.h"
#include "git-verify.h"
#include "git-worktree.h"
#include "mem.h"
#include "strv.h"
#include "text.h"

#define SPARSE_FILE "info/sparse-checkout"

struct prepare_op {
	struct git_op op;
	char commit[GIT_ID_SIZE], judge[GIT_ID_SIZE];
	char **pathspecs;
	bool clean_ignored, fetch;
	struct buf overlay, status; /* what the answer points into */
	struct git_list submodules; /* populated, at another commit */
	bool submodules_updated, index_removed;
	struct git_checked_out out;
	git_check_tree_fn *fn;
	void *arg;
};

enum prepare_step {
	PREPARE_GITDIR,
	PREPARE_SPARSE,
	PREPARE_CHECKOUT,
	PREPARE_COMPARE,
	PREPARE_OVERLAY,
	PREPARE_CLEAN,
	PREPARE_STATUS,
	PREPARE_SUBMODULES,
	PREPARE_COUNT
};

static enum git_op_next
prepare_find_gitdir(struct git_op *op)
{
	/* The last one is git's mark of a worktree that is being made. */
	static const char *const locks[] = { "index.lock", "HEAD.lock",
		"locked" };
	enum git_op_next next = git_op_find_gitdir(op);

	if (next != GIT_OP_NEXT)
		return next;
	for (size_t i = 0; i < nitems(locks); i++) {
		cleanup_free char *path = file_join(op->gitdir, locks[i]);

		unlink(path);
	}
	git_op_forget_rebase(op);
	return GIT_OP_NEXT;
}

/* A new worktree gets a copy of the user's sparse checkout, and a check may
 * have begun one. Files that it left out are marked in the index, so that goes
 * too; the configuration is for the git commands of the check itself. */
static enum git_op_next
prepare_ask_sparse(struct git_op *op)
{
	cleanup_free char *path = file_join(op->gitdir, "config.worktree");

	if (!git_op_has(op, SPARSE_FILE))
		return GIT_OP_NEXT;
	/* In a box it is read-only. */
	op->run_dir = git_root(op->git);
	return git_op_args(
	    op, "config", "--file", path, "core.sparseCheckout", "false", NULL);
}

static enum git_op_next
prepare_sparse(struct git_op *op, const struct git_answer *answer)
{
	cleanup_free char *sparse = file_join(op->gitdir, SPARSE_FILE);
	cleanup_free char *index = file_join(op->gitdir, "index");

	if (answer->status != 0)
		return git_op_complain(op, answer);
	unlink(index);
	unlink(sparse);
	return GIT_OP_NEXT;
}

static enum git_op_next
prepare_ask_checkout(struct git_op *op)
{
	const struct prepare_op *prepare = op->self;

	git_op_no_hooks(op);
	return git_op_args(op, "checkout", "--quiet", "--force", "--detach",
	    prepare->commit, "--", NULL);
}

/* An index that a power cut left broken is made anew. */
static enum git_op_next
prepare_checkout(struct git_op *op, const struct git_answer *answer)
{
	struct prepare_op *prepare = op->self;
	cleanup_free char *index = file_join(op->gitdir, "index");

	if (answer->status == 0)
		return GIT_OP_NEXT;
	if (prepare->index_removed ||
	    strstr(answer->complaint, "index") == NULL || unlink(index) == -1)
		return git_op_complain(op, answer);
	prepare->index_removed = true;
	return GIT_OP_AGAIN;
}

static enum git_op_next
prepare_ask_compare(struct git_op *op)
{
	const struct prepare_op *prepare = op->self;

	if (prepare->judge[0] == '\0' || prepare->pathspecs == NULL)
		return GIT_OP_NEXT;
	git_op_args(op, "diff-tree", "-r", "-z", "--name-only", "--no-renames",
	    "--ignore-submodules=none", prepare->judge, prepare->commit, "--",
	    NULL);
	strv_add_all(&op->args, strv_const(prepare->pathspecs));
	return GIT_OP_ASK;
}

static enum git_op_next
prepare_compare(struct git_op *op, const struct git_answer *answer)
{
	struct prepare_op *prepare = op->self;
	struct git_records records;
	const char *path;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_add(&prepare->overlay, answer->out, answer->out_len);
	git_records_init(&records, prepare->overlay.data, prepare->overlay.len);
	while ((path = git_records_next(&records)) != NULL)
		git_list_add(&prepare->out.overlaid, path);
	return GIT_OP_NEXT;
}

/* Those that the judge does not have are removed: that is what restore does
 * and checkout does not. */
static enum git_op_next
prepare_ask_overlay(struct git_op *op)
{
	const struct prepare_op *prepare = op->self;
	cleanup_free char *source = xasprintf("--source=%s", prepare->judge);

	if (prepare->out.overlaid.count == 0)
		return GIT_OP_NEXT;
	buf_add(&op->input, prepare->overlay.data, prepare->overlay.len);
	git_op_no_hooks(op);
	return git_op_args(op, "--literal-pathspecs", "restore", "--quiet",
	    source, "--staged", "--worktree", "--pathspec-from-file=-",
	    "--pathspec-file-nul", NULL);
}

/* Behind the overlay, which may be of a .gitignore. Twice --force is for
 * repositories that a check made. */
static enum git_op_next
prepare_ask_clean(struct git_op *op)
{
	const struct prepare_op *prepare = op->self;

	git_op_no_hooks(op);
	git_op_args(op, "clean", "-d", "--force", "--force", "--quiet", NULL);
	if (prepare->clean_ignored)
		git_op_arg(op, "-x");
	return GIT_OP_ASK;
}

static enum git_op_next
prepare_ask_status(struct git_op *op)
{
	return git_op_args(op, "status", "--porcelain=v2", "-z", "--branch",
	    "--untracked-files=all", "--ignore-submodules=dirty",
	    "--no-renames", "--no-ahead-behind", NULL);
}

static bool
is_overlaid(const struct prepare_op *prepare, const char *path)
{
	for (size_t i = 0; i < prepare->out.overlaid.count; i++)
		if (strcmp(prepare->out.overlaid.v[i], path) == 0)
			return true;
	return false;
}

/* False: it should not be there. */
static bool
judge_entry(struct prepare_op *prepare, const struct git_status_entry *entry)
{
	switch (entry->kind) {
	case GIT_STATUS_HEAD:
		return strcmp(entry->text, prepare->commit) == 0;
	case GIT_STATUS_BRANCH:
		return entry->text[0] == '\0';
	case GIT_STATUS_UNMERGED:
	case GIT_STATUS_UNTRACKED:
		return false;
	case GIT_STATUS_CHANGED:
		break;
	}
	if (is_overlaid(prepare, entry->text))
		return true;
	if (strcmp(entry->head_id, entry->index_id) != 0)
		return false;
	if (!entry->submodule)
		git_list_add(&prepare->out.modified, entry->text);
	else if (!prepare->submodules_updated)
		git_list_add(&prepare->submodules, entry->text);
	else
		return false;
	return true;
}

static enum git_op_next
prepare_status(struct git_op *op, const struct git_answer *answer)
{
	struct prepare_op *prepare = op->self;
	struct git_status_entry entry;
	struct git_records records;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_list_release(&prepare->out.modified);
	git_list_release(&prepare->submodules);
	buf_clear(&prepare->status);
	buf_add(&prepare->status, answer->out, answer->out_len);
	git_records_init(&records, prepare->status.data, prepare->status.len);
	while (git_status_next(&records, &entry)) {
		cleanup_buf struct buf shown = BUF_INIT;

		if (judge_entry(prepare, &entry))
			continue;
		text_add_visible(&shown, entry.text,
		    text_cut(entry.text, strlen(entry.text), 200), false);
		return git_op_fail(op, -EBUSY,
		    "%s is not as in commit %.12s: something else writes "
		    "there (%s)",
		    op->dir, prepare->commit, shown.data);
	}
	return prepare->submodules.count > 0 ? GIT_OP_NEXT : GIT_OP_DONE;
}

static enum git_op_next
prepare_ask_submodules(struct git_op *op)
{
	struct prepare_op *prepare = op->self;

	prepare->submodules_updated = true;
	git_op_no_hooks(op);
	git_op_args(op, "submodule", "--quiet", "update", "--force",
	    "--checkout", NULL);
	if (!prepare->fetch)
		git_op_arg(op, "--no-fetch");
	git_op_arg(op, "--");
	for (size_t i = 0; i < prepare->submodules.count; i++)
		git_op_arg(op, prepare->submodules.v[i]);
	return GIT_OP_ASK;
}

static enum git_op_next
prepare_submodules(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	op->at = PREPARE_STATUS;
	return GIT_OP_AGAIN;
}

static const struct git_op_step prepare_steps[PREPARE_COUNT] = {
	[PREPARE_GITDIR] = { .ask = prepare_find_gitdir },
	[PREPARE_SPARSE] = { .ask = prepare_ask_sparse,
	    .answer = prepare_sparse },
	[PREPARE_CHECKOUT] = { .ask = prepare_ask_checkout,
	    .answer = prepare_checkout },
	[PREPARE_COMPARE] = { .ask = prepare_ask_compare,
	    .answer = prepare_compare },
	[PREPARE_OVERLAY] = { .ask = prepare_ask_overlay },
	[PREPARE_CLEAN] = { .ask = prepare_ask_clean },
	[PREPARE_STATUS] = { .ask = prepare_ask_status,
	    .answer = prepare_status },
	[PREPARE_SUBMODULES] = { .ask = prepare_ask_submodules,
	    .answer = prepare_submodules },
};

static void
prepare_finish(struct git_op *op, const struct err *err)
{
	struct prepare_op *prepare = op->self;

	prepare->fn(err == NULL ? &prepare->out : NULL, err, prepare->arg);
}

static void
prepare_release(struct git_op *op)
{
	struct prepare_op *prepare = op->self;

	strv_free(prepare->pathspecs);
	git_list_release(&prepare->out.overlaid);
	git_list_release(&prepare->out.modified);
	git_list_release(&prepare->submodules);
	buf_release(&prepare->overlay);
	buf_release(&prepare->status);
}

static void
prepare_drop(void *arg)
{
	struct prepare_op *prepare = arg;

	prepare_release(&prepare->op);
	free(prepare);
}

static void
prepare_start(struct git *git, const char *dir, struct prepare_op *prepare)
{
	git_op_start(
	    &prepare->op, git, dir, prepare_steps, PREPARE_COUNT, false);
}

/* What making it needs to go on. */
struct making {
	struct git *git;
	char *dir;
	struct prepare_op *prepare; /* NULL once it goes on by itself */
};

static void
making_free(void *arg)
{
	struct making *making = arg;

	if (making->prepare != NULL)
		prepare_drop(making->prepare);
	free(making->dir);
	free(making);
}

static void
on_made(const struct err *err, void *arg)
{
	struct making *making = arg;
	const struct prepare_op *prepare = making->prepare;

	if (err == NULL)
		prepare_start(
		    making->git, making->dir, take_ptr(&making->prepare));
	else
		prepare->fn(NULL, err, prepare->arg);
	making_free(making);
}

/* Broken by a check, it is somebody's to look at; half there or lost, it is
 * repaired. */
static bool
is_made(struct git *git, const char *dir)
{
	cleanup_free char *gitdir = NULL;
	int r = git_verify(git_root(git), dir, &gitdir, NULL);

	return r == 0 || (r == -EUCLEAN && file_is_dir(dir));
}

void
git_check_tree_prepare(struct git *git, const char *dir,
    const struct git_check_tree *what, git_check_tree_fn *fn, void *arg)
{
	struct prepare_op *prepare = xcalloc(1, sizeof *prepare);
	const char *const *p = what->protected_paths;
	struct making *making;

	strlcpy(prepare->commit, what->commit, sizeof prepare->commit);
	if (what->judge != NULL)
		strlcpy(prepare->judge, what->judge, sizeof prepare->judge);
	for (; p != NULL && *p != NULL; p++)
		if ((*p)[0] != '\0')
			strv_take(&prepare->pathspecs,
			    xasprintf(":(top,glob)%s", *p));
	prepare->clean_ignored = what->clean_ignored;
	prepare->fetch = what->fetch;
	buf_init(&prepare->overlay);
	buf_init(&prepare->status);
	prepare->fn = fn;
	prepare->arg = arg;
	prepare->op.self = prepare;
	prepare->op.finish = prepare_finish;
	prepare->op.release = prepare_release;
	if (is_made(git, dir)) {
		prepare_start(git, dir, prepare);
		return;
	}
	making = xcalloc(1, sizeof *making);
	making->git = git;
	making->dir = xstrdup(dir);
	making->prepare = prepare;
	git_worktree_add_detached(
	    git, dir, what->commit, on_made, making_free, making);
}
