/* SPDX-License-Identifier: ISC */

/* Rows of the book: made of C structs by their tables of fields, and read back;
 * plans and events as one JSON document; what a person asks for in SQL. */

#include "base.h"

#include <ctype.h>
#include <fcntl.h>

#include "book-care.h"
#include "book-private.h"
#include "schema.h"

#define JSON_MAX ((size_t)16 * 1024 * 1024)

#define PIECE ((size_t)256 * 1024)

/* --- export ------------------------------------------------------------- */

struct writer {
	struct book *book;
	int fd;
	struct buf out;
	struct err *err;
	int r; /* of what a callback did */
	bool first; /* in its list */
};

/* "startedAt" is started_at: PostgreSQL does not know upper case in names. */
static char *
column_name(const char *key)
{
	cleanup_buf struct buf name = BUF_INIT;

	for (const char *p = key; *p != '\0'; p++) {
		if (isupper((unsigned char)*p))
			buf_addc(&name, '_');
		buf_addc(&name, (char)tolower((unsigned char)*p));
	}
	return buf_take(&name);
}

static bool
is_text(const struct schema_field *field)
{
	return field->type == SCHEMA_STRING || field->type == SCHEMA_WORD ||
	    field->type == SCHEMA_OBJECT || field->type == SCHEMA_LIST;
}

static bool
is_key(const struct book_made *made, size_t field)
{
	for (size_t i = 0; i < made->key_count; i++)
		if (made->keys[i] == field)
			return true;
	return false;
}

/* --- statements --------------------------------------------------------- */

static char *
put_statement(const struct book_table *table, const struct book_made *made)
{
	cleanup_buf struct buf sql = BUF_INIT, set = BUF_INIT;

	buf_addf(&sql, "INSERT INTO \"%s\" (", table->name);
	for (size_t i = 0; i < table->count; i++)
		buf_addf(&sql, "%s\"%s\"", i > 0 ? ", " : "", made->columns[i]);
	buf_adds(&sql, ") VALUES (");
	for (size_t i = 0; i < table->count; i++) {
		if (i + 1 == table->count && table->numbered) {
			buf_addf(&sql,
			    ", (SELECT coalesce(max(old.nr), 0) + 1 FROM "
			    "\"%s\" AS old)",
			    table->name);
			break;
		}
		buf_addf(&sql, "%s$%zu", i > 0 ? ", " : "", i + 1);
		if (!is_key(made, i))
			buf_addf(&set, "%s\"%s\" = excluded.\"%s\"",
			    set.len > 0 ? ", " : "", made->columns[i],
			    made->columns[i]);
	}
	buf_adds(&sql, ") ON CONFLICT (");
	for (size_t i = 0; i < made->key_count; i++)
		buf_addf(&sql, "%s\"%s\"", i > 0 ? ", " : "",
		    made->columns[made->keys[i]]);
	if (set.len > 0)
		buf_addf(&sql, ") DO UPDATE SET %s", set.data);
	else
		buf_adds(&sql, ") DO NOTHING");
	return buf_take(&sql);
}

static struct book_made *
make(const struct book_table *table)
{
	struct book_made *made = xcalloc(1, sizeof *made);
	cleanup_buf struct buf sql = BUF_INIT;

	for (size_t i = 0; i < table->count; i++) {
		cleanup_free char *name = column_name(table->fields[i].name);

		strv_add(&made->columns, name);
	}
	for (const char *const *key = table->keys; *key != NULL; key++) {
		size_t i = 0;

		while (i < table->count &&
		    strcmp(table->fields[i].name, *key) != 0)
			i++;
		if (i == table->count || made->key_count == BOOK_KEYS_MAX)
			fatalx("table %s: bad key %s", table->name, *key);
		made->keys[made->key_count++] = i;
	}
	made->put = put_statement(table, made);
	buf_addf(&sql, "DELETE FROM \"%s\" WHERE ", table->name);
	for (size_t i = 0; i < made->key_count; i++)
		buf_addf(&sql, "%s\"%s\" = $%zu", i > 0 ? " AND " : "",
		    made->columns[made->keys[i]], i + 1);
	made->remove = buf_take(&sql);
	return made;
}

