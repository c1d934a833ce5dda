/* SPDX-License-Identifier: ISC */

/*
 * What keeps a book usable: damage is put aside and what can be read is saved,
 * a check of everything in it, its export, and a look into it with a query of a
 * person. All of this blocks; but for the first two functions it is
 * for children of the daemon (autod --store-task).
 */
#ifndef BOOK_CARE_H
#define BOOK_CARE_H

struct book;
struct err;
struct json_object;

struct book_recovered {
	char *
	    damaged; /* where the damaged file is now; owned. NULL: no damage */
	size_t rows; /* that were saved */
	size_t refused; /* that could not be read, or not be stored again */
	size_t gaps; /* pages that are missing, or not as they were written */
	size_t doubtful; /* rows of such pages that were saved */
	size_t repaired; /* pages in which one bit was wrong: put right */
	char why[512]; /* what was found to be wrong */
};

/*
 * book_open(), but a damaged file is put aside with its log, and a new one is
 * made of what can be read of it, possibly nothing; *ret_found says so, for a
 * person. A file that was put aside by a daemon which was then killed is read
 * now. All other codes are those of book_open().
 */
int book_open_or_recover(const char *path, int64_t wall_ms, struct book **ret,
    struct book_recovered *ret_found, struct err *err);
void book_recovered_release(struct book_recovered *found);

/* The file was removed or replaced while it was open: write what was
 * committed to its place again, and close it. What was put there is kept as
 * llmc.db.replaced. */
int book_put_back(struct book *book, struct err *err);

/* Copy what was committed to llmc.corrupt-<time>.db beside it, before an
 * unreadable part is replaced. */
int
book_keep(struct book *book, int64_t wall_ms, char **ret_kept, struct err *err);

/* Copy what was committed to a file that can take its place; the one before is
 * replaced when it is whole. The daemon may be writing. */
int book_copy(const char *path, const char *to, struct err *err);

/* Give pages that are free back to the file system, a few at a time; true if
 * there are more. Does nothing unless the book is clean. */
bool book_shrink(struct book *book);

/* Everything in it checked: {"ok", "records", "events", "problems": [sentence,
 * ...]}, owned by the caller; the first BOOK_PROBLEMS_MAX are listed. A book
 * that cannot be opened has one problem too. */
#define BOOK_PROBLEMS_MAX 100
int
book_check(const char *path, struct json_object **ret_report, struct err *err);

/* Plans and events as one JSON document of the seed's shape. file NULL =
 * standard output; otherwise it is replaced when it is complete. */
int book_export(const char *path, const char *file, struct err *err);

/*
 * One SELECT (or WITH, EXPLAIN) of a person on a connection that cannot write:
 * {"columns": [name, ...], "rows": [[value, ...], ...], "truncated": bool}, at
 * most BOOK_SQL_ROWS_MAX rows and BOOK_SQL_BYTES_MAX bytes; one text that is
 * longer is cut. -EINVAL with words:
 * another statement, a PRAGMA, more than one, a mistake in it. -ETIME: it took
 * more than deadline_ms.
 */
#define BOOK_SQL_ROWS_MAX  10000
#define BOOK_SQL_BYTES_MAX ((size_t)512 * 1024)
int book_sql(const char *path, const char *sql, int deadline_ms,
    struct json_object **ret_result, struct err *err);

#endif
