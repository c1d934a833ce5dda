/* SPDX-License-Identifier: ISC */

/* Shared by the units of this folder only. */
#ifndef BOOK_PRIVATE_H
#define BOOK_PRIVATE_H

#include <sqlite3.h>
#include <sys/queue.h>

#include "book.h"
#include "buf.h"

#define BOOK_APPLICATION_ID 0x6c6c6d63 /* "llmc" */

struct book_row {
	struct book *book;
	sqlite3_stmt *statement;
};

/* What is made of a struct book_table once. */
#define BOOK_KEYS_MAX 4
struct book_made {
	char **columns; /* of each field */
	size_t keys[BOOK_KEYS_MAX]; /* which fields */
	size_t key_count;
	char *put, *remove;
};

struct book_write;
TAILQ_HEAD(book_writes, book_write);

struct book {
	sqlite3 *sqlite;
	char *path;
	struct strmap statements; /* by their text */
	struct strmap tables; /* struct book_made of each table, by name */
	struct book_writes writes; /* that are not committed */
	size_t write_count;
	struct book_write *next; /* the first that the transaction lacks */
	int64_t last_seq, latest_ms; /* of the newest event */
	size_t pruned; /* kinds of rows that were looked at */
	void (*dirty_fn)(void *arg);
	void *dirty_arg;
	void (*damage_fn)(const char *words, void *arg);
	void *damage_arg;
	bool is_look; /* opened for reading */
	bool is_open; /* as a whole: what is found wrong now is noted */
};

/* --- the files, book-files.c --------------------------------------------
 *
 * The three files of a book (llmc.db, -wal, -shm), moved together. A
 * write-ahead log that comes to stand beside a database that it does not belong
 * to would be written into it, so the database moves first and a new one is
 * only placed where no log is left. */

/* The first bytes, before SQLite sees the file. 0; -ENOENT without words if
 * there is none; -EUCLEAN: not a whole database; -EINVAL: not a book of llmc,
 * or not a file. */
int book_files_check(const char *path, struct err *err);

/* Is there anything in the write-ahead log? */
bool book_files_has_log(const char *path);

/* Rename a damaged book to llmc.corrupt-<time>.db, with its other files. If a
 * crash comes in between, the next call, or the next book that is placed there,
 * moves the rest to the same name. It must not be open anywhere. ret_path (may
 * be NULL): the new path, owned by the caller. -ENOENT: there is nothing. */
int book_files_move_damaged(
    const char *path, int64_t wall_ms, char **ret_path, struct err *err);

/* A name that nothing has: llmc.corrupt-<time>.db. */
char *book_files_damaged_name(const char *path, int64_t wall_ms);

/* Give the closed database at fresh its name, durably. A log that was left at
 * path is moved aside first. */
int book_files_place(const char *fresh, const char *path, struct err *err);

/* Remove a database and what is beside it, if anything. */
void book_files_remove(const char *path);

/* Write a file that was written without syncs to the disk. */
int book_files_sync(const char *path, struct err *err);

/* What a book was recovered into, complete; it lacks only its name. */
#define BOOK_RECOVERED ".recovered"
/* A page of the book was found damaged: the next start looks at all of them. */
#define BOOK_DAMAGED ".damaged"

/* --- pages, book-pages.c ------------------------------------------------ */

#define BOOK_PAGE_SIZE  4096
#define BOOK_STAMP_SIZE 8 /* at the end of each: its checksum */

/* The name of the VFS that makes and compares them. */
const char *book_pages_vfs(void);
uint64_t book_page_stamp(const unsigned char *page); /* 0: it has none */
void book_page_put_stamp(unsigned char *page, uint32_t number);
/* Has it no checksum, or the right one? The first page has number 1. Pure. */
bool book_page_is_whole(const unsigned char *page, uint32_t number);
/* Put right a page in which one bit is wrong; false: it is more. */
bool book_page_repair(unsigned char *page, uint32_t number);
/* Do the pages of a database that begins like this have checksums? */
bool book_page_has_room(const unsigned char *header);

/* --- the write-ahead log, book-log.c ------------------------------------- */

struct book_log {
	struct buf bytes;
	size_t frames, end; /* those before end were committed */
	bool *whole; /* of each frame */
	size_t repaired; /* in which one bit was wrong */
	bool is_damaged; /* SQLite would not see all that was committed */
	bool big;
};
/* None, or an empty one: no frames. */
int book_log_read(const char *path, struct book_log *log, struct err *err);
void book_log_release(struct book_log *log);
/* The page in a frame; NULL if it is not whole. */
const unsigned char *
book_log_page(const struct book_log *log, size_t i, uint32_t *ret_number);

