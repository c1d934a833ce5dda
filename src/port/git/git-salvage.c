/* SPDX-License-Identifier: ISC */

/* Saves the work that lies in a worktree, or commits it. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "git-dirs.h"
#include "git-op.h"
#include "git-records.h"
#include "git-refs.h"
#include "git-salvage.h"
#include "git-status.h"
#include "mem.h"

#define INDEX_NAME "llmc-salvage.index"

enum salvage_step {
	SALVAGE_GITDIR,
	SALVAGE_ONTO,
	SALVAGE_STATUS,
	SALVAGE_IDS,
	SALVAGE_INDEX,
	SALVAGE_FRESH_INDEX,
	SALVAGE_TRACKED,
	SALVAGE_LIST,
	SALVAGE_OTHERS,
	SALVAGE_TREE,
	SALVAGE_HEAD,
	SALVAGE_BRANCH,
	SALVAGE_DECIDE,
	SALVAGE_COMMIT,
	SALVAGE_REF
};

struct save_op {
	struct git_op op;
	struct buf others; /* untracked paths, NUL terminated */

	/* Salvage. */
	char *worker, *branch, *ref;
	char *index; /* temporary one, so that the real one stays */
	bool index_made;
	char head_tree[GIT_ID_SIZE], branch_id[GIT_ID_SIZE];
	char old[GIT_ID_SIZE], old_tree[GIT_ID_SIZE], old_head[GIT_ID_SIZE];
	char tree[GIT_ID_SIZE], id[GIT_ID_SIZE];
	bool head_safe, branch_safe; /* nothing of it would be lost */
	bool nothing;
	bool clean; /* HEAD is on the branch, nothing is uncommitted */
	git_salvage_fn *ref_fn;

	/* Leftovers. */
	char *message;
	bool ahead;
	git_work_fn *fn;
	void *arg;
};

static void
use_index(struct git_op *op)
{
	const struct save_op *save = op->self;

	if (save->index != NULL)
		git_op_env(op, "GIT_INDEX_FILE=%s", save->index);
}

static enum git_op_next
stage_ask_tracked(struct git_op *op)
{
	use_index(op);
	return git_op_args(op, "add", "--update", NULL);
}

static enum git_op_next
stage_ask_list(struct git_op *op)
{
	use_index(op);
	return git_op_args(
	    op, "ls-files", "--others", "--exclude-standard", "-z", NULL);
}

/* A folder in this list is a repository of its own, which `add` would take for
 * a submodule. */
static enum git_op_next
stage_list(struct git_op *op, const struct git_answer *answer)
{
	struct save_op *save = op->self;
	struct git_records records;
	const char *path;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_clear(&save->others);
	git_records_init(&records, answer->out, answer->out_len);
	while ((path = git_records_next(&records)) != NULL) {
		size_t len = strlen(path);

		if (len > 0 && path[len - 1] != '/')
			buf_add(&save->others, path, len + 1);
	}
	return GIT_OP_NEXT;
}

static enum git_op_next
stage_ask_others(struct git_op *op)
{
	const struct save_op *save = op->self;

	if (save->others.len == 0)
		return GIT_OP_NEXT;
	use_index(op);
	buf_add(&op->input, save->others.data, save->others.len);
	/* --remove: one that is gone by now is no error. */
	return git_op_args(
	    op, "update-index", "--add", "--remove", "-z", "--stdin", NULL);
}

static void
remove_index(const struct save_op *save)
{
	cleanup_free char *lock = NULL;

	if (save->index == NULL)
		return;
	lock = xasprintf("%s.lock", save->index);
	unlink(lock);
	unlink(save->index);
}

static enum git_op_next
salvage_ask_status(struct git_op *op)
{
	if (op->head_id[0] == '\0' || git_op_rebasing(op))
		return GIT_OP_NEXT;
	return git_op_args(op, "status", "--porcelain=v2", "-z", "--branch",
	    "--untracked-files=all", "--ignore-submodules=dirty",
	    "--no-renames", "--no-ahead-behind", NULL);
}

/* A folder is a repository of its own, which is left alone. */
static bool
is_clean(const struct save_op *save, const struct git_answer *answer)
{
	struct git_status_entry entry;
	struct git_records records;
	bool head = false, branch = false;

	git_records_init(&records, answer->out, answer->out_len);
	while (git_status_next(&records, &entry)) {
		size_t len = strlen(entry.text);

		if (entry.kind == GIT_STATUS_HEAD)
			head = strcmp(entry.text, save->op.head_id) == 0;
		else if (entry.kind == GIT_STATUS_BRANCH)
			branch = strcmp(entry.text, save->branch) == 0;
		else if (entry.kind != GIT_STATUS_UNTRACKED || len == 0 ||
		    entry.text[len - 1] != '/')
			return false;
	}
	return head && branch;
}

