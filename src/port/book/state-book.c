/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "account.h"
#include "book-history.h"
#include "book-private.h"
#include "landing-record.h"
#include "schema.h"
#include "state-book.h"
#include "state.h"
#include "task.h"
#include "worker.h"

/* --- the tables --------------------------------------------------------- */

/* A column beside those of the record's own fields. */
#define MORE(column, kind)                       \
	{                                        \
		.name = (column), .type = (kind) \
	}
#define NR MORE("nr", SCHEMA_INT)

static const struct schema_field task_more[] = {
	MORE("priority", SCHEMA_STRING),
	MORE("usage", SCHEMA_OBJECT),
	MORE("history", SCHEMA_OBJECT),
	MORE("run", SCHEMA_OBJECT),
	NR,
};

static const struct schema_field account_more[] = {
	MORE("usage", SCHEMA_OBJECT),
	MORE("filed", SCHEMA_OBJECT),
	MORE("reported_usage", SCHEMA_OBJECT),
	NR,
};

static const struct schema_field day_more[] = {
	MORE("usage", SCHEMA_OBJECT),
};

static const struct schema_field nr_more[] = { NR };

static const struct schema_field host_more[] = {
	MORE("key", SCHEMA_STRING),
	MORE("value", SCHEMA_OBJECT),
};

enum part {
	WORKER,
	TASK,
	LANDING,
	ACCOUNT,
	DAY,
	HOST,
	PART_COUNT
};

/* The rows of one that has the column nr, which is its last, are in its order,
 * others in that of their keys. */
static const struct {
	const char *name;
	const struct schema *own; /* NULL = none */
	bool has_spent;
	const struct schema_field *more;
	size_t more_count;
	const char *keys[3];
	const char *ddl;
	const char *clear;
} parts[PART_COUNT] = {
	[WORKER] = { "worker", &worker_table, .keys = { "name" },
	    .clear = "DELETE FROM worker" },
	[TASK] = { "task", &task_table, true, task_more, nitems(task_more),
	    .keys = { "id" },
	    .ddl = "CREATE INDEX IF NOT EXISTS task_nr ON task (nr);",
	    .clear = "DELETE FROM task" },
	[LANDING] = { "landing", &landing_item_schema, false, nr_more,
	    nitems(nr_more), .keys = { "id" },
	    .ddl = "CREATE INDEX IF NOT EXISTS landing_nr ON landing (nr);",
	    .clear = "DELETE FROM landing" },
	[ACCOUNT] = { "account", &account_table, true, account_more,
	    nitems(account_more), .keys = { "transcript", "from_ms" },
	    .ddl = "CREATE INDEX IF NOT EXISTS account_nr ON account (nr);",
	    .clear = "DELETE FROM account" },
	[DAY] = { "day", &daybook_table, true, day_more, nitems(day_more),
	    .keys = { "day" }, .clear = "DELETE FROM day" },
	[HOST] = { "host", NULL, false, host_more, nitems(host_more),
	    .keys = { "key" }, .clear = "DELETE FROM host" },
};

/* Made of these once, and kept: the book wants constants. */
static struct book_table tables[PART_COUNT];

static void
make_tables(void)
{
	for (enum part i = 0; i < PART_COUNT && tables[i].name == NULL; i++) {
		size_t own = parts[i].own != NULL ? parts[i].own->count : 0;
		size_t spent = parts[i].has_spent ? spent_table.count : 0;
		size_t count = own + spent + parts[i].more_count;
		struct schema_field *fields = xcalloc(count, sizeof *fields);

		if (own > 0)
			memcpy(
			    fields, parts[i].own->fields, own * sizeof *fields);
		if (spent > 0)
			memcpy(fields + own, spent_table.fields,
			    spent * sizeof *fields);
		if (parts[i].more_count > 0)
			memcpy(fields + own + spent, parts[i].more,
			    parts[i].more_count * sizeof *fields);
		tables[i] = (struct book_table){ .name = parts[i].name,
			.fields = fields,
			.count = count,
			.keys = parts[i].keys,
			.more_ddl = parts[i].ddl,
			.numbered = strcmp(fields[count - 1].name, "nr") == 0 };
	}
}

