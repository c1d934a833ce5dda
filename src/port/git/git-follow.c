/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "git-clone.h"
#include "git-follow.h"
#include "git-refs.h"
#include "git-stand.h"
#include "git-verify.h"
#include "git-worktree.h"
#include "mem.h"

#define NOTE_MAX 4096

int
git_follow_elsewhere(
    const struct git *git, const char *dir, char **ret_path, struct err *err)
{
	struct git_trees trees = { 0 };
	const struct git_tree *other = NULL;
	struct git_home home;
	int r;

	*ret_path = NULL;
	if (!git_home(git, dir, &home))
		return 0;
	r = git_dirs_trees(git_root(git), &trees, err);
	while (r == 0 && *ret_path == NULL &&
	    (other = git_trees_on(&trees, home.branch, other)) != NULL)
		if (!git_trees_same_path(other->path, dir))
			*ret_path = xstrdup(other->path);
	git_trees_release(&trees);
	return r;
}

enum git_op_next
git_follow_ask_trees(struct git_op *op)
{
	cleanup_free char *path = NULL;
	struct git_home home;

	if (!git_home(op->git, op->dir, &home))
		return GIT_OP_DONE;
	if (git_follow_elsewhere(op->git, op->dir, &path, &op->err) < 0)
		return GIT_OP_FAIL;
	if (path == NULL)
		return GIT_OP_NEXT;
	return git_op_fail(op, -EBUSY,
	    "branch %s is checked out at %s, so %s cannot stand on it; type: "
	    "git -C '%s' switch --detach",
	    home.branch, path, home.worker, path);
}

/* --- HEAD on a branch -------------------------------------------------- */

/* A worker in a box can switch to a branch, but not commit to it. */
static enum git_op_next
follow_ask_id(struct git_op *op)
{
	cleanup_free char *own = NULL;
	struct git_home home;

	if (op->followed[0] != '\0' || !git_home(op->git, op->dir, &home))
		return GIT_OP_NEXT;
	own = git_op_branch_name(home.branch);
	return git_op_ask_ids(
	    op, (const char *[]){ "HEAD^{commit}", own, NULL });
}

/* It may be one without a commit, as git checkout --orphan makes it. */
static enum git_op_next
follow_id(struct git_op *op, const struct git_answer *answer)
{
	char ids[2][GIT_ID_SIZE];

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, ids, nitems(ids));
	strlcpy(op->followed, ids[ids[0][0] == '\0'], sizeof op->followed);
	return op->followed[0] != '\0' ? GIT_OP_NEXT : GIT_OP_DONE;
}

/* Files and index stay. */
static enum git_op_next
follow_ask_detach(struct git_op *op)
{
	cleanup_free char *head = git_dirs_head(op->gitdir);

	if (head == NULL || op->follow_gone)
		return GIT_OP_NEXT;
	git_op_no_hooks(op);
	return git_op_args(op, "update-ref", "--no-deref", "-m", "llmc: detach",
	    "HEAD", op->followed, NULL);
}

static enum git_op_next
follow_detached(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	return strcmp(op->follows, op->followed) == 0 ? GIT_OP_DONE :
							GIT_OP_NEXT;
}

/* --- the branch -------------------------------------------------------- */

/* Everything that no branch has yet is read, and compared with its name. */
static enum git_op_next
follow_ask_whole(struct git_op *op)
{
	cleanup_free char *commit = xasprintf("%s^{commit}", op->followed);

	op->run_dir = git_root(op->git);
	return git_op_args(op, "rev-list", "--objects", "--verify-objects",
	    "--quiet", commit, "--not", "--branches", "--", NULL);
}

static enum git_op_next
follow_whole(struct git_op *op, const struct git_answer *answer)
{
	struct git_home home;

	/* Contents that are not those of the name are only told. */
	if (answer->status == 0 &&
	    strstr(answer->complaint, "hash mismatch") == NULL)
		return GIT_OP_NEXT;
	if (op->follow_gone)
		return GIT_OP_DONE;
	if (answer->err != NULL || !git_home(op->git, op->dir, &home))
		return git_op_complain(op, answer);
	return git_op_fail(op, -EIO,
	    "HEAD of %s is %.12s, which is not whole in the repository, so "
	    "branch %s does not follow (%s); type: llmc reset %s",
	    op->dir, op->followed, home.branch, answer->complaint, home.worker);
}

static enum git_op_next
follow_ask_move(struct git_op *op)
{
	struct git_home home;
	cleanup_free char *ref = NULL, *path = NULL;

	if (!git_home(op->git, op->dir, &home))
		return GIT_OP_DONE;
	if (git_follow_elsewhere(op->git, op->dir, &path, &op->err) < 0)
		return GIT_OP_FAIL;
	/* HEAD has the work; the branch follows when it is left. */
	if (path != NULL)
		return GIT_OP_DONE;
	ref = xasprintf("refs/heads/%s", home.branch);
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	git_op_args(op, "update-ref", "--no-deref", "--create-reflog", "-m",
	    "llmc: follow", ref, op->followed, NULL);
	/* "" as the old value: it must not exist. */
	if (op->follows_known)
		git_op_arg(op, op->follows);
	return GIT_OP_ASK;
}