/* Only commits can be lost, in the usual case: no index is needed to save
 * them. */
static enum git_op_next
salvage_status(struct git_op *op, const struct git_answer *answer)
{
	struct save_op *save = op->self;
	cleanup_free char *common = git_dirs_common(op->gitdir);
	char old[GIT_ID_SIZE];

	if (answer->status != 0 || !is_clean(save, answer) ||
	    git_refs_read(common, save->ref, old) != -ENOENT)
		return GIT_OP_NEXT;
	save->clean = true;
	memcpy(save->branch_id, op->head_id, GIT_ID_SIZE);
	op->at = SALVAGE_HEAD;
	return GIT_OP_AGAIN;
}

static enum git_op_next
salvage_ask_ids(struct git_op *op)
{
	struct save_op *save = op->self;
	cleanup_free char *branch = git_op_branch_name(save->branch);
	cleanup_free char *tree = xasprintf("%s^{tree}", save->ref);
	cleanup_free char *head = xasprintf("%s^1", save->ref);

	save->index = file_join(op->gitdir, INDEX_NAME);
	remove_index(save); /* left by one that was killed */
	return git_op_ask_ids(op,
	    (const char *[]){
		"HEAD^{tree}", branch, save->ref, tree, head, NULL });
}

static enum git_op_next
salvage_ids(struct git_op *op, const struct git_answer *answer)
{
	struct save_op *save = op->self;
	char ids[5][GIT_ID_SIZE];

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, ids, nitems(ids));
	memcpy(save->head_tree, ids[0], GIT_ID_SIZE);
	memcpy(save->branch_id, ids[1], GIT_ID_SIZE);
	memcpy(save->old, ids[2], GIT_ID_SIZE);
	memcpy(save->old_tree, ids[3], GIT_ID_SIZE);
	memcpy(save->old_head, ids[4], GIT_ID_SIZE);
	return GIT_OP_NEXT;
}

/* HEAD's tree with the real index's knowledge of the files' times: `add` then
 * reads only what has changed. */
static enum git_op_next
salvage_ask_index(struct git_op *op)
{
	const struct save_op *save = op->self;
	cleanup_free char *output = xasprintf("--index-output=%s", save->index);

	if (op->head_id[0] == '\0')
		return GIT_OP_NEXT;
	return git_op_args(
	    op, "read-tree", "--reset", output, op->head_id, NULL);
}

static enum git_op_next
salvage_index(struct git_op *op, const struct git_answer *answer)
{
	struct save_op *save = op->self;

	(void)op;
	save->index_made = answer->status == 0;
	return GIT_OP_NEXT;
}

/* Where the real index is broken or locked for good. */
static enum git_op_next
salvage_ask_fresh_index(struct git_op *op)
{
	const struct save_op *save = op->self;

	if (save->index_made || op->head_id[0] == '\0')
		return GIT_OP_NEXT;
	use_index(op);
	return git_op_args(op, "read-tree", op->head_id, NULL);
}

static enum git_op_next
salvage_ask_tree(struct git_op *op)
{
	use_index(op);
	return git_op_args(op, "write-tree", NULL);
}

static enum git_op_next
salvage_tree(struct git_op *op, const struct git_answer *answer)
{
	struct save_op *save = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	strlcpy(save->tree, answer->out, sizeof save->tree);
	return GIT_OP_NEXT;
}

static enum git_op_next
salvage_ask_head(struct git_op *op)
{
	struct save_op *save = op->self;

	save->head_safe =
	    op->head_id[0] == '\0' || strcmp(op->head_id, op->onto_id) == 0;
	if (save->head_safe)
		return GIT_OP_NEXT;
	return git_op_ask_ancestor(op, op->head_id, op->onto_id);
}

static enum git_op_next
salvage_head(struct git_op *op, const struct git_answer *answer)
{
	struct save_op *save = op->self;

	if (answer->status > 1)
		return git_op_complain(op, answer);
	save->head_safe = answer->status == 0;
	return GIT_OP_NEXT;
}

/* rev-list can list what is in neither; merge-base only compares two. */
static enum git_op_next
salvage_ask_branch(struct git_op *op)
{
	struct save_op *save = op->self;

	save->branch_safe = save->branch_id[0] == '\0' ||
	    strcmp(save->branch_id, op->head_id) == 0;
	if (save->branch_safe)
		return GIT_OP_NEXT;
	git_op_args(op, "rev-list", "--max-count=1", save->branch_id, "--not",
	    op->onto_id, NULL);
	if (op->head_id[0] != '\0')
		git_op_arg(op, op->head_id);
	return GIT_OP_ASK;
}

static enum git_op_next
salvage_branch(struct git_op *op, const struct git_answer *answer)
{
	struct save_op *save = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	save->branch_safe = answer->out_len == 0;
	return GIT_OP_NEXT;
}