/* --- reading ------------------------------------------------------------ */

struct reading {
	enum part part;
	struct json_object *document;
	struct err err;
};

static const struct schema_field *
find_field(const struct book_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->fields[i].name, name) == 0)
			return &table->fields[i];
	return NULL; /* of a newer version */
}

static int
read_column(struct book_row *row, int column, const struct schema_field *field,
    struct json_object *json, struct err *err)
{
	struct json_object *value = NULL;
	const char *text;
	int r;

	switch (field->type) {
	case SCHEMA_STRING:
	case SCHEMA_WORD:
		json_set_string(json, field->name, book_text(row, column));
		return 0;
	case SCHEMA_BOOL:
		json_set_bool(json, field->name, book_int(row, column) != 0);
		return 0;
	case SCHEMA_OBJECT:
	case SCHEMA_LIST:
		text = book_text(row, column);
		r = json_parse(text, strlen(text), STATE_SIZE_MAX, &value, err);
		if (r < 0)
			return r;
		json_set(json, field->name, value);
		return 0;
	default:
		json_set_int(json, field->name, book_int(row, column));
		return 0;
	}
}

static bool
on_row(struct book_row *row, void *arg)
{
	struct reading *reading = arg;
	const struct book_table *table = &tables[reading->part];
	cleanup_json struct json_object *json = json_object_new_object();
	int r = 0;
	static const char *const lists[PART_COUNT] = { [TASK] = "tasks",
		[ACCOUNT] = "accounts",
		[DAY] = "days",
		[LANDING] = "items" };
	enum part part;
	struct json_object *document;

	for (int i = 0; i < book_columns(row) && r == 0; i++) {
		const char *name = sqlite3_column_name(row->statement, i);
		const struct schema_field *field = find_field(table, name);

		if (field == NULL || book_is_null(row, i) ||
		    strcmp(name, "nr") == 0)
			continue;
		r = read_column(row, i, field, json, &reading->err);
		if (r < 0) {
			err_prefix(&reading->err, "%s.%s", table->name, name);
			return false;
		}
	}
	/* Where its record belongs in the document of state.h. */
	document = reading->document;
	part = reading->part;
	if (part == WORKER)
		json_set(json_member(document, "workers"),
		    json_string_or(json, "name", ""), json_object_get(json));
	else if (part == HOST)
		json_set(document, json_string_or(json, "key", ""),
		    json_object_get(json_member(json, "value")));
	else
		json_object_array_add(
		    json_member(document, lists[part]), json_object_get(json));
	return true;
}

static struct json_object *
new_document(void)
{
	struct json_object *json = json_object_new_object();

	json_set(json, "workers", json_object_new_object());
	json_set(json, "tasks", json_object_new_array());
	json_set(json, "accounts", json_object_new_array());
	json_set(json, "days", json_object_new_array());
	json_set(json, "items", json_object_new_array());
	return json;
}

static int
no_state(const struct book *book, const char *why, struct err *err)
{
	return err_set(err, -EINVAL,
	    "%s: %s; correct it with the sqlite3 program, or create a new "
	    "state from the worktrees: llmc doctor --rebuild",
	    book->path, why);
}

int
state_book_find(struct book *book, struct err *err)
{
	int64_t count = 0;
	int r = book_get_int(book,
	    "SELECT count(*) FROM sqlite_schema AS s WHERE s.name = 'host'",
	    NULL, 0, &count, err);

	if (r == 0 && count > 0)
		r = book_get_int(book,
		    "SELECT count(*) FROM host AS h WHERE h.key = 'root_id'",
		    NULL, 0, &count, err);
	return r == 0 && count == 0 ? -ENOENT : r;
}

