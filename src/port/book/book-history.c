/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history-private.h"
#include "book-history.h"
#include "book.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "jsonl.h"
#include "log.h"
#include "mem.h"
#include "perf-stats.h"
#include "task-json.h"
#include "work-span.h"
#include "workspace.h"

#define SUFFIX ".jsonl"
#define DAY_MS (24 * 3600 * (int64_t)1000)
#define STEP   50 /* rows that are removed at a time: 144,000 a day */
#define EVENTS 20 /* that are kept for each task */

int
book_history_open(struct book *book, struct err *err)
{
	static const struct book_table *const tables[] = { &book_ended_task,
		&book_turn, &book_run_table, &book_attempt, &book_span,
		&book_alive };
	int r = 0;

	for (size_t i = 0; r == 0 && i < nitems(tables); i++)
		r = book_add_table(book, tables[i], err);
	return r;
}

/* --- what is kept -------------------------------------------------------- */

static int64_t
ask(struct book *book, const char *sql, int64_t number)
{
	int64_t answer = 0;

	book_get_int(book, sql, BOOK_VALUES(BOOK_I(number)), &answer, NULL);
	return answer;
}

static int64_t
ask_before(struct book *book, const char *sql, int64_t number, int64_t last)
{
	int64_t answer = 0;

	book_get_int(book, sql, BOOK_VALUES(BOOK_I(number), BOOK_I(last)),
	    &answer, NULL);
	return answer;
}

/* A row of the oldest is always looked at through an index. The newest task and
 * event stay, however old: the numbers of the next ones go on from theirs. */
bool
book_history_prune(
    struct book *book, int64_t now_ms, int64_t keep_ms, int64_t keep_tasks)
{
	int64_t last = 0, last_event = 0, spans, attempts;
	bool more = false;

	book_get_int(book, "SELECT max(e.filed) FROM ended_task e", NULL, 0,
	    &last, NULL);
	if (last > keep_tasks &&
	    ask(book,
		"SELECT count(*) FROM (SELECT e.id FROM ended_task e WHERE "
		"e.filed <= $1 LIMIT 1) n",
		last - keep_tasks) > 0) {
		BOOK_RUN(book,
		    "DELETE FROM ended_task WHERE id IN (SELECT e.id FROM "
		    "ended_task e WHERE e.filed <= $1 ORDER BY e.filed "
		    "LIMIT $2)",
		    BOOK_I(last - keep_tasks), BOOK_I(STEP));
		more = true;
	}
	if (ask_before(book,
		"SELECT count(*) FROM (SELECT e.id FROM ended_task e WHERE "
		"e.finished_ms > 0 AND e.finished_ms < $1 AND e.filed < $2 "
		"LIMIT 1) n",
		keep_ms, last) > 0) {
		BOOK_RUN(book,
		    "DELETE FROM ended_task WHERE id IN (SELECT e.id FROM "
		    "ended_task e WHERE e.finished_ms > 0 AND e.finished_ms < $1 "
		    "AND e.filed < $3 ORDER BY e.finished_ms LIMIT $2)",
		    BOOK_I(keep_ms), BOOK_I(STEP), BOOK_I(last));
		more = true;
	}
	if (ask(book,
		"SELECT count(*) FROM (SELECT r.run_id FROM run r WHERE "
		"r.began_ms < $1 LIMIT 1) n",
		keep_ms) > 0)
		BOOK_RUN(book, "DELETE FROM run WHERE began_ms < $1",
		    BOOK_I(keep_ms));
	book_get_int(book, "SELECT max(e.seq) FROM events e", NULL, 0,
	    &last_event, NULL);
	if (ask(book,
		"SELECT count(*) FROM (SELECT e.seq FROM events e WHERE "
		"e.seq <= $1 LIMIT 1) n",
		last_event - keep_tasks * EVENTS) > 0 ||
	    ask_before(book,
		"SELECT count(*) FROM (SELECT e.seq, e.latest_ms FROM events e "
		"ORDER BY e.seq LIMIT 1) n WHERE n.latest_ms < $1 AND "
		"n.seq < $2",
		keep_ms, last_event) > 0) {
		BOOK_RUN(book,
		    "DELETE FROM events WHERE seq IN (SELECT n.seq FROM "
		    "(SELECT e.seq, e.latest_ms FROM events e ORDER BY e.seq "
		    "LIMIT $3) n WHERE n.seq <= $1 OR (n.latest_ms < $2 AND "
		    "n.seq < $4))",
		    BOOK_I(last_event - keep_tasks * EVENTS), BOOK_I(keep_ms),
		    BOOK_I(STEP), BOOK_I(last_event));
		more = true;
	}
	spans = now_ms - BOOK_SPAN_DAYS * DAY_MS;
	if (ask(book,
		"SELECT count(*) FROM (SELECT s.worker FROM span s WHERE "
		"s.to_ms < $1 LIMIT 1) n",
		spans) > 0) {
		BOOK_RUN(book,
		    "DELETE FROM span WHERE to_ms < $1 AND to_ms <= (SELECT "
		    "max(n.to_ms) FROM (SELECT s.to_ms FROM span s ORDER BY "
		    "s.to_ms LIMIT $2) n)",
		    BOOK_I(spans), BOOK_I(STEP));
		more = true;
	}
	attempts = now_ms - PERF_KEEP_DAYS * PERF_DAY_MS;
	if (ask(book,
		"SELECT count(*) FROM (SELECT a.id FROM attempt a WHERE "
		"a.ended_ms < $1 LIMIT 1) n",
		attempts) > 0) {
		BOOK_RUN(book,
		    "DELETE FROM attempt WHERE ended_ms < $1 AND ended_ms <= "
		    "(SELECT max(n.ended_ms) FROM (SELECT a.ended_ms FROM "
		    "attempt a ORDER BY a.ended_ms LIMIT $2) n)",
		    BOOK_I(attempts), BOOK_I(STEP));
		more = true;
	}
	return more;
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
	cleanup_free char *dir =
	    workspace_path(workspace, "before-" LLMC_VERSION);
	struct err err = { 0 };

	if (!book_history_has_files(workspace))
		return;
	if (file_mkdirs(dir, 0700, &err) < 0) {
		log_info("%s", err.msg);
		return;
	}
	for (size_t i = 0; i < nitems(files); i++) {
		cleanup_free char *from = workspace_path(workspace, files[i]);
		cleanup_free char *to = file_join(dir, files[i]);

		if (rename(from, to) == -1 && errno != ENOENT)
			log_info(
			    "%s cannot be moved: %s", from, strerror(errno));
	}
}