/* --- a book that is damaged, book-recover.c ------------------------------ */

/* All that can be read of it, in a new one at built. */
struct book_recovered;
int book_rebuild(const char *path, const char *built,
    struct book_recovered *got, struct err *err);

/* --- the database, book.c ------------------------------------------------ */

/* What a result code of SQLite means. Only a file that is not a database, or
 * whose pages contradict each other, is damage (-EUCLEAN): all else may pass.
 * Pure. */
int book_errno(int code);
/* That, and a sentence for what SQLite has just returned. */
int book_error(struct book *book, int code, struct err *err);

/* The scripts that lead from one version of the tables of book-bodies.c to the
 * next. Never change one that was released: add another. */
extern const char *const book_scripts[];
extern const size_t book_version;
/* book_open() with other scripts; for tests. */
int book_open_at(const char *path, const char *const *scripts, size_t version,
    struct book **ret, struct err *err);
/* A new, empty book with the tables of that version, durable before it has its
 * name; what is at path is replaced. */
int book_create(const char *path, size_t version, struct err *err);
/* A file as it is: no tables are made, changed or looked at. */
int book_connect(const char *path, struct book **ret, struct err *err);
/* Run statements without values, at once. */
int book_exec(struct book *book, const char *sql, struct err *err);
/* Run one write at once, inside the transaction; *ret_changes rows. */
int book_run_now(struct book *book, const char *sql,
    const struct book_value *values, size_t count, int *ret_changes,
    struct err *err);
/* book_query() without what waits to be written. */
int book_query_now(struct book *book, const char *sql,
    const struct book_value *values, size_t count, book_row_fn *fn, void *arg,
    struct err *err);
/* The statement, with nothing bound. */
int book_prepare(
    struct book *book, const char *sql, sqlite3_stmt **ret, struct err *err);
void
book_bind(sqlite3_stmt *statement, const struct book_value *values, size_t n);
bool book_in_transaction(const struct book *book);
/* Commit what was queued, and what was run at once in its transaction. */
int book_settle(struct book *book, struct err *err);
void book_rollback(struct book *book);

/* book_run(), and which row it puts or deletes: of several writes of a row only
 * the last counts if there is no end to them. NULL = not known. */
void book_queue(struct book *book, const char *sql, const char *row,
    const struct book_value *values, size_t count);

/* An event; $1 and $3 come late: it gets its number when it is written. */
extern const char book_sql_append[];
extern const char book_sql_last[]; /* seq and latest_ms of the newest event */
int book_read_last(struct book *book, struct err *err); /* last_seq */

/* book_put() of a record whose columns are at hand, in the order of the fields;
 * without the last one of a table that is numbered. */
void book_put_values(struct book *book, const struct book_table *table,
    const struct book_value *values);

/* --- bodies and events, book-bodies.c ----------------------------------- */

int book_check_tables(struct book *book, struct err *err);

#define BOOK_COLUMNS_MAX 3

/* A record as it is stored. Doing it twice changes nothing. */
struct book_body {
	struct json_object *json; /* what the values point into */
	struct buf text;
	struct book_value values[BOOK_COLUMNS_MAX + 3]; /* id, body, ... */
	size_t count;
};
int book_body_init(struct book_body *body, enum book_kind kind,
    const char *goal_id, const char *id, const char *text, struct err *err);
void book_body_release(struct book_body *body);

/* An event as it is stored. */
struct book_entry {
	struct book_event event;
	char *own[8];
};
int book_entry_init(
    struct book_entry *entry, const struct book_event *event, struct err *err);
void book_entry_release(struct book_entry *entry);

/* The event in a row of this query: */
#define BOOK_EVENT_COLUMNS                                    \
	"e.seq, e.ts_ms, e.type, e.goal_id, e.assignment_id," \
	" e.node_id, e.worker, e.task, e.data, e.dedupe_key"
void book_row_event(struct book_row *row, struct book_event *ret);

extern const char *const book_kind_tables[BOOK_KIND_COUNT]; /* "goals" */

/* --- export, book-rows.c ------------------------------------------------ */

#define BOOK_EXPORT_VERSION 1

/* For sqlite3_progress_handler(): is this moment (int64_t, monotonic) past? */
int book_is_late(void *moment);

#endif
