/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <dirent.h>

#include "history-private.h"
#include "book-history.h"
#include "book.h"
#include "jsonl.h"
#include "state-upgrade.h"
#include "task-json.h"
#include "work-span.h"
#include "workspace.h"

#define SUFFIX ".jsonl"

int
book_history_open(struct book *book, struct err *err)
{
	static const struct book_table *const tables[] = { &book_ended_task,
		&book_turn, &book_run_table, &book_attempt, &book_span,
		&book_alive, &book_message };
	int r = 0;

	for (size_t i = 0; r == 0 && i < nitems(tables); i++)
		r = book_add_table(book, tables[i], err);
	return r == 0 ? book_add_table(book, book_ask_table(), err) : r;
}

/* --- files of a version before ---------------------------------------------
 */

static bool
on_task(struct json_object *record, void *arg)
{
	struct task *task = NULL;

	if (task_from_json(record, "", &task, NULL) == 0)
		book_file_task(arg, task);
	task_free(task);
	return true;
}

static bool
on_run(struct json_object *line, void *arg)
{
	const char *run = json_string_or(line, "run_id", NULL);
	const char *instance = json_string_or(line, "instance_id", "");
	int64_t at = json_int_or(line, "at_ms", 0);

	if (run == NULL || at <= 0)
		return true;
	if (strcmp(json_string_or(line, "what", ""), "ends") == 0)
		book_end_run(arg, run, instance, at,
		    json_bool_or(line, "complete", false));
	else
		book_begin_run(arg, run, instance, at);
	return true;
}

static bool
on_attempt(struct json_object *record, void *arg)
{
	book_file_attempt(arg, record, NULL);
	return true;
}

static bool
on_span(struct json_object *record, void *arg)
{
	struct work_span span;

	if (work_span_from_json(record, &span)) {
		book_file_span(arg, &span);
		work_span_release(&span);
	}
	return true;
}

struct turns {
	struct book *book;
	char *task;
	int64_t seq;
};

static bool
on_turn(struct json_object *record, void *arg)
{
	struct turns *turns = arg;

	book_put_turn(turns->book, turns->task, ++turns->seq, record);
	return true;
}

/* Each file of a folder once, with its older parts. */
static int
read_folder(const struct workspace *workspace, const char *name, jsonl_fn *fn,
    struct book *book, struct err *err)
{
	cleanup_free char *dir = workspace_path(workspace, name);
	DIR *d = opendir(dir);
	const struct dirent *entry;
	int r = 0;

	if (d == NULL)
		return 0;
	while (r == 0 && (entry = readdir(d)) != NULL) {
		size_t len = strlen(entry->d_name), end = strlen(SUFFIX);
		cleanup_free char *path = file_join(dir, entry->d_name);
		struct turns turns = { .book = book };

		if (len <= end ||
		    strcmp(entry->d_name + len - end, SUFFIX) != 0)
			continue;
		turns.task = xstrndup(entry->d_name, len - end);
		r = jsonl_since(path, 0, fn,
		    fn == on_turn ? (void *)&turns : (void *)book, err);
		free(turns.task);
	}
	closedir(d);
	return r;
}

static const char *const files[] = { "tasks.jsonl", "tasks.jsonl.1",
	"tasks.jsonl.2", "tasks.jsonl.3", "runs.jsonl", "runs.jsonl.1",
	"iterations", "perf", "spans" };

bool
book_history_has_files(const struct workspace *workspace)
{
	for (size_t i = 0; i < nitems(files); i++) {
		cleanup_free char *path = workspace_path(workspace, files[i]);

		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

int
book_history_import(
    struct book *book, const struct workspace *workspace, struct err *err)
{
	cleanup_free char *tasks = workspace_path(workspace, "tasks.jsonl");
	cleanup_free char *runs = workspace_path(workspace, "runs.jsonl");
	int r;

	if (!book_history_has_files(workspace))
		return 0;
	r = jsonl_since(tasks, 0, on_task, book, err);
	if (r == 0)
		r = jsonl_since(runs, 0, on_run, book, err);
	if (r == 0)
		r = read_folder(workspace, "iterations", on_turn, book, err);
	if (r == 0)
		r = read_folder(workspace, "perf", on_attempt, book, err);
	if (r == 0)
		r = read_folder(workspace, "spans", on_span, book, err);
	return r;
}

void
book_history_imported(const struct workspace *workspace)
{
	for (size_t i = 0; i < nitems(files); i++) {
		cleanup_free char *from = workspace_path(workspace, files[i]);
		cleanup_free char *to = NULL;
		struct err err = { 0 };

		if (!file_exists(from))
			continue;
		to = state_upgrade_place(workspace->dir, files[i], &err);
		if (to == NULL)
			log_info("%s", err.msg);
		else if (rename(from, to) == -1)
			log_info(
			    "%s cannot be moved: %s", from, strerror(errno));
	}
}
