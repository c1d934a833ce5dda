/* SPDX-License-Identifier: ISC */

/*
 * No statement of the daemon walks through history, whatever its size: each
 * looks for rows with an index, or stops after a few. What SQLite would do is
 * asked of it (EXPLAIN QUERY PLAN), for all statements that the book's own
 * functions run here, and for those in the sources of autod.
 */
#include "book-world.h"

#include <dirent.h>
#include <math.h>

#include "book-history.h"
#include "book-private.h"
#include "metrics.h"
#include "report.h"
#include "state.h"
#include "task.h"

/* They want all there is, and are not asked by the loop once it runs. */
static const char *const exceptions[] = {
	/* Each kind as a whole: exports. */
	"SELECT r.id, r.id, r.body FROM goals AS r ORDER BY r.number",
	"SELECT r.goal_id, r.id, r.body FROM",
	"SELECT r.goal_id, r.assignment_id, r.assignment FROM nodes AS r"
	" WHERE r.assignment_id IS NOT NULL"
	" ORDER BY r.goal_id, r.assignment_id",
	/* Those that are worked on, when the daemon starts. */
	"SELECT issue.* FROM issue ORDER BY issue.number",
	"SELECT pull.* FROM pull",
	/* llmc report oversight, in autod --look. */
	"SELECT t.task, t.seq, t.body FROM turn t ORDER BY t.task, t.seq",
};

static bool
is_exception(const char *sql)
{
	for (size_t i = 0; i < nitems(exceptions); i++)
		if (strncmp(sql, exceptions[i], strlen(exceptions[i])) == 0 &&
		    (strstr(sql, "WHERE") == NULL ||
			strcmp(sql, exceptions[i]) == 0))
			return true;
	return false;
}

/* From one end of an index, and no further than the limit. */
static bool
is_bounded(const char *sql, const char *name)
{
	cleanup_free char *sorted = xasprintf(" %s ORDER BY", name);
	cleanup_free char *first = xasprintf(" %s LIMIT", name);
	const char *at = strstr(sql, sorted);

	return (at != NULL && strstr(at, "LIMIT") != NULL) ||
	    strstr(sql, first) != NULL;
}

/* "SCAN e USING INDEX ...": is it a table, not rows that were found? */
static bool
is_table(const char *sql, const char *name)
{
	cleanup_free char *as = xasprintf(") AS %s", name);
	cleanup_free char *rows = xasprintf(") %s", name);
	cleanup_free char *recursive = xasprintf("RECURSIVE %s (", name);

	return strcmp(name, "CONSTANT") != 0 && strstr(sql, as) == NULL &&
	    strstr(sql, rows) == NULL && strstr(sql, recursive) == NULL;
}

static void
check(struct book *book, const char *sql)
{
	cleanup_free char *text = xasprintf("EXPLAIN QUERY PLAN %s", sql);
	bool walks = false, sorts = false;
	sqlite3_stmt *plan = NULL;
	struct err err = { 0 };

	ck_assert_msg(
	    book_prepare(book, text, &plan, &err) == 0, "%s: %s", sql, err.msg);
	while (sqlite3_step(plan) == SQLITE_ROW) {
		const char *step = (const char *)sqlite3_column_text(plan, 3);
		char name[64] = "";

		if (strstr(step, "TEMP B-TREE FOR ORDER BY") != NULL)
			sorts = true;
		if (sscanf(step, "SCAN %63s", name) == 1 &&
		    is_table(sql, name) && !is_bounded(sql, name))
			walks = true;
		ck_assert_msg(!walks || is_exception(sql), "%s\n%s", sql, step);
	}
	ck_assert_msg(!sorts || strstr(sql, "events") == NULL, "%s", sql);
	sqlite3_finalize(plan);
}

/* --- those of the book -------------------------------------------- */

static bool
ignore_task(const struct task *task, int64_t filed, void *arg)
{
	(void)task;
	(void)filed;
	(void)arg;
	return true;
}

static bool
ignore_turn(
    const char *task, int64_t seq, struct json_object *record, void *arg)
{
	(void)task;
	(void)seq;
	(void)record;
	(void)arg;
	return true;
}

static bool
ignore_name(const char *name, void *arg)
{
	(void)name;
	(void)arg;
	return true;
}

static void
ignore_span(const struct work_span *span, void *arg)
{
	(void)span;
	(void)arg;
}

static void
use_plans(struct book_world *world)
{
	static const struct book_filter filters[] = { { 0 },
		{ .assignment_id = "A" }, { .task = "t" }, { .node_id = "N" },
		{ .worker = "w" }, { .goal_id = "G" }, { .type = "a" },
		{ .since_ms = 5 } };

	book_world_fill(world);
	book_world_load(world);
	book_world_find(world, "c0ffee");
	for (int kind = 0; kind < BOOK_KIND_COUNT; kind++) {
		enum book_kind k = (enum book_kind)kind;

		book_world_read(world, k, NULL, NULL);
		book_world_read(world, k, "G", NULL);
		book_world_read(world, k, NULL, "a");
		book_world_read(world, k, "G", "a");
		book_put_body(world->book, k, "G", "G", NULL, NULL);
		if (kind < BOOK_MAIL)
			continue;
		book_read_newest(world->book, k, NULL, 1, NULL, NULL, NULL);
		book_read_newest(world->book, k, "a", 1, NULL, NULL, NULL);
	}
	for (size_t i = 0; i < 2 * nitems(filters); i++) {
		struct book_filter filter = filters[i / 2];

		filter.newest_first = i % 2 == 1;
		book_world_events(world, filter);
	}
}