static struct book_made *
made_of(struct book *book, const struct book_table *table)
{
	struct book_made *made = strmap_get(&book->tables, table->name);

	if (made == NULL) {
		made = make(table);
		strmap_add(&book->tables, table->name, made);
	}
	return made;
}

/* --- the table in the book ----------------------------------------------- */

static bool
add_name(struct book_row *row, void *arg)
{
	strv_add(arg, book_text(row, 0));
	return true;
}

static void
add_ddl(struct buf *ddl, const struct book_table *table,
    const struct book_made *made, char **found)
{
	unsigned at;

	if (found == NULL) {
		buf_addf(ddl, "CREATE TABLE \"%s\" (", table->name);
		for (size_t i = 0; i < table->count; i++)
			buf_addf(ddl, "\"%s\" %s%s, ", made->columns[i],
			    is_text(&table->fields[i]) ? "TEXT" : "INTEGER",
			    is_key(made, i) ? " NOT NULL" : "");
		buf_adds(ddl, "PRIMARY KEY (");
		for (size_t i = 0; i < made->key_count; i++)
			buf_addf(ddl, "%s\"%s\"", i > 0 ? ", " : "",
			    made->columns[made->keys[i]]);
		buf_adds(ddl, ")) STRICT;");
		return;
	}
	for (size_t i = 0; i < table->count; i++)
		if (!word_find(strv_const(found), made->columns[i], &at))
			buf_addf(ddl,
			    "ALTER TABLE \"%s\" ADD COLUMN \"%s\" %s;",
			    table->name, made->columns[i],
			    is_text(&table->fields[i]) ? "TEXT" : "INTEGER");
}

int
book_add_table(
    struct book *book, const struct book_table *table, struct err *err)
{
	const struct book_made *made = made_of(book, table);
	cleanup_buf struct buf ddl = BUF_INIT;
	cleanup_free char *whole = NULL;
	cleanup_strv char **found = NULL;
	int r = book_commit(book, err);

	if (r == 0)
		r = book_query(book,
		    "SELECT c.name FROM pragma_table_info($1) AS c",
		    BOOK_VALUES(BOOK_T(table->name)), add_name, &found, err);
	if (r < 0)
		return r;
	add_ddl(&ddl, table, made, found);
	if (table->more_ddl != NULL)
		buf_adds(&ddl, table->more_ddl);
	if (ddl.len == 0)
		return 0;
	whole = xasprintf("BEGIN IMMEDIATE; %s COMMIT", ddl.data);
	r = book_exec(book, whole, err);
	if (r < 0)
		book_rollback(book);
	return r;
}

/* --- write -------------------------------------------------------------- */

static const char *
word_of(const struct schema_field *field, const void *member)
{
	unsigned word;

	memcpy(&word, member, sizeof word);
	for (unsigned i = 0; i <= word; i++)
		if (field->words[i] == NULL)
			return NULL;
	return field->words[word];
}

static struct book_value
number(const struct schema_field *field, int64_t value)
{
	struct book_value number = BOOK_I(value);

	if (value == 0 && (field->flags & SCHEMA_ZERO_IS_NULL) != 0)
		number.type = BOOK_NULL;
	return number;
}

/* The text of a list or an object is the caller's. */
static struct book_value
value_of(const struct schema_field *field, const void *at, char **ret_own)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	switch (field->type) {
	case SCHEMA_STRING:
		return BOOK_T(*(const char *const *)at);
	case SCHEMA_WORD:
		return BOOK_T(word_of(field, at));
	case SCHEMA_BOOL:
		return BOOK_I(*(const bool *)at);
	case SCHEMA_INT32:
		return number(field, *(const int *)at);
	case SCHEMA_INT:
		return number(field, *(const int64_t *)at);
	case SCHEMA_UINT64:
		return number(field, (int64_t) * (const uint64_t *)at);
	case SCHEMA_OBJECT:
		json = json_object_get(*(struct json_object *const *)at);
		break;
	case SCHEMA_LIST:
		if (strv_count(*(char *const *const *)at) > 0)
			json = strv_to_json(*(char *const *const *)at);
		break;
	default:
		break;
	}
	if (json == NULL)
		return BOOK_T(NULL);
	json_print(json, false, &text);
	*ret_own = buf_take(&text);
	return BOOK_T(*ret_own);
}

