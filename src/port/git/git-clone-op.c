/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "git-clone-op.h"
#include "git-import.h"
#include "git-refs.h"
#include "git-stand.h"
#include "mem.h"
#include "strv.h"

#define DELETE_MS    (INT64_C(20) * 60 * 1000)
#define PARENTS_MAX  500
#define NO_SUCH_NAME "llmc-no-such-ref"

bool
git_clone_op_is(const struct git_op *op)
{
	return git_stand_is_clone(op->git, op->dir);
}

char *
git_clone_op_ref(const struct git_op *op, const char *ref)
{
	char id[GIT_ID_SIZE];

	if (!git_clone_op_is(op))
		return xstrdup(ref);
	return xstrdup(
	    git_refs_read(op->common, ref, id) == 0 ? id : NO_SUCH_NAME);
}

/* --- import ------------------------------------------------------------ */

static void
on_imported(const struct err *err, void *arg)
{
	struct git_op *op = arg;

	op->import = NULL;
	if (err != NULL)
		op->err = *err;
	git_op_resume(op, err != NULL ? GIT_OP_FAIL : GIT_OP_NEXT);
}

/* Without a box no git looks at what the worker has there. */
enum git_op_next
git_clone_op_ask_import(struct git_op *op, const char *id)
{
	struct git_import_spec spec = {
		.root = git_root(op->git), .dir = op->dir, .id = id
	};
	cleanup_strv char **box = NULL;

	if (!git_clone_op_is(op))
		return GIT_OP_NEXT;
	if (git_box(op->git, op->dir, &box, &op->err) < 0)
		return GIT_OP_FAIL;
	if (box == NULL)
		return git_op_fail(op, -EUCLEAN,
		    "%s has no sandbox that its commits could be read in",
		    op->dir);
	spec.box = strv_const(box);
	op->import =
	    git_import_new(git_loop(op->git), &spec, on_imported, op, &op->err);
	return op->import != NULL ? GIT_OP_WAIT : GIT_OP_FAIL;
}

/* --- onto -------------------------------------------------------------- */

static enum git_op_next
onto_ask(struct git_op *op)
{
	op->run_dir = git_root(op->git);
	return git_op_ask_onto(op);
}

static enum git_op_next
head_ask(struct git_op *op)
{
	op->head_id[0] = '\0';
	return git_op_ask_ids(op, (const char *[]){ "HEAD^{commit}", NULL });
}

static enum git_op_next
head_answer(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, &op->head_id, 1);
	return GIT_OP_NEXT;
}

static const struct git_op_step onto_steps[] = {
	{ .ask = onto_ask, .answer = git_op_onto },
	{ .ask = head_ask, .answer = head_answer },
};

enum git_op_next
git_clone_op_ask_onto(struct git_op *op)
{
	return git_op_call(op, onto_steps, nitems(onto_steps));
}

/* --- delete ------------------------------------------------------------ */

static void
on_deleted(const struct child_result *result, void *arg)
{
	struct git_op *op = arg;

	op->child = NULL;
	if (result->start_error < 0 || !child_succeeded(result))
		git_op_fail(op, -EIO, "%s cannot be deleted: %.200s", op->dir,
		    result->err.head.data);
	git_op_resume(op, op->err.code != 0 ? GIT_OP_FAIL : GIT_OP_NEXT);
}

enum git_op_next
git_clone_op_ask_delete(struct git_op *op, const char *folder)
{
	const char *const argv[] = { "rm", "-rf", "--", folder, NULL };
	const struct child_spec spec = { .argv = argv,
		.deadline_ms = DELETE_MS };

	if (child_spawn(git_loop(op->git), &spec, on_deleted, op, &op->child,
		&op->err) < 0) {
		op->child = NULL;
		return GIT_OP_FAIL;
	}
	return GIT_OP_WAIT;
}

/* --- keep -------------------------------------------------------------- */

static enum git_op_next
keep_refuse(struct git_op *op, const char *why)
{
	struct git_home home;

	return git_op_fail(op, -EBUSY,
	    "%s cannot become a worktree now (%s); have the worker finish "
	    "that first, or save its work and start over: llmc reset %s",
	    op->dir, why, git_home(op->git, op->dir, &home) ? home.worker : "");
}

static enum git_op_next
keep_ask_tree(struct git_op *op)
{
	if (op->keep_saved)
		return GIT_OP_NEXT;
	if (git_op_rebasing(op))
		return keep_refuse(op, "a rebase is in progress");
	return git_op_args(op, "write-tree", NULL);
}

