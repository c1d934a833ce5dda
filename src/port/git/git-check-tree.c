/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "file.h"
#include "git-check-tree.h"
#include "git-facts.h"
#include "git-op.h"
#include "git-records.h"
#include "git-verify.h"
#include "git-worktree.h"
#include "mem.h"
#include "remove-tree.h"
#include "strv.h"
#include "text.h"

#define SPARSE_FILE "info/sparse-checkout"
/* In the worktree's git directory, where its box can read them; while a check
 * runs there are none. */
#define KEPT_NAME     "llmc-kept.index" /* what a setup made */
#define CLEAN_NAME    "llmc-clean.index" /* all that is not removed */
#define JUDGE_NAME    "llmc-judge.index"
#define KEEP_DELAY_MS 1100

struct prepare_op {
	struct git_op op;
	char commit[GIT_ID_SIZE], judge[GIT_ID_SIZE];
	char **pathspecs;
	char *keep;
	bool fetch, keeps; /* keeps: `keep` is there, and is used */
	struct buf overlay, status; /* what the answer points into */
	struct git_list submodules; /* populated, at another commit */
	struct buf kept; /* entries for the index of what is not removed */
	bool submodules_updated;
	struct git_checked_out out;
	git_check_tree_fn *fn;
	void *arg;
};

enum prepare_step {
	PREPARE_GITDIR,
	PREPARE_SPARSE,
	PREPARE_INDEX,
	PREPARE_KEPT,
	PREPARE_KEEP,
	PREPARE_CLEAN,
	PREPARE_REFRESH,
	PREPARE_CHECKOUT,
	PREPARE_COMPARE,
	PREPARE_OVERLAY,
	PREPARE_LOOK,
	PREPARE_STATUS,
	PREPARE_SUBMODULES,
	PREPARE_COUNT
};

static char **
pathspecs_of(const char *const *paths)
{
	char **specs = NULL;

	for (; paths != NULL && *paths != NULL; paths++)
		if ((*paths)[0] != '\0')
			strv_take(&specs, xasprintf(":(top,glob)%s", *paths));
	return specs;
}

static void
remove_file(const struct git_op *op, const char *name)
{
	cleanup_free char *path = file_join(op->gitdir, name);

	unlink(path);
}

static void
use_index(struct git_op *op, const char *name)
{
	git_op_env(op, "GIT_INDEX_FILE=%s/%s", op->gitdir, name);
}

/* A second name, since git replaces the file instead of writing to it. */
static void
begin_keep(struct prepare_op *prepare)
{
	cleanup_free char *own = file_join(prepare->op.gitdir, KEPT_NAME);

	prepare->keeps = prepare->keep != NULL && link(prepare->keep, own) == 0;
	prepare->out.kept = prepare->keeps;
}

static enum git_op_next
prepare_find_gitdir(struct git_op *op)
{
	/* "locked" is git's mark of a worktree that is being made. The index
	 * may have files marked as unchanged, or be broken. */
	static const char *const names[] = { "index.lock", "HEAD.lock",
		"locked", "index", KEPT_NAME, CLEAN_NAME, JUDGE_NAME,
		CLEAN_NAME ".lock", KEPT_NAME ".lock" };
	enum git_op_next next = git_op_find_gitdir(op);

	if (next != GIT_OP_NEXT)
		return next;
	for (size_t i = 0; i < nitems(names); i++)
		remove_file(op, names[i]);
	git_op_forget_rebase(op);
	begin_keep(op->self);
	return GIT_OP_NEXT;
}

/* A new worktree gets a copy of the user's sparse checkout, and a check may
 * have begun one. The configuration is for the git commands of the check
 * itself. */
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
	if (answer->status != 0)
		return git_op_complain(op, answer);
	remove_file(op, SPARSE_FILE);
	return GIT_OP_NEXT;
}

/* --- an index of its own ------------------------------------------------ */

static enum git_op_next
prepare_ask_index(struct git_op *op)
{
	const struct prepare_op *prepare = op->self;

	git_op_no_hooks(op);
	return git_op_args(op, "read-tree", prepare->commit, NULL);
}

/* --- what is not in the commit ------------------------------------------ */