static void
use_history(struct book *book)
{
	cleanup_json struct json_object *record = json_object_new_object();
	struct report_run run = { 0 };
	struct state state;
	struct task *task = task_new("t1", "s", "k", NULL, NULL, 1);
	cleanup_free char *worker = xstrdup("w");
	const struct work_span span = {
		.worker = worker, .from_ms = 1, .to_ms = 2
	};

	book_file_task(book, task);
	task_free(task);
	task_free(book_find_task(book, "t1"));
	task_free(book_find_task_key(book, "s", "k"));
	task_free(book_find_task_commit(book, "c"));
	for (int i = 0; i < 8; i++)
		book_each_task(book,
		    &(struct book_tasks){ .name = i == 0 ? "t1" : NULL,
			.brief = (i & 1) != 0,
			.oldest_first = (i & 2) != 0,
			.failed = (i & 4) != 0 },
		    ignore_task, NULL, NULL);
	book_report_tasks(book, 5, 2, record, NULL);
	book_put_turn(book, "t1", 1, record);
	book_read_turns(book, "t1", 3, ignore_turn, NULL, NULL);
	book_read_turns(book, NULL, 0, ignore_turn, NULL, NULL);
	book_turn_tasks(book, ignore_name, NULL, NULL);
	book_delete_turn(book, "t1", 1);
	book_delete_turns(book, "t1", 1);
	book_begin_run(book, "r", "i", 5);
	book_end_run(book, "r", "i", 6, true);
	book_find_run(book, &run, NULL);
	report_run_release(&run);
	book_read_attempts(book, 1, 2, NULL, NULL, NULL);
	book_file_span(book, &span);
	book_read_spans(book, 1, ignore_span, NULL, NULL);
	book_note_alive(book, 1);
	state_init(&state);
	book_load_asks(book, &state, NULL);
	state_release(&state);
	json_object_put(book_list_asks(book, 5, NULL));
}

TEST(statements_of_the_book_use_an_index)
{
	ended_by(book_world_close) struct book_world world;
	size_t seen = 0;

	book_world_open(&world, unit_path("llmc.db"));
	ck_assert_int_eq(book_history_open(world.book, NULL), 0);
	use_plans(&world);
	use_history(world.book);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	/* With every kind that can be removed, and with too many bytes. */
	while (book_history_prune(world.book,
	    &(struct book_limits){ INT64_MAX / 2, INT64_MAX / 4, 0, 0 }))
		ck_assert_int_eq(book_commit(world.book, NULL), 0);
	for (size_t i = 0; i < world.book->statements.size; i++) {
		const char *sql = world.book->statements.slots[i].key;

		if (sql == NULL || strncmp(sql, "PRAGMA", 6) == 0 ||
		    strstr(sql, "pragma_") != NULL ||
		    strstr(sql, "sqlite_schema") != NULL)
			continue;
		check(world.book, sql);
		seen++;
	}
	ck_assert_uint_gt(seen, 120);
}

/* --- those in the sources of autod -------------------------------- */

/* The literals one after the other, from the first quote on. */
static const char *
read_literals(const char *at, struct buf *sql)
{
	while (*at == '"') {
		for (at++; *at != '"'; at++) {
			if (*at == '\\')
				at++;
			buf_addc(sql, *at);
		}
		at++;
		at += strspn(at, " \t\r\n");
	}
	return at;
}

static size_t
check_file(struct book *book, const char *path)
{
	static const char *const verbs[] = { "SELECT ", "DELETE ", "UPDATE ",
		"WITH RECURSIVE " };
	cleanup_buf struct buf text = BUF_INIT;
	const char *at;
	size_t seen = 0;

	ck_assert_int_eq(file_read(path, 1024 * 1024, &text, NULL), 0);
	for (at = text.data; (at = strchr(at, '"')) != NULL;) {
		cleanup_buf struct buf sql = BUF_INIT;
		bool is_sql = false;

		for (size_t i = 0; i < nitems(verbs); i++)
			is_sql |=
			    strncmp(at + 1, verbs[i], strlen(verbs[i])) == 0;
		if (!is_sql) {
			at++;
			continue;
		}
		at = read_literals(at, &sql);
		ck_assert_msg(*at == ',' || *at == ';', "%s: %s: a macro", path,
		    sql.data);
		check(book, sql.data);
		seen++;
	}
	return seen;
}

static size_t
check_folder(struct book *book, const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	size_t seen = 0;

	ck_assert_msg(dir != NULL, "%s", path);
	while ((entry = readdir(dir)) != NULL) {
		cleanup_free char *inner = file_join(path, entry->d_name);
		size_t len = strlen(entry->d_name);

		/* These are processes of their own; the tables of hosts are
		 * there in a fleet only, and are read at its start. */
		if (entry->d_name[0] == '.' ||
		    strcmp(entry->d_name, "hosts") == 0 ||
		    strncmp(entry->d_name, "look", 4) == 0 ||
		    strcmp(entry->d_name, "jobs.c") == 0)
			continue;
		if (file_is_dir(inner))
			seen += check_folder(book, inner);
		else if (len > 2 && strcmp(entry->d_name + len - 2, ".c") == 0)
			seen += check_file(book, inner);
	}
	closedir(dir);
	return seen;
}

TEST(statements_of_autod_use_an_index)
{
	const char *source = getenv("LLMC_SOURCE");
	cleanup_free char *folder =
	    file_join(source != NULL ? source : ".", "src/autod");
	ended_by(book_world_close) struct book_world world;

	book_world_open(&world, unit_path("llmc.db"));
	ck_assert_int_eq(book_history_open(world.book, NULL), 0);
	ck_assert_uint_gt(check_folder(world.book, folder), 10);
}
