/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"
#include "git-op.h"
#include "git-refs.h"
#include "git-reset.h"
#include "git-save.h"
#include "git-stand.h"
#include "git-worktree.h"
#include "mem.h"

#define STALE_LOCK_MS (INT64_C(10) * 60 * 1000)

struct reset_op {
	struct git_save save; /* first */
	char *head, *same; /* as in git_reset */
	bool find_base;
	char base[GIT_ID_SIZE];
	bool elsewhere; /* the branch is checked out there, and stays */
	bool gentle; /* nothing is forced */
	bool refused; /* something was in the way of that */
	git_salvage_fn *fn;
	void *arg;
};

enum reset_step {
	RESET_GITDIR,
	RESET_ALIAS,
	RESET_TREES,
	RESET_ONTO,
	RESET_LOOK,
	RESET_SAVE,
	RESET_CHOOSE,
	RESET_QUIT,
	RESET_SEQUENCE,
	RESET_SWEEP,
	RESET_CHECKOUT,
	RESET_MOVE,
	RESET_CLEAN,
	RESET_VERIFY,
	RESET_BASE,
	RESET_COUNT
};

static bool
is_detached(const struct git_op *op)
{
	struct git_home home;

	return git_home(op->git, op->dir, &home) && home.detached;
}

/* A branch that is another name of a second one would move that. */
static enum git_op_next
reset_ask_alias(struct git_op *op)
{
	const struct reset_op *reset = op->self;
	cleanup_free char *alias =
	    git_dirs_alias(op->common, reset->save.branch);
	cleanup_free char *ref = xasprintf("refs/heads/%s", reset->save.branch);

	if (alias == NULL)
		return GIT_OP_NEXT;
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	return git_op_args(op, "symbolic-ref", "--delete", ref, NULL);
}

/* A ref is never moved under a checkout that does not follow: a tree that is
 * detached is reset without it. */
static enum git_op_next
judge_trees(struct git_op *op, const struct git_trees *trees)
{
	struct reset_op *reset = op->self;
	const struct git_tree *other = NULL;

	while ((other = git_trees_on(trees, reset->save.branch, other)) != NULL)
		if (!git_trees_same_path(other->path, op->dir)) {
			reset->elsewhere = true;
			if (!is_detached(op))
				return git_op_fail(op, -EBUSY,
				    "branch %s is checked out at %s",
				    reset->save.branch, other->path);
		}
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

/* Is it still where it was clean? */
static enum git_op_next
reset_look(struct git_op *op)
{
	struct reset_op *reset = op->self;

	if (reset->head == NULL || git_op_rebasing(op) ||
	    git_op_has(op, "sequencer") ||
	    !git_stand_is_on(op->git, op->dir, op->gitdir, reset->save.branch))
		return GIT_OP_NEXT;
	if (strcmp(op->head_id, op->onto_id) == 0) {
		op->at = RESET_MOVE;
		return is_detached(op) ? GIT_OP_AGAIN : GIT_OP_DONE;
	}
	if (strcmp(op->head_id, reset->head) != 0)
		return GIT_OP_NEXT;
	reset->gentle = true;
	op->at = RESET_CHECKOUT;
	return GIT_OP_AGAIN;
}

static enum git_op_next
reset_choose(struct git_op *op)
{
	struct reset_op *reset = op->self;

	reset->gentle = reset->save.clean && !reset->refused &&
	    !git_op_has(op, "sequencer");
	if (!reset->gentle)
		return GIT_OP_NEXT;
	if (strcmp(op->head_id, op->onto_id) == 0 &&
	    (!is_detached(op) ||
		strcmp(reset->save.branch_id, op->onto_id) == 0))
		return GIT_OP_DONE;
	op->at = RESET_CHECKOUT;
	return GIT_OP_AGAIN;
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

/* Nobody will finish what a killed `worktree add` began, but this does. */
static void
remove_unfinished_mark(const struct git_op *op)
{
	cleanup_free char *path = file_join(op->gitdir, "locked");
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, 64, &text, NULL) == 0 &&
	    strncmp(text.data, "initializing", 12) == 0)
		unlink(path);
}

