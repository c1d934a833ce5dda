/* SPDX-License-Identifier: ISC */

#include "filed.h"

#include "book-history.h"
#include "book.h"
#include "e2e.h"

struct json_object *
filed_tasks(const char *root)
{
	return e2e_look(root, "tasks", "{}");
}

struct json_object *
filed_last(const char *root)
{
	cleanup_json struct json_object *list =
	    e2e_look(root, "tasks", "{\"limit\": 1}");

	ck_assert_ptr_nonnull(list);
	ck_assert_uint_eq(json_object_array_length(list), 1);
	return json_object_get(json_object_array_get_idx(list, 0));
}

/* --- a history ----------------------------------------------------------- */

static struct book *
filed_open(const char *root)
{
	struct book *book = NULL;
	struct err err = { 0 };

	ck_assert_msg(
	    book_open(e2e_path("%s/.llmc/llmc.db", root), &book, &err) == 0 &&
		book_history_open(book, &err) == 0,
	    "%s", err.msg);
	return book;
}

static void
filed_commit(struct book *book)
{
	struct err err = { 0 };

	ck_assert_msg(book_commit(book, &err) == 0, "%s", err.msg);
	book_close(book);
}

static void
filed_put_lines(const char *root, const char *task, const char *lines)
{
	cleanup_free char *copy = xstrdup(lines);
	struct book *book = filed_open(root);
	int64_t seq = 0;

	for (char *rest = copy, *line; (line = strsep(&rest, "\n")) != NULL;) {
		cleanup_json struct json_object *json =
		    json_tokener_parse(line);
		struct task *record = NULL;
		struct err err = { 0 };

		if (line[0] == '\0')
			continue;
		ck_assert_ptr_nonnull(json);
		if (task != NULL) {
			book_put_turn(book, task, ++seq, json);
			continue;
		}
		ck_assert_msg(task_from_json(json, "", &record, &err) == 0,
		    "%s", err.msg);
		book_file_task(book, record);
		task_free(record);
	}
	filed_commit(book);
}

void
filed_put_tasks(const char *root, const char *lines)
{
	filed_put_lines(root, NULL, lines);
}

void
filed_put_turns(const char *root, const char *task, const char *lines)
{
	filed_put_lines(root, task, lines);
}

void
filed_put_run(const char *root, const char *run, int64_t from_ms, int64_t to_ms)
{
	struct book *book = filed_open(root);

	book_begin_run(book, run, "", from_ms);
	book_end_run(book, run, "", to_ms, false);
	filed_commit(book);
}
