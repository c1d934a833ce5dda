/* SPDX-License-Identifier: ISC */

/* A damaged book is made anew from its pages, whatever is left of them. SQLite
 * goes down from page to page, and one that is missing hides all below it; here
 * each page is looked at on its own, and SQLite's map of the parents of all
 * pages (auto_vacuum) says to which table its rows belong. The sqlite3 program
 * has this too (.recover), but not as Debian and Ubuntu build it. */

#include "base.h"

#include <endian.h>

#include "book-care.h"
#include "book-private.h"

/* Of SQLite's file format. */
#define MAGIC          "SQLite format 3" /* and its NUL */
#define HEADER_SIZE    100
#define AT_PAGES       28
#define AT_LARGEST     52 /* root; 0: there is no map */
#define AT_VERSION     60
#define TABLE_LEAF     0x0d
#define TABLE_NODE     0x05
#define MAP_FIRST      2
#define MAP_ENTRY      5
#define MAP_ROOT       1
#define MAP_FREE       2
#define MAP_CHILD      5
#define SCHEMA         1 /* its root */
#define SCHEMA_COLUMNS 5 /* type, name, tbl_name, rootpage, sql */

#define DEPTH_MAX   20
#define COLUMNS_MAX 200
#define FILE_MAX    ((size_t)1 << 31)

struct row {
	int64_t rowid;
	struct buf payload;
	size_t count;
	struct {
		uint64_t type; /* its serial type */
		size_t at; /* in the payload */
	} columns[COLUMNS_MAX];
};

struct table {
	uint32_t root;
	char *name;
};

struct rebuild {
	struct buf file;
	uint32_t pages; /* that are there, in the file or in its log */
	uint32_t usable; /* bytes of each */
	bool has_map;
	size_t version; /* of its tables */
	bool *wrong; /* [number]: it has another checksum */
	uint32_t *parents; /* [number]: as the nodes of the tables say */
	struct table *tables;
	size_t table_count;
	char **more; /* what makes their indexes */
	struct book *to;
	struct book_recovered *got;
	struct row row;
	/* The table at hand, and what adds a row that has its first columns. */
	const char *table;
	char **columns;
	sqlite3_stmt *insert;
	size_t insert_count;
};

/* A row of a page. Negative errno ends it all. */
typedef int row_fn(struct rebuild *s, uint32_t page, struct err *err);

/* --- pages -------------------------------------------------------------- */

static uint32_t
big_endian(const unsigned char *at)
{
	uint32_t number;

	memcpy(&number, at, sizeof number);
	return be32toh(number);
}

static unsigned char *
page_of(const struct rebuild *s, uint32_t number)
{
	return number > 0 && number <= s->pages ?
	    (unsigned char *)s->file.data +
		(size_t)(number - 1) * BOOK_PAGE_SIZE :
	    NULL;
}

/* What SQLite noted of a page; NULL: that cannot be read. */
static const unsigned char *
map_of(const struct rebuild *s, uint32_t number)
{
	uint32_t entries = s->usable / MAP_ENTRY;
	uint32_t map =
	    (number - MAP_FIRST) / (entries + 1) * (entries + 1) + MAP_FIRST;
	const unsigned char *page = page_of(s, map);

	return s->has_map && number > map && page != NULL && !s->wrong[map] ?
	    page + (size_t)(number - map - 1) * MAP_ENTRY :
	    NULL;
}

/* The table that a page is of; 0: none. */
static uint32_t
root_of(const struct rebuild *s, uint32_t number)
{
	for (int i = 0; i < DEPTH_MAX && number > 0; i++) {
		const unsigned char *map = map_of(s, number);

		if (number == SCHEMA || (map != NULL && *map == MAP_ROOT))
			return number;
		for (size_t j = 0; j < s->table_count; j++)
			if (s->tables[j].root == number)
				return number;
		if (map != NULL)
			number = *map == MAP_CHILD ? big_endian(map + 1) : 0;
		else
			number = number <= s->pages ? s->parents[number] : 0;
	}
	return 0;
}

