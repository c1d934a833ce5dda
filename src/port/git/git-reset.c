/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"
#include "git-dirs.h"
#include "git-op.h"
#include "git-refs.h"
#include "git-reset.h"
#include "git-trees.h"
#include "mem.h"

#define STALE_LOCK_MS (INT64_C(10) * 60 * 1000)

struct reset_op {
	struct git_op op;
	char *branch;
	char *clean_head; /* not NULL: nothing is lost that is not in it */
	char *same; /* has its tree; NULL = not known */
	git_work_fn *fn;
	void *arg;
};

/* A ref is never moved under a checkout that does not follow. */
static enum git_op_next
judge_trees(struct git_op *op, const struct git_trees *trees)
{
	const struct reset_op *reset = op->self;
	const struct git_tree *other = NULL;

	while ((other = git_trees_on(trees, reset->branch, other)) != NULL)
		if (!git_trees_same_path(other->path, op->dir))
			return git_op_fail(op, -EBUSY,
			    "branch %s is checked out at %s", reset->branch,
			    other->path);
	return GIT_OP_NEXT;
}

static enum git_op_next
reset_ask_trees(struct git_op *op)
{
	struct git_trees trees = { 0 };
	enum git_op_next next;

	if (git_dirs_trees(git_root(op->git), &trees, NULL) < 0)
		next = git_op_ask_trees(op);
	else
		next = judge_trees(op, &trees);
	git_trees_release(&trees);
	return next;
}

static enum git_op_next
reset_trees(struct git_op *op, const struct git_answer *answer)
{
	struct git_trees trees = { 0 };
	enum git_op_next next;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_trees_parse(&trees, answer->out, answer->out_len);
	next = judge_trees(op, &trees);
	git_trees_release(&trees);
	return next;
}

static enum git_op_next
stale(struct git_op *op, const char *what)
{
	return git_op_fail(op, -ESTALE, "%s has changed: %s", op->dir, what);
}

/* Is it still where it was clean? */
static enum git_op_next
reset_look(struct git_op *op)
{
	const struct reset_op *reset = op->self;

	if (reset->clean_head == NULL)
		return GIT_OP_NEXT;
	if (git_op_rebasing(op) || git_op_has(op, "sequencer"))
		return stale(op, "a rebase is in progress");
	if (!git_dirs_is_on(op->gitdir, reset->branch))
		return stale(op, "another branch is checked out");
	if (strcmp(op->head_id, op->onto_id) == 0)
		return GIT_OP_DONE;
	return strcmp(op->head_id, reset->clean_head) == 0 ?
	    GIT_OP_NEXT :
	    stale(op, "HEAD has moved");
}

/* Left by a git that was killed: nobody else will ever remove it. */
static void
remove_stale_lock(const struct git_op *op)
{
	cleanup_free char *path = file_join(op->gitdir, "index.lock");
	struct stat st;

	if (stat(path, &st) == 0 &&
	    clock_wall_ms() - clock_file_ms(&st.st_mtim) > STALE_LOCK_MS)
		unlink(path);
}

/* Quit, not abort: HEAD and the files are set below. */
static enum git_op_next
reset_ask_quit(struct git_op *op)
{
	remove_stale_lock(op);
	if (!git_op_rebasing(op))
		return GIT_OP_NEXT;
	return git_op_args(op, "rebase", "--quit", NULL);
}

static enum git_op_next
reset_quit(struct git_op *op, const struct git_answer *answer)
{
	(void)answer;
	git_op_forget_rebase(op);
	return GIT_OP_NEXT;
}

static enum git_op_next
reset_ask_sequence(struct git_op *op)
{
	if (!git_op_has(op, "sequencer"))
		return GIT_OP_NEXT;
	return git_op_args(op, "cherry-pick", "--quit", NULL);
}

static enum git_op_next
reset_ask_checkout(struct git_op *op)
{
	const struct reset_op *reset = op->self;
	cleanup_free char *ref = xasprintf("refs/heads/%s", reset->branch);

	if (reset->same != NULL && strcmp(reset->same, op->onto_id) == 0)
		return git_op_args(op, "update-ref", "-m", "llmc: reset", ref,
		    op->onto_id, reset->clean_head, NULL);
	git_op_args(op, "checkout", "--quiet", "--no-track", NULL);
	if (reset->clean_head == NULL)
		git_op_arg(op, "--force");
	return git_op_args(op, "-B", reset->branch, op->onto_id, NULL);
}

