/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "files-list.h"
#include "files-view.h"
#include "json.h"
#include "mem.h"
#include "source-base.h"
#include "taskfile.h"

enum list_status {
	LIST_TODO,
	LIST_DOING,
	LIST_DONE,
	LIST_FAILED,
	LIST_STATUS_COUNT
};

static const char *const list_words[] = { "todo", "doing", "done", "failed" };

_Static_assert(
    nitems(list_words) == LIST_STATUS_COUNT, "every status has its word");

static enum list_status
list_status(const struct files_entry *entry)
{
	if (entry->task->status == TASKFILE_COMPLETED)
		return LIST_DONE;
	if (entry->task->failed != NULL)
		return LIST_FAILED;
	return entry->problem == NULL &&
		entry->task->status == TASKFILE_IN_PROGRESS ?
	    LIST_DOING :
	    LIST_TODO;
}

/* By status; those that ended with the newest first, others by id. */
static int
compare_rows(const void *a, const void *b)
{
	const struct files_entry *one = *(const struct files_entry *const *)a;
	const struct files_entry *other = *(const struct files_entry *const *)b;
	const struct timespec *at = &one->st.st_mtim;
	const struct timespec *other_at = &other->st.st_mtim;
	enum list_status status = list_status(one);

	if (status != list_status(other))
		return status < list_status(other) ? -1 : 1;
	if (status >= LIST_DONE && at->tv_sec != other_at->tv_sec)
		return at->tv_sec > other_at->tv_sec ? -1 : 1;
	if (status >= LIST_DONE && at->tv_nsec != other_at->tv_nsec)
		return at->tv_nsec > other_at->tv_nsec ? -1 : 1;
	return taskfile_compare_ids(one->id, other->id);
}

static struct json_object *
list_row(
    const struct files_entry *entry, struct taskfile *const *all, size_t count)
{
	const struct taskfile *task = entry->task;
	struct json_object *row = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT, words = BUF_INIT;
	cleanup_free char *title = NULL;

	taskfile_text(task, &text);
	title = source_base_title(text.data);
	json_set_string(row, "key", entry->id);
	json_set_string(
	    row, "title", entry->problem == NULL ? title : entry->id);
	json_set_string(row, "status", list_words[list_status(entry)]);
	if (task->owner != NULL)
		json_set_string(row, "owner", task->owner);
	if (task->label != NULL)
		json_set_string(row, "label", task->label);
	if (entry->problem == NULL)
		json_set_string(row, "priority", priority_name(task->priority));
	if (entry->problem != NULL)
		json_set_string(row, "problem", entry->problem);
	else if (task->failed != NULL)
		json_set_string(row, "problem", task->failed);
	else if (files_list_waits_for_ever(task, all, count, &words))
		json_set_string(row, "problem", words.data);
	return row;
}

struct json_object *
files_view_list(const char *where, size_t limit, struct err *err)
{
	cleanup_files_list struct files_list list = { NULL, 0 };
	cleanup_free struct taskfile **all = NULL;
	size_t shown[LIST_STATUS_COUNT] = { 0 };
	struct json_object *rows;

	if (files_list_refresh(&list, where, err) < 0)
		return NULL;
	all = files_list_tasks(&list);
	if (list.count > 0)
		qsort(list.at, list.count, sizeof(struct files_entry *),
		    compare_rows);
	rows = json_object_new_array();
	for (size_t i = 0; i < list.count; i++) {
		enum list_status status = list_status(list.at[i]);

		if (status >= LIST_DONE && limit > 0 &&
		    shown[status]++ >= limit)
			continue;
		json_object_array_add(
		    rows, list_row(list.at[i], all, list.count));
	}
	return rows;
}

struct json_object *
files_view_todo(const char *where, struct folder_order *order, size_t most,
    int64_t *ret_count)
{
	cleanup_json struct json_object *all = files_view_list(where, 1, NULL);
	struct json_object *rows = json_object_new_array();

	(void)order; /* they have no order of their own */
	*ret_count = 0;
	for (size_t i = 0; all != NULL && i < json_object_array_length(all);
	     i++) {
		struct json_object *row = json_object_array_get_idx(all, i);

		if (strcmp(json_string_or(row, "status", ""),
			list_words[LIST_TODO]) == 0 &&
		    (size_t)(*ret_count)++ < most)
			json_object_array_add(rows, json_object_get(row));
	}
	return rows;
}

char *
files_view_text(const char *where, const char *key, const char *status)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct taskfile *task = NULL;

	(void)status; /* of this name there is one file */
	if (files_list_load(where, key, &task, NULL) < 0)
		return NULL;
	taskfile_text(task, &text);
	taskfile_free(task);
	return buf_take(&text);
}
