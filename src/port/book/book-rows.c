/* SPDX-License-Identifier: ISC */

/* C structs as rows, by their tables of fields. */

#include "base.h"

#include <ctype.h>

#include "book-private.h"
#include "schema.h"
#include "word.h"

#define KEYS_MAX 4
#define JSON_MAX ((size_t)16 * 1024 * 1024)

/* What is made of a table once. */
struct made {
	char **columns; /* of each field */
	size_t keys[KEYS_MAX]; /* which fields */
	size_t key_count;
	char *put, *remove;
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
is_key(const struct made *made, size_t field)
{
	for (size_t i = 0; i < made->key_count; i++)
		if (made->keys[i] == field)
			return true;
	return false;
}

void
book_tables_release(struct book *book)
{
	for (size_t i = 0; i < book->tables.size; i++)
		if (book->tables.slots[i].key != NULL) {
			struct made *made = book->tables.slots[i].value;

			strv_free(made->columns);
			free(made->put);
			free(made->remove);
			free(made);
		}
	strmap_release(&book->tables);
}

/* --- statements --------------------------------------------------------- */

static char *
put_statement(const struct book_table *table, const struct made *made)
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

static struct made *
make(const struct book_table *table)
{
	struct made *made = xcalloc(1, sizeof *made);
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
		if (i == table->count || made->key_count == KEYS_MAX)
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

static struct made *
made_of(struct book *book, const struct book_table *table)
{
	struct made *made = strmap_get(&book->tables, table->name);

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
    const struct made *made, char **found)
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
	const struct made *made = made_of(book, table);
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
	const struct made *made = made_of(book, table);
	cleanup_buf struct buf row = BUF_INIT;
	struct book_value keys[KEYS_MAX];

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
	const struct made *made = made_of(book, table);
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
	const struct made *made = made_of(book, table);
	int guess = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct schema_field *field = &table->fields[i];
		int column = find_column(row, made->columns[i], guess);

		if (column < 0)
			continue;
		guess = column + 1;
		if (!book_is_null(row, column) &&
		    read_field(field, row, column,
			(char *)ret_record + field->offset) < 0)
			return err_set(err, -EUCLEAN,
			    "%s: %s.%s has a value that cannot be "
			    "there",
			    book->path, table->name, made->columns[i]);
	}
	return 0;
}
