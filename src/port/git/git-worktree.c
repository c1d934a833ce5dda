/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-follow.h"
#include "git-op.h"
#include "git-records.h"
#include "git-worktree.h"

static const char heads[] = "refs/heads/";

void
git_trees_parse(struct git_trees *trees, const char *out, size_t len)
{
	static const char worktree[] = "worktree ";
	struct git_records records;
	const char *record;

	git_trees_release(trees);
	git_records_init(&records, out, len);
	while ((record = git_records_next(&records)) != NULL) {
		if (strncmp(record, worktree, strlen(worktree)) == 0) {
			trees->v = xreallocarray(
			    trees->v, trees->count + 1, sizeof *trees->v);
			trees->v[trees->count++] = (struct git_tree){
				.path = xstrdup(record + strlen(worktree))
			};
		} else if (trees->count > 0) {
			struct git_tree *tree = &trees->v[trees->count - 1];
			static const char branch[] = "branch ";

			if (strncmp(record, branch, strlen(branch)) == 0 &&
			    tree->branch == NULL)
				tree->branch = xstrdup(record + strlen(branch));
			else if (strcmp(record, "locked") == 0)
				tree->locked = true;
			else if (strncmp(record, "locked ", 7) == 0) {
				tree->locked = true;
				tree->unfinished =
				    strcmp(record + 7, "initializing") == 0;
			}
		}
	}
}

void
git_trees_release(struct git_trees *trees)
{
	for (size_t i = 0; i < trees->count; i++) {
		free(trees->v[i].path);
		free(trees->v[i].branch);
	}
	free(trees->v);
	memset(trees, 0, sizeof *trees);
}

/* Resolve links; if the path does not exist, only those of its folder. */
static char *
real_path(const char *path)
{
	cleanup_free char *real = realpath(path, NULL);
	cleanup_free char *parent = NULL, *folder = NULL;
	const char *slash = strrchr(path, '/');

	if (real != NULL)
		return take_ptr(&real);
	if (slash == NULL || slash == path)
		return xstrdup(path);
	folder = xstrndup(path, (size_t)(slash - path));
	parent = real_path(folder);
	return xasprintf("%s%s", strcmp(parent, "/") == 0 ? "" : parent, slash);
}

bool
git_trees_same_path(const char *a, const char *b)
{
	cleanup_free char *real_a = NULL, *real_b = NULL;

	if (strcmp(a, b) == 0)
		return true;
	real_a = real_path(a);
	real_b = real_path(b);
	return strcmp(real_a, real_b) == 0;
}

const struct git_tree *
git_trees_at(const struct git_trees *trees, const char *dir)
{
	for (size_t i = 0; i < trees->count; i++)
		if (git_trees_same_path(trees->v[i].path, dir))
			return &trees->v[i];
	return NULL;
}

const struct git_tree *
git_trees_on(const struct git_trees *trees, const char *branch,
    const struct git_tree *after)
{
	size_t i = after != NULL ? (size_t)(after - trees->v) + 1 : 0;

	for (; i < trees->count; i++) {
		const char *ref = trees->v[i].branch;

		if (ref != NULL && strncmp(ref, heads, strlen(heads)) == 0 &&
		    strcmp(ref + strlen(heads), branch) == 0)
			return &trees->v[i];
	}
	return NULL;
}

bool
git_trees_is_users(
    const struct git_trees *trees, const char *root, const char *dir)
{
	return git_trees_same_path(root, dir) ||
	    (trees->count > 0 && git_trees_same_path(trees->v[0].path, dir));
}

bool
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
	struct git_trees trees = { 0 };

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
		*ret_stale = other->path;
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

void
git_worktree_op_add(struct git_op *op, const char *branch)
{
	const char *root = git_root(op->git);
	char id[1][GIT_ID_SIZE] = { "" };
	struct git_home home;
	/* Of a worker whose branch follows (git-follow.h). */
	bool detached = branch != NULL && git_home(op->git, op->dir, &home) &&
	    home.detached;

	if (!clear_place(op, branch))
		return;
	if (branch != NULL) {
		op->run_dir = root;
		git_op_find_ids(op,
		    (const char *[]){
			git_op_text(op, "refs/heads/%s^{commit}", branch),
			NULL },
		    id);
	}
	op->run_dir = root;
	git_op_need_onto(op);
	if (detached && id[0][0] == '\0') {
		op->run_dir = root;
		git_op_must(op, "branch", "--no-track", "--", branch,
		    op->onto_id, NULL);
	}
	op->run_dir = root;
	git_op_args(op, "worktree", "add", "--quiet", NULL);
	if (detached)
		git_op_must(op, "--detach", "--", op->dir,
		    id[0][0] != '\0' ? id[0] : op->onto_id, NULL);
	else if (branch == NULL)
		git_op_must(op, "--detach", "--no-checkout", "--", op->dir,
		    op->onto_id, NULL);
	else if (id[0][0] != '\0')
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
