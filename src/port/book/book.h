/* SPDX-License-Identifier: ISC */

/*
 * The book: all state and history of a root, in one SQLite file,
 * .llmc/llmc.db. Only autod opens it, and uses it on the thread of the loop.
 *
 * Writes are kept in a list and go to the disk together, with book_commit() at
 * the end of a pass: all of them or none. If that fails, the list stays and the
 * next commit tries it again, so who writes needs no second attempt: effects
 * that depend on it wait with persist_then(). A query sees what was written
 * before it, committed or not. What can never be stored (too long, no JSON,
 * the work on a node that is not there) is refused by the call that writes it.
 *
 * Three ways to write, for three kinds of things:
 *   book_put()       a C struct with a table of fields: one column each
 *   book_put_body()  a plan's records, a JSON body with a few columns
 *   book_add_event() the log
 * and book_run() for everything else, with the statement of the caller.
 *
 * Statements stay within what PostgreSQL understands too: parameters $1, $2,
 * ...; qualified columns; times as integers in milliseconds; flags 0 and 1;
 * JSON as text; no double-quoted literals, LIKE, ->>, boolean results, arrays
 * or two-argument max(). The text of a statement is a constant: it is prepared
 * once, and the list keeps a pointer to it.
 */
#ifndef BOOK_H
#define BOOK_H

struct book;
struct book_row;
struct json_object;
struct schema_field;

/*
 * Open, or create, the file at path. Only header, version and tables are
 * checked, whatever the size; older versions are migrated. Codes:
 *
 *   -EUCLEAN          damaged: book_open_or_recover() (book-care.h) puts it
 *                     aside and saves what can be read
 *   -EPROTONOSUPPORT  written by a newer llmc: leave it as it is
 *   -EINVAL           not a book of llmc: leave it as it is
 *   others            cannot be opened now
 *
 * The same codes may come from later calls; -ENOSPC, -EIO and -EAGAIN leave
 * everything as it was, and what was committed before stays.
 *
 * While it is open, nothing else in this process may open the file: closing it
 * again would drop SQLite's locks (POSIX has them per process).
 */
int book_open(const char *path, struct book **ret, struct err *err);

/* Open for reading: nothing is created, migrated or changed, and another
 * process may have it open. -ENOENT: there is none. Writes to it are a broken
 * invariant. */
int book_look(const char *path, struct book **ret, struct err *err);

/* What was not committed is gone. NULL is ignored. */
void book_close(struct book *book);

/* Free what only makes the next query faster. */
void book_rest(struct book *book);

/* Make all that was written durable. Nothing written: 0 at once. For persist.c,
 * and for programs without a loop. */
int book_commit(struct book *book, struct err *err);

/* Nothing waits to be committed. */
bool book_is_clean(const struct book *book);

/* Called whenever a clean book gets something to commit: persist.c asks for a
 * commit at the end of the pass. NULL = no callback. */
void book_on_dirty(struct book *book, void (*fn)(void *arg), void *arg);

/* Called once, when something in it is found that cannot be read: a page, or a
 * row that its reader cannot use, which goes on with the others. NULL = no
 * callback. */
void book_on_damage(
    struct book *book, void (*fn)(const char *words, void *arg), void *arg);

/* Is the file what was written to it? -EUCLEAN: another program has overwritten
 * it in place. Nothing is read from it or written to it from then on; what was
 * committed and is in memory or in the log stays. Costs one stat() if nobody
 * wrote. */
int book_check_file(struct book *book, struct err *err);

/* --- statements --------------------------------------------------------- */

struct book_value {
	enum {
		BOOK_NULL,
		BOOK_TEXT,
		BOOK_INT
	} type;
	const char *text; /* NULL is null */
	int64_t number;
};

#define BOOK_T(s) ((struct book_value){ .type = BOOK_TEXT, .text = (s) })
#define BOOK_I(n) ((struct book_value){ .type = BOOK_INT, .number = (n) })

/* BOOK_RUN(book, sql, BOOK_T(id), BOOK_I(7)); at least one value. */
#define BOOK_VALUES(...)                                         \
	(const struct book_value[]){ __VA_ARGS__ },              \
	    sizeof((const struct book_value[]){ __VA_ARGS__ }) / \
	    sizeof(struct book_value)
