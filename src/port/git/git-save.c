/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "child.h"
#include "git-clone.h"
#include "git-facts.h"
#include "git-records.h"
#include "git-refs.h"
#include "git-save.h"
#include "git-stage.h"
#include "git-stand.h"
#include "loop.h"

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

void
git_sync_run(struct git_op *op)
{
	const char *const argv[] = { "sync", "-f", "--", op->common, NULL };
	const struct child_spec spec = { .argv = argv,
		.deadline_ms = SYNC_DEADLINE_MS };
	struct child_result result;
	struct buf text = BUF_INIT;

	if (child_run(&spec, &result, &op->err) < 0)
		git_op_die_of(op);
	if (child_succeeded(&result))
		return;
	child_output_text(&result.err, &text);
	if (text.len == 0)
		child_result_describe(&result, &text);
	git_op_die(
	    op, -EIO, "cannot put the repository on disk: sync: %s", text.data);
}

#define INDEX_NAME "llmc-salvage.index"

static void
remove_index(struct git_op *op)
{
	const struct git_save *save = op->self;

	if (save->index == NULL)
		return;
	unlink(git_op_text(op, "%s.lock", save->index));
	unlink(save->index);
}

/* --- what is there ----------------------------------------------------- */

/* False for what makes the worktree dirty. A folder is a repository of its own,
 * which is left alone. */