static int
load(
    struct book *book, int64_t now_ms, struct state *ret_state, struct err *err)
{
	struct reading reading = { .document = new_document() };
	cleanup_json struct json_object *document = reading.document;
	struct json_object *landings;
	struct err why = { 0, "" };
	struct state state;
	int r = state_book_find(book, err);

	make_tables();
	for (enum part i = 0; i < PART_COUNT && r == 0; i++) {
		cleanup_free char *query = xasprintf(
		    "SELECT t.* FROM %s AS t ORDER BY t.%s", parts[i].name,
		    tables[i].numbered ? "nr" : parts[i].keys[0]);

		reading.part = i;
		r = book_query(book, query, NULL, 0, on_row, &reading, err);
		if (r == 0 && reading.err.code != 0)
			r = no_state(book, reading.err.msg, err);
	}
	if (r < 0)
		return r;
	landings = json_member(document, "landings");
	if (landings != NULL)
		json_set(landings, "items",
		    json_object_get(json_member(document, "items")));
	json_object_object_del(document, "items");
	if (state_from_json(document, now_ms, &state, &why) < 0)
		return no_state(book, why.msg, err);
	r = book_load_asks(book, &state, err);
	if (r < 0) {
		state_release(&state);
		return r;
	}
	state_release(ret_state);
	*ret_state = state;
	return 0;
}

int
state_book_load(
    struct book *book, int64_t now_ms, struct state *ret_state, struct err *err)
{
	/* A daemon may write between two tables. */
	int r = book_exec(book, "SAVEPOINT state", err);

	if (r < 0)
		return r;
	r = load(book, now_ms, ret_state, err);
	book_exec(book, "RELEASE state", NULL);
	return r;
}

/* --- writing ------------------------------------------------------------ */

/* What was written last of one row. */
struct image {
	char *key; /* in the map: the part and the row's keys */
	enum part part;
	char *id; /* the first key, if it is a text */
	int64_t number; /* else, or the second */
	uint64_t hash[2];
	unsigned pass; /* in which it was there last */
};

struct state_book {
	struct book *book;
	struct strmap images;
	struct image **list; /* all of them */
	size_t count;
	unsigned pass;
	bool quiet; /* only take note */
	uint64_t seed; /* random, so that collisions cannot be prepared */
	struct buf bytes; /* of the row that is being written */
};

int
state_book_new(struct book *book, struct state_book **ret, struct err *err)
{
	struct state_book *rows;
	int r = 0;

	make_tables();
	for (enum part i = 0; i < PART_COUNT && r == 0; i++)
		r = book_add_table(book, &tables[i], err);
	if (r < 0)
		return r;
	rows = xcalloc(1, sizeof *rows);
	rows->book = book;
	buf_init(&rows->bytes);
	arc4random_buf(&rows->seed, sizeof rows->seed);
	*ret = rows;
	return 0;
}

static void
image_free(struct image *image)
{
	free(image->key);
	free(image->id);
	free(image);
}

void
state_book_free(struct state_book *rows)
{
	if (rows == NULL)
		return;
	for (size_t i = 0; i < rows->count; i++)
		image_free(rows->list[i]);
	free(rows->list);
	strmap_release(&rows->images);
	buf_release(&rows->bytes);
	free(rows);
}

static void
hash_word(uint64_t hash[2], uint64_t word)
{
	hash[0] = (hash[0] ^ word) * UINT64_C(0x100000001b3);
	hash[0] ^= hash[0] >> 32;
	hash[1] = (hash[1] + word) * UINT64_C(0x9e3779b97f4a7c15);
	hash[1] ^= hash[1] >> 29;
}

