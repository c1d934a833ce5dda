/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"
#include "git-op.h"
#include "git-reset.h"
#include "git-trees.h"
#include "mem.h"

#define STALE_LOCK_MS (INT64_C(10) * 60 * 1000)

struct reset_op {
	struct git_op op;
	char *branch;
	git_work_fn *fn;
	void *arg;
};

/* A ref is never moved under a checkout that does not follow. */
static enum git_op_next
reset_trees(struct git_op *op, const struct git_answer *answer)
{
	const struct reset_op *reset = op->self;
	struct git_trees trees = { 0 };
	const struct git_tree *other = NULL;
	enum git_op_next next = GIT_OP_NEXT;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_trees_parse(&trees, answer->out, answer->out_len);
	while ((other = git_trees_on(&trees, reset->branch, other)) != NULL)
		if (!git_trees_same_path(other->path, op->dir))
			next = git_op_fail(op, -EBUSY,
			    "branch %s is checked out at %s", reset->branch,
			    other->path);
	git_trees_release(&trees);
	return next;
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

	return git_op_args(op, "checkout", "--quiet", "--force", "--no-track",
	    "-B", reset->branch, op->onto_id, NULL);
}

static enum git_op_next
reset_ask_clean(struct git_op *op)
{
	return git_op_args(op, "clean", "-d", "--force", "--quiet", NULL);
}

static enum git_op_next
reset_ask_verify(struct git_op *op)
{
	const struct reset_op *reset = op->self;
	cleanup_free char *branch = git_op_branch_name(reset->branch);

	return git_op_ask_ids(
	    op, (const char *[]){ branch, "HEAD^{commit}", NULL });
}

static enum git_op_next
reset_verify(struct git_op *op, const struct git_answer *answer)
{
	const struct reset_op *reset = op->self;
	char ids[2][GIT_ID_SIZE];

	git_op_ids(answer, ids, nitems(ids));
	if (strcmp(ids[0], op->onto_id) == 0 &&
	    strcmp(ids[1], op->onto_id) == 0)
		return GIT_OP_DONE;
	return git_op_fail(op, -EIO,
	    "%s or branch %s was moved by somebody else in the meantime",
	    op->dir, reset->branch);
}

static const struct git_op_step reset_steps[] = {
	GIT_OP_GITDIR,
	{ .ask = git_op_ask_trees, .answer = reset_trees },
	GIT_OP_ONTO,
	{ .ask = reset_ask_quit, .answer = reset_quit },
	{ .ask = reset_ask_sequence },
	{ .ask = reset_ask_checkout },
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
}

void
git_reset(struct git *git, const char *dir, const char *branch,
    const char *onto, git_work_fn *fn, void *arg)
{
	struct reset_op *reset = xcalloc(1, sizeof *reset);

	reset->branch = xstrdup(branch);
	reset->fn = fn;
	reset->arg = arg;
	reset->op.self = reset;
	reset->op.finish = reset_finish;
	reset->op.release = reset_release;
	reset->op.onto = xstrdup(onto);
	git_op_start(
	    &reset->op, git, dir, reset_steps, nitems(reset_steps), false);
}