/* Without --force it refuses to overwrite changes. */
static enum git_op_next
reset_checkout(struct git_op *op, const struct git_answer *answer)
{
	const struct reset_op *reset = op->self;

	if (answer->status == 0)
		return GIT_OP_NEXT;
	if (reset->clean_head != NULL && answer->err == NULL && !answer->locked)
		return stale(op, answer->complaint);
	return git_op_complain(op, answer);
}

static enum git_op_next
reset_ask_clean(struct git_op *op)
{
	const struct reset_op *reset = op->self;

	if (reset->clean_head != NULL)
		return GIT_OP_NEXT;
	return git_op_args(op, "clean", "-d", "--force", "--quiet", NULL);
}

static enum git_op_next
judge_result(struct git_op *op, const char *branch_id, const char *head_id)
{
	const struct reset_op *reset = op->self;

	if (strcmp(branch_id, op->onto_id) == 0 &&
	    strcmp(head_id, op->onto_id) == 0)
		return GIT_OP_DONE;
	return git_op_fail(op, -EIO,
	    "%s or branch %s was moved by somebody else in the meantime",
	    op->dir, reset->branch);
}

static enum git_op_next
reset_ask_verify(struct git_op *op)
{
	const struct reset_op *reset = op->self;
	cleanup_free char *branch = git_op_branch_name(reset->branch);
	cleanup_free char *ref = xasprintf("refs/heads/%s", reset->branch);
	cleanup_free char *common = git_dirs_common(op->gitdir);
	char branch_id[GIT_ID_SIZE], head_id[GIT_ID_SIZE];

	if (git_refs_read(common, ref, branch_id) == 0 &&
	    git_refs_head(op->gitdir, common, head_id) == 0)
		return judge_result(op, branch_id, head_id);
	return git_op_ask_ids(
	    op, (const char *[]){ branch, "HEAD^{commit}", NULL });
}

static enum git_op_next
reset_verify(struct git_op *op, const struct git_answer *answer)
{
	char ids[2][GIT_ID_SIZE];

	git_op_ids(answer, ids, nitems(ids));
	return judge_result(op, ids[0], ids[1]);
}

static const struct git_op_step reset_steps[] = {
	GIT_OP_GITDIR,
	{ .ask = reset_ask_trees, .answer = reset_trees },
	GIT_OP_ONTO,
	{ .ask = reset_look },
	{ .ask = reset_ask_quit, .answer = reset_quit },
	{ .ask = reset_ask_sequence },
	{ .ask = reset_ask_checkout, .answer = reset_checkout },
	{ .ask = reset_ask_clean },
	{ .ask = reset_ask_verify, .answer = reset_verify },
};

static void
reset_finish(struct git_op *op, const struct err *err)
{
	const struct reset_op *reset = op->self;

	reset->fn(err, reset->arg);
}

static void
reset_release(struct git_op *op)
{
	struct reset_op *reset = op->self;

	free(reset->branch);
	free(reset->clean_head);
	free(reset->same);
}

static void
reset_start(struct git *git, const char *dir,
    const struct git_reset_clean *what, git_work_fn *fn, void *arg)
{
	struct reset_op *reset = xcalloc(1, sizeof *reset);

	reset->branch = xstrdup(what->branch);
	xstrset(&reset->clean_head, what->head);
	xstrset(&reset->same, what->same);
	reset->fn = fn;
	reset->arg = arg;
	reset->op.self = reset;
	reset->op.finish = reset_finish;
	reset->op.release = reset_release;
	reset->op.onto = xstrdup(what->onto);
	git_op_start(
	    &reset->op, git, dir, reset_steps, nitems(reset_steps), false);
}

void
git_reset(struct git *git, const char *dir, const char *branch,
    const char *onto, git_work_fn *fn, void *arg)
{
	struct git_reset_clean what = { .branch = branch, .onto = onto };

	reset_start(git, dir, &what, fn, arg);
}

void
git_reset_clean(struct git *git, const char *dir,
    const struct git_reset_clean *what, git_work_fn *fn, void *arg)
{
	reset_start(git, dir, what, fn, arg);
}
