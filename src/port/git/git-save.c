/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "child.h"
#include "errtext.h"
#include "file.h"
#include "git-clone.h"
#include "git-facts.h"
#include "git-records.h"
#include "git-refs.h"
#include "git-save.h"
#include "git-stage.h"
#include "git-stand.h"
#include "loop.h"
#include "mem.h"
#include "strv.h"

/* A slow disk behind a full cache. */
#define SYNC_DEADLINE_MS (INT64_C(10) * 60 * 1000)

struct git_sync {
	struct loop *loop;
	bool whole;
	char **paths;
	struct child *child; /* NULL = done */
	struct loop_timer *soon;
	struct err err;
	git_sync_fn *fn;
	void *arg;
};

/* The callback may free it. */
static void
sync_tell(void *arg)
{
	struct git_sync *sync = arg;
	git_sync_fn *fn = sync->fn;

	loop_timer_free(take_ptr(&sync->soon));
	sync->fn = NULL;
	fn(sync->err.code != 0 ? &sync->err : NULL, sync->arg);
}

/* What a user removed in the meantime, by a switch, need not be on disk. */
static bool
drop_vanished(struct git_sync *sync)
{
	char **kept = NULL;
	bool vanished;
	struct stat st;

	for (size_t i = 0; sync->paths[i] != NULL; i++)
		if (lstat(sync->paths[i], &st) == 0)
			strv_add(&kept, sync->paths[i]);
	vanished = strv_count(kept) < strv_count(sync->paths);
	strv_free(sync->paths);
	sync->paths = kept;
	return vanished && kept != NULL;
}

static int sync_start(struct git_sync *sync, struct err *err);

static void
sync_done(const struct child_result *result, void *arg)
{
	struct git_sync *sync = arg;
	cleanup_buf struct buf text = BUF_INIT;

	sync->child = NULL;
	if (!child_succeeded(result)) {
		if (drop_vanished(sync) && sync_start(sync, &sync->err) == 0)
			return;
		child_output_text(&result->err, &text);
		if (text.len == 0)
			child_result_describe(result, &text);
		err_set(&sync->err, -EIO,
		    "cannot put the repository on disk: sync: %s", text.data);
	}
	if (sync->fn != NULL)
		sync_tell(sync);
}

static int
sync_start(struct git_sync *sync, struct err *err)
{
	struct child_spec spec = { .deadline_ms = SYNC_DEADLINE_MS };
	char **argv = NULL;
	int r;

	strv_add(&argv, "sync");
	if (sync->whole)
		strv_add(&argv, "-f");
	strv_add(&argv, "--");
	strv_add_all(&argv, strv_const(sync->paths));
	spec.argv = strv_const(argv);
	r = child_spawn(sync->loop, &spec, sync_done, sync, &sync->child, err);
	strv_free(argv);
	return r;
}

int
git_sync_new(struct loop *loop, bool whole, const char *const *paths,
    struct git_sync **ret_sync, struct err *err)
{
	struct git_sync *sync = xcalloc(1, sizeof *sync);
	int r;

	sync->loop = loop;
	sync->whole = whole;
	strv_add_all(&sync->paths, paths);
	r = sync_start(sync, err);
	if (r < 0) {
		git_sync_free(sync);
		return r;
	}
	*ret_sync = sync;
	return 0;
}

void
git_sync_wait(struct git_sync *sync, git_sync_fn *fn, void *arg)
{
	sync->fn = fn;
	sync->arg = arg;
	if (sync->child == NULL)
		sync->soon = loop_after(sync->loop, 1, sync_tell, sync);
}

void
git_sync_free(struct git_sync *sync)
{
	if (sync == NULL)
		return;
	if (sync->child != NULL)
		child_release(sync->child);
	loop_timer_free(sync->soon);
	strv_free(sync->paths);
	free(sync);
}

static void
op_synced(const struct err *err, void *arg)
{
	struct git_op *op = arg;

	if (err != NULL)
		op->err = *err;
	git_sync_free(take_ptr(&op->sync));
	git_op_resume(op, op->err.code != 0 ? GIT_OP_FAIL : GIT_OP_NEXT);
}

enum git_op_next
git_sync_ask(struct git_op *op)
{
	const char *common = op->common;
	const char *const paths[] = { common, NULL };

	if (git_sync_new(git_loop(op->git), true, paths, &op->sync, &op->err) <
	    0)
		return GIT_OP_FAIL;
	git_sync_wait(op->sync, op_synced, op);
	return GIT_OP_WAIT;
}