/* Is rows->bytes what was written last of this row? It is what will be. */
static bool
is_written(
    struct state_book *rows, enum part part, const char *id, int64_t number)
{
	cleanup_free char *key = xasprintf(
	    "%d %" PRId64 " %s", (int)part, number, id != NULL ? id : "");
	struct image *image = strmap_get(&rows->images, key);
	uint64_t hash[2];
	bool same;
	const char *at = rows->bytes.data;
	size_t left = rows->bytes.len;
	uint64_t word;

	hash[0] = rows->seed;
	hash[1] = ~rows->seed ^ left;
	for (; left >= sizeof word; left -= sizeof word) {
		memcpy(&word, at, sizeof word);
		hash_word(hash, word);
		at += sizeof word;
	}
	word = 0;
	memcpy(&word, at, left);
	hash_word(hash, word);
	if (image == NULL) {
		image = xcalloc(1, sizeof *image);
		image->key = take_ptr(&key);
		image->part = part;
		xstrset(&image->id, id);
		image->number = number;
		strmap_add(&rows->images, image->key, image);
		rows->list = xreallocarray(
		    rows->list, rows->count + 1, sizeof(struct image *));
		rows->list[rows->count++] = image;
	}
	same = image->pass != 0 && image->hash[0] == hash[0] &&
	    image->hash[1] == hash[1];
	image->hash[0] = hash[0];
	image->hash[1] = hash[1];
	image->pass = rows->pass;
	return same || rows->quiet;
}

static struct book_value
value_of(const struct schema_field *field, struct json_object *value,
    struct buf *text)
{
	size_t at = text->len;

	if (value == NULL)
		return (struct book_value){ .type = BOOK_NULL };
	switch (field->type) {
	case SCHEMA_STRING:
	case SCHEMA_WORD:
		return BOOK_T(json_object_get_string(value));
	case SCHEMA_BOOL:
		return BOOK_I(json_object_get_boolean(value));
	case SCHEMA_OBJECT:
	case SCHEMA_LIST:
		json_print(value, false, text);
		buf_addc(text, 0);
		/* The buffer may still move. */
		return (struct book_value){ .type = BOOK_TEXT,
			.number = (int64_t)at };
	default:
		return BOOK_I(json_object_get_int64(value));
	}
}

static bool
is_number(const struct schema_field *field)
{
	return field->type == SCHEMA_BOOL || field->type == SCHEMA_INT ||
	    field->type == SCHEMA_INT32 || field->type == SCHEMA_UINT64;
}

/* Every member has a column: none may be lost. Takes the JSON. */
static void
put_row(struct state_book *rows, enum part part, struct json_object *record)
{
	const struct book_table *table = &tables[part];
	cleanup_json struct json_object *json = record;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free struct book_value *values =
	    xcalloc(table->count, sizeof *values);
	int found = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct schema_field *field = &table->fields[i];
		struct json_object *value = NULL;

		if (json_object_object_get_ex(json, field->name, &value)) {
			values[i] = value_of(field, value, &text);
			found++;
		} else if ((field->flags & SCHEMA_OMIT_UNSET) != 0 &&
		    is_number(field)) {
			values[i] = BOOK_I(0); /* as people expect it in SQL */
		}
	}
	if (found != json_object_object_length(json))
		fatalx("a member of a %s has no column", table->name);
	for (size_t i = 0; i < table->count; i++)
		if (values[i].type == BOOK_TEXT && values[i].text == NULL)
			values[i].text = text.data + values[i].number;
	book_put_values(rows->book, table, values);
}

/* Begin rows->bytes of a row. */
static void
add_record(struct state_book *rows, enum part part, const void *record)
{
	buf_clear(&rows->bytes);
	schema_image(parts[part].own, record, &rows->bytes);
}

static void
add_spent(struct state_book *rows, const struct spent *spent)
{
	const struct usage *usage = &spent->usage;

	schema_image(&spent_table, spent, &rows->bytes);
	buf_add(&rows->bytes, &usage->tool_calls, sizeof usage->tool_calls);
	buf_add(&rows->bytes, usage->models,
	    usage->count * sizeof usage->models[0]);
}

