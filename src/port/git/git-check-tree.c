/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "git-check-tree.h"
#include "git-private.h"

#define SPARSE_FILE "info/sparse-checkout"
/* In the worktree's git directory, where its box can read them; while a check
 * runs there are none. */
#define KEPT_NAME     "llmc-kept.index" /* what a setup made */
#define CLEAN_NAME    "llmc-clean.index" /* all that is not removed */
#define JUDGE_NAME    "llmc-judge.index"
#define KEEP_DELAY_MS 1100

struct prepare_op {
	struct git_op op;
	char *commit, *judge, *keep;
	char **pathspecs;
	bool make, fetch, populate;
	bool keeps; /* keeps: `keep` is there, and is used */
	struct git_list submodules; /* populated, at another commit */
	struct git_checked_out out;
	git_check_tree_fn *fn;
};

#define OVERLAID_LETTER 'o'
#define MODIFIED_LETTER 'm'

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
remove_file(struct git_op *op, const char *name)
{
	unlink(git_op_text(op, "%s/%s", op->gitdir, name));
}

static void
use_index(struct git_op *op, const char *name)
{
	git_op_env(op, "GIT_INDEX_FILE=%s/%s", op->gitdir, name);
}

static void
begin(struct prepare_op *prepare)
{
	/* "locked" is git's mark of a worktree that is being made. The index
	 * may have files marked as unchanged, or be broken. */
	static const char *const names[] = { "index.lock", "HEAD.lock",
		"locked", "index", KEPT_NAME, CLEAN_NAME, JUDGE_NAME,
		CLEAN_NAME ".lock", KEPT_NAME ".lock" };
	struct git_op *op = &prepare->op;

	git_op_need_gitdir(op);
	for (size_t i = 0; i < nitems(names); i++)
		remove_file(op, names[i]);
	git_op_forget_rebase(op);
	/* A second name, since git replaces the file instead of writing to
	 * it. */
	prepare->keeps = prepare->keep != NULL &&
	    link(prepare->keep, git_op_text(op, "%s/" KEPT_NAME, op->gitdir)) ==
		0;
	/* A new worktree gets a copy of the user's sparse checkout, and a check
	 * may have begun one. The configuration is for the git commands of the
	 * check itself. */
	if (git_op_has(op, SPARSE_FILE)) {
		/* In a box it is read-only. */
		op->run_dir = git_root(op->git);
		git_op_must(op, "config", "--file",
		    git_op_text(op, "%s/config.worktree", op->gitdir),
		    "core.sparseCheckout", "false", NULL);
		remove_file(op, SPARSE_FILE);
	}
	git_op_no_hooks(op);
	git_op_must(op, "read-tree", prepare->commit, NULL);
}

/* An index of all that is not removed: the commit, and what a setup made. */
static bool
make_clean_index(struct git_op *op)
{
	use_index(op, KEPT_NAME);
	if (git_op_try(op, "ls-files", "--stage", "-z", NULL) != 0 ||
	    link(git_op_text(op, "%s/index", op->gitdir),
		git_op_text(op, "%s/" CLEAN_NAME, op->gitdir)) == -1)
		return false;
	use_index(op, CLEAN_NAME);
	git_op_no_hooks(op);
	buf_add(&op->input, op->answer.out, op->answer.out_len);
	git_op_must(op, "update-index", "-z", "--index-info", NULL);
	return true;
}

