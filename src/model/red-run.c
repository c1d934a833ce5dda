/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "buf.h"
#include "check-book.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "red-run.h"

#define FIELD(key, member, ...) \
	RECORD_FIELD(struct red_commit, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("commit", commit, .flags = RECORD_REQUIRED),
	FIELD("tree", tree, .flags = RECORD_REQUIRED),
	FIELD("parent", parent, .flags = RECORD_REQUIRED),
	FIELD("parent_tree", parent_tree, .flags = RECORD_REQUIRED),
	FIELD("task", task, .flags = RECORD_REQUIRED),
};

static void
commit_release(struct red_commit *commit)
{
	record_release(fields, nitems(fields), commit);
}

void
red_run_release(struct red_run *run)
{
	for (size_t i = 0; i < run->count; i++)
		commit_release(&run->list[i]);
	run->count = 0;
}

static struct red_commit *
append(struct red_run *run)
{
	struct red_commit *last;

	if (run->count == RED_RUN_MAX) {
		commit_release(&run->list[0]);
		memmove(run->list, run->list + 1,
		    (RED_RUN_MAX - 1) * sizeof *run->list);
		run->count--;
	}
	last = &run->list[run->count++];
	*last = (struct red_commit){ 0 };
	return last;
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
	last = append(run);
	xstrset(&last->commit, commit->commit);
	xstrset(&last->tree, commit->tree);
	xstrset(&last->parent, commit->parent);
	xstrset(&last->parent_tree, commit->parent_tree);
	xstrset(&last->task, commit->task);
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

struct json_object *
red_run_to_json(const struct red_run *run)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < run->count; i++) {
		struct json_object *json = json_object_new_object();

		record_to_json(fields, nitems(fields), &run->list[i], json);
		json_object_array_add(array, json);
	}
	return array;
}

int
red_run_from_json(struct json_object *json, const char *at, struct red_run *run,
    struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	int r = 0;

	for (size_t i = 0; i < json_object_array_length(json) && r == 0; i++) {
		buf_clear(&path);
		json_path_index(&path, at, i);
		r = record_from_json(fields, nitems(fields),
		    json_object_array_get_idx(json, i), path.data, append(run),
		    err);
	}
	return r == -ENOENT ? -EINVAL : r;
}