/* Where the header of a tree's page is. */
static const unsigned char *
tree_page(const struct rebuild *s, uint32_t number)
{
	const unsigned char *page = page_of(s, number);

	return number == SCHEMA ? page + HEADER_SIZE : page;
}

static size_t
cell_at(const struct rebuild *s, uint32_t number, size_t i)
{
	const unsigned char *tree = tree_page(s, number);
	size_t header = *tree == TABLE_LEAF ? 8 : 12;
	size_t count = (size_t)tree[3] << 8 | tree[4];
	const unsigned char *pointer = tree + header + i * 2;

	if (i >= count || pointer + 2 > page_of(s, number) + s->usable)
		return 0;
	return (size_t)pointer[0] << 8 | pointer[1];
}

static void
find_page_parents(struct rebuild *s)
{
	for (uint32_t n = 1; n <= s->pages; n++) {
		const unsigned char *tree = tree_page(s, n);
		uint32_t child;
		size_t at;

		if (*tree != TABLE_NODE || s->wrong[n])
			continue;
		for (size_t i = 0; (at = cell_at(s, n, i)) != 0; i++) {
			if (at + 4 > s->usable)
				continue;
			child = big_endian(page_of(s, n) + at);
			if (child <= s->pages)
				s->parents[child] = n;
		}
		child = big_endian(tree + 8);
		if (child <= s->pages)
			s->parents[child] = n;
	}
}

/* --- rows --------------------------------------------------------------- */

/* SQLite's number of one to nine bytes; 0 bytes: it is cut off. */
static size_t
read_varint(const unsigned char *at, size_t room, uint64_t *ret)
{
	uint64_t number = 0;

	for (size_t i = 0; i < room && i < 9; i++) {
		if (i == 8) {
			*ret = number << 8 | at[i];
			return 9;
		}
		number = number << 7 | (at[i] & 0x7f);
		if ((at[i] & 0x80) == 0) {
			*ret = number;
			return i + 1;
		}
	}
	return 0;
}

/* All of its bytes: what does not fit into the page is in a chain of others. */
static bool
read_payload(struct rebuild *s, const unsigned char *at, size_t room)
{
	size_t most = s->usable - 35, least = (s->usable - 12) * 32 / 255 - 23;
	size_t local = 0, used;
	uint64_t len = 0, rowid = 0;
	uint32_t next;

	used = read_varint(at, room, &len);
	if (used > 0)
		local = read_varint(at + used, room - used, &rowid);
	if (used == 0 || local == 0 || len > s->file.len)
		return false;
	used += local;
	local = (size_t)len;
	if (len > most) {
		local = least + (len - least) % (s->usable - 4);
		if (local > most)
			local = least;
	}
	if (used + local + (local < len ? 4 : 0) > room)
		return false;
	s->row.rowid = (int64_t)rowid;
	buf_clear(&s->row.payload);
	buf_add(&s->row.payload, at + used, local);
	for (next = local < len ? big_endian(at + used + local) : 0;
	     s->row.payload.len < len;) {
		const unsigned char *page = page_of(s, next);
		size_t part = len - s->row.payload.len;

		if (page == NULL)
			return false;
		if (part > s->usable - 4)
			part = s->usable - 4;
		buf_add(&s->row.payload, page + 4, part);
		next = big_endian(page);
	}
	return true;
}

static size_t
size_of_type(uint64_t type)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0 };

	return type < nitems(sizes) ? sizes[type] :
	    type < 12               ? SIZE_MAX :
				      (size_t)(type - 12) / 2;
}