static void
write_files(struct prepare_op *prepare)
{
	struct git_op *op = &prepare->op;
	struct git_records records;
	const char *path;

	if (!git_op_is_empty(op)) {
		/* Twice --force is for repositories that a check made. */
		if (prepare->keeps)
			use_index(op, CLEAN_NAME);
		git_op_no_hooks(op);
		git_op_must(op, "clean", "-d", "-x", "--force", "--force",
		    "--quiet", NULL);
		/* Files that are as in the commit already are not written
		 * again; all are read. 1: some differ, which are written
		 * next. */
		git_op_no_hooks(op);
		git_op_try(op, "update-index", "-q", "--refresh", NULL);
	}
	git_op_no_hooks(op);
	git_op_must(op, "checkout", "--quiet", "--force", "--detach",
	    prepare->commit, "--", NULL);
	/* Paths that are as in `judge`, where that differs. Those that it
	 * does not have are removed: that is what restore does and checkout
	 * does not. */
	op = &prepare->op;
	git_list_release(&prepare->out.overlaid);
	if (prepare->judge == NULL || prepare->judge[0] == '\0' ||
	    prepare->pathspecs == NULL)
		return;
	git_op_args(op, "diff-tree", "-r", "-z", "--name-only", "--no-renames",
	    "--ignore-submodules=none", prepare->judge, prepare->commit, "--",
	    NULL);
	strv_add_all(&op->args, strv_const(prepare->pathspecs));
	git_op_must(op, NULL);
	git_records_init(&records, op->answer.out, op->answer.out_len);
	while ((path = git_records_next(&records)) != NULL)
		git_list_add(&prepare->out.overlaid, path);
	if (prepare->out.overlaid.count == 0)
		return;
	buf_add(&op->input, op->answer.out, op->answer.out_len);
	git_op_no_hooks(op);
	git_op_must(op, "--literal-pathspecs", "restore", "--quiet",
	    git_op_text(op, "--source=%s", prepare->judge), "--staged",
	    "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul",
	    NULL);
}

/* Is all that was kept as the setup left it? */
static bool
is_kept(struct git_op *op)
{
	bool kept;

	use_index(op, KEPT_NAME);
	kept = git_op_try(op, "-c", "core.trustctime=true", "-c",
		   "core.checkStat=default", "ls-files", "--modified",
		   "--deleted", "-z", NULL) == 0 &&
	    op->answer.out_len == 0;
	remove_file(op, KEPT_NAME);
	remove_file(op, CLEAN_NAME);
	return kept;
}

static bool
is_overlaid(const struct prepare_op *prepare, const char *path)
{
	for (size_t i = 0; i < prepare->out.overlaid.count; i++)
		if (strcmp(prepare->out.overlaid.v[i], path) == 0)
			return true;
	return false;
}

/* False: it should not be there. updated: the submodules are. */
static bool
judge_entry(struct prepare_op *prepare, const struct git_status_entry *entry,
    bool updated)
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
	else if (!updated)
		git_list_add(&prepare->submodules, entry->text);
	else
		return false;
	return true;
}

static void
look(struct prepare_op *prepare, bool updated)
{
	struct git_op *op = &prepare->op;
	struct git_status_entry entry;
	struct git_records records;

	git_list_release(&prepare->out.modified);
	git_list_release(&prepare->submodules);
	git_op_no_hooks(op);
	git_op_must(op, "status", "--porcelain=v2", "-z", "--branch",
	    prepare->keeps ? "--untracked-files=no" : "--untracked-files=all",
	    "--ignore-submodules=dirty", "--no-renames", "--no-ahead-behind",
	    NULL);
	git_records_init(&records, op->answer.out, op->answer.out_len);
	while (git_status_next(&records, &entry)) {
		struct buf shown = BUF_INIT;

		if (judge_entry(prepare, &entry, updated))
			continue;
		text_add_visible(&shown, entry.text,
		    text_cut(entry.text, strlen(entry.text), 200), false);
		git_op_die(op, -EBUSY,
		    "%s is not as in commit %.12s: something else writes "
		    "there (%s)",
		    op->dir, prepare->commit, shown.data);
	}
}

