/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "git-private.h"

static const struct git_tree *
git_trees_at(const struct git_trees *trees, const char *dir)
{
	for (size_t i = 0; i < trees->count; i++)
		if (git_trees_same_path(trees->v[i].path, dir))
			return &trees->v[i];
	return NULL;
}

/* Is it the user's own working tree? git lists that first; the root of the
 * workspace may be elsewhere. */
static bool
git_trees_is_users(
    const struct git_trees *trees, const char *root, const char *dir)
{
	return git_trees_same_path(root, dir) ||
	    (trees->count > 0 && git_trees_same_path(trees->v[0].path, dir));
}

/* Does the folder have a .git of its own? */
static bool
git_trees_has_git(const char *dir)
{
	cleanup_free char *path = file_join(dir, ".git");

	return file_exists(path);
}

/* Creates and repairs worktrees. */

struct tree_op {
	struct git_op op;
	char *branch;
};

/* Looks at what is there. False: it is complete. */
static bool
look(struct git_op *op, const char *branch, bool repaired, bool *ret_registered,
    bool *ret_unregister, const char **ret_stale)
{
	const struct git_tree *here, *other = NULL;
	cleanup_git_trees struct git_trees trees = { 0 };

	git_op_trees(op, &trees);
	here = git_trees_at(&trees, op->dir);
	if (git_trees_is_users(&trees, git_root(op->git), op->dir))
		git_op_die(op, -EEXIST,
		    "%s is the repository's main working tree", op->dir);
	*ret_registered = here != NULL;
	if (git_op_place_is_free(op->dir)) {
		*ret_unregister = here != NULL;
	} else if (here != NULL && git_trees_has_git(op->dir)) {
		if (!here->unfinished)
			return false;
		*ret_unregister = true;
	} else if (here == NULL || repaired) {
		git_op_die(op, -EEXIST,
		    "%s is not empty and not a worktree of %s; move it away, "
		    "or type: git worktree repair %s",
		    op->dir, git_root(op->git), op->dir);
	}
	/* Which worktree has the branch already? */
	while (branch != NULL &&
	    (other = git_trees_on(&trees, branch, other)) != NULL) {
		if (git_trees_same_path(other->path, op->dir))
			continue;
		if (file_exists(other->path) || other->locked)
			git_op_die(op, -EBUSY, "branch %s is checked out at %s",
			    branch, other->path);
		*ret_stale = git_op_text(op, "%s", other->path);
	}
	return true;
}

/* It is complete then, or there is nothing: false and true. */
static bool
clear_place(struct git_op *op, const char *branch)
{
	bool registered, unregister = false;
	const char *stale = NULL;

	if (!look(op, branch, false, &registered, &unregister, &stale))
		return false;
	/* A folder whose .git was deleted gets it back. It repairs all
	 * worktrees; errors about others do not matter here. */
	if (registered && !unregister) {
		op->run_dir = git_root(op->git);
		git_op_try(op, "worktree", "repair", NULL);
		if (!look(op, branch, true, &registered, &unregister, &stale))
			return false;
	}
	if (unregister) {
		if (branch != NULL)
			git_follow_gone(op);
		/* git removes a folder only with its .git in it. */
		if (git_op_place_is_free(op->dir))
			rmdir(op->dir);
		git_op_unregister(op, op->dir);
	}
	if (stale != NULL)
		git_op_unregister(op, stale);
	return true;
}

/* Of a commit that is known by its id: whether it is there is only asked after
 * a failure, for a better message. */
static void
add_without_files(struct git_op *op)
{
	const char *id = op->onto_id[0] != '\0' ? op->onto_id : op->onto;
	struct err err;

	if (git_op_try(
		op, "--detach", "--no-checkout", "--", op->dir, id, NULL) == 0)
		return;
	err = git_op_complaint(op);
	op->run_dir = git_root(op->git);
	git_op_need_onto(op);
	op->err = err;
	git_op_die_of(op);
}