static void
put_account(struct state_book *rows, const struct account *account)
{
	add_record(rows, ACCOUNT, account);
	add_spent(rows, &account->spent);
	add_spent(rows, &account->filed);
	buf_add(
	    &rows->bytes, &account->report.usage, sizeof account->report.usage);
	if (!is_written(rows, ACCOUNT, account->transcript, account->from_ms))
		put_row(rows, ACCOUNT, schema_json(&account_schema, account));
}

static void
put_members(struct state_book *rows, const struct state *state)
{
	cleanup_json struct json_object *members = state_members_to_json(state);
	struct json_object_iter it;

	json_object_object_foreachC(members, it)
	{
		struct book_value values[2] = { BOOK_T(it.key) };

		buf_clear(&rows->bytes);
		if (it.val != NULL)
			json_print(it.val, false, &rows->bytes);
		values[1] = BOOK_T(it.val != NULL ? rows->bytes.data : NULL);
		if (!is_written(rows, HOST, it.key, 0))
			book_put_values(rows->book, &tables[HOST], values);
	}
}

static void
walk(struct state_book *rows, const struct state *state, bool quiet)
{
	size_t kept = 0;

	rows->quiet = quiet;
	rows->pass++;
	for (size_t i = 0; i < state->count; i++) {
		const struct worker *w = state->workers[i];

		add_record(rows, WORKER, w);
		if (!is_written(rows, WORKER, w->name, 0))
			put_row(rows, WORKER, schema_json(&worker_table, w));
	}
	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *task = state->tasks[i];

		add_record(rows, TASK, task);
		add_spent(rows, &task->spent);
		buf_add(&rows->bytes, &task->priority, sizeof task->priority);
		json_print(task->history, false, &rows->bytes);
		schema_image(&task_launch_schema, &task->launch, &rows->bytes);
		schema_image(
		    &task_attempt_schema, &task->attempt, &rows->bytes);
		if (!is_written(rows, TASK, task->id, 0))
			put_row(rows, TASK, task_to_json(task));
	}
	for (size_t i = 0; i < state->landings.count; i++) {
		const struct landing_item *item = state->landings.items[i];

		add_record(rows, LANDING, item);
		if (!is_written(rows, LANDING, item->id, 0))
			put_row(rows, LANDING,
			    schema_json(&landing_item_schema, item));
	}
	for (size_t i = 0; i < state->account_count; i++)
		put_account(rows, state->accounts[i]);
	for (size_t i = 0; i < state->days.count; i++) {
		const struct daybook_day *day = &state->days.days[i];

		add_record(rows, DAY, day);
		add_spent(rows, &day->spent);
		if (!is_written(rows, DAY, NULL, day->day))
			put_row(rows, DAY, schema_json(&daybook_schema, day));
	}
	put_members(rows, state);
	for (size_t i = 0; i < rows->count; i++) {
		struct image *image = rows->list[i];
		struct book_value keys[2];
		size_t count = 0;

		if (image->pass == rows->pass) {
			rows->list[kept++] = image;
			continue;
		}
		if (image->id != NULL)
			keys[count++] = BOOK_T(image->id);
		if (tables[image->part].keys[count] != NULL)
			keys[count] = BOOK_I(image->number);
		if (!rows->quiet)
			book_delete(rows->book, &tables[image->part], keys);
		strmap_remove(&rows->images, image->key);
		image_free(image);
	}
	rows->count = kept;
}

void
state_book_clear(struct state_book *rows)
{
	for (enum part i = 0; i < PART_COUNT; i++)
		book_run(rows->book, parts[i].clear, NULL, 0);
}

void
state_book_know(struct state_book *rows, const struct state *state)
{
	walk(rows, state, true);
}

void
state_book_put(struct state_book *rows, const struct state *state)
{
	walk(rows, state, false);
}