#define BOOK_RUN(book, sql, ...) book_run(book, sql, BOOK_VALUES(__VA_ARGS__))

/* Write with a statement of one's own. Values are copied. It must not be able
 * to violate a constraint: one that does is dropped with a line in the log,
 * or nothing could be committed any more. */
void book_run(struct book *book, const char *sql,
    const struct book_value *values, size_t count);

/* The rows of a query, one after another; fn returns false to stop. fn may
 * write and query. Text is valid until it returns. */
typedef bool book_row_fn(struct book_row *row, void *arg);

int
book_query(struct book *book, const char *sql, const struct book_value *values,
    size_t count, book_row_fn *fn, void *arg, struct err *err);
const char *book_text(struct book_row *row, int column); /* NULL is null */
int64_t book_int(struct book_row *row, int column); /* null is 0 */
bool book_is_null(struct book_row *row, int column);
/* Owned by the caller; NULL is null, or no JSON, which is damage. */
struct json_object *book_json(struct book_row *row, int column);
/* It cannot be used: see book_on_damage(). */
void book_row_unusable(struct book_row *row, const char *words);
int book_columns(struct book_row *row); /* how many */

/* The first column of the first row. -ENOENT without words: no row; *ret is
 * left as it is. Null is 0, or a NULL text; the text is the caller's. */
int book_get_int(struct book *book, const char *sql,
    const struct book_value *values, size_t count, int64_t *ret,
    struct err *err);
int book_get_text(struct book *book, const char *sql,
    const struct book_value *values, size_t count, char **ret, struct err *err);

/* --- C structs as rows -------------------------------------------------- */

/*
 * A table with a column for each field of a C struct (base/schema.h), named
 * like the field in snake_case ("startedAt" is started_at). Strings, words,
 * lists and objects are text (the last two JSON), numbers and flags integers.
 * What is unset is null.
 */
struct book_table {
	const char *name;
	const struct schema_field *fields;
	size_t count;
	const char *const *keys; /* of fields; NULL terminated, at most 4 */
	const char *more_ddl; /* "CREATE INDEX IF NOT EXISTS ...;", or NULL */
	bool numbered; /* the last field, nr, is the order in which rows were
			* made: a new one gets the next, others keep theirs */
};

/* Create the table if it is missing, and add a column for each field that is
 * new. Once after the book was opened, before the table is used. The table must
 * outlive the book. */
int book_add_table(
    struct book *book, const struct book_table *table, struct err *err);

/* Insert the record, or replace the one with the same keys. */
void
book_put(struct book *book, const struct book_table *table, const void *record);

/* keys in the order of the table. */
void book_delete(struct book *book, const struct book_table *table,
    const struct book_value *keys);

/* Read a row of a query into a record: columns are found by their names
 * ("SELECT t.* FROM ..."), others are ignored. Only members whose columns are
 * not null are changed, as schema_read() does: set the defaults before.
 * -EUCLEAN with words for what cannot be in this field. */
int book_read(struct book *book, const struct book_table *table,
    struct book_row *row, void *ret_record, struct err *err);

/* --- records with a JSON body ------------------------------------------- */

enum book_kind {
	BOOK_GOAL,
	BOOK_NODE,
	BOOK_ASSIGNMENT,
	BOOK_CRYSTAL,
	BOOK_MAIL,
	BOOK_REQUEST,
	BOOK_RESERVATION,
	BOOK_KIND_COUNT
};

const char *book_kind_name(enum book_kind kind); /* "goal" */

/* Bounds in bytes. A record over them is refused with -E2BIG and words that
 * name the key; a string in the data of an event is cut instead, for an event
 * must not be lost. */
#define BOOK_ID_MAX          128
#define BOOK_INSTRUCTION_MAX ((size_t)16 * 1024) /* lastInstructionText */
#define BOOK_SUMMARY_MAX     ((size_t)8 * 1024) /* summary of a crystal */
#define BOOK_GOAL_MAX        ((size_t)8 * 1024 * 1024)
#define BOOK_BODY_MAX        ((size_t)2 * 1024 * 1024) /* of other records */
#define BOOK_DATA_MAX        ((size_t)16 * 1024) /* data of an event */
#define BOOK_DATA_STRING_MAX ((size_t)2 * 1024) /* one string in it */
#define BOOK_QUERY_MAX       10000 /* events that one query gives */