void
git_worktree_op_add(struct git_op *op, const char *branch)
{
	const char *root = git_root(op->git);
	char id[GIT_ID_SIZE] = "";
	struct git_home home;
	/* Of a worker whose branch follows. */
	bool detached = branch != NULL && git_home(op->git, op->dir, &home) &&
	    home.detached;

	if (!clear_place(op, branch))
		return;
	if (branch != NULL)
		git_op_branch_tip(op, branch, id);
	op->run_dir = root;
	if (branch != NULL || !git_is_id(op->onto, strlen(op->onto)))
		git_op_need_onto(op);
	if (detached && id[0] == '\0') {
		op->run_dir = root;
		git_op_must(op, "branch", "--no-track", "--", branch,
		    op->onto_id, NULL);
	}
	op->run_dir = root;
	git_op_args(op, "worktree", "add", "--quiet", NULL);
	if (detached)
		git_op_must(op, "--detach", "--", op->dir,
		    id[0] != '\0' ? id : op->onto_id, NULL);
	else if (branch == NULL)
		add_without_files(op);
	else if (id[0] != '\0')
		git_op_must(op, "--", op->dir, branch, NULL);
	else
		git_op_must(op, "--no-track", "-b", branch, "--", op->dir,
		    op->onto_id, NULL);
}

static void
add_run(struct git_op *op)
{
	const struct tree_op *tree = op->self;

	git_worktree_op_add(op, tree->branch);
}

static void
tree_begin(struct git *git, const char *dir, const char *branch,
    const char *onto, void (*run)(struct git_op *op), bool both_queues,
    git_work_fn *fn, void *arg)
{
	struct tree_op *tree =
	    git_op_new(sizeof *tree, git, dir, onto, run, NULL);

	tree->branch = git_op_copy(&tree->op, branch);
	tree->op.work_fn = fn;
	tree->op.arg = arg;
	git_op_begin(&tree->op, both_queues);
}

void
git_worktree_add(struct git *git, const char *dir, const char *branch,
    const char *onto, git_work_fn *fn, void *arg)
{
	tree_begin(git, dir, branch, onto, add_run, true, fn, arg);
}

/* --- locks ----------------------------------------------------------- */

static void
unlock_run(struct git_op *op)
{
	const struct tree_op *tree = op->self;
	char *paths[3];

	git_op_need_gitdir(op);
	git_op_must(op, "rev-parse", "--git-path",
	    git_op_text(op, "refs/heads/%s.lock", tree->branch), NULL);
	paths[0] = file_join(op->gitdir, "index.lock");
	paths[1] = file_join(op->gitdir, "HEAD.lock");
	paths[2] = file_join(op->dir, op->answer.out);
	for (size_t i = 0; i < nitems(paths); i++)
		if (unlink(paths[i]) == -1 && errno != ENOENT)
			git_op_die(op, -errno,
			    "%s cannot be removed (error %d)", paths[i], errno);
}

void
git_worktree_unlock(struct git *git, const char *dir, const char *branch,
    git_work_fn *fn, void *arg)
{
	tree_begin(git, dir, branch, NULL, unlock_run, false, fn, arg);
}

/* --- removal ------------------------------------------------------------ */

static void add_submodules(char ***gitdirs, const char *gitdir);

#define CONFIG_MAX 65536

static void
add_folder(char ***gitdirs, const char *dir, const char *path, size_t len)
{
	strv_take(gitdirs, xasprintf("%s/%.*s/.git", dir, (int)len, path));
}

/* Without an index all files are untracked, which is fine here. */
static void
choose_index(struct git_op *op, bool no_index)
{
	if (no_index)
		git_op_env(op, "GIT_INDEX_FILE=%s/llmc-none.index", op->gitdir);
}

/* The untracked repositories of op->dir, and the ignored ones. */
static void
add_inside(struct git_op *op, char ***gitdirs)
{
	static const char skip[] = "Would skip repository ";
	struct git_records records;
	const char *path, *line;
	bool no_index;
	size_t len;

	no_index = git_op_try(op, "ls-files", "--others", "--exclude-standard",
		       "-z", NULL) != 0;
	if (no_index) {
		choose_index(op, true);
		git_op_must(op, "ls-files", "--others", "--exclude-standard",
		    "-z", NULL);
	}
	/* A folder in this list is a repository. */
	git_records_init(&records, op->answer.out, op->answer.out_len);
	while ((path = git_records_next(&records)) != NULL) {
		len = strlen(path);
		if (len > 0 && path[len - 1] == '/')
			add_folder(gitdirs, op->dir, path, len - 1);
	}
	/* Only `clean` looks for repositories in folders that are ignored; it
	 * removes nothing here. */
	choose_index(op, no_index);
	line = git_op_must(op, "-c", "core.quotePath=false", "clean", "-d",
	    "-X", "--dry-run", NULL);
	for (; *line != '\0'; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		/* A name in quotes is not decoded: it will not be found, and
		 * so it is kept. */
		if (len > strlen(skip) && text_begins(line, skip))
			add_folder(gitdirs, op->dir, line + strlen(skip),
			    len - strlen(skip));
	}
}

