/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "check-book.h"
#include "red-run.h"
#include "schema.h"

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct red_commit, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("commit", commit, .flags = SCHEMA_REQUIRED),
	FIELD("tree", tree, .flags = SCHEMA_REQUIRED),
	FIELD("parent", parent, .flags = SCHEMA_REQUIRED),
	FIELD("parent_tree", parent_tree, .flags = SCHEMA_REQUIRED),
	FIELD("task", task, .flags = SCHEMA_REQUIRED),
};

const struct schema red_commit_schema = SCHEMA_OF(struct red_commit, fields);

void
red_run_release(struct red_run *run)
{
	for (size_t i = 0; i < run->count; i++)
		schema_release(&red_commit_schema, &run->list[i]);
	run->count = 0;
}

void
red_run_add(struct red_run *run, const struct red_commit *commit)
{
	struct red_commit *last;

	if (commit->task == NULL ||
	    (run->count > 0 &&
		strcmp(run->list[run->count - 1].commit, commit->parent) != 0))
		red_run_release(run);
	if (commit->task == NULL)
		return;
	if (run->count == RED_RUN_MAX) {
		schema_release(&red_commit_schema, &run->list[0]);
		memmove(run->list, run->list + 1,
		    (RED_RUN_MAX - 1) * sizeof *run->list);
		run->count--;
	}
	last = &run->list[run->count++];
	*last = (struct red_commit){ 0 };
	schema_copy(&red_commit_schema, commit, last);
}

static bool
has_passed(const struct check_book *book, const char *tree, const char *command)
{
	const struct check_result *result =
	    check_book_find(book, tree, command);

	return result != NULL && result->passes > 0 && result->fails_row == 0;
}

size_t
red_run_length(const struct red_run *run, const char *tip,
    const struct check_book *book, const char *command)
{
	size_t n = 0;

	if (run->count == 0 ||
	    strcmp(run->list[run->count - 1].commit, tip) != 0)
		return 0;
	do
		n++;
	while (n < run->count &&
	    !has_passed(book, run->list[run->count - n].parent_tree, command));
	return n;
}
