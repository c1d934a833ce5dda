/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "git-compare.h"
#include "git-op.h"
#include "git-records.h"
#include "mem.h"
#include "strv.h"

#define INDEX_NAME "llmc-compare.index"

struct compare_op {
	struct git_op op;
	char *base, *saved;
	char *index; /* has only the files in question */
	struct buf entries; /* for it */
	char **changed;
	git_list_fn *fn;
	void *arg;
};

static void
remove_index(const struct compare_op *compare)
{
	cleanup_free char *lock = NULL;

	if (compare->index == NULL)
		return;
	lock = xasprintf("%s.lock", compare->index);
	unlink(lock);
	unlink(compare->index);
}

static enum git_op_next
compare_ask_files(struct git_op *op)
{
	const struct compare_op *compare = op->self;

	return git_op_args(op, "diff-tree", "-r", "-z", "--raw", "--no-abbrev",
	    "--no-renames", "--ignore-submodules=none", compare->base,
	    compare->saved, "--", NULL);
}

/* ":<mode> <mode> <id> <id> <letter>", and the path as the next record. */
static void
take_file(struct compare_op *compare, const char *record, const char *path)
{
	cleanup_free char *file = file_join(compare->op.dir, path);
	char mode[8], id[GIT_ID_SIZE];

	if (!git_records_word(git_records_skip(record, 1), mode, sizeof mode) ||
	    !git_records_word(git_records_skip(record, 3), id, sizeof id))
		return;
	if (strcmp(mode, "160000") == 0)
		return; /* what is in a submodule is not compared */
	if (strcmp(mode, "000000") != 0) {
		buf_addf(&compare->entries, "%s %s\t%s", mode, id, path);
		buf_addc(&compare->entries, '\0');
	} else if (file_exists(file)) {
		strv_add(&compare->changed, path);
	}
}

static enum git_op_next
compare_files(struct git_op *op, const struct git_answer *answer)
{
	struct compare_op *compare = op->self;
	struct git_records records;
	const char *record, *path;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_records_init(&records, answer->out, answer->out_len);
	while ((record = git_records_next(&records)) != NULL &&
	    (path = git_records_next(&records)) != NULL)
		if (record[0] == ':')
			take_file(compare, record, path);
	return compare->entries.len > 0 ? GIT_OP_NEXT : GIT_OP_DONE;
}

static enum git_op_next
compare_ask_index(struct git_op *op)
{
	struct compare_op *compare = op->self;

	compare->index = file_join(op->gitdir, INDEX_NAME);
	remove_index(compare); /* left by one that was killed */
	git_op_env(op, "GIT_INDEX_FILE=%s", compare->index);
	buf_add(&op->input, compare->entries.data, compare->entries.len);
	return git_op_args(op, "update-index", "-z", "--index-info", NULL);
}

static enum git_op_next
compare_ask_changed(struct git_op *op)
{
	const struct compare_op *compare = op->self;

	git_op_env(op, "GIT_INDEX_FILE=%s", compare->index);
	return git_op_args(op, "diff", "--name-only", "-z", "--no-ext-diff",
	    "--no-renames", "--ignore-submodules=all", NULL);
}

static enum git_op_next
compare_changed(struct git_op *op, const struct git_answer *answer)
{
	struct compare_op *compare = op->self;
	struct git_records records;
	const char *path;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_records_init(&records, answer->out, answer->out_len);
	while ((path = git_records_next(&records)) != NULL)
		strv_add(&compare->changed, path);
	return GIT_OP_NEXT;
}

static const struct git_op_step compare_steps[] = {
	GIT_OP_GITDIR,
	{ .ask = compare_ask_files, .answer = compare_files },
	{ .ask = compare_ask_index },
	{ .ask = compare_ask_changed, .answer = compare_changed },
};

static void
compare_finish(struct git_op *op, const struct err *err)
{
	const struct compare_op *compare = op->self;

	compare->fn(err == NULL ? strv_const(compare->changed) : NULL,
	    err == NULL ? strv_count(compare->changed) : 0, err, compare->arg);
}

static void
compare_release(struct git_op *op)
{
	struct compare_op *compare = op->self;

	remove_index(compare);
	free(compare->index);
	free(compare->base);
	free(compare->saved);
	strv_free(compare->changed);
	buf_release(&compare->entries);
}

void
git_compare(struct git *git, const char *dir, const char *base,
    const char *saved, git_list_fn *fn, void *arg)
{
	struct compare_op *compare = xcalloc(1, sizeof *compare);

	compare->base = xstrdup(base);
	compare->saved = xstrdup(saved);
	buf_init(&compare->entries);
	compare->fn = fn;
	compare->arg = arg;
	compare->op.self = compare;
	compare->op.finish = compare_finish;
	compare->op.release = compare_release;
	git_op_start(&compare->op, git, dir, compare_steps,
	    nitems(compare_steps), false);
}