/* The key of a row for book_queue(): the same for every writer of the row. */
static void
name_row(const struct book_table *table, const struct book_value *keys,
    size_t count, struct buf *row)
{
	buf_adds(row, table->name);
	for (size_t i = 0; i < count; i++)
		if (keys[i].type == BOOK_INT)
			buf_addf(row, " %lld", (long long)keys[i].number);
		else
			buf_addf(row, " %s",
			    keys[i].text != NULL ? keys[i].text : "");
}

void
book_put_values(struct book *book, const struct book_table *table,
    const struct book_value *values)
{
	const struct book_made *made = made_of(book, table);
	cleanup_buf struct buf row = BUF_INIT;
	struct book_value keys[BOOK_KEYS_MAX];

	for (size_t i = 0; i < made->key_count; i++)
		keys[i] = values[made->keys[i]];
	name_row(table, keys, made->key_count, &row);
	book_queue(
	    book, made->put, row.data, values, table->count - table->numbered);
}

void
book_put(struct book *book, const struct book_table *table, const void *record)
{
	cleanup_strv char **own = NULL;
	cleanup_free struct book_value *values =
	    xcalloc(table->count, sizeof *values);

	for (size_t i = 0; i < table->count; i++) {
		const struct schema_field *field = &table->fields[i];
		cleanup_free char *text = NULL;

		values[i] = value_of(
		    field, (const char *)record + field->offset, &text);
		if (text != NULL)
			strv_take(&own, take_ptr(&text));
	}
	book_put_values(book, table, values);
}

void
book_delete(struct book *book, const struct book_table *table,
    const struct book_value *keys)
{
	const struct book_made *made = made_of(book, table);
	cleanup_buf struct buf row = BUF_INIT;

	name_row(table, keys, made->key_count, &row);
	book_queue(book, made->remove, row.data, keys, made->key_count);
}

/* --- read --------------------------------------------------------------- */

static int
read_field(const struct schema_field *field, struct book_row *row, int column,
    void *at)
{
	const char *text;
	unsigned word = 0;

	if (!is_text(field)) {
		int64_t value = book_int(row, column);

		if (value < 0 || (field->max > 0 && value > field->max)) {
			if ((field->flags & SCHEMA_CLAMP) == 0)
				return -EINVAL;
			value = value < 0 ? 0 : field->max;
		}
		switch (field->type) {
		case SCHEMA_BOOL:
			*(bool *)at = value != 0;
			return 0;
		case SCHEMA_INT32:
			if (value > INT_MAX)
				return -EINVAL;
			*(int *)at = (int)value;
			return 0;
		case SCHEMA_INT:
			*(int64_t *)at = value;
			return 0;
		default:
			*(uint64_t *)at = (uint64_t)value;
			return 0;
		}
	}
	text = book_text(row, column);
	if (field->type == SCHEMA_STRING) {
		xstrset(at, text);
		return 0;
	}
	if (field->type != SCHEMA_WORD) {
		cleanup_json struct json_object *json = NULL;
		bool is_list = field->type == SCHEMA_LIST;
		char **list;

		if (json_parse(text, strlen(text), JSON_MAX, &json, NULL) < 0 ||
		    !json_object_is_type(
			json, is_list ? json_type_array : json_type_object))
			return -EINVAL;
		if (!is_list) {
			json_object_put(*(struct json_object **)at);
			*(struct json_object **)at = take_ptr(&json);
			return 0;
		}
		list = strv_from_json(json);
		strv_free(*(char ***)at);
		*(char ***)at = list;
		return 0;
	}
	if (!word_find(field->words, text, &word))
		return -EINVAL;
	memcpy(at, &word, sizeof word);
	return 0;
}