static const struct git_op_step follow_steps[] = {
	{ .ask = follow_ask_id, .answer = follow_id },
	{ .ask = follow_ask_detach, .answer = follow_detached },
	{ .ask = follow_ask_whole, .answer = follow_whole },
	{ .ask = follow_ask_move },
};

/* --- of a clone -------------------------------------------------------- */

static enum git_op_next
clone_ask_head(struct git_op *op)
{
	return op->followed[0] != '\0' ?
	    GIT_OP_NEXT :
	    git_op_ask_ids(op, (const char *[]){ "HEAD^{commit}", NULL });
}

static enum git_op_next
clone_head(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, &op->followed, 1);
	return op->followed[0] == '\0' ||
		(op->follows_known && strcmp(op->followed, op->follows) == 0) ?
	    GIT_OP_DONE :
	    GIT_OP_NEXT;
}

/* It checks all objects, and that none is missing. */
static enum git_op_next
clone_ask_import(struct git_op *op)
{
	return git_clone_op_ask_import(op, op->followed);
}

static const struct git_op_step clone_steps[] = {
	{ .ask = clone_ask_head, .answer = clone_head },
	{ .ask = clone_ask_import },
	{ .ask = follow_ask_move },
};

/* During a rebase, another one is of a cherry-pick by the worker. */
static bool
is_of_rebase(const char *pick, const char *rebase)
{
	cleanup_buf struct buf one = BUF_INIT, other = BUF_INIT;

	return file_read(pick, NOTE_MAX, &one, NULL) == 0 &&
	    file_read(rebase, NOTE_MAX, &other, NULL) == 0 &&
	    strcmp(one.data, other.data) == 0;
}

void
git_follow_tidy(const struct git_op *op)
{
	cleanup_free char *pick = NULL, *rebase = NULL;
	struct git_home home;

	/* It comes from a rebase if that has noted its commit, too. */
	if (!git_home(op->git, op->dir, &home) || !home.detached ||
	    home.clone || !git_op_has(op, "REBASE_HEAD") ||
	    git_op_has(op, "sequencer"))
		return;
	pick = file_join(op->gitdir, "CHERRY_PICK_HEAD");
	rebase = file_join(op->gitdir, "REBASE_HEAD");
	if (!git_op_rebasing(op)) {
		unlink(pick);
		unlink(rebase);
	} else if (is_of_rebase(pick, rebase))
		unlink(pick);
}

enum git_op_next
git_follow_ask(struct git_op *op)
{
	cleanup_free char *ref = NULL;
	struct git_home home;
	int r;

	op->followed[0] = op->follows[0] = '\0';
	git_follow_tidy(op);
	if (!git_home(op->git, op->dir, &home) || !home.detached ||
	    git_op_rebasing(op))
		return GIT_OP_NEXT;
	git_dirs_detached(op->gitdir, op->followed, sizeof op->followed);
	if (op->followed[0] == '\0' && op->follow_gone)
		return GIT_OP_NEXT;
	ref = xasprintf("refs/heads/%s", home.branch);
	r = git_refs_read(op->common, ref, op->follows);
	op->follows_known = r == 0 || r == -ENOENT;
	if (r == 0 && strcmp(op->follows, op->followed) == 0)
		return GIT_OP_NEXT;
	return home.clone ? git_op_call(op, clone_steps, nitems(clone_steps)) :
			    git_op_call(op, follow_steps, nitems(follow_steps));
}

enum git_op_next
git_follow_ask_gone(struct git_op *op)
{
	cleanup_free char *root = NULL, *common = NULL, *gitdir = NULL;
	struct git_home home;

	if (!git_home(op->git, op->dir, &home) || !home.detached)
		return GIT_OP_NEXT;
	if (git_verify_common(git_root(op->git), git_root(op->git), &root,
		&common, &op->err) < 0)
		return GIT_OP_FAIL;
	gitdir = git_dirs_registered(common, op->dir);
	if (gitdir == NULL)
		return GIT_OP_NEXT;
	xstrset(&op->gitdir, gitdir);
	xstrset(&op->common, common);
	op->follow_gone = true;
	return git_follow_ask(op);
}

/* --- alone ------------------------------------------------------------- */

struct follow_op {
	struct git_op op;
	git_id_fn *fn;
	void *arg;
};

static const struct git_op_step alone_steps[] = {
	GIT_OP_GITDIR,
	GIT_FOLLOW,
};

static void
follow_finish(struct git_op *op, const struct err *err)
{
	const struct follow_op *follow = op->self;

	follow->fn(err == NULL ? op->followed : NULL, err, follow->arg);
}

void
git_follow(struct git *git, const char *dir, git_id_fn *fn, void *arg)
{
	struct follow_op *follow = xcalloc(1, sizeof *follow);

	follow->fn = fn;
	follow->arg = arg;
	follow->op.self = follow;
	follow->op.finish = follow_finish;
	git_op_start(
	    &follow->op, git, dir, alone_steps, nitems(alone_steps), false);
}