/*
 * Write a record; body NULL = delete it. body is a JSON object with the keys of
 * the seed's "Persistence" section. Some are also columns; they must be there
 * as non-empty strings, and the id in the body, if there is one, must be the id
 * of the record:
 *
 *   kind        id in the body           columns
 *   goal        goalId                   status, endedAt (an integer; may be
 *                                        missing)
 *   node        goalId (of its goal)     status, parentId and the last of
 *                                        evidence.commits (may be missing)
 *   assignment  assignmentId, goalId     workNodeId: a part of that node's row
 *   crystal     crystallizationId,       workNodeId (may be missing)
 *               goalId
 *   mail, request, reservation
 *               id, goalId               status, actor and ts (an integer; both
 *                                        may be missing)
 *
 * A goalId that is missing in all from assignments on is added. The last three
 * kinds need no goal of that name; those with the status "open" are open,
 * whatever their goal is. The key "nodes" of a goal is reserved: an export puts
 * the goal's nodes there. goal_id of a goal: NULL, or its id again.
 *
 * The body is checked, bounded, and what looks like a key or password in it is
 * masked here: callers need not mask anything, and read back what was stored.
 * Refused before anything is written: -EINVAL, -E2BIG, and -ENOENT for an
 * assignment of a node that is not there. A node has one, and another one takes
 * its place.
 */
int book_put_body(struct book *book, enum book_kind kind, const char *goal_id,
    const char *id, const char *body, struct err *err);

/* Would it be refused? Without -ENOENT, and nothing is written: for who puts
 * several records, or none of them. */
int book_check_body(enum book_kind kind, const char *goal_id, const char *id,
    const char *body, struct err *err);

struct book_record {
	enum book_kind kind;
	const char *goal_id, *id;
	const char *body;
};

/* Called with each record; false stops the reading, which is no error. Valid
 * until it returns; it may write and read. */
typedef bool book_record_fn(const struct book_record *record, void *arg);

/* All records of plans whose goals are active or paused: kind by kind in the
 * order of enum book_kind, up to BOOK_CRYSTAL, by goal and id in each. */
int book_load_open(
    struct book *book, book_record_fn *fn, void *arg, struct err *err);

/* Records of one kind, by goal and id; NULL = any. */
int
book_read_bodies(struct book *book, enum book_kind kind, const char *goal_id,
    const char *id, book_record_fn *fn, void *arg, struct err *err);

/* Nodes that this commit, as the last of several, is evidence for. */
int book_find_nodes(struct book *book, const char *commit, book_record_fn *fn,
    void *arg, struct err *err);

/* Mail, requests or reservations, the newest first, of an actor (NULL = of
 * all). limit 0 = BOOK_QUERY_MAX. */
int book_read_newest(struct book *book, enum book_kind kind, const char *actor,
    size_t limit, book_record_fn *fn, void *arg, struct err *err);

/* A copy with what looks like a key or password masked in all strings and keys.
 * The caller owns it. */
struct json_object *book_masked(struct json_object *value);

/* --- events ------------------------------------------------------------- */

/* Something that happened; strings may be NULL except type. */
struct book_event {
	int64_t seq; /* given by the book, rising; ignored when it is added */
	int64_t ts_ms;
	const char *type; /* "assignment.dispatched" */
	const char *goal_id, *assignment_id, *node_id, *worker, *task;
	const char *data; /* a JSON object */
	/* An event with a key that is in the book already is not added again:
	 * what is done twice after a crash is recorded once. "D_1/sent". */
	const char *key;
};

/* Masked and cut like a body. -EINVAL: no type, or data that is no JSON
 * object. */
int book_add_event(
    struct book *book, const struct book_event *event, struct err *err);

/* Which events: all that is given must match. Oldest first, or newest first. */
struct book_filter {
	const char *goal_id, *assignment_id, *node_id, *worker, *task, *type;
	int64_t since_ms; /* ts_ms at least; 0 = any */
	int64_t after_seq; /* seq above; 0 = any */
	int64_t before_seq; /* seq below; 0 = any */
	size_t limit; /* 0 = BOOK_QUERY_MAX */
	bool newest_first;
};

typedef bool book_event_fn(const struct book_event *event, void *arg);

int book_query_events(struct book *book, const struct book_filter *filter,
    book_event_fn *fn, void *arg, struct err *err);

#endif
