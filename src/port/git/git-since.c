/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-facts.h"
#include "git-list.h"
#include "git-op.h"
#include "git-records.h"
#include "git-since.h"

struct since_op {
	struct git_op op;
	char *commit;
	struct git_since since;
	git_since_fn *fn;
};

#define FILE_LETTER 'f'
#define DIRT_LETTER 'd'

static int
compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sort them, and leave each in once. */
static void
order(struct git_list *paths)
{
	size_t kept = 0;

	if (paths->count == 0)
		return;
	qsort(paths->v, paths->count, sizeof *paths->v, compare);
	for (size_t i = 1; i < paths->count; i++)
		if (strcmp(paths->v[kept], paths->v[i]) != 0)
			paths->v[++kept] = paths->v[i];
	paths->count = kept + 1;
	paths->v[paths->count] = NULL;
}

/* What git has just printed. */
static void
tell_paths(struct git_op *op, char letter)
{
	struct git_records records;
	const char *record;

	git_records_init(&records, op->answer.out, op->answer.out_len);
	while ((record = git_records_next(&records)) != NULL)
		if (record[0] != '\0')
			git_op_tell(op, letter, record);
}

static void
since_run(struct git_op *op)
{
	struct since_op *self = op->self;
	struct git_since *since = &self->since;
	struct git_status_entry entry;
	struct git_records records;
	const char *range, *landed;
	int64_t count;

	git_op_need_onto(op);
	range = git_op_text(op, "%s..HEAD", self->commit);
	landed = git_op_text(op, "^%s", op->onto_id);
	/* A commit that does not exist is a fact, not an error. */
	since->known = git_op_try(op, "rev-list", "--count", range, landed,
			   "--", NULL) == 0 &&
	    text_parse_int(op->answer.out, 0, INT32_MAX, &count);
	if (since->known) {
		since->commits = (int)count;
		git_op_must(op, "log", "--format=", range, landed, "-z",
		    "--name-only", "--no-renames", "--no-show-signature", "--",
		    NULL);
		tell_paths(op, FILE_LETTER);
	}
	git_op_status(op, &records);
	while (git_status_next(&records, &entry))
		/* Only another repository is listed as a folder. */
		if (entry.kind == GIT_STATUS_CHANGED ||
		    entry.kind == GIT_STATUS_UNMERGED ||
		    (entry.kind == GIT_STATUS_UNTRACKED &&
			entry.text[0] != '\0' &&
			entry.text[strlen(entry.text) - 1] != '/'))
			git_op_tell(op, DIRT_LETTER, entry.text);
}

static void
since_finish(struct git_op *op, const struct err *err)
{
	struct since_op *since = op->self;
	cleanup_git_list struct git_list files = { 0 }, dirt = { 0 };

	git_op_told(op, FILE_LETTER, &files);
	git_op_told(op, DIRT_LETTER, &dirt);
	order(&files);
	order(&dirt);
	since->since.files = files.v;
	since->since.file_count = files.count;
	since->since.dirt = dirt.v;
	since->since.dirt_count = dirt.count;
	since->fn(err == NULL ? &since->since : NULL, err, op->arg);
}

void
git_since_read(struct git *git, const char *dir, const char *commit,
    const char *branch, git_since_fn *fn, void *arg)
{
	struct since_op *since = git_op_new(
	    sizeof *since, git, dir, branch, since_run, since_finish);

	since->commit = git_op_copy(&since->op, commit);
	since->fn = fn;
	since->op.arg = arg;
	since->op.ret = &since->since;
	since->op.ret_size = sizeof since->since;
	git_op_begin(&since->op, false);
}

/* --- what a commit would change ---------------------------------------- */

static void
own_run(struct git_op *op)
{
	const struct git_op_list *own = op->self;
	struct git_home home;
	int status = 2;

	git_op_need_onto(op);
	/* As if the branch still had what the worker began with. */
	if (git_home(op->git, op->dir, &home) && home.base != NULL)
		status = git_op_try(
		    op, "merge-base", own->name, op->onto_id, home.base, NULL);
	if (status > 1)
		status =
		    git_op_try(op, "merge-base", own->name, op->onto_id, NULL);
	if (status > 1)
		git_op_die_as(op);
	/* Without a common commit, all of it is new. */
	git_op_must(op, "diff-tree", "-r", "-z", "--no-renames", "--name-only",
	    status == 0 ? op->answer.out : op->onto_id, own->name, NULL);
	tell_paths(op, GIT_OP_LIST);
}

/* git sorts them, by bytes. */
void
git_since_own(struct git *git, const char *dir, const char *commit,
    const char *branch, git_list_fn *fn, void *arg)
{
	git_op_list(git, dir, branch, commit, own_run, fn, arg);
}
