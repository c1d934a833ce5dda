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
	struct buf saved_entries, base_entries; /* for it */
	char **differ; /* not as saved */
	char **based; /* those in base_entries */
	char **changed, **lost; /* the answer */
	git_compare_fn *fn;
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

/* False if there is no such file on that side, or it is a submodule, whose
 * contents are not compared. */
static bool
add_entry(
    struct buf *entries, const char *mode, const char *id_at, const char *path)
{
	char id[GIT_ID_SIZE];

	if (strcmp(mode, "000000") == 0 || strcmp(mode, "160000") == 0 ||
	    !git_records_word(id_at, id, sizeof id))
		return false;
	buf_addf(entries, "%s %s\t%s", mode, id, path);
	buf_addc(entries, '\0');
	return true;
}

/* ":<mode> <mode> <id> <id> <letter>", and the path as the next record. */
static void
take_file(struct compare_op *compare, const char *record, const char *path)
{
	cleanup_free char *file = file_join(compare->op.dir, path);
	char was[8], mode[8];

	if (!git_records_word(record + 1, was, sizeof was) ||
	    !git_records_word(git_records_skip(record, 1), mode, sizeof mode) ||
	    strcmp(mode, "160000") == 0)
		return;
	if (add_entry(
		&compare->base_entries, was, git_records_skip(record, 2), path))
		strv_add(&compare->based, path);
	if (!add_entry(&compare->saved_entries, mode,
		git_records_skip(record, 3), path) &&
	    file_exists(file))
		strv_add(&compare->differ, path);
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
	return GIT_OP_NEXT;
}

static enum git_op_next
ask_index(struct git_op *op, const struct buf *entries)
{
	struct compare_op *compare = op->self;

	if (entries->len == 0)
		return GIT_OP_NEXT;
	free(compare->index);
	compare->index = file_join(op->gitdir, INDEX_NAME);
	remove_index(compare); /* left by one that was killed */
	git_op_env(op, "GIT_INDEX_FILE=%s", compare->index);
	buf_add(&op->input, entries->data, entries->len);
	return git_op_args(op, "update-index", "-z", "--index-info", NULL);
}

static enum git_op_next
ask_differ(struct git_op *op, const struct buf *entries)
{
	const struct compare_op *compare = op->self;

	if (entries->len == 0)
		return GIT_OP_NEXT;
	git_op_env(op, "GIT_INDEX_FILE=%s", compare->index);
	return git_op_args(op, "diff", "--name-only", "-z", "--no-ext-diff",
	    "--no-renames", "--ignore-submodules=all", NULL);
}

static enum git_op_next
compare_ask_saved_index(struct git_op *op)
{
	struct compare_op *compare = op->self;

	return ask_index(op, &compare->saved_entries);
}

static enum git_op_next
compare_ask_saved(struct git_op *op)
{
	struct compare_op *compare = op->self;

	return ask_differ(op, &compare->saved_entries);
}

static enum git_op_next
compare_saved(struct git_op *op, const struct git_answer *answer)
{
	struct compare_op *compare = op->self;
	struct git_records records;
	const char *path;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_records_init(&records, answer->out, answer->out_len);
	while ((path = git_records_next(&records)) != NULL)
		strv_add(&compare->differ, path);
	return GIT_OP_NEXT;
}

/* Of those that differ: which are as in `base`? */
static enum git_op_next
compare_ask_base_index(struct git_op *op)
{
	struct compare_op *compare = op->self;

	return compare->differ == NULL ? GIT_OP_DONE :
					 ask_index(op, &compare->base_entries);
}

static enum git_op_next
compare_ask_base(struct git_op *op)
{
	struct compare_op *compare = op->self;

	return ask_differ(op, &compare->base_entries);
}

/* Leaves in `based` those that are as in `base`. */
static enum git_op_next
compare_base(struct git_op *op, const struct git_answer *answer)
{
	struct compare_op *compare = op->self;
	struct git_records records;
	const char *path;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_records_init(&records, answer->out, answer->out_len);
	while ((path = git_records_next(&records)) != NULL)
		strv_remove(compare->based, path);
	return GIT_OP_NEXT;
}

static enum git_op_next
compare_tell_apart(struct git_op *op)
{
	struct compare_op *compare = op->self;

	for (size_t i = 0; compare->differ[i] != NULL; i++) {
		const char *path = compare->differ[i];
		cleanup_free char *file = file_join(op->dir, path);
		bool lost = !file_exists(file);

		for (size_t k = 0; k < strv_count(compare->based); k++)
			lost |= strcmp(compare->based[k], path) == 0;
		strv_add(lost ? &compare->lost : &compare->changed, path);
	}
	return GIT_OP_NEXT;
}

static const struct git_op_step compare_steps[] = {
	GIT_OP_GITDIR,
	{ .ask = compare_ask_files, .answer = compare_files },
	{ .ask = compare_ask_saved_index },
	{ .ask = compare_ask_saved, .answer = compare_saved },
	{ .ask = compare_ask_base_index },
	{ .ask = compare_ask_base, .answer = compare_base },
	{ .ask = compare_tell_apart },
};

static void
compare_finish(struct git_op *op, const struct err *err)
{
	const struct compare_op *compare = op->self;
	struct git_compared compared = {
		.lost = strv_const(compare->lost),
		.changed = strv_const(compare->changed),
		.lost_count = strv_count(compare->lost),
		.changed_count = strv_count(compare->changed),
	};

	compare->fn(err == NULL ? &compared : NULL, err, compare->arg);
}

static void
compare_release(struct git_op *op)
{
	struct compare_op *compare = op->self;

	remove_index(compare);
	free(compare->index);
	free(compare->base);
	free(compare->saved);
	strv_free(compare->differ);
	strv_free(compare->based);
	strv_free(compare->changed);
	strv_free(compare->lost);
	buf_release(&compare->saved_entries);
	buf_release(&compare->base_entries);
}

void
git_compare(struct git *git, const char *dir, const char *base,
    const char *saved, git_compare_fn *fn, void *arg)
{
	struct compare_op *compare = xcalloc(1, sizeof *compare);

	compare->base = xstrdup(base);
	compare->saved = xstrdup(saved);
	buf_init(&compare->saved_entries);
	buf_init(&compare->base_entries);
	compare->fn = fn;
	compare->arg = arg;
	compare->op.self = compare;
	compare->op.finish = compare_finish;
	compare->op.release = compare_release;
	git_op_start(&compare->op, git, dir, compare_steps,
	    nitems(compare_steps), false);
}
