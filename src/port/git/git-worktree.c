/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "git-follow.h"
#include "git-op.h"
#include "git-records.h"
#include "git-worktree.h"
#include "mem.h"

static const char heads[] = "refs/heads/";

static void
tree_attribute(struct git_tree *tree, const char *record)
{
	static const char branch[] = "branch ";

	if (strncmp(record, branch, strlen(branch)) == 0 &&
	    tree->branch == NULL)
		tree->branch = xstrdup(record + strlen(branch));
	else if (strcmp(record, "locked") == 0)
		tree->locked = true;
	else if (strncmp(record, "locked ", 7) == 0) {
		tree->locked = true;
		tree->unfinished = strcmp(record + 7, "initializing") == 0;
	}
}

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
			tree_attribute(&trees->v[trees->count - 1], record);
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
	char branch_id[GIT_ID_SIZE];
	struct git_trees trees;
	bool registered, repaired, unregister;
	char *stale; /* a worktree that is gone, but holds the branch */
	git_work_fn *fn;
	void *arg;
	git_drop_fn *drop; /* gets arg when fn does not; NULL = nothing */
};

static enum git_op_next
add_ask_trees(struct git_op *op)
{
	const struct tree_op *tree = op->self;

	/* The second check is only for what was repaired after the first. */
	if (op->at > 0 && !tree->repaired)
		return GIT_OP_NEXT;
	return git_op_ask_trees(op);
}

/* Which worktree has the branch already? */
static enum git_op_next
add_check_branch(struct tree_op *tree)
{
	const struct git_tree *other = NULL;

	if (tree->branch == NULL)
		return GIT_OP_NEXT;
	while (
	    (other = git_trees_on(&tree->trees, tree->branch, other)) != NULL) {
		if (git_trees_same_path(other->path, tree->op.dir))
			continue;
		if (file_exists(other->path) || other->locked)
			return git_op_fail(&tree->op, -EBUSY,
			    "branch %s is checked out at %s", tree->branch,
			    other->path);
		free(tree->stale);
		tree->stale = xstrdup(other->path);
	}
	return GIT_OP_NEXT;
}

static enum git_op_next
add_trees(struct git_op *op, const struct git_answer *answer)
{
	struct tree_op *tree = op->self;
	const struct git_tree *here;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_trees_parse(&tree->trees, answer->out, answer->out_len);
	here = git_trees_at(&tree->trees, op->dir);
	if (git_trees_is_users(&tree->trees, git_root(op->git), op->dir))
		return git_op_fail(op, -EEXIST,
		    "%s is the repository's main working tree", op->dir);
	tree->registered = here != NULL;
	if (git_op_place_is_free(op->dir)) {
		tree->unregister = tree->registered;
	} else if (here != NULL && git_trees_has_git(op->dir)) {
		if (!here->unfinished)
			return GIT_OP_DONE;
		tree->unregister = true;
	} else if (!tree->registered || tree->repaired) {
		return git_op_fail(op, -EEXIST,
		    "%s is not empty and not a worktree of %s; move it away, "
		    "or type: git worktree repair %s",
		    op->dir, git_root(op->git), op->dir);
	}
	return add_check_branch(tree);
}

/* A folder whose .git was deleted gets it back. */
static enum git_op_next
add_ask_repair(struct git_op *op)
{
	struct tree_op *tree = op->self;

	if (!tree->registered || tree->unregister)
		return GIT_OP_NEXT;
	tree->repaired = true;
	op->run_dir = git_root(op->git);
	return git_op_args(op, "worktree", "repair", NULL);
}

/* It repairs all worktrees; errors about others do not matter here. */
static enum git_op_next
add_repair(struct git_op *op, const struct git_answer *answer)
{
	(void)op;
	(void)answer;
	return GIT_OP_NEXT;
}

static enum git_op_next
add_ask_follow(struct git_op *op)
{
	const struct tree_op *tree = op->self;

	return tree->unregister && tree->branch != NULL ?
	    git_follow_ask_gone(op) :
	    GIT_OP_NEXT;
}

static enum git_op_next
add_ask_unregister(struct git_op *op)
{
	const struct tree_op *tree = op->self;

	if (!tree->unregister)
		return GIT_OP_NEXT;
	/* git removes a folder only with its .git in it. */
	if (git_op_place_is_free(op->dir))
		rmdir(op->dir);
	return git_op_ask_unregister(op, op->dir);
}

static enum git_op_next
add_ask_stale(struct git_op *op)
{
	const struct tree_op *tree = op->self;

	return tree->stale != NULL ? git_op_ask_unregister(op, tree->stale) :
				     GIT_OP_NEXT;
}

static enum git_op_next
ask_branch(struct git_op *op)
{
	const struct tree_op *tree = op->self;
	cleanup_free char *name = NULL;

	if (tree->branch == NULL)
		return GIT_OP_NEXT;
	name = git_op_branch_name(tree->branch);
	op->run_dir = git_root(op->git);
	return git_op_ask_ids(op, (const char *[]){ name, NULL });
}

static enum git_op_next
take_branch(struct git_op *op, const struct git_answer *answer)
{
	struct tree_op *tree = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, &tree->branch_id, 1);
	return GIT_OP_NEXT;
}

