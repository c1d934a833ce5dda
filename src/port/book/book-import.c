/* SPDX-License-Identifier: ISC */

/* An export read back, without loss. */

#include "base.h"
#include "book-care.h"
#include "book-private.h"

#define FILE_MAX      ((size_t)2 * 1024 * 1024 * 1024)
#define GOAL_BODY_KEY "nodes"
#define BUSY_MS       5000 /* the daemon is done with a commit by then */
/* Rows in one transaction. */
#define ROWS_MAX 1000

/* --- a long document ---------------------------------------------------- */

/* A JSON document too long to be held as objects, walked member by member: what
 * is wanted comes as text, for json_parse(). Only what leads there is checked
 * here; the parser checks the rest. */
struct walk {
	const char *text;
	size_t len;
	size_t pos;
	bool first; /* no member of this list has been read */
};

/* The text of a value. */
struct span {
	const char *text;
	size_t len;
};

#define KEY_MAX 4096

static void
skip_blanks(struct walk *walk)
{
	while (walk->pos < walk->len && walk->text[walk->pos] != '\0' &&
	    strchr(" \t\r\n", walk->text[walk->pos]) != NULL)
		walk->pos++;
}

static bool
peek(struct walk *walk, char c)
{
	skip_blanks(walk);
	return walk->pos < walk->len && walk->text[walk->pos] == c;
}

static int
expect(struct walk *walk, char c, struct err *err)
{
	if (!peek(walk, c))
		return err_set(
		    err, -EINVAL, "byte %zu: expected %c", walk->pos, c);
	walk->pos++;
	return 0;
}

/* Into the list or object that the text is. */
static int
walk_begin(
    struct walk *walk, const struct span *list, char opening, struct err *err)
{
	*walk = (struct walk){
		.text = list->text, .len = list->len, .first = true
	};
	return expect(walk, opening, err);
}

/* At a quote: to the byte after the closing one. */
static int
skip_string(struct walk *walk, struct err *err)
{
	size_t start = walk->pos++;

	while (walk->pos < walk->len) {
		char c = walk->text[walk->pos++];

		if (c == '"')
			return 0;
		if (c == '\\')
			walk->pos++;
	}
	walk->pos = walk->len;
	return err_set(
	    err, -EINVAL, "byte %zu: a string that does not end", start);
}

/* Numbers and words end where the next sign begins. */
static bool
ends_word(char c)
{
	return c == '\0' || strchr(" \t\r\n,:{}[]\"", c) != NULL;
}

static int
skip_value(struct walk *walk, struct err *err)
{
	size_t start = walk->pos, depth = 0;
	int r = 0;

	do {
		char c;

		if (walk->pos >= walk->len)
			return err_set(err, -EINVAL,
			    "byte %zu: a value that does not end", start);
		c = walk->text[walk->pos];
		if (c == '"') {
			r = skip_string(walk, err);
		} else if (c == '{' || c == '[') {
			depth++;
			walk->pos++;
		} else if ((c == '}' || c == ']') && depth > 0) {
			depth--;
			walk->pos++;
		} else if (depth > 0) {
			walk->pos++;
		} else {
			while (walk->pos < walk->len &&
			    !ends_word(walk->text[walk->pos]))
				walk->pos++;
		}
	} while (r == 0 && depth > 0);
	if (r == 0 && walk->pos == start)
		r = err_set(err, -EINVAL, "byte %zu: expected a value", start);
	return r;
}

/* As the parser reads it, with its escapes. */
static int
read_key(struct walk *walk, struct buf *key, struct err *err)
{
	cleanup_json struct json_object *list = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	size_t start;
	int r;

	if (!peek(walk, '"'))
		return err_set(
		    err, -EINVAL, "byte %zu: expected a key", walk->pos);
	start = walk->pos;
	r = skip_string(walk, err);
	if (r < 0)
		return r;
	buf_addc(&text, '[');
	buf_add(&text, walk->text + start, walk->pos - start);
	buf_addc(&text, ']');
	r = json_parse(text.data, text.len, KEY_MAX, &list, err);
	if (r < 0)
		return err_prefix(err, "the key at byte %zu", start), r;
	buf_clear(key);
	buf_adds(
	    key, json_object_get_string(json_object_array_get_idx(list, 0)));
	return expect(walk, ':', err);
}

static int
walk_next(struct walk *walk, char opening, struct buf *key,
    struct span *ret_value, struct err *err)
{
	size_t start;
	int r = 0;