/* The columns of "SELECT *" are nearly in the order of the fields. */
static int
find_column(struct book_row *row, const char *name, int guess)
{
	int count = book_columns(row);

	for (int i = 0; i < count; i++) {
		int column = (guess + i) % count;

		if (strcmp(sqlite3_column_name(row->statement, column), name) ==
		    0)
			return column;
	}
	return -1;
}

int
book_read(struct book *book, const struct book_table *table,
    struct book_row *row, void *ret_record, struct err *err)
{
	const struct book_made *made = made_of(book, table);
	struct err own;
	int guess = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct schema_field *field = &table->fields[i];
		int column = find_column(row, made->columns[i], guess);

		if (column < 0)
			continue;
		guess = column + 1;
		if (book_is_null(row, column) ||
		    read_field(field, row, column,
			(char *)ret_record + field->offset) == 0)
			continue;
		err_set(&own, -EUCLEAN,
		    "%s: %s.%s has a value that cannot be there", book->path,
		    table->name, made->columns[i]);
		book_row_unusable(row, own.msg);
		if (err != NULL)
			*err = own;
		return own.code;
	}
	return 0;
}

/* Plans and events as one JSON document, and what a person asks for in SQL. */

static int
flush(struct writer *w)
{
	int r = file_write_all(w->fd, w->out.data, w->out.len);

	buf_clear(&w->out);
	return r < 0 ? err_errno(w->err, r, "the export cannot be written") : 0;
}

/* Between the members of a list. */
static void
separate(struct writer *w)
{
	buf_adds(&w->out, w->first ? "\n" : ",\n");
	w->first = false;
}

static bool
go_on(struct writer *w)
{
	if (w->r == 0 && w->out.len >= PIECE)
		w->r = flush(w);
	return w->r == 0;
}

static void
add_body(struct writer *w, const struct book_record *record)
{
	separate(w);
	text_add_json(&w->out, record->id, strlen(record->id));
	buf_addc(&w->out, ':');
	buf_adds(&w->out, record->body);
}

static bool
add_record(const struct book_record *record, void *arg)
{
	add_body(arg, record);
	return go_on(arg);
}

/* Its body without the last brace, then its nodes. */
static bool
add_goal(const struct book_record *record, void *arg)
{
	struct writer *w = arg;

	add_body(w, record);
	buf_truncate(&w->out, w->out.len - 1);
	buf_adds(&w->out, ",\"nodes\":{");
	w->first = true;
	if (go_on(w))
		w->r = book_read_bodies(w->book, BOOK_NODE, record->id, NULL,
		    add_record, w, w->err);
	w->first = false;
	buf_adds(&w->out, "}}");
	return go_on(w);
}

static void
add_text(struct writer *w, const char *key, const char *text)
{
	if (text == NULL)
		return;
	buf_addf(&w->out, ",\"%s\":", key);
	text_add_json(&w->out, text, strlen(text));
}

static bool
add_event(struct book_row *row, void *arg)
{
	struct writer *w = arg;
	struct book_event event;

	book_row_event(row, &event);
	separate(w);
	buf_addf(&w->out, "{\"seq\":%lld,\"ts\":%lld", (long long)event.seq,
	    (long long)event.ts_ms);
	add_text(w, "type", event.type);
	add_text(w, "goalId", event.goal_id);
	add_text(w, "assignmentId", event.assignment_id);
	add_text(w, "workNodeId", event.node_id);
	add_text(w, "worker", event.worker);
	add_text(w, "task", event.task);
	add_text(w, "key", event.key);
	if (event.data != NULL)
		buf_addf(&w->out, ",\"data\":%s", event.data);
	buf_addc(&w->out, '}');
	return go_on(w);
}

static bool
stop(const struct book_record *record, void *arg)
{
	(void)record;
	*(bool *)arg = true;
	return false;
}