static enum git_op_next
keep_tree(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return keep_refuse(op, answer->complaint);
	strlcpy(op->keep_tree, answer->out, sizeof op->keep_tree);
	return GIT_OP_NEXT;
}

/* Is there a commit that neither HEAD nor the landing branch has? */
static enum git_op_next
keep_ask_more(struct git_op *op)
{
	git_op_args(op, "rev-list", "--max-count=1", "--all", "--not",
	    op->onto_id, NULL);
	if (op->head_id[0] != '\0')
		git_op_arg(op, op->head_id);
	return GIT_OP_ASK;
}

static enum git_op_next
keep_more(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	op->keep_more = answer->out_len > 0;
	return op->keep_more || !op->keep_saved ? GIT_OP_NEXT : GIT_OP_DONE;
}

static enum git_op_next
keep_ask_tips(struct git_op *op)
{
	return op->keep_more ?
	    git_op_args(op, "rev-list", "--no-walk", "--all", NULL) :
	    GIT_OP_NEXT;
}

static enum git_op_next
keep_ask_stashes(struct git_op *op)
{
	return op->keep_more ?
	    git_op_args(op, "stash", "list", "--format=%H", NULL) :
	    GIT_OP_NEXT;
}

static bool
has_parent(const struct git_op *op, const char *id)
{
	bool has = strcmp(id, op->head_id) == 0;

	for (size_t i = 0; i < strv_count(op->keep_parents); i++)
		has |= strcmp(op->keep_parents[i], id) == 0;
	return has;
}

static enum git_op_next
keep_ids(struct git_op *op, const struct git_answer *answer)
{
	const char *line = answer->out;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	while (*line != '\0' && strv_count(op->keep_parents) < PARENTS_MAX) {
		size_t len = strcspn(line, "\n");
		cleanup_free char *id = xasprintf("%.*s", (int)len, line);

		if (!has_parent(op, id))
			strv_add(&op->keep_parents, id);
		line += len + (line[len] == '\n');
	}
	return GIT_OP_NEXT;
}

static enum git_op_next
keep_ask_commit(struct git_op *op)
{
	git_op_own_name(op);
	buf_adds(&op->input,
	    "Index, branches and stashes of a clone\n\n"
	    "Each other parent is a branch or a stash.\n");
	git_op_args(op, "commit-tree", op->keep_tree, NULL);
	if (op->head_id[0] != '\0')
		git_op_args(op, "-p", op->head_id, NULL);
	for (size_t i = 0; i < strv_count(op->keep_parents); i++)
		git_op_args(op, "-p", op->keep_parents[i], NULL);
	return GIT_OP_ASK;
}

static enum git_op_next
keep_commit(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	strlcpy(op->keep_id, answer->out, sizeof op->keep_id);
	return GIT_OP_NEXT;
}

static enum git_op_next
keep_ask_import(struct git_op *op)
{
	return git_clone_op_ask_import(op, op->keep_id);
}

static enum git_op_next
keep_ask_ref(struct git_op *op)
{
	if (!op->keep_more)
		return GIT_OP_NEXT;
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	return git_op_args(op, "update-ref", op->keep_ref, op->keep_id, NULL);
}

static const struct git_op_step keep_steps[] = {
	{ .ask = keep_ask_tree, .answer = keep_tree },
	{ .ask = keep_ask_more, .answer = keep_more },
	{ .ask = keep_ask_tips, .answer = keep_ids },
	{ .ask = keep_ask_stashes, .answer = keep_ids },
	{ .ask = keep_ask_commit, .answer = keep_commit },
	{ .ask = keep_ask_import },
	{ .ask = keep_ask_ref },
};

enum git_op_next
git_clone_op_ask_keep(struct git_op *op, const char *ref, bool saved)
{
	op->keep_saved = saved;
	strv_clear(&op->keep_parents);
	snprintf(op->keep_tree, sizeof op->keep_tree, "%s^{tree}",
	    op->head_id[0] != '\0' ? op->head_id : op->onto_id);
	xstrset(&op->keep_ref, ref);
	return git_op_call(op, keep_steps, nitems(keep_steps));
}

void
git_clone_op_release(struct git_op *op)
{
	git_import_free(op->import);
	if (op->child != NULL)
		child_abandon(op->child);
	strv_free(op->keep_parents);
	free(op->keep_ref);
}