/* Is there something to save, and is it more than what was saved before? */
static enum git_op_next
salvage_decide(struct git_op *op)
{
	struct save_op *save = op->self;
	bool changed = op->head_id[0] == '\0' ?
	    save->others.len > 0 :
	    !save->clean && strcmp(save->tree, save->head_tree) != 0;

	if (!changed && save->head_safe && save->branch_safe) {
		save->nothing = save->old[0] == '\0';
		return GIT_OP_DONE;
	}
	if (save->old[0] != '\0' && save->branch_safe &&
	    strcmp(save->old_tree, save->tree) == 0 &&
	    (strcmp(save->old_head, op->head_id) == 0 ||
		strcmp(save->old, op->head_id) == 0))
		return GIT_OP_DONE;
	if (!changed && save->branch_safe && save->old[0] == '\0')
		memcpy(save->id, op->head_id, GIT_ID_SIZE);
	return GIT_OP_NEXT;
}

static enum git_op_next
salvage_ask_commit(struct git_op *op)
{
	const struct save_op *save = op->self;
	const char *const parents[] = { op->head_id,
		save->branch_safe ? "" : save->branch_id, save->old };

	if (save->id[0] != '\0')
		return GIT_OP_NEXT;
	/* This must work even if git does not know who commits. */
	git_op_env(op, "GIT_AUTHOR_NAME=llmc");
	git_op_env(op, "GIT_AUTHOR_EMAIL=llmc@localhost");
	git_op_env(op, "GIT_COMMITTER_NAME=llmc");
	git_op_env(op, "GIT_COMMITTER_EMAIL=llmc@localhost");
	buf_addf(
	    &op->input, "Work of %s, saved as %s\n", save->worker, save->ref);
	git_op_args(op, "commit-tree", save->tree, NULL);
	for (size_t i = 0; i < nitems(parents); i++)
		if (parents[i][0] != '\0')
			git_op_args(op, "-p", parents[i], NULL);
	return GIT_OP_ASK;
}

static enum git_op_next
salvage_commit(struct git_op *op, const struct git_answer *answer)
{
	struct save_op *save = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	strlcpy(save->id, answer->out, sizeof save->id);
	return GIT_OP_NEXT;
}

static enum git_op_next
salvage_ask_ref(struct git_op *op)
{
	const struct save_op *save = op->self;

	git_op_no_hooks(op);
	/* "" as the old value: it must not exist yet. */
	return git_op_args(
	    op, "update-ref", save->ref, save->id, save->old, NULL);
}

static const struct git_op_step salvage_steps[] = {
	[SALVAGE_GITDIR] = GIT_OP_GITDIR,
	[SALVAGE_ONTO] = GIT_OP_ONTO,
	[SALVAGE_STATUS] = { .ask = salvage_ask_status,
	    .answer = salvage_status },
	[SALVAGE_IDS] = { .ask = salvage_ask_ids, .answer = salvage_ids },
	[SALVAGE_INDEX] = { .ask = salvage_ask_index, .answer = salvage_index },
	[SALVAGE_FRESH_INDEX] = { .ask = salvage_ask_fresh_index },
	[SALVAGE_TRACKED] = { .ask = stage_ask_tracked },
	[SALVAGE_LIST] = { .ask = stage_ask_list, .answer = stage_list },
	[SALVAGE_OTHERS] = { .ask = stage_ask_others },
	[SALVAGE_TREE] = { .ask = salvage_ask_tree, .answer = salvage_tree },
	[SALVAGE_HEAD] = { .ask = salvage_ask_head, .answer = salvage_head },
	[SALVAGE_BRANCH] = { .ask = salvage_ask_branch,
	    .answer = salvage_branch },
	[SALVAGE_DECIDE] = { .ask = salvage_decide },
	[SALVAGE_COMMIT] = { .ask = salvage_ask_commit,
	    .answer = salvage_commit },
	[SALVAGE_REF] = { .ask = salvage_ask_ref },
};

static enum git_op_next
leftovers_ask_status(struct git_op *op)
{
	if (git_op_rebasing(op))
		return git_op_fail(op, -EBUSY,
		    "a rebase is in progress in %s; finish it first", op->dir);
	return git_op_args(op, "ls-files", "--unmerged", "-z", NULL);
}

static enum git_op_next
leftovers_status(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	if (answer->out_len > 0)
		return git_op_fail(op, -EBUSY,
		    "there are unmerged files in %s; resolve them first",
		    op->dir);
	return GIT_OP_NEXT;
}

static enum git_op_next
leftovers_ask_staged(struct git_op *op)
{
	return git_op_args(op, "diff-index", "--cached", "--quiet",
	    "--ignore-submodules=dirty", "HEAD", "--", NULL);
}

