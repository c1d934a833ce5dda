/* SPDX-License-Identifier: ISC */

/* Makes the one commit that lands. */

#include "base.h"
#include "git-clone.h"
#include "git-op.h"
#include "git-records.h"
#include "git-squash.h"

struct squash_op {
	struct git_op op;
	char *ref, *message;
	char id[GIT_ID_SIZE]; /* "" = nothing to land */
	git_id_fn *fn;
};

static void
squash_run(struct git_op *op)
{
	static const char *const person[] = { "GIT_AUTHOR_NAME=",
		"GIT_AUTHOR_EMAIL=", "GIT_AUTHOR_DATE=@",
		"GIT_COMMITTER_DATE=@" };
	struct squash_op *squash = op->self;
	char trees[2][GIT_ID_SIZE];
	struct git_records records;
	const char *record;

	git_op_need_onto(op);
	if (squash->message[strspn(squash->message, " \t\r\n")] == '\0')
		git_op_die(
		    op, -EINVAL, "a commit without a message cannot land");
	if (op->head_id[0] == '\0')
		git_op_die(op, -ENOENT, "there is no commit in %s", op->dir);
	if (!git_op_is_ancestor(op, op->onto_id, op->head_id)) {
		if (git_op_is_ancestor(op, op->head_id, op->onto_id))
			return;
		git_op_die(op, -ESTALE,
		    "%s is not on top of %s: rebase it first", op->dir,
		    op->onto);
	}
	git_op_find_ids(op,
	    (const char *[]){ git_op_text(op, "%s^{tree}", op->head_id),
		git_op_text(op, "%s^{tree}", op->onto_id), NULL },
	    trees);
	if (trees[0][0] == '\0' || trees[1][0] == '\0')
		git_op_die(op, -EIO, "a tree is missing in %s; type: git fsck",
		    git_root(op->git));
	if (strcmp(trees[0], trees[1]) == 0)
		return;
	git_op_need_identity(op);
	git_op_must(op, "log", "-z", "--max-count=1", "--date=raw",
	    "--no-show-signature", "--format=%an%x00%ae%x00%ad%x00%cd",
	    op->head_id, "--", NULL);
	git_records_init(&records, op->answer.out, op->answer.out_len);
	for (size_t i = 0; i < nitems(person); i++) {
		record = git_records_next(&records);
		if (record == NULL)
			git_op_die(op, -EPROTO,
			    "git log did not print the author of HEAD");
		git_op_env(op, "%s%s", person[i], record);
	}
	buf_adds(&op->input, squash->message);
	strlcpy(squash->id,
	    git_op_must(op, "commit-tree", trees[0], "-p", op->onto_id, "-F",
		"-", NULL),
	    sizeof squash->id);
	git_clone_op_import(op, squash->id);
	op->run_dir = git_root(op->git);
	git_op_must(op, "update-ref", squash->ref, squash->id, NULL);
}

static void
squash_finish(struct git_op *op, const struct err *err)
{
	struct squash_op *squash = op->self;

	squash->fn(err == NULL ? squash->id : NULL, err, op->arg);
}

void
git_squash(struct git *git, const char *dir, const char *worker,
    const char *onto, const char *message, git_id_fn *fn, void *arg)
{
	struct squash_op *squash = git_op_new(
	    sizeof *squash, git, dir, onto, squash_run, squash_finish);
	struct git_op *op = &squash->op;

	squash->ref = git_op_text(op, "refs/llmc/landing/%s", worker);
	squash->message = git_op_copy(op, message);
	squash->fn = fn;
	op->arg = arg;
	op->ret = squash->id;
	op->ret_size = sizeof squash->id;
	git_op_begin(op, false);
}