	if (peek(walk, opening == '{' ? '}' : ']')) {
		walk->pos++;
		skip_blanks(walk);
		if (walk->pos < walk->len)
			return err_set(err, -EINVAL,
			    "byte %zu: something after the end", walk->pos);
		return 0;
	}
	if (!walk->first)
		r = expect(walk, ',', err);
	walk->first = false;
	if (r == 0 && opening == '{')
		r = read_key(walk, key, err);
	if (r < 0)
		return r;
	skip_blanks(walk);
	start = walk->pos;
	r = skip_value(walk, err);
	if (r < 0)
		return r;
	ret_value->text = walk->text + start;
	ret_value->len = walk->pos - start;
	return 1;
}

/* --- its parts ---------------------------------------------------------- */

struct reader {
	const struct book_sink *sink;
	struct err *err;
};

/* --- records ------------------------------------------------------------ */

static int
give(const struct reader *reader, enum book_kind kind, const char *goal_id,
    const char *id, const char *body)
{
	struct book_record record = { kind, goal_id, id, body };

	return reader->sink->record(&record, reader->sink->arg, reader->err);
}

static char *
span_text(const struct span *span)
{
	return xstrndup(span->text, span->len);
}

/* Only the goalId is needed here; the rest is checked where it is stored. */
static int
give_member(const struct reader *reader, enum book_kind kind, const char *id,
    const struct span *value)
{
	cleanup_json struct json_object *body = NULL;
	cleanup_free char *text = span_text(value);
	const char *goal_id;
	int r;

	r = json_parse(
	    value->text, value->len, BOOK_GOAL_MAX, &body, reader->err);
	if (r < 0)
		return r;
	goal_id = json_string_or(body, "goalId", NULL);
	if (goal_id == NULL)
		return err_set(reader->err, -EINVAL, "goalId: missing");
	return give(reader, kind, goal_id, id, text);
}

static int
give_nodes(
    const struct reader *reader, const char *goal_id, const struct span *nodes)
{
	cleanup_buf struct buf id = BUF_INIT;
	struct walk walk;
	struct span value = { NULL, 0 };
	int r = walk_begin(&walk, nodes, '{', reader->err);

	while (r == 0 &&
	    (r = walk_next(&walk, '{', &id, &value, reader->err)) == 1) {
		cleanup_free char *text = span_text(&value);

		r = give(reader, BOOK_NODE, goal_id, id.data, text);
		if (r < 0)
			err_prefix(reader->err, "nodes.%s", id.data);
	}
	return r;
}

/* The goal without its nodes, in the order of its members; then the nodes. */
static int
give_goal(const struct reader *reader, enum book_kind kind, const char *id,
    const struct span *goal)
{
	cleanup_buf struct buf key = BUF_INIT, body = BUF_INIT;
	struct span value = { NULL, 0 }, nodes = { NULL, 0 };
	struct walk walk;
	int r;

	(void)kind;
	r = walk_begin(&walk, goal, '{', reader->err);
	buf_addc(&body, '{');
	while (r == 0 || r == 1) {
		size_t start = walk.pos;

		r = walk_next(&walk, '{', &key, &value, reader->err);
		if (r != 1)
			break;
		if (strcmp(key.data, GOAL_BODY_KEY) == 0) {
			nodes = value;
			continue;
		}
		/* With the comma before it, if there was one. */
		while (start < walk.pos && goal->text[start] != '"')
			start++;
		if (body.len > 1)
			buf_addc(&body, ',');
		buf_add(&body, goal->text + start, walk.pos - start);
	}
	buf_addc(&body, '}');
	if (r == 0)
		r = give(reader, BOOK_GOAL, id, id, body.data);
	if (r == 0 && nodes.text != NULL)
		r = give_nodes(reader, id, &nodes);
	return r;
}

/* --- events ------------------------------------------------------------- */

static int
give_event(const struct reader *reader, const struct span *value)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf data = BUF_INIT;
	struct json_object *member = NULL;
	struct book_event event = { 0 };
	struct err *err = reader->err;
	int r = json_parse(value->text, value->len, BOOK_BODY_MAX, &json, err);

	if (r == 0)
		r = json_get_string(json, "", "type", &event.type, err);
	if (r == 0)
		r = json_get_int(
		    json, "", "ts", INT64_MIN, INT64_MAX, &event.ts_ms, err);
	if (r < 0)
		return r == -ENOENT ? -EINVAL : r;
	event.seq = json_int_or(json, "seq", 0);
	event.goal_id = json_string_or(json, "goalId", NULL);
	event.assignment_id = json_string_or(json, "assignmentId", NULL);
	event.node_id = json_string_or(json, "workNodeId", NULL);
	event.worker = json_string_or(json, "worker", NULL);
	event.task = json_string_or(json, "task", NULL);
	event.key = json_string_or(json, "key", NULL);
	if (json_object_object_get_ex(json, "data", &member) &&
	    member != NULL) {
		json_print(member, false, &data);
		event.data = data.data;
	}
	return reader->sink->event(&event, reader->sink->arg, err);
}

