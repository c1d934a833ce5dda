/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-lines.h"
#include "git-op.h"
#include "git-records.h"

#define DEADLINE_MS 10000
#define LINES_MAX   (INT64_C(1) << 40) /* of one file */

struct lines_op {
	struct git_op op;
	char *base, *commit;
	struct {
		int64_t added, removed;
	} sums;
	git_lines_fn *fn;
};

/* A number, or "-" for a binary file, up to the next tab; NULL: it is
 * neither. */
static const char *
take(const char *s, int64_t *sum)
{
	char *end;
	long long number;

	if (strncmp(s, "-\t", 2) == 0)
		return s + 2;
	number = strtoll(s, &end, 10);
	if (end == s || *end != '\t' || number < 0 || number > LINES_MAX)
		return NULL;
	*sum += number;
	return end + 1;
}

void
git_lines_sum(
    const char *out, size_t len, int64_t *ret_added, int64_t *ret_removed)
{
	struct git_records records;
	const char *record;

	*ret_added = *ret_removed = 0;
	git_records_init(&records, out, len);
	while ((record = git_records_next(&records)) != NULL) {
		int64_t added = 0, removed = 0;
		const char *rest = take(record, &added);

		if (rest == NULL || take(rest, &removed) == NULL)
			continue;
		*ret_added += added;
		*ret_removed += removed;
	}
}

static void
lines_run(struct git_op *op)
{
	struct lines_op *lines = op->self;

	op->deadline_ms = DEADLINE_MS;
	git_op_must(op, "diff-tree", "-r", "-z", "--numstat", "--no-renames",
	    "--no-ext-diff", "--no-textconv", lines->base, lines->commit, "--",
	    NULL);
	git_lines_sum(op->answer.out, op->answer.out_len, &lines->sums.added,
	    &lines->sums.removed);
}

static void
lines_finish(struct git_op *op, const struct err *err)
{
	struct lines_op *lines = op->self;

	lines->fn(lines->sums.added, lines->sums.removed, err, op->arg);
}

void
git_lines_read(struct git *git, const char *dir, const char *base,
    const char *commit, git_lines_fn *fn, void *arg)
{
	struct lines_op *lines =
	    git_op_new(sizeof *lines, git, dir, NULL, lines_run, lines_finish);
	struct git_op *op = &lines->op;

	lines->base = git_op_copy(op, base);
	lines->commit = git_op_copy(op, commit);
	lines->fn = fn;
	op->arg = arg;
	op->ret = &lines->sums;
	op->ret_size = sizeof lines->sums;
	git_op_begin(op, false);
}