/* Quit, not abort: HEAD and the files are set below. */
static enum git_op_next
reset_ask_quit(struct git_op *op)
{
	remove_stale_lock(op);
	remove_unfinished_mark(op);
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
reset_ask_clean(struct git_op *op)
{
	const struct reset_op *reset = op->self;

	if (reset->gentle)
		return GIT_OP_NEXT;
	return git_op_args(op, "clean", "-d", "--force", "--quiet", NULL);
}

/* Before the checkout: a .gitattributes that nobody committed could have it
 * need a filter or an encoding that fails. */
static enum git_op_next
reset_swept(struct git_op *op, const struct git_answer *answer)
{
	(void)op;
	(void)answer; /* what is left is removed after it, or is told there */
	return GIT_OP_NEXT;
}

static enum git_op_next
reset_ask_checkout(struct git_op *op)
{
	const struct reset_op *reset = op->self;
	cleanup_free char *ref = xasprintf("refs/heads/%s", reset->save.branch);

	if (reset->gentle && reset->same != NULL &&
	    strcmp(reset->same, op->onto_id) == 0)
		return is_detached(op) ?
		    git_op_args(op, "update-ref", "--no-deref", "-m",
			"llmc: reset", "HEAD", op->onto_id, reset->head, NULL) :
		    git_op_args(op, "update-ref", "-m", "llmc: reset", ref,
			op->onto_id, reset->head, NULL);
	git_op_args(op, "checkout", "--quiet", NULL);
	if (!reset->gentle)
		git_op_arg(op, "--force");
	if (is_detached(op))
		return git_op_args(op, "--detach", op->onto_id, NULL);
	return git_op_args(
	    op, "--no-track", "-B", reset->save.branch, op->onto_id, NULL);
}

/* What HEAD is not on does not go with it. What the branch had is saved. */
static enum git_op_next
reset_ask_move(struct git_op *op)
{
	const struct reset_op *reset = op->self;
	cleanup_free char *ref = xasprintf("refs/heads/%s", reset->save.branch);

	if (!is_detached(op))
		return GIT_OP_NEXT;
	git_op_forget_rebase(op);
	if (reset->elsewhere)
		return GIT_OP_NEXT;
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	return git_op_args(op, "update-ref", "--no-deref", "--create-reflog",
	    "-m", "llmc: reset", ref, op->onto_id, NULL);
}

/* Without --force it refuses to overwrite changes: somebody worked there since
 * it was found clean. */
static enum git_op_next
reset_checkout(struct git_op *op, const struct git_answer *answer)
{
	struct reset_op *reset = op->self;

	if (answer->status == 0)
		return GIT_OP_NEXT;
	if (!reset->gentle || answer->err != NULL || answer->locked)
		return git_op_complain(op, answer);
	reset->refused = true;
	op->at = RESET_SAVE;
	return GIT_OP_AGAIN;
}

static enum git_op_next
judge_result(struct git_op *op, const char *branch_id, const char *head_id)
{
	const struct reset_op *reset = op->self;

	if ((reset->elsewhere || strcmp(branch_id, op->onto_id) == 0) &&
	    strcmp(head_id, op->onto_id) == 0)
		return GIT_OP_NEXT;
	return git_op_fail(op, -EIO,
	    "%s or branch %s was moved by somebody else in the meantime",
	    op->dir, reset->save.branch);
}

static enum git_op_next
reset_ask_verify(struct git_op *op)
{
	const struct reset_op *reset = op->self;
	cleanup_free char *branch = git_op_known_branch(op, reset->save.branch);
	cleanup_free char *ref = xasprintf("refs/heads/%s", reset->save.branch);
	const char *common = op->common;
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

/* A commit that was built on the landing branch. */
static enum git_op_next
reset_ask_base(struct git_op *op)
{
	const struct reset_op *reset = op->self;
	cleanup_free char *landed = NULL;

	if (!reset->find_base || strcmp(reset->save.landed, op->onto) == 0)
		return GIT_OP_DONE;
	landed = git_op_known_branch(op, reset->save.landed);
	return git_op_args(op, "merge-base", op->onto_id, landed, NULL);
}

static enum git_op_next
reset_base(struct git_op *op, const struct git_answer *answer)
{
	struct reset_op *reset = op->self;

	if (answer->status == 0)
		strlcpy(reset->base, answer->out, sizeof reset->base);
	return GIT_OP_DONE;
}

static const struct git_op_step reset_steps[RESET_COUNT] = {
	[RESET_GITDIR] = GIT_OP_GITDIR,
	[RESET_ALIAS] = { .ask = reset_ask_alias },
	[RESET_TREES] = { .ask = reset_ask_trees, .answer = reset_trees },
	[RESET_ONTO] = GIT_OP_ONTO,
	[RESET_LOOK] = { .ask = reset_look },
	[RESET_SAVE] = GIT_SAVE,
	[RESET_CHOOSE] = { .ask = reset_choose },
	[RESET_QUIT] = { .ask = reset_ask_quit, .answer = reset_quit },
	[RESET_SEQUENCE] = { .ask = reset_ask_sequence },
	[RESET_SWEEP] = { .ask = reset_ask_clean, .answer = reset_swept },
	[RESET_CHECKOUT] = { .ask = reset_ask_checkout,
	    .answer = reset_checkout },
	[RESET_MOVE] = { .ask = reset_ask_move },
	[RESET_CLEAN] = { .ask = reset_ask_clean },
	[RESET_VERIFY] = { .ask = reset_ask_verify, .answer = reset_verify },
	[RESET_BASE] = { .ask = reset_ask_base, .answer = reset_base },
};

static void
reset_finish(struct git_op *op, const struct err *err)
{
	const struct reset_op *reset = op->self;
	struct git_salvaged saved = git_save_result(&reset->save);

	saved.clean = "";
	saved.base = strcmp(reset->save.landed, op->onto) == 0 ? op->onto_id :
								 reset->base;
	reset->fn(err == NULL ? &saved : NULL, err, reset->arg);
}

static void
reset_release(struct git_op *op)
{
	struct reset_op *reset = op->self;

	git_save_release(&reset->save);
	free(reset->head);
	free(reset->same);
}

void
git_reset(struct git *git, const char *dir, const struct git_reset *what,
    git_salvage_fn *fn, void *arg)
{
	struct reset_op *reset = xcalloc(1, sizeof *reset);
	struct git_op *op = &reset->save.op;

	git_save_init(&reset->save, &what->keep, true);
	xstrset(&reset->head, what->head);
	xstrset(&reset->same, what->same);
	reset->find_base = what->find_base;
	reset->fn = fn;
	reset->arg = arg;
	op->self = reset;
	op->finish = reset_finish;
	op->release = reset_release;
	op->onto = xstrdup(what->onto);
	git_op_start(op, git, dir, reset_steps, nitems(reset_steps), false);
}