static enum git_op_next
prepare_ask_kept(struct git_op *op)
{
	const struct prepare_op *prepare = op->self;

	if (!prepare->keeps)
		return GIT_OP_NEXT;
	use_index(op, KEPT_NAME);
	return git_op_args(op, "ls-files", "--stage", "-z", NULL);
}

static enum git_op_next
prepare_kept(struct git_op *op, const struct git_answer *answer)
{
	struct prepare_op *prepare = op->self;

	buf_clear(&prepare->kept);
	if (answer->status == 0)
		buf_add(&prepare->kept, answer->out, answer->out_len);
	else
		prepare->keeps = prepare->out.kept = false;
	return GIT_OP_NEXT;
}

static enum git_op_next
prepare_ask_keep(struct git_op *op)
{
	struct prepare_op *prepare = op->self;
	cleanup_free char *index = file_join(op->gitdir, "index");
	cleanup_free char *all = file_join(op->gitdir, CLEAN_NAME);

	if (prepare->keeps && link(index, all) == -1)
		prepare->keeps = prepare->out.kept = false;
	if (!prepare->keeps)
		return GIT_OP_NEXT;
	use_index(op, CLEAN_NAME);
	git_op_no_hooks(op);
	buf_add(&op->input, prepare->kept.data, prepare->kept.len);
	return git_op_args(op, "update-index", "-z", "--index-info", NULL);
}

/* Twice --force is for repositories that a check made. */
static enum git_op_next
prepare_ask_clean(struct git_op *op)
{
	const struct prepare_op *prepare = op->self;

	if (prepare->keeps)
		use_index(op, CLEAN_NAME);
	git_op_no_hooks(op);
	return git_op_args(
	    op, "clean", "-d", "-x", "--force", "--force", "--quiet", NULL);
}

/* --- files as in the commit --------------------------------------------- */

/* Those that are so already are not written again; all are read. */
static enum git_op_next
prepare_ask_refresh(struct git_op *op)
{
	git_op_no_hooks(op);
	return git_op_args(op, "update-index", "-q", "--refresh", NULL);
}