static bool
read_cell(struct rebuild *s, const unsigned char *at, size_t room)
{
	struct row *row = &s->row;
	const unsigned char *bytes;
	uint64_t header = 0;
	size_t used, data;

	if (!read_payload(s, at, room))
		return false;
	bytes = (const unsigned char *)row->payload.data;
	used = read_varint(bytes, row->payload.len, &header);
	if (used == 0 || header > row->payload.len)
		return false;
	data = (size_t)header;
	for (row->count = 0; used < header; row->count++) {
		uint64_t type = 0;
		size_t n = read_varint(bytes + used, header - used, &type);

		if (n == 0 || row->count == COLUMNS_MAX ||
		    size_of_type(type) > row->payload.len - data)
			return false;
		row->columns[row->count].type = type;
		row->columns[row->count].at = data;
		data += size_of_type(type);
		used += n;
	}
	return true;
}

static int64_t
row_int(const struct row *row, size_t column)
{
	const unsigned char *at =
	    (const unsigned char *)row->payload.data + row->columns[column].at;
	uint64_t type = row->columns[column].type;
	size_t size = size_of_type(type);
	uint64_t number;

	if (type == 8 || type == 9)
		return (int64_t)type - 8;
	number = size > 0 && (*at & 0x80) != 0 ? UINT64_MAX : 0;
	for (size_t i = 0; type <= 6 && i < size; i++)
		number = number << 8 | at[i];
	return (int64_t)number;
}

/* NULL: it is none. */
static char *
row_text(const struct row *row, size_t column)
{
	uint64_t type = row->columns[column].type;

	return type >= 13 && type % 2 == 1 ?
	    xstrndup(row->payload.data + row->columns[column].at,
		size_of_type(type)) :
	    NULL;
}

static void
row_bind(const struct row *row, size_t column, sqlite3_stmt *statement)
{
	const char *at = row->payload.data + row->columns[column].at;
	uint64_t type = row->columns[column].type;
	int n = (int)column + 1, size = (int)size_of_type(type);

	if (type >= 12 && type % 2 == 1)
		sqlite3_bind_text(statement, n, at, size, SQLITE_STATIC);
	else if (type >= 12)
		sqlite3_bind_blob(statement, n, at, size, SQLITE_STATIC);
	else if (type == 7) {
		uint64_t bits = (uint64_t)row_int(row, column);
		double number;

		memcpy(&bits, at, sizeof bits);
		bits = be64toh(bits);
		memcpy(&number, &bits, sizeof number);
		sqlite3_bind_double(statement, n, number);
	} else if (type != 0)
		sqlite3_bind_int64(statement, n, row_int(row, column));
}

/* All rows of a table: first those of pages that are as they were written. */
static int
each_row(struct rebuild *s, uint32_t root, row_fn *fn, struct err *err)
{
	int r = 0;

	for (int wrong = 0; wrong <= 1; wrong++)
		for (uint32_t n = 1; r == 0 && n <= s->pages; n++) {
			size_t at;

			if (s->wrong[n] != (wrong == 1) ||
			    *tree_page(s, n) != TABLE_LEAF ||
			    root_of(s, n) != root)
				continue;
			for (size_t i = 0;
			     r == 0 && (at = cell_at(s, n, i)) != 0; i++)
				if (at < s->usable &&
				    read_cell(
					s, page_of(s, n) + at, s->usable - at))
					r = fn(s, n, err);
				else
					s->got->refused++;
		}
	return r;
}

/* --- tables ------------------------------------------------------------- */

/* What made the tables. Those of this version are there already. */
static int
on_schema_row(struct rebuild *s, uint32_t page, struct err *err)
{
	cleanup_free char *name = NULL, *sql = NULL;
	int64_t root;

	(void)page;
	(void)err;
	if (s->row.count < SCHEMA_COLUMNS)
		return 0;
	name = row_text(&s->row, 1);
	root = row_int(&s->row, 3);
	sql = row_text(&s->row, 4);
	if (name == NULL || sql == NULL || strchr(name, '"') != NULL ||
	    text_begins(name, "sqlite_") || root <= SCHEMA || root > UINT32_MAX)
		return 0;
	if (!text_begins(sql, "CREATE TABLE ")) {
		strv_add(&s->more, sql);
		return 0;
	}
	book_exec(s->to, sql, NULL); /* fails if it is there */
	s->tables =
	    xreallocarray(s->tables, s->table_count + 1, sizeof *s->tables);
	s->tables[s->table_count++] =
	    (struct table){ (uint32_t)root, take_ptr(&name) };
	return 0;
}

