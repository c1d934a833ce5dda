/* SPDX-License-Identifier: ISC */

/* The database file: opened and checked, created, its statements, and what its
 * errors mean. Belongs to one thread. */
#ifndef STORE_DB_H
#define STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store-schema.h"

struct err;
struct sqlite3;
struct sqlite3_stmt;

struct store_db {
	struct sqlite3 *sqlite;
	char *path;
	struct sqlite3_stmt *statements[STORE_SQL_COUNT];
	int64_t last_seq; /* of the newest event */
	int64_t latest_ms; /* the highest ts_ms so far */
};

/* Open or create the file and prepare every statement: this finds a missing
 * table or column, and reads a few pages whatever the size. Codes: store.h.
 * Older versions are migrated. */
int store_db_open(const char *path, struct store_db **ret_db, struct err *err);
/* The same with other migrations; for tests. */
int store_db_open_at(const char *path, const char *const *migrations,
    size_t version, struct store_db **ret_db, struct err *err);
void store_db_close(struct store_db *db);

/* Open for a look: nothing is created, migrated or changed, and no statement is
 * prepared but with store_db_prepare(). A write-ahead log is read if it is
 * there. */
int store_db_look(const char *path, struct store_db **ret_db, struct err *err);

/* A new, complete file, durable before it has its name; what stands at path is
 * replaced. No -wal of an earlier file is left beside it. */
int store_db_create(const char *path, struct err *err);

/* The statement, reset, with nothing bound. */
struct sqlite3_stmt *store_db_statement(struct store_db *db, unsigned sql);
int store_db_prepare(struct store_db *db, const char *text,
    struct sqlite3_stmt **ret_statement, struct err *err);

/* $n; NULL binds null. The text must stay until the statement is reset. */
void
store_db_bind_text(struct sqlite3_stmt *statement, int n, const char *text);
void store_db_bind_int(struct sqlite3_stmt *statement, int n, int64_t value);

/* 1 = a row, 0 = done, negative errno. */
int store_db_step(
    struct store_db *db, struct sqlite3_stmt *statement, struct err *err);
/* Step to the end, and reset. */
int store_db_run(
    struct store_db *db, struct sqlite3_stmt *statement, struct err *err);
int store_db_exec(struct store_db *db, const char *text, struct err *err);

/* Read last_seq and latest_ms; at the beginning of every transaction that adds
 * events. */
int store_db_refresh(struct store_db *db, struct err *err);

int store_db_begin(struct store_db *db, struct err *err);
int store_db_commit(struct store_db *db, struct err *err);
void store_db_rollback(struct store_db *db);
bool store_db_in_transaction(const struct store_db *db);

/* The negative errno and the sentence for what SQLite has just returned. */
int store_db_error(struct store_db *db, int code, struct err *err);

#endif