static enum git_op_next
leftovers_staged(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status > 1)
		return git_op_complain(op, answer);
	return answer->status == 0 ? GIT_OP_DONE : GIT_OP_NEXT;
}

static enum git_op_next
leftovers_ask_ahead(struct git_op *op)
{
	cleanup_free char *range = xasprintf("%s..HEAD", op->onto_id);

	return git_op_args(op, "rev-list", "--max-count=1", range, NULL);
}

static enum git_op_next
leftovers_ahead(struct git_op *op, const struct git_answer *answer)
{
	struct save_op *save = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	save->ahead = answer->out_len > 0;
	return GIT_OP_NEXT;
}

/* Those of the repository's own folder; not what core.hooksPath names, which
 * may be the worker's files. */
static void
leftovers_use_hooks(struct git_op *op)
{
	static const char *const names[] = { "pre-commit", "prepare-commit-msg",
		"commit-msg", "post-commit", "post-rewrite",
		"post-index-change", "reference-transaction" };
	cleanup_free char *common = git_dirs_common(op->gitdir);
	cleanup_free char *config =
	    xasprintf("core.hooksPath=%s/hooks", common);

	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *name = xasprintf("hooks/%s", names[i]);
		cleanup_free char *path = file_join(common, name);

		if (!git_runs_hooks(op->git) ||
		    (file_exists(path) &&
			!git_dirs_hook_is_safe(common, op->dir, names[i]))) {
			git_op_no_hooks(op);
			return;
		}
	}
	git_op_args(op, "-c", config, NULL);
}

static enum git_op_next
leftovers_ask_commit(struct git_op *op)
{
	const struct save_op *save = op->self;

	leftovers_use_hooks(op);
	git_op_args(op, "commit", "--quiet", "--cleanup=whitespace", NULL);
	/* git has prepared the message of a merge or pick that was not
	 * finished. */
	if (git_op_has(op, "MERGE_HEAD") || git_op_has(op, "CHERRY_PICK_HEAD"))
		return git_op_args(op, "--no-edit", NULL);
	if (save->ahead)
		return git_op_args(op, "--amend", "--no-edit", "--allow-empty",
		    "--allow-empty-message", NULL);
	buf_adds(&op->input, save->message);
	return git_op_args(op, "--file=-", NULL);
}

static const struct git_op_step leftovers_steps[] = {
	GIT_OP_GITDIR,
	{ .ask = leftovers_ask_status, .answer = leftovers_status },
	GIT_OP_ONTO,
	{ .ask = stage_ask_tracked },
	{ .ask = stage_ask_list, .answer = stage_list },
	{ .ask = stage_ask_others },
	{ .ask = leftovers_ask_staged, .answer = leftovers_staged },
	GIT_OP_IDENTITY,
	{ .ask = leftovers_ask_ahead, .answer = leftovers_ahead },
	{ .ask = leftovers_ask_commit },
};

static void
save_finish(struct git_op *op, const struct err *err)
{
	struct save_op *save = op->self;
	struct git_salvaged saved = {
		.ref = save->nothing ? "" : save->ref,
		.clean = save->clean ? op->head_id : "",
	};

	if (save->fn != NULL)
		save->fn(err, save->arg);
	else
		save->ref_fn(err == NULL ? &saved : NULL, err, save->arg);
}

static void
save_release(struct git_op *op)
{
	struct save_op *save = op->self;

	remove_index(save);
	free(save->index);
	free(save->worker);
	free(save->branch);
	free(save->ref);
	free(save->message);
	buf_release(&save->others);
}

static struct save_op *
save_new(const char *onto, void *arg)
{
	struct save_op *save = xcalloc(1, sizeof *save);

	save->arg = arg;
	buf_init(&save->others);
	save->op.onto = xstrdup(onto);
	save->op.self = save;
	save->op.finish = save_finish;
	save->op.release = save_release;
	return save;
}

void
git_salvage(struct git *git, const char *dir, const struct git_salvage *what,
    git_salvage_fn *fn, void *arg)
{
	struct save_op *save = save_new(what->onto, arg);

	save->ref_fn = fn;
	save->worker = xstrdup(what->worker);
	save->branch = xstrdup(what->branch);
	save->ref =
	    xasprintf("refs/llmc/salvage/%s/%s", what->worker, what->stamp);
	git_op_start(
	    &save->op, git, dir, salvage_steps, nitems(salvage_steps), false);
}

void
git_salvage_commit(struct git *git, const char *dir, const char *onto,
    const char *message, git_work_fn *fn, void *arg)
{
	struct save_op *save = save_new(onto, arg);

	save->fn = fn;
	save->message = xstrdup(message);
	git_op_start(&save->op, git, dir, leftovers_steps,
	    nitems(leftovers_steps), false);
}