#define INDEX_NAME "llmc-salvage.index"

enum save_step {
	SAVE_STATUS,
	SAVE_NESTED,
	SAVE_QUICK,
	SAVE_IDS,
	SAVE_STAGED_TREE,
	SAVE_STAGED_COMMIT,
	SAVE_INDEX,
	SAVE_FRESH_INDEX,
	SAVE_MODIFIED,
	SAVE_LIST,
	SAVE_HASH,
	SAVE_INFO,
	SAVE_LINKS,
	SAVE_TREE,
	SAVE_HEAD,
	SAVE_BRANCH,
	SAVE_DECIDE,
	SAVE_COMMIT,
	SAVE_IMPORT,
	SAVE_REF,
	SAVE_SYNC
};

static void
remove_index(const struct git_save *save)
{
	cleanup_free char *lock = NULL;

	if (save->index == NULL)
		return;
	lock = xasprintf("%s.lock", save->index);
	unlink(lock);
	unlink(save->index);
}

/* --- what is there ----------------------------------------------------- */

static enum git_op_next
save_ask_status(struct git_op *op)
{
	return git_op_args(op, "status", "--porcelain=v2", "-z", "--branch",
	    "--untracked-files=all", "--ignore-submodules=dirty",
	    "--no-renames", "--no-ahead-behind", NULL);
}

/* A folder is a repository of its own, which is left alone. Returns GIT_OP_DONE
 * for what does not make the worktree dirty. */
static enum git_op_next
take_entry(struct git_save *save, const struct git_status_entry *entry)
{
	switch (entry->kind) {
	case GIT_STATUS_HEAD:
		return strcmp(entry->text, save->op.head_id) == 0 ?
		    GIT_OP_DONE :
		    GIT_OP_NEXT;
	case GIT_STATUS_BRANCH:
		return git_stand_is_on(save->op.git, save->op.dir,
			   save->op.gitdir, save->branch) ?
		    GIT_OP_DONE :
		    GIT_OP_NEXT;
	case GIT_STATUS_UNTRACKED:
		if (git_stage_is_folder(entry->text)) {
			strv_add(&save->nested, entry->text);
			return GIT_OP_DONE;
		}
		break;
	case GIT_STATUS_UNMERGED:
		save->unmerged = true;
		break;
	case GIT_STATUS_CHANGED:
		save->staged |= entry->staged && entry->unstaged;
		break;
	}
	return git_stage_check(save, entry->text);
}

static enum git_op_next
save_status(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;
	struct git_status_entry entry;
	struct git_records records;

	if (answer->status != 0)
		return GIT_OP_NEXT;
	save->clean = op->head_id[0] != '\0' && !git_op_rebasing(op);
	git_records_init(&records, answer->out, answer->out_len);
	while (git_status_next(&records, &entry)) {
		enum git_op_next next = take_entry(save, &entry);

		if (next == GIT_OP_FAIL)
			return next;
		save->clean &= next == GIT_OP_DONE;
	}
	return GIT_OP_NEXT;
}

static enum git_op_next
save_ask_nested(struct git_op *op)
{
	const struct git_save *save = op->self;

	return save->moves && save->nested != NULL ?
	    git_aside_ask_nested(op, save->nested) :
	    GIT_OP_NEXT;
}

static enum git_op_next
save_nested(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;

	return git_aside_nested(
	    op, save->nested, &save->aside, &save->moved, answer);
}

/* It is where HEAD is, unless it has not followed yet (git-follow.h). */
static bool
read_branch(struct git_save *save)
{
	cleanup_free char *ref = xasprintf("refs/heads/%s", save->branch);
	int r;

	if (!git_clone_op_is(&save->op) &&
	    git_dirs_is_on(save->op.gitdir, save->branch)) {
		memcpy(save->branch_id, save->op.head_id, GIT_ID_SIZE);
		return true;
	}
	save->branch_id[0] = '\0';
	r = git_refs_read(save->op.common, ref, save->branch_id);
	return r == 0 || r == -ENOENT;
}

/* Only commits can be lost, in the usual case: no index is needed to save
 * them. */
static enum git_op_next
save_quick(struct git_op *op)
{
	struct git_save *save = op->self;
	const char *common = op->common;
	char old[GIT_ID_SIZE];

	save->clean &= save->moved.len == 0 &&
	    git_refs_read(common, save->ref, old) == -ENOENT;
	if (!save->clean || !read_branch(save))
		return GIT_OP_NEXT;
	op->at = SAVE_HEAD;
	return GIT_OP_AGAIN;
}