static int
give_events(const struct reader *reader, const struct span *list)
{
	struct walk walk;
	struct span value = { NULL, 0 };
	size_t n = 0;
	int r = walk_begin(&walk, list, '[', reader->err);

	while (r == 0 &&
	    (r = walk_next(&walk, '[', NULL, &value, reader->err)) == 1) {
		r = give_event(reader, &value);
		if (r < 0)
			err_prefix(reader->err, "[%zu]", n);
		n++;
	}
	return r;
}

/* --- the document ------------------------------------------------------- */

#define ASSIGNMENTS "assignments"

static const struct part {
	const char *key;
	enum book_kind kind;
	int (*give)(const struct reader *reader, enum book_kind kind,
	    const char *id, const struct span *value);
} parts[] = {
	{ "goals", BOOK_GOAL, give_goal },
	{ ASSIGNMENTS, BOOK_ASSIGNMENT, give_member },
	{ "crystallizations", BOOK_CRYSTAL, give_member },
	{ "mail", BOOK_MAIL, give_member },
	{ "requests", BOOK_REQUEST, give_member },
	{ "reservations", BOOK_RESERVATION, give_member },
};

static int
give_part(const struct reader *reader, const struct part *part,
    const struct span *members)
{
	cleanup_buf struct buf id = BUF_INIT;
	struct walk walk;
	struct span value = { NULL, 0 };
	int r = walk_begin(&walk, members, '{', reader->err);

	while (r == 0 &&
	    (r = walk_next(&walk, '{', &id, &value, reader->err)) == 1) {
		r = part->give(reader, part->kind, id.data, &value);
		if (r < 0)
			err_prefix(reader->err, "%s", id.data);
	}
	return r;
}

static int
give_any(const struct reader *reader, const char *key, const struct span *value)
{
	cleanup_free char *version = NULL;

	for (size_t i = 0; i < nitems(parts); i++) {
		if (strcmp(key, parts[i].key) == 0)
			return give_part(reader, &parts[i], value);
	}
	if (strcmp(key, "events") == 0)
		return give_events(reader, value);
	if (strcmp(key, "dispatchIndex") == 0)
		return 0; /* of an earlier version: assignments have it, too */
	if (strcmp(key, "version") != 0)
		return err_set(reader->err, -EINVAL, "unknown key");
	version = span_text(value);
	if (strcmp(version, "1") != 0)
		return err_set(reader->err, -EINVAL,
		    "this llmc reads version %d only", BOOK_EXPORT_VERSION);
	return 0;
}

int
book_import_parse(
    const char *text, size_t len, const struct book_sink *sink, struct err *err)
{
	struct err none = { 0 };
	struct reader reader = { sink, err != NULL ? err : &none };
	cleanup_buf struct buf key = BUF_INIT;
	struct walk walk;
	struct span value = { NULL, 0 }, late = { NULL, 0 };
	bool versioned = false;
	int r;

	r = walk_begin(&walk, &(struct span){ text, len }, '{', reader.err);
	while (r == 0 &&
	    (r = walk_next(&walk, '{', &key, &value, reader.err)) == 1) {
		versioned |= strcmp(key.data, "version") == 0;
		r = 0;
		/* Parts of nodes, which may stand after them: an object has no
		 * order. */
		if (strcmp(key.data, ASSIGNMENTS) == 0 && late.text == NULL)
			late = value;
		else
			r = give_any(&reader, key.data, &value);
		if (r < 0)
			err_prefix(reader.err, "%s", key.data);
	}
	if (r == 0 && late.text != NULL) {
		r = give_any(&reader, ASSIGNMENTS, &late);
		if (r < 0)
			err_prefix(reader.err, ASSIGNMENTS);
	}
	if (r == 0 && !versioned)
		r = err_set(reader.err, -EINVAL, "version: missing");
	return r;
}

/* --- into a book -------------------------------------------------------- */

struct import {
	struct book *book; /* made beside its place */
	size_t records, events, rows;
};