static bool
add_column(struct book_row *row, void *arg)
{
	strv_add(arg, book_text(row, 0));
	return true;
}

/* The number of a row is last, so that it counts where a column is its name. */
static int
prepare_insert(struct rebuild *s, size_t count, struct err *err)
{
	cleanup_buf struct buf sql = BUF_INIT;

	sqlite3_finalize(take_ptr(&s->insert));
	buf_addf(&sql, "INSERT OR IGNORE INTO \"%s\" (", s->table);
	for (size_t i = 0; i < count; i++)
		buf_addf(&sql, "\"%s\", ", s->columns[i]);
	buf_adds(&sql, "rowid) VALUES (");
	for (size_t i = 0; i < count; i++)
		buf_adds(&sql, "?, ");
	buf_adds(&sql, "?)");
	s->insert_count = count;
	return book_prepare(s->to, sql.data, &s->insert, err);
}

/* A row with a value that its table does not take, or that is there already,
 * is left out. */
static int
on_table_row(struct rebuild *s, uint32_t page, struct err *err)
{
	size_t count = strv_count(s->columns);
	int rc, r = 0;

	if (s->row.count < count)
		count = s->row.count; /* the others came later */
	if (s->insert == NULL || s->insert_count != count)
		r = prepare_insert(s, count, err);
	if (r < 0)
		return r;
	sqlite3_reset(s->insert);
	sqlite3_clear_bindings(s->insert);
	for (size_t i = 0; i < count; i++)
		row_bind(&s->row, i, s->insert);
	sqlite3_bind_int64(s->insert, (int)count + 1, s->row.rowid);
	rc = sqlite3_step(s->insert);
	if (rc != SQLITE_DONE) {
		r = book_error(s->to, rc, err);
		sqlite3_reset(s->insert);
	}
	if (r == -EEXIST || r == -EINVAL || r == -E2BIG ||
	    (r == 0 && sqlite3_changes(s->to->sqlite) == 0)) {
		s->got->refused++;
		return 0;
	}
	s->got->rows += r == 0;
	s->got->doubtful += r == 0 && s->wrong[page];
	return r;
}

static int
fill_tables(struct rebuild *s, struct err *err)
{
	int r = each_row(s, SCHEMA, on_schema_row, err);

	for (size_t i = 0; r == 0 && i < s->table_count; i++) {
		s->table = s->tables[i].name;
		strv_clear(&s->columns);
		r = book_query(s->to,
		    "SELECT i.name FROM pragma_table_info($1) i",
		    BOOK_VALUES(BOOK_T(s->table)), add_column, &s->columns,
		    err);
		if (r == 0 && s->columns != NULL)
			r = each_row(s, s->tables[i].root, on_table_row, err);
		sqlite3_finalize(take_ptr(&s->insert));
	}
	for (size_t i = 0; r == 0 && s->more != NULL && s->more[i] != NULL; i++)
		book_exec(s->to, s->more[i], NULL); /* fails if it is there */
	return r;
}

/* --- the file ----------------------------------------------------------- */

/* Put right pages with one wrong bit, and note the others. */
static void
look_at_checksums(struct rebuild *s, bool *ret_stamped)
{
	bool stamped = s->pages > 0 && book_page_has_room(page_of(s, 1));

	for (uint32_t n = 2; n <= s->pages && !stamped; n++)
		stamped = book_page_stamp(page_of(s, n)) != 0 &&
		    book_page_is_whole(page_of(s, n), n);
	for (uint32_t n = 1; n <= s->pages && stamped; n++) {
		if (book_page_is_whole(page_of(s, n), n))
			continue;
		if (book_page_repair(page_of(s, n), n))
			s->got->repaired++;
		else
			s->wrong[n] = true;
	}
	*ret_stamped = stamped;
}

