/* SPDX-License-Identifier: ISC */

/* Makes the one commit that lands. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "git-clone.h"
#include "git-op.h"
#include "git-records.h"
#include "git-squash.h"
#include "mem.h"

enum person {
	AUTHOR_NAME,
	AUTHOR_EMAIL,
	AUTHOR_DATE,
	COMMITTER_DATE,
	PERSON_COUNT
};

struct squash_op {
	struct git_op op;
	char *ref, *message;
	char head_tree[GIT_ID_SIZE], onto_tree[GIT_ID_SIZE];
	bool on_top; /* HEAD contains onto */
	char *person[PERSON_COUNT];
	char id[GIT_ID_SIZE]; /* "" = nothing to land */
	git_id_fn *fn;
	void *arg;
};

static enum git_op_next
squash_ask_on_top(struct git_op *op)
{
	const struct squash_op *squash = op->self;

	if (squash->message[strspn(squash->message, " \t\r\n")] == '\0')
		return git_op_fail(
		    op, -EINVAL, "a commit without a message cannot land");
	if (op->head_id[0] == '\0')
		return git_op_fail(
		    op, -ENOENT, "there is no commit in %s", op->dir);
	return git_op_ask_ancestor(op, op->onto_id, op->head_id);
}

static enum git_op_next
squash_on_top(struct git_op *op, const struct git_answer *answer)
{
	struct squash_op *squash = op->self;

	if (answer->status > 1)
		return git_op_complain(op, answer);
	squash->on_top = answer->status == 0;
	return GIT_OP_NEXT;
}

static enum git_op_next
squash_ask_contained(struct git_op *op)
{
	const struct squash_op *squash = op->self;

	if (squash->on_top)
		return GIT_OP_NEXT;
	return git_op_ask_ancestor(op, op->head_id, op->onto_id);
}

static enum git_op_next
squash_contained(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status > 1)
		return git_op_complain(op, answer);
	if (answer->status == 0)
		return GIT_OP_DONE;
	return git_op_fail(op, -ESTALE,
	    "%s is not on top of %s: rebase it first", op->dir, op->onto);
}

static enum git_op_next
squash_ask_trees(struct git_op *op)
{
	cleanup_free char *head = xasprintf("%s^{tree}", op->head_id);
	cleanup_free char *onto = xasprintf("%s^{tree}", op->onto_id);

	return git_op_ask_ids(op, (const char *[]){ head, onto, NULL });
}

static enum git_op_next
squash_trees(struct git_op *op, const struct git_answer *answer)
{
	struct squash_op *squash = op->self;
	char ids[2][GIT_ID_SIZE];

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, ids, nitems(ids));
	if (ids[0][0] == '\0' || ids[1][0] == '\0')
		return git_op_fail(op, -EIO,
		    "a tree is missing in %s; type: git fsck",
		    git_root(op->git));
	memcpy(squash->head_tree, ids[0], GIT_ID_SIZE);
	memcpy(squash->onto_tree, ids[1], GIT_ID_SIZE);
	return strcmp(ids[0], ids[1]) == 0 ? GIT_OP_DONE : GIT_OP_NEXT;
}

static enum git_op_next
squash_ask_person(struct git_op *op)
{
	return git_op_args(op, "log", "-z", "--max-count=1", "--date=raw",
	    "--no-show-signature", "--format=%an%x00%ae%x00%ad%x00%cd",
	    op->head_id, "--", NULL);
}

static enum git_op_next
squash_person(struct git_op *op, const struct git_answer *answer)
{
	struct squash_op *squash = op->self;
	struct git_records records;
	const char *record;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_records_init(&records, answer->out, answer->out_len);
	for (size_t i = 0; i < PERSON_COUNT; i++) {
		record = git_records_next(&records);
		if (record == NULL)
			return git_op_fail(op, -EPROTO,
			    "git log did not print the author of HEAD");
		squash->person[i] = xstrdup(record);
	}
	return GIT_OP_NEXT;
}

static enum git_op_next
squash_ask_commit(struct git_op *op)
{
	const struct squash_op *squash = op->self;

	git_op_env(op, "GIT_AUTHOR_NAME=%s", squash->person[AUTHOR_NAME]);
	git_op_env(op, "GIT_AUTHOR_EMAIL=%s", squash->person[AUTHOR_EMAIL]);
	git_op_env(op, "GIT_AUTHOR_DATE=@%s", squash->person[AUTHOR_DATE]);
	git_op_env(
	    op, "GIT_COMMITTER_DATE=@%s", squash->person[COMMITTER_DATE]);
	buf_adds(&op->input, squash->message);
	return git_op_args(op, "commit-tree", squash->head_tree, "-p",
	    op->onto_id, "-F", "-", NULL);
}

static enum git_op_next
squash_commit(struct git_op *op, const struct git_answer *answer)
{
	struct squash_op *squash = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	strlcpy(squash->id, answer->out, sizeof squash->id);
	return GIT_OP_NEXT;
}

static enum git_op_next
squash_ask_import(struct git_op *op)
{
	const struct squash_op *squash = op->self;

	return git_clone_op_ask_import(op, squash->id);
}

static enum git_op_next
squash_ask_ref(struct git_op *op)
{
	const struct squash_op *squash = op->self;

	op->run_dir = git_root(op->git);
	return git_op_args(op, "update-ref", squash->ref, squash->id, NULL);
}

static const struct git_op_step squash_steps[] = {
	GIT_OP_ONTO,
	{ .ask = squash_ask_on_top, .answer = squash_on_top },
	{ .ask = squash_ask_contained, .answer = squash_contained },
	{ .ask = squash_ask_trees, .answer = squash_trees },
	GIT_OP_IDENTITY,
	{ .ask = squash_ask_person, .answer = squash_person },
	{ .ask = squash_ask_commit, .answer = squash_commit },
	{ .ask = squash_ask_import },
	{ .ask = squash_ask_ref },
};

static void
squash_finish(struct git_op *op, const struct err *err)
{
	struct squash_op *squash = op->self;

	squash->fn(err == NULL ? squash->id : NULL, err, squash->arg);
}

static void
squash_release(struct git_op *op)
{
	struct squash_op *squash = op->self;

	for (size_t i = 0; i < PERSON_COUNT; i++)
		free(squash->person[i]);
	free(squash->ref);
	free(squash->message);
}

void
git_squash(struct git *git, const char *dir, const char *worker,
    const char *onto, const char *message, git_id_fn *fn, void *arg)
{
	struct squash_op *squash = xcalloc(1, sizeof *squash);

	squash->ref = xasprintf("refs/llmc/landing/%s", worker);
	squash->message = xstrdup(message);
	squash->fn = fn;
	squash->arg = arg;
	squash->op.onto = xstrdup(onto);
	squash->op.self = squash;
	squash->op.finish = squash_finish;
	squash->op.release = squash_release;
	git_op_start(
	    &squash->op, git, dir, squash_steps, nitems(squash_steps), false);
}