static enum git_op_next
save_ask_ids(struct git_op *op)
{
	struct git_save *save = op->self;
	cleanup_free char *branch = git_op_known_branch(op, save->branch);
	cleanup_free char *ref = git_clone_op_ref(op, save->ref);
	cleanup_free char *tree = xasprintf("%s^{tree}", ref);
	cleanup_free char *head = xasprintf("%s^1", ref);

	free(save->index);
	save->index = file_join(op->gitdir, INDEX_NAME);
	remove_index(save); /* left by one that was killed */
	return git_op_ask_ids(op,
	    (const char *[]){ "HEAD^{tree}", branch, ref, tree, head, NULL });
}

static enum git_op_next
save_ids(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;
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

/* --- what only the index has ------------------------------------------- */

/* A link, since git replaces the file instead of writing to it. */
static enum git_op_next
save_ask_staged_tree(struct git_op *op)
{
	struct git_save *save = op->self;
	cleanup_free char *index = file_join(op->gitdir, "index");

	save->staged &= !save->unmerged && op->head_id[0] != '\0' &&
	    link(index, save->index) == 0;
	if (!save->staged)
		return GIT_OP_NEXT;
	git_stage_use_index(op);
	return git_op_args(op, "write-tree", NULL);
}

static enum git_op_next
save_staged_tree(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;

	remove_index(save);
	/* It names objects that are gone: the files are saved nevertheless. */
	save->staged = answer->status == 0;
	if (!save->staged)
		return GIT_OP_NEXT;
	strlcpy(save->staged_tree, answer->out, sizeof save->staged_tree);
	return GIT_OP_NEXT;
}

static enum git_op_next
save_ask_staged_commit(struct git_op *op)
{
	const struct git_save *save = op->self;

	if (!save->staged)
		return GIT_OP_NEXT;
	git_op_own_name(op);
	buf_addf(&op->input, "Index of %s, saved with %s\n", save->worker,
	    save->ref);
	return git_op_args(
	    op, "commit-tree", save->staged_tree, "-p", op->head_id, NULL);
}

static enum git_op_next
save_staged_commit(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	strlcpy(save->staged_id, answer->out, sizeof save->staged_id);
	return GIT_OP_NEXT;
}

/* --- a tree of all files ----------------------------------------------- */

/* HEAD's tree with the real index's knowledge of the files' times: `add` then
 * reads only what has changed. */
static enum git_op_next
save_ask_index(struct git_op *op)
{
	const struct git_save *save = op->self;
	cleanup_free char *output = xasprintf("--index-output=%s", save->index);

	if (op->head_id[0] == '\0')
		return GIT_OP_NEXT;
	return git_op_args(
	    op, "read-tree", "--reset", output, op->head_id, NULL);
}

static enum git_op_next
save_index(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;

	save->index_made = answer->status == 0;
	return GIT_OP_NEXT;
}

/* Where the real index is broken or locked for good. */
static enum git_op_next
save_ask_fresh_index(struct git_op *op)
{
	const struct git_save *save = op->self;

	if (save->index_made || op->head_id[0] == '\0')
		return GIT_OP_NEXT;
	git_stage_use_index(op);
	return git_op_args(op, "read-tree", op->head_id, NULL);
}

static enum git_op_next
save_ask_tree(struct git_op *op)
{
	git_stage_use_index(op);
	return git_op_args(op, "write-tree", NULL);
}

static enum git_op_next
save_tree(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	strlcpy(save->tree, answer->out, sizeof save->tree);
	return GIT_OP_NEXT;
}

/* --- commits ----------------------------------------------------------- */

/* Is it the landing branch, or where the worktree goes? */
static bool
is_kept_anyway(const struct git_save *save, const char *id)
{
	const char *common = save->op.common;
	cleanup_free char *ref = xasprintf("refs/heads/%s", save->landed);
	char landed[GIT_ID_SIZE];

	return id[0] == '\0' || strcmp(id, save->op.onto_id) == 0 ||
	    (git_refs_read(common, ref, landed) == 0 &&
		strcmp(id, landed) == 0);
}

/* Lists one commit if `id` has one that would be lost. */
static enum git_op_next
ask_lost(struct git_op *op, const char *id)
{
	const struct git_save *save = op->self;

	git_op_args(
	    op, "rev-list", "--max-count=1", id, "--not", op->onto_id, NULL);
	if (strcmp(save->landed, op->onto) != 0) {
		cleanup_free char *landed =
		    git_op_known_branch(op, save->landed);

		git_op_arg(op, landed);
	}
	return GIT_OP_ASK;
}

static enum git_op_next
save_ask_head(struct git_op *op)
{
	struct git_save *save = op->self;

	save->head_safe = is_kept_anyway(save, op->head_id);
	return save->head_safe ? GIT_OP_NEXT : ask_lost(op, op->head_id);
}

static enum git_op_next
save_head(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	save->head_safe = answer->out_len == 0;
	return GIT_OP_NEXT;
}

static enum git_op_next
save_ask_branch(struct git_op *op)
{
	struct git_save *save = op->self;

	save->branch_safe = is_kept_anyway(save, save->branch_id) ||
	    strcmp(save->branch_id, op->head_id) == 0;
	if (save->branch_safe)
		return GIT_OP_NEXT;
	ask_lost(op, save->branch_id);
	if (op->head_id[0] != '\0')
		git_op_arg(op, op->head_id);
	return GIT_OP_ASK;
}

static enum git_op_next
save_branch(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	save->branch_safe = answer->out_len == 0;
	return GIT_OP_NEXT;
}

/* --- the ref ----------------------------------------------------------- */

static bool
has_changes(const struct git_save *save)
{
	if (save->staged || save->moved.len > 0)
		return true;
	return save->op.head_id[0] == '\0' ?
	    save->others.len > 0 :
	    !save->clean && strcmp(save->tree, save->head_tree) != 0;
}

/* Is there something to save, and is it more than what was saved before? */
static enum git_op_next
save_decide(struct git_op *op)
{
	struct git_save *save = op->self;
	bool changed = has_changes(save);

	if (!changed && save->head_safe && save->branch_safe) {
		save->nothing = save->old[0] == '\0';
		return GIT_OP_DONE;
	}
	save->nothing = false;
	if (save->old[0] != '\0' && save->branch_safe && !save->staged &&
	    save->moved.len == 0 && strcmp(save->old_tree, save->tree) == 0 &&
	    (strcmp(save->old_head, op->head_id) == 0 ||
		strcmp(save->old, op->head_id) == 0))
		return GIT_OP_DONE;
	if (!changed && save->branch_safe && save->old[0] == '\0')
		memcpy(save->id, op->head_id, GIT_ID_SIZE);
	return GIT_OP_NEXT;
}

static enum git_op_next
save_ask_commit(struct git_op *op)
{
	const struct git_save *save = op->self;
	const char *const parents[] = { op->head_id,
		save->branch_safe ? "" : save->branch_id, save->old,
		save->staged_id };
	cleanup_free char *tree = NULL;

	if (save->id[0] != '\0')
		return GIT_OP_NEXT;
	/* Without an index only commits are saved: of a clean worktree, or of
	 * a branch. */
	if (save->tree[0] != '\0')
		tree = xstrdup(save->tree);
	else
		tree = xasprintf("%s^{tree}",
		    op->head_id[0] != '\0' ? op->head_id : save->branch_id);
	git_op_own_name(op);
	buf_addf(
	    &op->input, "Work of %s, saved as %s\n", save->worker, save->ref);
	if (save->moved.len + save->left.len > 0)
		buf_addf(
		    &op->input, "\n%s%s", save->moved.data, save->left.data);
	git_op_args(op, "commit-tree", tree, NULL);
	for (size_t i = 0; i < nitems(parents); i++)
		if (parents[i][0] != '\0')
			git_op_args(op, "-p", parents[i], NULL);
	return GIT_OP_ASK;
}

static enum git_op_next
save_commit(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	strlcpy(save->id, answer->out, sizeof save->id);
	return GIT_OP_NEXT;
}

static enum git_op_next
save_ask_import(struct git_op *op)
{
	const struct git_save *save = op->self;

	return git_clone_op_ask_import(op, save->id);
}

static enum git_op_next
save_ask_ref(struct git_op *op)
{
	const struct git_save *save = op->self;

	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	/* "" as the old value: it must not exist yet. */
	return git_op_args(
	    op, "update-ref", save->ref, save->id, save->old, NULL);
}

/* The files go away next, and git does not wait until its objects are on
 * disk. */
static enum git_op_next
save_sync(struct git_op *op)
{
	const struct git_save *save = op->self;

	return save->moves ? git_sync_ask(op) : GIT_OP_NEXT;
}

static const struct git_op_step save_steps[] = {
	[SAVE_STATUS] = { .ask = save_ask_status, .answer = save_status },
	[SAVE_NESTED] = { .ask = save_ask_nested, .answer = save_nested },
	[SAVE_QUICK] = { .ask = save_quick },
	[SAVE_IDS] = { .ask = save_ask_ids, .answer = save_ids },
	[SAVE_STAGED_TREE] = { .ask = save_ask_staged_tree,
	    .answer = save_staged_tree },
	[SAVE_STAGED_COMMIT] = { .ask = save_ask_staged_commit,
	    .answer = save_staged_commit },
	[SAVE_INDEX] = { .ask = save_ask_index, .answer = save_index },
	[SAVE_FRESH_INDEX] = { .ask = save_ask_fresh_index },
	[SAVE_MODIFIED] = { .ask = git_stage_ask_modified,
	    .answer = git_stage_modified },
	[SAVE_LIST] = { .ask = git_stage_ask_list, .answer = git_stage_others },
	[SAVE_HASH] = { .ask = git_stage_ask_hash, .answer = git_stage_hash },
	[SAVE_INFO] = { .ask = git_stage_ask_info },
	[SAVE_LINKS] = { .ask = git_stage_ask_links },
	[SAVE_TREE] = { .ask = save_ask_tree, .answer = save_tree },
	[SAVE_HEAD] = { .ask = save_ask_head, .answer = save_head },
	[SAVE_BRANCH] = { .ask = save_ask_branch, .answer = save_branch },
	[SAVE_DECIDE] = { .ask = save_decide },
	[SAVE_COMMIT] = { .ask = save_ask_commit, .answer = save_commit },
	[SAVE_IMPORT] = { .ask = save_ask_import },
	[SAVE_REF] = { .ask = save_ask_ref },
	[SAVE_SYNC] = { .ask = save_sync },
};

static void
save_begin(struct git_save *save)
{
	save->clean = save->staged = save->unmerged = false;
	save->nothing = true;
	save->id[0] = save->staged_id[0] = save->old[0] = '\0';
	strv_clear(&save->nested);
	buf_clear(&save->others);
	buf_clear(&save->left);
	save->total = 0;
	save->tree[0] = '\0';
	save->compare_failed = false;
	save->tries = 0;
}

enum git_op_next
git_save_ask(struct git_op *op)
{
	save_begin(op->self);
	return git_op_call(op, save_steps, nitems(save_steps));
}

enum git_op_next
git_save_ask_commits(struct git_op *op)
{
	struct git_save *save = op->self;

	save_begin(save);
	save->clean = true;
	memcpy(save->branch_id, op->head_id, GIT_ID_SIZE);
	git_refs_read(op->common, save->ref, save->old);
	return git_op_call(
	    op, save_steps + SAVE_HEAD, nitems(save_steps) - SAVE_HEAD);
}

struct git_salvaged
git_save_result(const struct git_save *save)
{
	return (struct git_salvaged){
		.ref = save->nothing ? "" : save->ref,
		.clean = save->clean ? save->op.head_id : "",
		.base = "",
	};
}

void
git_save_init_lists(struct git_save *save)
{
	buf_init(&save->others);
	buf_init(&save->files);
	buf_init(&save->info);
	buf_init(&save->links);
	buf_init(&save->moved);
	buf_init(&save->left);
}

void
git_save_init(struct git_save *save, const struct git_salvage *what, bool moves)
{
	save->worker = xstrdup(what->worker);
	save->branch = xstrdup(what->branch);
	save->landed = xstrdup(what->onto);
	save->aside = (struct git_aside){
		.name =
		    xstrdup(what->aside != NULL ? what->aside : what->stamp),
		.replaces = what->aside != NULL,
	};
	save->ref =
	    xasprintf("refs/llmc/salvage/%s/%s", what->worker, what->stamp);
	save->moves = moves;
	save->leave = what->leave;
	save->nothing = true;
	git_save_init_lists(save);
}

void
git_save_release(struct git_save *save)
{
	remove_index(save);
	free(save->index);
	free(save->worker);
	free(save->branch);
	free(save->landed);
	free(save->aside.name);
	free(save->ref);
	strv_free(save->nested);
	buf_release(&save->others);
	buf_release(&save->files);
	buf_release(&save->info);
	buf_release(&save->links);
	buf_release(&save->moved);
	buf_release(&save->left);
}