/* Nothing of an earlier check stays in them. */
static void
populate_submodules(struct prepare_op *prepare)
{
	struct git_op *op = &prepare->op;

	if (!file_exists(git_op_text(op, "%s/.gitmodules", op->dir)))
		return;
	git_op_no_hooks(op);
	op->tolerant = true;
	git_op_try(op, "submodule", "--quiet", "foreach", "--recursive",
	    "git clean -d -x --force --force --quiet", NULL);
	git_worktree_op_submodules(op, true);
	op->err = (struct err){ 0 };
}

static void
update_submodules(struct prepare_op *prepare)
{
	struct git_op *op = &prepare->op;

	git_op_no_hooks(op);
	git_op_args(op, "submodule", "--quiet", "update", "--force",
	    "--checkout", NULL);
	if (!prepare->fetch)
		git_op_arg(op, "--no-fetch");
	git_op_arg(op, "--");
	for (size_t i = 0; i < prepare->submodules.count; i++)
		git_op_arg(op, prepare->submodules.v[i]);
	git_op_must(op, NULL);
}

static void
prepare_run(struct git_op *op)
{
	struct prepare_op *prepare = op->self;

	if (prepare->make)
		git_worktree_op_add(op, NULL);
	begin(prepare);
	prepare->keeps = prepare->keeps && make_clean_index(op);
	write_files(prepare);
	/* If not all of it is as it was, nothing of it stays. */
	if (prepare->keeps && !is_kept(op)) {
		prepare->keeps = false;
		write_files(prepare);
	}
	if (prepare->populate)
		populate_submodules(prepare);
	look(prepare, false);
	if (prepare->submodules.count > 0) {
		update_submodules(prepare);
		look(prepare, true);
	}
	prepare->out.kept = prepare->keeps;
	git_op_tell_all(op, OVERLAID_LETTER, &prepare->out.overlaid);
	git_op_tell_all(op, MODIFIED_LETTER, &prepare->out.modified);
}

static void
prepare_finish(struct git_op *op, const struct err *err)
{
	struct prepare_op *prepare = op->self;
	cleanup_git_list struct git_list overlaid = { 0 }, modified = { 0 };

	git_op_told(op, OVERLAID_LETTER, &overlaid);
	git_op_told(op, MODIFIED_LETTER, &modified);
	prepare->out.overlaid = overlaid;
	prepare->out.modified = modified;
	prepare->fn(err == NULL ? &prepare->out : NULL, err, op->arg);
}

static void
prepare_release(struct git_op *op)
{
	struct prepare_op *prepare = op->self;

	strv_free(prepare->pathspecs);
}

/* A worktree that a check broke is kept for a person; one that is incomplete or
 * lost is repaired. */
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
	struct prepare_op *prepare = git_op_new(sizeof *prepare, git, dir,
	    what->commit, prepare_run, prepare_finish);
	struct git_op *op = &prepare->op;

	prepare->commit = git_op_copy(op, what->commit);
	prepare->judge = git_op_copy(op, what->judge);
	prepare->keep = git_op_copy(op, what->keep);
	prepare->pathspecs = pathspecs_of(what->protected_paths);
	prepare->fetch = what->fetch;
	prepare->populate = what->submodules;
	prepare->make = !is_made(git, dir);
	prepare->fn = fn;
	op->release = prepare_release;
	op->arg = arg;
	op->ret = &prepare->out;
	op->ret_size = sizeof prepare->out;
	git_op_begin(op, prepare->make);
}

/* --- what a setup made --------------------------------------------------- */

struct keep_op {
	struct git_op op;
	char *keep;
};

/* git reads a file again, and a link's object, that is not older than the
 * index; its clock has seconds. So the index is of later, and the check begins
 * in another second than the last file is of. */
static void
make_later(struct git_op *op)
{
	cleanup_free char *own = file_join(op->gitdir, KEPT_NAME);
	const struct timespec later[] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = clock_wall_ms() / 1000 + 60 } };

	if (utimensat(AT_FDCWD, own, later, 0) == -1)
		unlink(own);
}

static void
remove_kept(struct git_op *op)
{
	if (op->gitdir != NULL)
		remove_file(op, KEPT_NAME);
}