static int
count_row(struct import *import, struct err *err)
{
	if (++import->rows % ROWS_MAX != 0)
		return 0;
	return book_settle(import->book, err);
}

/* A node has one assignment: the open one, or else the last. */
static const char has_open[] =
    "SELECT 1 FROM nodes AS n WHERE n.goal_id = $1"
    " AND n.id = json_extract($2, '$.workNodeId')"
    " AND json_extract($2, '$.status') IN ('done', 'cancelled')"
    " AND json_extract(n.assignment, '$.status')"
    " NOT IN ('done', 'cancelled')";

static int
take_record(const struct book_record *record, void *arg, struct err *err)
{
	struct import *import = arg;
	int64_t one;
	int r = 0;

	if (record->kind != BOOK_ASSIGNMENT ||
	    book_get_int(import->book, has_open,
		BOOK_VALUES(BOOK_T(record->goal_id), BOOK_T(record->body)),
		&one, NULL) < 0)
		r = book_put_body(import->book, record->kind, record->goal_id,
		    record->id, record->body, err);
	import->records++;
	/* Its node was taken out of the plan later. */
	if (r == -ENOENT && record->kind == BOOK_ASSIGNMENT)
		r = 0;
	return r < 0 ? r : count_row(import, err);
}

static int
take_event(const struct book_event *event, void *arg, struct err *err)
{
	struct import *import = arg;
	bool is_new = true;
	int r = 0;

	if (!book_in_transaction(import->book))
		r = book_exec(import->book, "BEGIN IMMEDIATE", err);
	if (r == 0)
		r = book_insert_event(import->book, event, &is_new, err);
	if (r == 0 && !is_new)
		r = err_set(err, -EINVAL,
		    "there are two events with the key %s", event->key);
	import->events++;
	return r < 0 ? r : count_row(import, err);
}

static int
expect_empty(struct book *book, struct err *err)
{
	int64_t found = 0;
	int r = book_get_int(book,
	    "SELECT 1 FROM goals UNION ALL SELECT 1 FROM nodes"
	    " UNION ALL SELECT 1 FROM crystals LIMIT 1",
	    NULL, 0, &found, err);

	if (r == -ENOENT)
		return 0;
	return r < 0 ?
	    r :
	    err_set(err, -EEXIST,
		"the book has goals already; an export is imported where "
		"there are none, in a fresh clone for instance");
}

static int
expect_place(const char *path, struct err *err)
{
	struct book *book = NULL;
	int r;

	if (!file_exists(path))
		return 0;
	r = book_look(path, &book, err);
	if (r == 0)
		r = expect_empty(book, err);
	book_close(book);
	return r;
}

/* In one short transaction: the daemon may have the book open. */
static int
take_in(const char *path, const char *built, struct err *err)
{
	struct book *book = NULL;
	int r = book_open(path, &book, err);

	if (r == 0) {
		sqlite3_busy_timeout(book->sqlite, BUSY_MS);
		r = book_attach(book, built, err);
	}
	if (r == 0)
		r = book_exec(book, "BEGIN IMMEDIATE", err);
	if (r == 0)
		r = expect_empty(book, err);
	if (r == 0)
		r = book_copy_attached(book, err);
	if (r == 0)
		r = book_exec(book, "COMMIT", err);
	book_close(book);
	return r;
}

static int
build(const char *file, const char *built, size_t *ret_records,
    size_t *ret_events, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct import import = { 0 };
	struct book_sink sink = { take_record, take_event, &import };
	int r = file_read(file, FILE_MAX, &text, err);

	if (r == 0)
		r = book_create(built, err);
	if (r == 0)
		r = book_open_at(
		    built, book_scripts, book_version, &import.book, err);
	/* It is of no use if anything goes wrong. */
	if (r == 0)
		r = book_exec(import.book, "PRAGMA synchronous = OFF", err);
	if (r == 0) {
		r = book_import_parse(text.data, text.len, &sink, err);
		if (r < 0)
			err_prefix(err, "%s", file);
	}
	if (r == 0)
		r = book_settle(import.book, err);
	book_close(import.book);
	*ret_records = import.records;
	*ret_events = import.events;
	return r;
}

int
book_import(const char *path, const char *file, size_t *ret_records,
    size_t *ret_events, struct err *err)
{
	cleanup_free char *built = xasprintf("%s.build", path);
	int r = expect_place(path, err);

	book_files_remove(built);
	if (r == 0)
		r = build(file, built, ret_records, ret_events, err);
	if (r == 0)
		r = take_in(path, built, err);
	book_files_remove(built);
	return r;
}
