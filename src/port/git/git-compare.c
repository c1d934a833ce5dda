/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-compare.h"
#include "git-list.h"
#include "git-op.h"
#include "git-records.h"

#define INDEX_NAME "llmc-compare.index"

#define LOST_LETTER    'l'
#define CHANGED_LETTER 'c'

struct compare_op {
	struct git_op op;
	char *base, *saved;
	char *index; /* has only the files in question */
	struct buf saved_entries, base_entries; /* for it */
	char **differ; /* not as saved */
	char **based; /* those in base_entries */
	git_compare_fn *fn;
};

static void
remove_index(struct git_op *op)
{
	const struct compare_op *compare = op->self;

	if (compare->index == NULL)
		return;
	unlink(git_op_text(op, "%s.lock", compare->index));
	unlink(compare->index);
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

/* Those of the entries that are different in the files. */
static void
list_different(
    struct git_op *op, const struct buf *entries, struct git_records *records)
{
	struct compare_op *compare = op->self;

	git_records_init(records, "", 0);
	if (entries->len == 0)
		return;
	compare->index = file_join(op->gitdir, INDEX_NAME);
	remove_index(op); /* left by one that was killed */
	git_op_env(op, "GIT_INDEX_FILE=%s", compare->index);
	buf_add(&op->input, entries->data, entries->len);
	git_op_must(op, "update-index", "-z", "--index-info", NULL);
	git_op_env(op, "GIT_INDEX_FILE=%s", compare->index);
	git_op_must(op, "diff", "--name-only", "-z", "--no-ext-diff",
	    "--no-renames", "--ignore-submodules=all", NULL);
	git_records_init(records, op->answer.out, op->answer.out_len);
}

static void
compare_run(struct git_op *op)
{
	struct compare_op *compare = op->self;
	struct git_records records;
	const char *record, *path;

	git_op_need_gitdir(op);
	git_op_must(op, "diff-tree", "-r", "-z", "--raw", "--no-abbrev",
	    "--no-renames", "--ignore-submodules=none", compare->base,
	    compare->saved, "--", NULL);
	git_records_init(&records, op->answer.out, op->answer.out_len);
	while ((record = git_records_next(&records)) != NULL &&
	    (path = git_records_next(&records)) != NULL)
		if (record[0] == ':')
			take_file(compare, record, path);
	list_different(op, &compare->saved_entries, &records);
	while ((path = git_records_next(&records)) != NULL)
		strv_add(&compare->differ, path);
	if (compare->differ == NULL)
		return;
	/* Leaves in `based` those that are as in `base`. */
	list_different(op, &compare->base_entries, &records);
	while ((path = git_records_next(&records)) != NULL)
		strv_remove(compare->based, path);
	for (size_t i = 0; compare->differ[i] != NULL; i++) {
		cleanup_free char *file = NULL;
		bool lost;

		path = compare->differ[i];
		file = file_join(op->dir, path);
		lost = !file_exists(file);
		for (size_t k = 0; k < strv_count(compare->based); k++)
			lost |= strcmp(compare->based[k], path) == 0;
		git_op_tell(op, lost ? LOST_LETTER : CHANGED_LETTER, path);
	}
}

static void
compare_finish(struct git_op *op, const struct err *err)
{
	const struct compare_op *compare = op->self;
	cleanup_git_list struct git_list lost = { 0 }, changed = { 0 };
	struct git_compared compared;

	git_op_told(op, LOST_LETTER, &lost);
	git_op_told(op, CHANGED_LETTER, &changed);
	compared = (struct git_compared){ .lost = lost.v,
		.changed = changed.v,
		.lost_count = lost.count,
		.changed_count = changed.count };
	compare->fn(err == NULL ? &compared : NULL, err, op->arg);
}

void
git_compare(struct git *git, const char *dir, const char *base,
    const char *saved, git_compare_fn *fn, void *arg)
{
	struct compare_op *compare = git_op_new(
	    sizeof *compare, git, dir, NULL, compare_run, compare_finish);
	struct git_op *op = &compare->op;

	compare->base = git_op_copy(op, base);
	compare->saved = git_op_copy(op, saved);
	buf_init(&compare->saved_entries);
	buf_init(&compare->base_entries);
	compare->fn = fn;
	op->arg = arg;
	op->undo = remove_index;
	git_op_begin(op, false);
}
