/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "git-lines.h"
#include "git-op.h"
#include "git-records.h"
#include "mem.h"

#define DEADLINE_MS 10000
#define LINES_MAX   (INT64_C(1) << 40) /* of one file */

struct lines_op {
	struct git_op op;
	char *base, *commit;
	int64_t added, removed;
	git_lines_fn *fn;
	void *arg;
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

static enum git_op_next
lines_ask(struct git_op *op)
{
	const struct lines_op *lines = op->self;

	op->deadline_ms = DEADLINE_MS;
	return git_op_args(op, "diff-tree", "-r", "-z", "--numstat",
	    "--no-renames", "--no-ext-diff", "--no-textconv", lines->base,
	    lines->commit, "--", NULL);
}

static enum git_op_next
lines_answer(struct git_op *op, const struct git_answer *answer)
{
	struct lines_op *lines = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_lines_sum(
	    answer->out, answer->out_len, &lines->added, &lines->removed);
	return GIT_OP_DONE;
}

static const struct git_op_step lines_steps[] = {
	{ .ask = lines_ask, .answer = lines_answer },
};

static void
lines_finish(struct git_op *op, const struct err *err)
{
	struct lines_op *lines = op->self;

	lines->fn(lines->added, lines->removed, err, lines->arg);
}

static void
lines_release(struct git_op *op)
{
	struct lines_op *lines = op->self;

	free(lines->base);
	free(lines->commit);
}

void
git_lines_read(struct git *git, const char *dir, const char *base,
    const char *commit, git_lines_fn *fn, void *arg)
{
	struct lines_op *lines = xcalloc(1, sizeof *lines);

	lines->base = xstrdup(base);
	lines->commit = xstrdup(commit);
	lines->fn = fn;
	lines->arg = arg;
	lines->op.self = lines;
	lines->op.finish = lines_finish;
	lines->op.release = lines_release;
	git_op_start(
	    &lines->op, git, dir, lines_steps, nitems(lines_steps), false);
}