static void
keep_run(struct git_op *op)
{
	const struct keep_op *keep = op->self;
	struct git_answer list;
	struct git_records records;
	const char *path;

	unlink(keep->keep);
	git_op_need_gitdir(op);
	remove_kept(op);
	if (git_op_try(op, "ls-files", "--others", "-z", NULL) != 0)
		return;
	list = op->answer;
	/* A folder is a repository, and its files cannot be compared. */
	git_records_init(&records, list.out, list.out_len);
	while ((path = git_records_next(&records)) != NULL)
		if (path[0] == '\0' || path[strlen(path) - 1] == '/')
			return;
	use_index(op, KEPT_NAME);
	git_op_no_hooks(op);
	git_op_must(op, "read-tree", "--empty", NULL);
	make_later(op);
	/* Their contents are read, and not stored. */
	if (list.out_len > 0) {
		use_index(op, KEPT_NAME);
		git_op_no_hooks(op);
		op->delay_ms = KEEP_DELAY_MS;
		buf_add(&op->input, list.out, list.out_len);
		if (git_op_try(op, "update-index", "--add", "--info-only", "-z",
			"--stdin", NULL) != 0)
			return;
	}
	make_later(op);
	rename(git_op_text(op, "%s/" KEPT_NAME, op->gitdir), keep->keep);
}

void
git_check_tree_keep(struct git *git, const char *dir, const char *keep_file,
    git_work_fn *fn, void *arg)
{
	struct keep_op *keep =
	    git_op_new(sizeof *keep, git, dir, NULL, keep_run, NULL);

	keep->keep = git_op_copy(&keep->op, keep_file);
	keep->op.undo = remove_kept;
	keep->op.work_fn = fn;
	keep->op.arg = arg;
	git_op_begin(&keep->op, false);
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
	git_check_compare_fn *fn;
};

static void
compare_run(struct git_op *op)
{
	const struct compare_op *compare = op->self;
	struct git_records records;
	const char *path;

	git_op_need_gitdir(op);
	remove_file(op, JUDGE_NAME);
	use_index(op, JUDGE_NAME);
	git_op_no_hooks(op);
	git_op_must(op, "read-tree", compare->judge, NULL);
	/* The index knows nothing of the files, so all of these are read. */
	use_index(op, JUDGE_NAME);
	git_op_args(op, "ls-files", "--modified", "--deleted", "--deduplicate",
	    "-z", "--", NULL);
	strv_add_all(&op->args, strv_const(compare->pathspecs));
	git_op_try(op, NULL);
	remove_file(op, JUDGE_NAME);
	if (op->answer.status != 0)
		git_op_die_as(op);
	git_records_init(&records, op->answer.out, op->answer.out_len);
	while ((path = git_records_next(&records)) != NULL)
		git_op_tell(op, GIT_OP_LIST, path);
}

static void
compare_finish(struct git_op *op, const struct err *err)
{
	const struct compare_op *compare = op->self;
	cleanup_git_list struct git_list paths = { 0 };

	git_op_told(op, GIT_OP_LIST, &paths);
	compare->fn(err == NULL ? &paths : NULL, err, op->arg);
}

static void
compare_release(struct git_op *op)
{
	struct compare_op *compare = op->self;

	strv_free(compare->pathspecs);
}

void
git_check_tree_compare(struct git *git, const char *dir, const char *judge,
    const char *const *protected_paths, git_check_compare_fn *fn, void *arg)
{
	struct compare_op *compare = git_op_new(
	    sizeof *compare, git, dir, NULL, compare_run, compare_finish);
	struct git_op *op = &compare->op;

	compare->judge = git_op_copy(op, judge);
	compare->pathspecs = pathspecs_of(protected_paths);
	compare->fn = fn;
	op->release = compare_release;
	op->arg = arg;
	git_op_begin(op, false);
}