/* Their names may have slashes, and they have submodules of their own. */
static void
add_modules(char ***gitdirs, const char *folder)
{
	cleanup_dir DIR *stream = opendir(folder);
	const char *name;

	while ((name = dir_next(stream)) != NULL) {
		cleanup_free char *path = file_join(folder, name);
		cleanup_free char *head = file_join(path, "HEAD");

		if (!file_is_dir(path))
			continue;
		if (file_exists(head)) {
			strv_add(gitdirs, path);
			add_submodules(gitdirs, path);
		} else {
			add_modules(gitdirs, path);
		}
	}
}

static void
add_submodules(char ***gitdirs, const char *gitdir)
{
	cleanup_free char *modules = file_join(gitdir, "modules");

	add_modules(gitdirs, modules);
}

/* --- submodules ------------------------------------------------------- */

/* One of them, by the clones in `modules`: what their remotes are called leads
 * there, and no other way is open. */
static void
update_submodule(struct git_op *op, const char *path, char *const *modules,
    char *const *urls, bool force)
{
	git_op_no_hooks(op);
	git_op_args(op, "-c", "protocol.allow=never", "-c",
	    "protocol.file.allow=always", "-c",
	    /* So that a commit that a remote has is known to be there. */
	    "remote.origin.fetch=+refs/remotes/origin/*:refs/remotes/llmc/*",
	    NULL);
	for (size_t i = 0; modules[i] != NULL; i++)
		git_op_args(op, "-c",
		    git_op_text(op, "url.%s.insteadOf=%s", modules[i], urls[i]),
		    NULL);
	op->tolerant = true;
	git_op_args(op, "--literal-pathspecs", "submodule", "--quiet", "update",
	    "--init", "--recursive", "--checkout", NULL);
	if (force)
		git_op_arg(op, "--force");
	if (git_op_try(op, "--", path, NULL) == 0)
		return;
	if (op->err.code == 0) {
		struct err said = git_op_complaint(op);

		err_set(&op->err, -ENODATA,
		    "the submodule %.60s cannot be had from your checkout: %s",
		    path, said.msg);
	}
	/* None is better than one of another commit. */
	if (force && remove_tree_below(op->dir, path) == 0)
		mkdir(git_op_text(op, "%s/%s", op->dir, path), 0777);
}

void
git_worktree_op_submodules(struct git_op *op, bool force)
{
	cleanup_strv char **found = NULL, **modules = NULL, **urls = NULL;
	struct git_records records;
	const char *record;

	git_op_need_gitdir(op);
	add_submodules(&found, op->common);
	for (size_t i = 0; found != NULL && found[i] != NULL; i++) {
		/* What no setting of git can name is left out. */
		if (strpbrk(found[i], "=\n") != NULL ||
		    git_op_try(op, "config", "--file",
			git_op_text(op, "%s/config", found[i]), "--get",
			"remote.origin.url", NULL) != 0)
			continue;
		strv_add(&modules, found[i]);
		strv_take(&urls,
		    xstrndup(op->answer.out, strcspn(op->answer.out, "\n")));
	}
	if (modules == NULL ||
	    git_op_try(op, "config", "-z", "--file",
		git_op_text(op, "%s/.gitmodules", op->dir), "--get-regexp",
		"^submodule\\..*\\.path$", NULL) != 0)
		return;
	/* "submodule.NAME.path\nPATH" each. */
	git_records_init(&records, op->answer.out, op->answer.out_len);
	while ((record = git_records_next(&records)) != NULL) {
		const char *path = strchr(record, '\n');
		static const char before[] = "submodule.", after[] = ".path";
		cleanup_free char *name = NULL, *clone = NULL;

		if (path == NULL)
			continue;
		name = xstrndup(record + strlen(before),
		    (size_t)(path - record) - strlen(before) - strlen(after));
		clone = xasprintf("%s/modules/%s", op->common, name);
		if (strv_has(strv_const(modules), clone))
			update_submodule(op, path + 1, modules, urls, force);
	}
}