static int
add_kind(struct writer *w, const char *key, enum book_kind kind)
{
	bool some = kind < BOOK_MAIL;
	int r = some ?
	    0 :
	    book_read_bodies(w->book, kind, NULL, NULL, stop, &some, w->err);

	/* An llmc that does not know this part can read a file without it. */
	if (r < 0 || !some)
		return r;
	buf_addf(&w->out, ",\n\"%s\":{", key);
	w->first = true;
	r = book_read_bodies(w->book, kind, NULL, NULL,
	    kind == BOOK_GOAL ? add_goal : add_record, w, w->err);
	buf_addc(&w->out, '}');
	return r < 0 ? r : w->r;
}

static int
write_all(struct writer *w)
{
	static const struct {
		const char *key;
		enum book_kind kind;
	} parts[] = {
		{ "goals", BOOK_GOAL },
		{ "assignments", BOOK_ASSIGNMENT },
		{ "crystallizations", BOOK_CRYSTAL },
		{ "mail", BOOK_MAIL },
		{ "requests", BOOK_REQUEST },
		{ "reservations", BOOK_RESERVATION },
	};
	/* One snapshot: the daemon may be writing. */
	int r = book_exec(w->book, "BEGIN", w->err);

	buf_addf(&w->out, "{\"version\":%d", BOOK_EXPORT_VERSION);
	for (size_t i = 0; r == 0 && i < nitems(parts); i++)
		r = add_kind(w, parts[i].key, parts[i].kind);
	buf_adds(&w->out, ",\n\"events\":[");
	w->first = true;
	if (r == 0)
		r = book_query(w->book,
		    "SELECT " BOOK_EVENT_COLUMNS " FROM events AS e"
		    " ORDER BY e.seq",
		    NULL, 0, add_event, w, w->err);
	if (r == 0)
		r = w->r;
	buf_adds(&w->out, "]}\n");
	return r == 0 ? flush(w) : r;
}

static int
export_to(const char *path, int fd, struct err *err)
{
	struct writer w = { .fd = fd, .err = err };
	int r = book_look(path, &w.book, err);

	if (r < 0)
		return r;
	buf_init(&w.out);
	r = write_all(&w);
	book_close(w.book);
	buf_release(&w.out);
	return r;
}

/* The old file stays until the new one is complete. */
int
book_export(const char *path, const char *file, struct err *err)
{
	cleanup_free char *part = NULL;
	cleanup_fd int fd = -1;
	int r;

	if (file == NULL)
		return export_to(path, STDOUT_FILENO, err);
	part = xasprintf("%s.part", file);
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd == -1)
		return err_errno(err, -errno, "%s", part);
	r = export_to(path, fd, err);
	if (r == 0 && fsync(fd) == -1)
		r = err_errno(err, -errno, "%s", part);
	if (r == 0 && rename(part, file) == -1)
		r = err_errno(err, -errno, "%s", file);
	if (r < 0)
		unlink(part);
	return r;
}

/* --- SQL of a person ----------------------------------------------------- */

#define STEPS 10000 /* of SQLite's machine between two looks at the clock */

/* Only what reads tables. */
static int
authorize(void *arg, int action, const char *a, const char *b, const char *c,
    const char *d)
{
	(void)arg;
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return action == SQLITE_SELECT || action == SQLITE_READ ||
		action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE ?
	    SQLITE_OK :
	    SQLITE_DENY;
}

int
book_is_late(void *arg)
{
	return clock_mono_ms() > *(const int64_t *)arg;
}

static int
prepare_one(
    struct book *book, const char *sql, sqlite3_stmt **ret, struct err *err)
{
	const char *rest = NULL;
	int rc = sqlite3_prepare_v2(book->sqlite, sql, -1, ret, &rest);