static enum git_op_next
prepare_refresh(struct git_op *op, const struct git_answer *answer)
{
	(void)op;
	(void)answer; /* 1: some differ, which are written next */
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

/* Is all that was kept as the setup left it? If not, nothing of it stays. */
static enum git_op_next
prepare_ask_look(struct git_op *op)
{
	const struct prepare_op *prepare = op->self;

	if (!prepare->keeps)
		return GIT_OP_NEXT;
	use_index(op, KEPT_NAME);
	return git_op_args(op, "-c", "core.trustctime=true", "-c",
	    "core.checkStat=default", "ls-files", "--modified", "--deleted",
	    "-z", NULL);
}

static enum git_op_next
prepare_look(struct git_op *op, const struct git_answer *answer)
{
	struct prepare_op *prepare = op->self;

	remove_file(op, KEPT_NAME);
	remove_file(op, CLEAN_NAME);
	if (answer->status == 0 && answer->out_len == 0)
		return GIT_OP_NEXT;
	prepare->keeps = prepare->out.kept = false;
	git_list_release(&prepare->out.overlaid);
	buf_clear(&prepare->overlay);
	op->at = PREPARE_CLEAN;
	return GIT_OP_AGAIN;
}

static enum git_op_next
prepare_ask_status(struct git_op *op)
{
	const struct prepare_op *prepare = op->self;

	git_op_no_hooks(op);
	return git_op_args(op, "status", "--porcelain=v2", "-z", "--branch",
	    prepare->keeps ? "--untracked-files=no" : "--untracked-files=all",
	    "--ignore-submodules=dirty", "--no-renames", "--no-ahead-behind",
	    NULL);
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
	[PREPARE_INDEX] = { .ask = prepare_ask_index },
	[PREPARE_KEPT] = { .ask = prepare_ask_kept, .answer = prepare_kept },
	[PREPARE_KEEP] = { .ask = prepare_ask_keep },
	[PREPARE_CLEAN] = { .ask = prepare_ask_clean },
	[PREPARE_REFRESH] = { .ask = prepare_ask_refresh,
	    .answer = prepare_refresh },
	[PREPARE_CHECKOUT] = { .ask = prepare_ask_checkout },
	[PREPARE_COMPARE] = { .ask = prepare_ask_compare,
	    .answer = prepare_compare },
	[PREPARE_OVERLAY] = { .ask = prepare_ask_overlay },
	[PREPARE_LOOK] = { .ask = prepare_ask_look, .answer = prepare_look },
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
	free(prepare->keep);
	buf_release(&prepare->kept);
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
	struct making *making;

	strlcpy(prepare->commit, what->commit, sizeof prepare->commit);
	if (what->judge != NULL)
		strlcpy(prepare->judge, what->judge, sizeof prepare->judge);
	prepare->pathspecs = pathspecs_of(what->protected_paths);
	xstrset(&prepare->keep, what->keep);
	buf_init(&prepare->kept);
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

/* --- what a setup made --------------------------------------------------- */

struct keep_op {
	struct git_op op;
	char *keep;
	struct buf paths;
	git_work_fn *fn;
	void *arg;
};

static enum git_op_next
keep_begin(struct git_op *op)
{
	const struct keep_op *keep = op->self;
	enum git_op_next next = git_op_find_gitdir(op);

	unlink(keep->keep);
	if (next == GIT_OP_NEXT)
		remove_file(op, KEPT_NAME);
	return next;
}

static enum git_op_next
keep_ask_list(struct git_op *op)
{
	return git_op_args(op, "ls-files", "--others", "-z", NULL);
}

/* A folder is a repository, whose files nobody could compare. */
static enum git_op_next
keep_list(struct git_op *op, const struct git_answer *answer)
{
	struct keep_op *keep = op->self;
	struct git_records records;
	const char *path;

	if (answer->status != 0)
		return GIT_OP_DONE;
	buf_add(&keep->paths, answer->out, answer->out_len);
	git_records_init(&records, keep->paths.data, keep->paths.len);
	while ((path = git_records_next(&records)) != NULL)
		if (path[0] == '\0' || path[strlen(path) - 1] == '/')
			return GIT_OP_DONE;
	return GIT_OP_NEXT;
}

static enum git_op_next
keep_ask_empty(struct git_op *op)
{
	use_index(op, KEPT_NAME);
	git_op_no_hooks(op);
	return git_op_args(op, "read-tree", "--empty", NULL);
}

/* git reads a file again, and a link's object, that is not older than the
 * index; its clock has seconds. So the index is of later, and the check begins
 * in another second than the last file is of. */
static void
make_later(const struct git_op *op)
{
	cleanup_free char *own = file_join(op->gitdir, KEPT_NAME);
	const struct timespec later[] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = clock_wall_ms() / 1000 + 60 } };

	if (utimensat(AT_FDCWD, own, later, 0) == -1)
		unlink(own);
}

/* Their contents are read, and not stored. */
static enum git_op_next
keep_ask_add(struct git_op *op)
{
	const struct keep_op *keep = op->self;

	make_later(op);
	if (keep->paths.len == 0)
		return GIT_OP_NEXT;
	use_index(op, KEPT_NAME);
	git_op_no_hooks(op);
	op->delay_ms = KEEP_DELAY_MS;
	buf_add(&op->input, keep->paths.data, keep->paths.len);
	return git_op_args(
	    op, "update-index", "--add", "--info-only", "-z", "--stdin", NULL);
}

static enum git_op_next
keep_added(struct git_op *op, const struct git_answer *answer)
{
	(void)op;
	return answer->status == 0 ? GIT_OP_NEXT : GIT_OP_DONE;
}

static enum git_op_next
keep_move(struct git_op *op)
{
	const struct keep_op *keep = op->self;
	cleanup_free char *own = file_join(op->gitdir, KEPT_NAME);

	make_later(op);
	if (rename(own, keep->keep) == -1)
		unlink(own);
	return GIT_OP_NEXT;
}

static const struct git_op_step keep_steps[] = {
	{ .ask = keep_begin },
	{ .ask = keep_ask_list, .answer = keep_list },
	{ .ask = keep_ask_empty },
	{ .ask = keep_ask_add, .answer = keep_added },
	{ .ask = keep_move },
};

static void
keep_finish(struct git_op *op, const struct err *err)
{
	const struct keep_op *keep = op->self;

	if (op->gitdir != NULL)
		remove_file(op, KEPT_NAME);
	keep->fn(err, keep->arg);
}

static void
keep_release(struct git_op *op)
{
	struct keep_op *keep = op->self;

	free(keep->keep);
	buf_release(&keep->paths);
}