static bool
take_entry(struct git_save *save, const struct git_status_entry *entry)
{
	switch (entry->kind) {
	case GIT_STATUS_HEAD:
		return strcmp(entry->text, save->op.head_id) == 0;
	case GIT_STATUS_BRANCH:
		return git_stand_is_on(
		    save->op.git, save->op.dir, save->op.gitdir, save->branch);
	case GIT_STATUS_UNTRACKED:
		if (git_stage_is_folder(entry->text)) {
			strv_add(&save->nested, entry->text);
			return true;
		}
		break;
	case GIT_STATUS_UNMERGED:
		save->unmerged = true;
		break;
	case GIT_STATUS_CHANGED:
		save->staged |= entry->staged && entry->unstaged;
		break;
	}
	git_stage_check(save, entry->text);
	return false;
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

/* --- what only the index has ------------------------------------------- */

/* A link, since git replaces the file instead of writing to it. */
static void
save_staged(struct git_save *save)
{
	struct git_op *op = &save->op;
	cleanup_free char *index = file_join(op->gitdir, "index");
	const char *tree;

	save->staged &= !save->unmerged && op->head_id[0] != '\0' &&
	    link(index, save->index) == 0;
	if (!save->staged)
		return;
	git_stage_use_index(op);
	save->staged = git_op_try(op, "write-tree", NULL) == 0;
	tree = op->answer.out;
	remove_index(op);
	/* It names objects that are gone: the files are saved nevertheless. */
	if (!save->staged)
		return;
	git_op_own_name(op);
	buf_addf(&op->input, "Index of %s, saved with %s\n", save->worker,
	    save->ref);
	strlcpy(save->staged_id,
	    git_op_must(op, "commit-tree", tree, "-p", op->head_id, NULL),
	    sizeof save->staged_id);
}

/* --- a tree of all files ----------------------------------------------- */

static void
save_files(struct git_save *save)
{
	struct git_op *op = &save->op;
	cleanup_free char *branch = git_op_known_branch(op, save->branch);
	cleanup_free char *ref = git_clone_op_ref(op, save->ref);
	char ids[5][GIT_ID_SIZE];

	save->index = git_op_text(op, "%s/" INDEX_NAME, op->gitdir);
	op->undo = remove_index;
	remove_index(op); /* left by one that was killed */
	git_op_find_ids(op,
	    (const char *[]){ "HEAD^{tree}", branch, ref,
		git_op_text(op, "%s^{tree}", ref), git_op_text(op, "%s^1", ref),
		NULL },
	    ids);
	memcpy(save->head_tree, ids[0], GIT_ID_SIZE);
	memcpy(save->branch_id, ids[1], GIT_ID_SIZE);
	memcpy(save->old, ids[2], GIT_ID_SIZE);
	memcpy(save->old_tree, ids[3], GIT_ID_SIZE);
	memcpy(save->old_head, ids[4], GIT_ID_SIZE);
	save_staged(save);
	/* HEAD's tree with the real index's knowledge of the files' times:
	 * what is staged next is only what has changed. Or without that, where
	 * the real index is broken or locked for good. */
	if (op->head_id[0] != '\0' &&
	    git_op_try(op, "read-tree", "--reset",
		git_op_text(op, "--index-output=%s", save->index), op->head_id,
		NULL) != 0) {
		git_stage_use_index(op);
		git_op_must(op, "read-tree", op->head_id, NULL);
	}
	git_stage_raw(save);
	git_stage_use_index(op);
	strlcpy(
	    save->tree, git_op_must(op, "write-tree", NULL), sizeof save->tree);
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

/* Has `id` no commit that would be lost? besides: "" = nothing. */
static bool
is_safe(struct git_save *save, const char *id, const char *besides)
{
	struct git_op *op = &save->op;

	if (is_kept_anyway(save, id))
		return true;
	git_op_args(
	    op, "rev-list", "--max-count=1", id, "--not", op->onto_id, NULL);
	if (strcmp(save->landed, op->onto) != 0) {
		cleanup_free char *landed =
		    git_op_known_branch(op, save->landed);

		git_op_arg(op, landed);
	}
	if (besides[0] != '\0')
		git_op_arg(op, besides);
	git_op_must(op, NULL);
	return op->answer.out_len == 0;
}

static bool
has_changes(const struct git_save *save)
{
	if (save->staged || save->moved.len > 0)
		return true;
	return save->op.head_id[0] == '\0' ?
	    save->others.len > 0 :
	    !save->out.clean && strcmp(save->tree, save->head_tree) != 0;
}

/* --- the ref ----------------------------------------------------------- */

static const char *
make_commit(struct git_save *save, bool branch_safe)
{
	struct git_op *op = &save->op;
	const char *const parents[] = { op->head_id,
		branch_safe ? "" : save->branch_id, save->old,
		save->staged_id };

	git_op_own_name(op);
	buf_addf(
	    &op->input, "Work of %s, saved as %s\n", save->worker, save->ref);
	if (save->moved.len + save->left.len > 0)
		buf_addf(
		    &op->input, "\n%s%s", save->moved.data, save->left.data);
	/* Without an index only commits are saved: of a clean worktree, or of
	 * a branch. */
	git_op_args(op, "commit-tree",
	    save->tree[0] != '\0' ?
		save->tree :
		git_op_text(op, "%s^{tree}",
		    op->head_id[0] != '\0' ? op->head_id : save->branch_id),
	    NULL);
	for (size_t i = 0; i < nitems(parents); i++)
		if (parents[i][0] != '\0')
			git_op_args(op, "-p", parents[i], NULL);
	return git_op_must(op, NULL);
}

/* Is there something to save, and is it more than what was saved before? */
static void
save_ref(struct git_save *save)
{
	struct git_op *op = &save->op;
	bool head_safe = is_safe(save, op->head_id, "");
	bool branch_safe = strcmp(save->branch_id, op->head_id) == 0 ||
	    is_safe(save, save->branch_id, op->head_id);
	bool changed = has_changes(save);
	const char *id = op->head_id;

	save->out.nothing =
	    !changed && head_safe && branch_safe && save->old[0] == '\0';
	if (!changed && head_safe && branch_safe)
		return;
	if (save->old[0] != '\0' && branch_safe && !save->staged &&
	    save->moved.len == 0 && strcmp(save->old_tree, save->tree) == 0 &&
	    (strcmp(save->old_head, op->head_id) == 0 ||
		strcmp(save->old, op->head_id) == 0))
		return;
	if (changed || !branch_safe || save->old[0] != '\0')
		id = make_commit(save, branch_safe);
	git_clone_op_import(op, id);
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	/* "" as the old value: it must not exist yet. */
	git_op_must(op, "update-ref", save->ref, id, save->old, NULL);
	/* The files go away next, and git does not wait until its objects are
	 * on disk. */
	if (save->moves)
		git_sync_run(op);
}

static void
save_begin(struct git_save *save)
{
	save->out.clean = save->staged = save->unmerged = false;
	save->staged_id[0] = save->old[0] = save->tree[0] = '\0';
	strv_clear(&save->nested);
	buf_clear(&save->others);
	buf_clear(&save->left);
	save->total = 0;
}

void
git_save_run(struct git_save *save)
{
	struct git_op *op = &save->op;
	struct git_status_entry entry;
	struct git_records records;
	char old[GIT_ID_SIZE];

	save_begin(save);
	if (git_op_try_status(op, &records) == 0) {
		save->out.clean =
		    op->head_id[0] != '\0' && !git_op_rebasing(op);
		while (git_status_next(&records, &entry))
			save->out.clean &= take_entry(save, &entry);
	}
	if (save->moves && save->nested != NULL)
		git_aside_nested(op, save->nested, &save->aside, &save->moved);
	/* Only commits can be lost, in the usual case: no index is needed to
	 * save them. */
	save->out.clean &= save->moved.len == 0 &&
	    git_refs_read(op->common, save->ref, old) == -ENOENT;
	if (!save->out.clean || !read_branch(save))
		save_files(save);
	save_ref(save);
	memcpy(save->out.head, op->head_id, GIT_ID_SIZE);
}

void
git_save_commits(struct git_save *save)
{
	save_begin(save);
	save->out.clean = true;
	memcpy(save->branch_id, save->op.head_id, GIT_ID_SIZE);
	git_refs_read(save->op.common, save->ref, save->old);
	save_ref(save);
}

static void
save_finish(struct git_op *op, const struct err *err)
{
	const struct git_save *save = op->self;
	const struct git_salvaged saved = {
		.ref = save->out.nothing ? "" : save->ref,
		.clean = save->out.clean ? save->out.head : "",
		.base = save->out.base,
	};

	save->fn(err == NULL ? &saved : NULL, err, op->arg);
}

static void
save_release(struct git_op *op)
{
	struct git_save *save = op->self;

	strv_free(save->nested);
	buf_release(&save->others);
	buf_release(&save->moved);
	buf_release(&save->left);
}

void *
git_save_new(size_t size, struct git *git, const char *dir, const char *onto,
    const struct git_salvage *what, bool moves, void (*run)(struct git_op *op),
    git_salvage_fn *fn, void *arg)
{
	struct git_save *save =
	    git_op_new(size, git, dir, onto, run, save_finish);
	struct git_op *op = &save->op;

	buf_init(&save->others);
	buf_init(&save->moved);
	buf_init(&save->left);
	save->moves = moves;
	save->out.nothing = true;
	save->fn = fn;
	op->release = save_release;
	op->arg = arg;
	op->ret = &save->out;
	op->ret_size = sizeof save->out;
	if (what == NULL)
		return save;
	save->worker = git_op_copy(op, what->worker);
	save->branch = git_op_copy(op, what->branch);
	save->landed = git_op_copy(op, what->onto);
	save->aside.name =
	    git_op_copy(op, what->aside != NULL ? what->aside : what->stamp);
	save->aside.replaces = what->aside != NULL;
	save->ref = git_op_text(
	    op, "refs/llmc/salvage/%s/%s", what->worker, what->stamp);
	save->leave = what->leave;
	return save;
}