	if (rc == SQLITE_AUTH)
		return err_set(err, -EINVAL,
		    "only SELECT is possible here, nothing that changes the "
		    "book or its settings");
	if (rc == SQLITE_ERROR)
		return err_set(
		    err, -EINVAL, "%s", sqlite3_errmsg(book->sqlite));
	if (rc != SQLITE_OK)
		return book_error(book, rc, err);
	if (*ret == NULL)
		return err_set(err, -EINVAL,
		    "no statement; type for example: llmc doctor store sql \"SELECT "
		    "name, sql FROM sqlite_schema\"");
	rest += strspn(rest, " \t\r\n;");
	if (*rest != '\0')
		return err_set(err, -EINVAL,
		    "one statement at a time; more begins at: %.40s", rest);
	if (sqlite3_stmt_readonly(*ret) == 0)
		return err_set(err, -EINVAL, "only SELECT is possible here");
	return 0;
}

static struct json_object *
value_at(sqlite3_stmt *statement, int column, size_t *bytes)
{
	const char *text;
	int len = sqlite3_column_bytes(statement, column);
	size_t cut = (size_t)len;

	*bytes += cut + 8;
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		return json_object_new_int64(
		    sqlite3_column_int64(statement, column));
	case SQLITE_FLOAT:
		return json_object_new_double(
		    sqlite3_column_double(statement, column));
	case SQLITE_TEXT:
		text = (const char *)sqlite3_column_text(statement, column);
		if (!text_utf8_valid(text, (size_t)len))
			return json_object_new_string("(bytes)");
		if (cut > BOOK_SQL_BYTES_MAX)
			cut = BOOK_SQL_BYTES_MAX;
		while (cut < (size_t)len &&
		    ((unsigned char)text[cut] & 0xc0) == 0x80)
			cut--;
		return json_object_new_string_len(text, (int)cut);
	case SQLITE_BLOB:
		return json_object_new_string("(bytes)");
	default:
		return NULL;
	}
}

static int
run_rows(struct book *book, sqlite3_stmt *statement,
    struct json_object **ret_result, struct err *err)
{
	struct json_object *columns = json_object_new_array();
	struct json_object *rows = json_object_new_array();
	struct json_object *result = json_object_new_object();
	int count = sqlite3_column_count(statement), rc = SQLITE_ROW;
	size_t bytes = 0;

	for (int i = 0; i < count; i++)
		json_object_array_add(columns,
		    json_object_new_string(sqlite3_column_name(statement, i)));
	json_set(result, "columns", columns);
	json_set(result, "rows", rows);
	while (json_object_array_length(rows) < BOOK_SQL_ROWS_MAX &&
	    bytes < BOOK_SQL_BYTES_MAX &&
	    (rc = sqlite3_step(statement)) == SQLITE_ROW) {
		struct json_object *row = json_object_new_array();

		for (int i = 0; i < count; i++)
			json_object_array_add(
			    row, value_at(statement, i, &bytes));
		json_object_array_add(rows, row);
	}
	if (rc == SQLITE_ROW)
		rc = sqlite3_step(statement);
	json_set_bool(result, "truncated", rc == SQLITE_ROW);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
		json_object_put(result);
		return (rc & 0xff) == SQLITE_INTERRUPT ?
		    err_set(err, -ETIME,
			"the query was stopped because it took too long; ask "
			"for less, with WHERE or LIMIT") :
		    (rc & 0xff) == SQLITE_ERROR ?
		    err_set(err, -EINVAL, "%s", sqlite3_errmsg(book->sqlite)) :
		    book_error(book, rc, err);
	}
	*ret_result = result;
	return 0;
}

int
book_sql(const char *path, const char *sql, int deadline_ms,
    struct json_object **ret_result, struct err *err)
{
	int64_t deadline = clock_mono_ms() + deadline_ms;
	sqlite3_stmt *statement = NULL;
	struct book *book = NULL;
	int r = book_look(path, &book, err);

	if (r < 0)
		return r;
	sqlite3_set_authorizer(book->sqlite, authorize, NULL);
	sqlite3_progress_handler(book->sqlite, STEPS, book_is_late, &deadline);
	r = prepare_one(book, sql, &statement, err);
	if (r == 0)
		r = run_rows(book, statement, ret_result, err);
	sqlite3_finalize(statement);
	book_close(book);
	return r;
}