static enum git_op_next
add_ask_onto(struct git_op *op)
{
	op->run_dir = git_root(op->git);
	return git_op_ask_onto(op);
}

/* Of a worker whose branch follows (git-follow.h). */
static bool
is_detached(const struct tree_op *tree)
{
	struct git_home home;

	return tree->branch != NULL &&
	    git_home(tree->op.git, tree->op.dir, &home) && home.detached;
}

static enum git_op_next
add_ask_new_branch(struct git_op *op)
{
	const struct tree_op *tree = op->self;

	if (!is_detached(tree) || tree->branch_id[0] != '\0')
		return GIT_OP_NEXT;
	op->run_dir = git_root(op->git);
	return git_op_args(
	    op, "branch", "--no-track", "--", tree->branch, op->onto_id, NULL);
}

static enum git_op_next
add_ask(struct git_op *op)
{
	const struct tree_op *tree = op->self;

	op->run_dir = git_root(op->git);
	git_op_args(op, "worktree", "add", "--quiet", NULL);
	if (is_detached(tree))
		return git_op_args(op, "--detach", "--", op->dir,
		    tree->branch_id[0] != '\0' ? tree->branch_id : op->onto_id,
		    NULL);
	if (tree->branch == NULL)
		return git_op_args(op, "--detach", "--no-checkout", "--",
		    op->dir, op->onto_id, NULL);
	if (tree->branch_id[0] != '\0')
		return git_op_args(op, "--", op->dir, tree->branch, NULL);
	return git_op_args(op, "--no-track", "-b", tree->branch, "--", op->dir,
	    op->onto_id, NULL);
}

static const struct git_op_step add_steps[] = {
	{ .ask = add_ask_trees, .answer = add_trees },
	{ .ask = add_ask_repair, .answer = add_repair },
	{ .ask = add_ask_trees, .answer = add_trees },
	{ .ask = add_ask_follow },
	{ .ask = add_ask_unregister },
	{ .ask = add_ask_stale },
	{ .ask = ask_branch, .answer = take_branch },
	{ .ask = add_ask_onto, .answer = git_op_onto },
	{ .ask = add_ask_new_branch },
	{ .ask = add_ask },
};

static void
tree_finish(struct git_op *op, const struct err *err)
{
	struct tree_op *tree = op->self;

	tree->drop = NULL;
	tree->fn(err, tree->arg);
}

static void
tree_release(struct git_op *op)
{
	struct tree_op *tree = op->self;

	if (tree->drop != NULL)
		tree->drop(tree->arg);
	free(tree->branch);
	free(tree->stale);
	git_trees_release(&tree->trees);
}

static struct tree_op *
tree_new(const char *branch, git_work_fn *fn, void *arg)
{
	struct tree_op *tree = xcalloc(1, sizeof *tree);

	xstrset(&tree->branch, branch);
	tree->fn = fn;
	tree->arg = arg;
	tree->op.self = tree;
	tree->op.finish = tree_finish;
	tree->op.release = tree_release;
	return tree;
}

void
git_worktree_add(struct git *git, const char *dir, const char *branch,
    const char *onto, git_work_fn *fn, void *arg)
{
	struct tree_op *tree = tree_new(branch, fn, arg);

	tree->op.onto = xstrdup(onto);
	git_op_start(&tree->op, git, dir, add_steps, nitems(add_steps), true);
}

void
git_worktree_add_detached(struct git *git, const char *dir, const char *onto,
    git_work_fn *fn, git_drop_fn *drop, void *arg)
{
	struct tree_op *tree = tree_new(NULL, fn, arg);

	tree->drop = drop;
	tree->op.onto = xstrdup(onto);
	git_op_start(&tree->op, git, dir, add_steps, nitems(add_steps), true);
}

/* --- locks ----------------------------------------------------------- */

static enum git_op_next
unlock_ask(struct git_op *op)
{
	const struct tree_op *tree = op->self;
	cleanup_free char *branch =
	    xasprintf("refs/heads/%s.lock", tree->branch);

	return git_op_args(op, "rev-parse", "--git-path", branch, NULL);
}

static enum git_op_next
unlock(struct git_op *op, const struct git_answer *answer)
{
	cleanup_free char *index = file_join(op->gitdir, "index.lock");
	cleanup_free char *head = file_join(op->gitdir, "HEAD.lock");
	cleanup_free char *branch = NULL;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	branch = answer->out[0] == '/' ? xstrdup(answer->out) :
					 file_join(op->dir, answer->out);
	for (size_t i = 0; i < 3; i++) {
		const char *path = (const char *[]){ index, head, branch }[i];

		if (unlink(path) == -1 && errno != ENOENT)
			return git_op_fail(op, -errno,
			    "%s cannot be removed (error %d)", path, errno);
	}
	return GIT_OP_NEXT;
}

static const struct git_op_step unlock_steps[] = {
	GIT_OP_GITDIR,
	{ .ask = unlock_ask, .answer = unlock },
};

void
git_worktree_unlock(struct git *git, const char *dir, const char *branch,
    git_work_fn *fn, void *arg)
{
	struct tree_op *tree = tree_new(branch, fn, arg);

	git_op_start(
	    &tree->op, git, dir, unlock_steps, nitems(unlock_steps), false);
}