void
git_check_tree_keep(struct git *git, const char *dir, const char *keep_file,
    git_work_fn *fn, void *arg)
{
	struct keep_op *keep = xcalloc(1, sizeof *keep);

	keep->keep = xstrdup(keep_file);
	buf_init(&keep->paths);
	keep->fn = fn;
	keep->arg = arg;
	keep->op.self = keep;
	keep->op.finish = keep_finish;
	keep->op.release = keep_release;
	git_op_start(
	    &keep->op, git, dir, keep_steps, nitems(keep_steps), false);
}

/* --- after a check ------------------------------------------------------- */

void
git_check_tree_tidy(const struct git *git, const char *dir, const char *commit)
{
	static const char *const folders[] = { "refs/bisect", "refs/worktree",
		"refs/rewritten" };
	static const char *const files[] = { "index", "logs/HEAD" };
	cleanup_free char *gitdir = NULL, *head = NULL, *text = NULL;

	if (git_verify(git_root(git), dir, &gitdir, NULL) < 0)
		return;
	for (size_t i = 0; i < nitems(files); i++) {
		cleanup_free char *path = file_join(gitdir, files[i]);

		unlink(path);
	}
	for (size_t i = 0; i < nitems(folders); i++) {
		cleanup_free char *path = file_join(gitdir, folders[i]);

		remove_tree(path);
	}
	head = file_join(gitdir, "HEAD");
	text = xasprintf("%s\n", commit);
	file_replace(head, text, strlen(text), 0644, NULL);
}

/* --- what a check changed ------------------------------------------------ */

struct compare_op {
	struct git_op op;
	char *judge;
	char **pathspecs;
	struct buf text;
	struct git_list paths;
	git_check_compare_fn *fn;
	void *arg;
};

static enum git_op_next
compare_ask_index(struct git_op *op)
{
	const struct compare_op *compare = op->self;

	remove_file(op, JUDGE_NAME);
	use_index(op, JUDGE_NAME);
	git_op_no_hooks(op);
	return git_op_args(op, "read-tree", compare->judge, NULL);
}

/* The index knows nothing of the files, so all of these are read. */
static enum git_op_next
compare_ask_files(struct git_op *op)
{
	const struct compare_op *compare = op->self;

	use_index(op, JUDGE_NAME);
	git_op_args(op, "ls-files", "--modified", "--deleted", "--deduplicate",
	    "-z", "--", NULL);
	strv_add_all(&op->args, strv_const(compare->pathspecs));
	return GIT_OP_ASK;
}

static enum git_op_next
compare_files(struct git_op *op, const struct git_answer *answer)
{
	struct compare_op *compare = op->self;
	struct git_records records;
	const char *path;

	remove_file(op, JUDGE_NAME);
	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_add(&compare->text, answer->out, answer->out_len);
	git_records_init(&records, compare->text.data, compare->text.len);
	while ((path = git_records_next(&records)) != NULL)
		git_list_add(&compare->paths, path);
	return GIT_OP_NEXT;
}

static const struct git_op_step compare_steps[] = {
	GIT_OP_GITDIR,
	{ .ask = compare_ask_index },
	{ .ask = compare_ask_files, .answer = compare_files },
};

static void
compare_finish(struct git_op *op, const struct err *err)
{
	const struct compare_op *compare = op->self;

	compare->fn(err == NULL ? &compare->paths : NULL, err, compare->arg);
}

static void
compare_release(struct git_op *op)
{
	struct compare_op *compare = op->self;

	free(compare->judge);
	strv_free(compare->pathspecs);
	buf_release(&compare->text);
	git_list_release(&compare->paths);
}

void
git_check_tree_compare(struct git *git, const char *dir, const char *judge,
    const char *const *protected_paths, git_check_compare_fn *fn, void *arg)
{
	struct compare_op *compare = xcalloc(1, sizeof *compare);

	compare->judge = xstrdup(judge);
	compare->pathspecs = pathspecs_of(protected_paths);
	buf_init(&compare->text);
	compare->fn = fn;
	compare->arg = arg;
	compare->op.self = compare;
	compare->op.finish = compare_finish;
	compare->op.release = compare_release;
	git_op_start(&compare->op, git, dir, compare_steps,
	    nitems(compare_steps), false);
}