/* Of the pages that the last commits wrote, the newest. */
static int
apply_log(struct rebuild *s, const char *path, struct err *err)
{
	struct book_log log;
	int r = book_log_read(path, &log, err);

	for (size_t i = 0; r == 0 && i < log.end; i++) {
		uint32_t number = 0;
		const unsigned char *page = book_log_page(&log, i, &number);

		if (page == NULL) {
			s->got->gaps++;
		} else if (number > 0 && number < FILE_MAX / BOOK_PAGE_SIZE) {
			size_t end = (size_t)number * BOOK_PAGE_SIZE;

			while (s->file.len < end)
				buf_addc(&s->file, '\0');
			memcpy(s->file.data + end - BOOK_PAGE_SIZE, page,
			    BOOK_PAGE_SIZE);
		}
	}
	s->got->repaired += log.repaired;
	book_log_release(&log);
	return r;
}

static int
read_pages(struct rebuild *s, const char *path, struct err *err)
{
	unsigned char *first, *second;
	bool stamped = false, begins;
	int r = file_read(path, FILE_MAX, &s->file, err);

	if (r < 0)
		return r;
	buf_truncate(&s->file, s->file.len / BOOK_PAGE_SIZE * BOOK_PAGE_SIZE);
	r = apply_log(s, path, err);
	if (r < 0)
		return r;
	s->pages = (uint32_t)(s->file.len / BOOK_PAGE_SIZE);
	s->wrong = xcalloc((size_t)s->pages + 1, sizeof *s->wrong);
	s->parents = xcalloc((size_t)s->pages + 1, sizeof *s->parents);
	look_at_checksums(s, &stamped);
	first = page_of(s, 1);
	second = page_of(s, 2);
	begins = first != NULL && memcmp(first, MAGIC, sizeof MAGIC) == 0;
	s->usable = BOOK_PAGE_SIZE - (stamped ? BOOK_STAMP_SIZE : 0);
	s->has_map = (begins && big_endian(first + AT_LARGEST) != 0) ||
	    (second != NULL && *second == MAP_ROOT);
	for (uint32_t n = 1; n <= s->pages; n++) {
		const unsigned char *map = map_of(s, n);

		s->got->gaps +=
		    s->wrong[n] && (map == NULL || *map != MAP_FREE);
	}
	if (begins && big_endian(first + AT_PAGES) > s->pages)
		s->got->gaps += big_endian(first + AT_PAGES) - s->pages;
	if (begins && !s->wrong[1])
		s->version = big_endian(first + AT_VERSION);
	find_page_parents(s);
	return 0;
}

static int
rebuild_write(struct rebuild *s, const char *built, struct err *err)
{
	int r;

	if (s->version > book_version)
		return err_set(err, -EPROTONOSUPPORT,
		    "it was written by a newer llmc: install that llmc again");
	book_files_remove(built);
	r = book_create(built, s->version, err);
	if (r == 0)
		r = book_connect(built, &s->to, err);
	/* Durable at the end, not at every step. */
	if (r == 0)
		r = book_exec(s->to, "PRAGMA synchronous = OFF; BEGIN", err);
	if (r == 0)
		r = fill_tables(s, err);
	if (r == 0)
		r = book_exec(
		    s->to, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)", err);
	book_close(s->to);
	return r == 0 ? book_files_sync(built, err) : r;
}

int
book_rebuild(const char *path, const char *built, struct book_recovered *got,
    struct err *err)
{
	struct rebuild s = { .version = book_version, .got = got };
	int r;

	buf_init(&s.file);
	buf_init(&s.row.payload);
	r = read_pages(&s, path, err);
	if (r == 0)
		r = rebuild_write(&s, built, err);
	for (size_t i = 0; i < s.table_count; i++)
		free(s.tables[i].name);
	free(s.tables);
	strv_free(s.columns);
	strv_free(s.more);
	free(s.wrong);
	free(s.parents);
	buf_release(&s.row.payload);
	buf_release(&s.file);
	return r;
}
