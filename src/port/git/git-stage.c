/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "git-aside.h"
#include "git-records.h"
#include "git-save.h"
#include "git-stage.h"
#include "text.h"

#define TOTAL_MAX (INT64_C(1) << 30) /* bytes that are saved with `leave` */
#define NAMED_MAX 10000 /* bytes of names of what is left out */

void
git_stage_use_index(struct git_op *op)
{
	const struct git_save *save = op->self;

	if (save->index != NULL)
		git_op_env(op, "GIT_INDEX_FILE=%s", save->index);
}

bool
git_stage_is_folder(const char *path)
{
	size_t len = strlen(path);

	return len == 0 || path[len - 1] == '/';
}

enum git_op_next
git_stage_check(struct git_save *save, const char *path)
{
	struct git_op *op = &save->op;
	cleanup_buf struct buf shown = BUF_INIT;
	int64_t size;
	const char *why = git_aside_reason(op->dir, path, &size);

	if (save->leave || why == NULL)
		return GIT_OP_NEXT;
	if (save->moves)
		return git_aside_move(op->dir, &save->aside, path, &save->moved,
			   &op->err) < 0 ?
		    GIT_OP_FAIL :
		    GIT_OP_NEXT;
	text_add_visible(
	    &shown, path, text_cut(path, strlen(path), 200), false);
	return git_op_fail(op, -EFBIG,
	    "%s in %s %s; ignore it in .gitignore, or move it away", shown.data,
	    op->dir, why);
}

/* Is this file left as it is, and not saved? Then it is named. */
static bool
is_left(struct git_save *save, const char *path)
{
	const char *why;
	int64_t size;

	if (!save->leave)
		return false;
	why = git_aside_reason(save->op.dir, path, &size);
	if (why == NULL && save->total + size > TOTAL_MAX)
		why = "is more than can be saved at once";
	if (why == NULL) {
		save->total += size;
		return false;
	}
	if (save->left.len < NAMED_MAX) {
		buf_adds(&save->left, "Left out: ");
		text_add_visible(&save->left, path, strlen(path), false);
		buf_addf(&save->left, " %s\n", why);
	}
	return true;
}

/* --- files that git tracks --------------------------------------------- */

enum git_op_next
git_stage_ask_modified(struct git_op *op)
{
	const struct git_save *save = op->self;

	if (!save->leave)
		return GIT_OP_NEXT;
	git_stage_use_index(op);
	return git_op_args(op, "ls-files", "--modified", "-z", NULL);
}

enum git_op_next
git_stage_modified(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;
	struct git_records records;
	const char *path;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_records_init(&records, answer->out, answer->out_len);
	while ((path = git_records_next(&records)) != NULL)
		if (is_left(save, path))
			buf_add(&save->others, path, strlen(path) + 1);
	return GIT_OP_NEXT;
}

/* `add` does not read what is assumed to be unchanged. */
enum git_op_next
git_stage_ask_left(struct git_op *op)
{
	const struct git_save *save = op->self;

	if (save->others.len == 0)
		return GIT_OP_NEXT;
	git_stage_use_index(op);
	buf_add(&op->input, save->others.data, save->others.len);
	return git_op_args(
	    op, "update-index", "--assume-unchanged", "-z", "--stdin", NULL);
}

enum git_op_next
git_stage_ask_tracked(struct git_op *op)
{
	git_stage_use_index(op);
	return git_op_args(op, "add", "--update", NULL);
}

/* --- other files ------------------------------------------------------- */

enum git_op_next
git_stage_ask_list(struct git_op *op)
{
	git_stage_use_index(op);
	return git_op_args(
	    op, "ls-files", "--others", "--exclude-standard", "-z", NULL);
}

/* A folder in this list is a repository of its own, which `add` would take for
 * a submodule. */
enum git_op_next
git_stage_list(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;
	struct git_records records;
	const char *path;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_clear(&save->others);
	git_records_init(&records, answer->out, answer->out_len);
	while ((path = git_records_next(&records)) != NULL) {
		if (git_stage_is_folder(path) || is_left(save, path))
			continue;
		if (git_stage_check(save, path) == GIT_OP_FAIL)
			return GIT_OP_FAIL;
		buf_add(&save->others, path, strlen(path) + 1);
	}
	return GIT_OP_NEXT;
}

enum git_op_next
git_stage_ask_others(struct git_op *op)
{
	const struct git_save *save = op->self;

	if (save->others.len == 0)
		return GIT_OP_NEXT;
	git_stage_use_index(op);
	buf_add(&op->input, save->others.data, save->others.len);
	/* --remove: one that is gone by now is no error. */
	return git_op_args(
	    op, "update-index", "--add", "--remove", "-z", "--stdin", NULL);
}