static void
submodules_run(struct git_op *op)
{
	git_worktree_op_submodules(op, false);
	if (op->err.code != 0)
		git_op_die_of(op);
}

void
git_submodules(struct git *git, const char *dir, git_work_fn *fn, void *arg)
{
	tree_begin(git, dir, NULL, NULL, submodules_run, false, fn, arg);
}

/* --- what would be lost ----------------------------------------------- */

/* The worker wrote its configuration, which git would obey: no git runs in a
 * repository that could start a program, or that is somewhere else. */
static bool
is_plain(const char *gitdir)
{
	cleanup_free char *common = file_join(gitdir, "commondir");
	cleanup_free char *config = file_join(gitdir, "config");
	cleanup_buf struct buf text = BUF_INIT;
	struct stat st;

	return lstat(gitdir, &st) == 0 && S_ISDIR(st.st_mode) &&
	    lstat(common, &st) == -1 && lstat(config, &st) == 0 &&
	    S_ISREG(st.st_mode) &&
	    file_read(config, CONFIG_MAX, &text, NULL) == 0 &&
	    strlen(text.data) == text.len && git_config_is_plain(text.data);
}

/* A command in a repository inside, which has its own GIT_COMMON_DIR. */
static void
ask_in(struct git_op *op, const char *gitdir)
{
	git_op_arg(op, git_op_text(op, "--git-dir=%s", gitdir));
	git_op_env(op, "GIT_COMMON_DIR");
}

/* Where its files are; NULL = not known. The clone of a submodule is elsewhere,
 * and says so. */
static const char *
find_work_tree(struct git_op *op, const char *gitdir)
{
	const char *slash = strrchr(gitdir, '/');

	if (strcmp(slash, "/.git") == 0)
		return git_op_text(op, "%.*s", (int)(slash - gitdir), gitdir);
	if (git_op_try(op, "config", "--file",
		git_op_text(op, "%s/config", gitdir), "--get", "core.worktree",
		NULL) != 0)
		return NULL;
	return op->answer.out[0] == '/' ?
	    op->answer.out :
	    git_op_text(op, "%s/%s", gitdir, op->answer.out);
}

/* Why the repository must stay, or NULL: it has a remote, no commit that no
 * remote has, and no change that is not committed. */
static const char *
find_reason(struct git_op *op, const char *gitdir)
{
	const char *work_tree;
	struct stat st;

	if (lstat(gitdir, &st) == -1)
		return "cannot be read";
	if (!is_plain(gitdir))
		return "has settings of its own, so no git runs in it";
	ask_in(op, gitdir);
	if (git_op_try(op, "for-each-ref", "--count=1", "--format=%(refname)",
		"refs/remotes/", NULL) != 0)
		return "cannot be read";
	if (op->answer.out_len == 0)
		return "has no copy elsewhere";
	ask_in(op, gitdir);
	if (git_op_try(op, "rev-list", "--max-count=1", "--all", "--not",
		"--remotes", "--", NULL) != 0)
		return "cannot be read";
	if (op->answer.out_len > 0)
		return "has commits that no remote has";
	work_tree = find_work_tree(op, gitdir);
	if (work_tree == NULL || !file_is_dir(work_tree))
		return NULL;
	ask_in(op, gitdir);
	if (git_op_try(op, git_op_text(op, "--work-tree=%s", work_tree),
		"status", "--porcelain", "-z", "--ignore-submodules=dirty",
		NULL) != 0)
		return "cannot be read";
	return op->answer.out_len > 0 ? "has changes that are not committed" :
					NULL;
}

static void
check_inside(struct git_op *op)
{
	char **gitdirs = NULL;

	add_submodules(&gitdirs, op->gitdir);
	add_inside(op, &gitdirs);
	for (size_t i = 0; gitdirs != NULL && gitdirs[i] != NULL; i++) {
		const char *why = find_reason(op, gitdirs[i]);
		struct buf shown = BUF_INIT;

		if (why == NULL)
			continue;
		text_add_visible(&shown, gitdirs[i],
		    text_cut(gitdirs[i], strlen(gitdirs[i]), 200), false);
		git_op_die(op, -ENOTEMPTY,
		    "the repository %s %s, and would be removed with %s; "
		    "commit and push what it has, move it away or remove it",
		    shown.data, why, op->dir);
	}
}

/* --- the removal ------------------------------------------------------- */

struct remove_op {
	struct git_save save; /* first */
	bool registered;
	bool clone; /* a repository of its own */
	void (*undo)(struct git_op *op);
};

static void
find_kind(struct remove_op *remove)
{
	struct git_op *op = &remove->save.op;
	struct git_trees trees = { 0 };

	git_op_trees(op, &trees);
	if (git_trees_is_users(&trees, git_root(op->git), op->dir))
		git_op_die(op, -EINVAL,
		    "%s is the repository's main working tree", op->dir);
	remove->clone = git_stand_is_clone(op->git, op->dir);
	remove->registered =
	    remove->clone || git_trees_at(&trees, op->dir) != NULL;
	if (!git_op_place_is_free(op->dir)) {
		if (!remove->registered)
			git_op_die(op, -EEXIST,
			    "%s is not a worktree of %s; it was left alone",
			    op->dir, git_root(op->git));
	} else if (file_is_dir(op->dir)) {
		rmdir(op->dir);
	}
	/* A removal that was killed in the middle may have lost the .git that
	 * the next one asks for. It repairs all worktrees; errors about others
	 * do not matter here. */
	if (remove->registered && file_is_dir(op->dir) &&
	    !git_trees_has_git(op->dir)) {
		op->run_dir = git_root(op->git);
		git_op_try(op, "worktree", "repair", NULL);
	}
}

/* False where the folder is gone: there is nothing to look at. One that is
 * refused cannot be saved from, but git itself would delete it. */
static bool
find_tree(struct remove_op *remove)
{
	struct git_op *op = &remove->save.op;
	struct err refused = { 0 };
	int r = -ENOENT;

	if (remove->registered)
		r = git_stand_find(
		    op->git, op->dir, &op->gitdir, &op->common, &refused);
	if (r == -EUCLEAN && git_trees_has_git(op->dir)) {
		op->err = refused;
		git_op_die_of(op);
	}
	return r >= 0;
}

/* A branch that cannot be saved or deleted stays, with its commits. */
static void
forgive(struct git_op *op)
{
	const struct remove_op *remove = op->self;

	if (op->err.code != -ECANCELED)
		memset(&op->err, 0, sizeof op->err);
	if (remove->undo != NULL)
		remove->undo(op);
}

static void
remove_run(struct git_op *op)
{
	struct remove_op *remove = op->self;
	struct git_save *save = &remove->save;
	char id[GIT_ID_SIZE];
	bool there;

	find_kind(remove);
	there = find_tree(remove);
	if (there) {
		check_inside(op);
		git_op_need_onto(op);
		git_save_run(save);
		save->out.clean = false;
		/* Branches and stashes of its own. What is unmerged is saved
		 * already. */
		if (remove->clone)
			git_clone_op_keep(
			    op, git_op_text(op, "%s-refs", save->ref), true);
	} else {
		git_follow_gone(op);
	}
	if (remove->clone)
		git_clone_op_delete(op, op->dir);
	else if (remove->registered)
		git_op_unregister(op, op->dir);
	/* What is left is the branch. */
	remove->undo = op->undo;
	op->undo = forgive;
	git_op_branch_tip(op, save->branch, id);
	if (id[0] == '\0')
		return;
	if (!there) {
		op->dir = git_op_copy(op, git_root(op->git));
		git_op_need_gitdir(op);
		git_op_need_onto(op);
		memcpy(op->head_id, id, GIT_ID_SIZE);
		git_save_commits(save);
		save->out.clean = false;
	}
	op->run_dir = git_root(op->git);
	git_op_must(op, "branch", "--quiet", "-D", "--", save->branch, NULL);
}

void
git_remove(struct git *git, const char *dir, const struct git_salvage *what,
    git_salvage_fn *fn, void *arg)
{
	struct remove_op *remove = git_save_new(sizeof *remove, git, dir,
	    what->onto, what, true, remove_run, fn, arg);

	git_op_begin(&remove->save.op, true);
}
