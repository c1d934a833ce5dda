/* SPDX-License-Identifier: ISC */

/*
 * The three files of a store (store.db, -wal, -shm), moved together. A
 * write-ahead log that comes to stand beside a database that it does not belong
 * to would be written into it, so the database moves first and a new one is
 * only placed where no log is left.
 */
#ifndef STORE_ASIDE_H
#define STORE_ASIDE_H

#include <stdint.h>

struct err;

/* Rename a damaged store to store.corrupt-<time>.db, with its other files. If
 * a crash comes in between, the next call, or the next store that is created
 * there, moves the rest to the same name. Only -EUCLEAN is a reason to do this,
 * and nobody may have the store open. ret_aside (may be NULL): the new path,
 * owned by the caller. -ENOENT: there is nothing. */
int store_aside(
    const char *path, int64_t wall_ms, char **ret_aside, struct err *err);

/* The path of the store that was moved aside last, owned by the caller; NULL =
 * none was. */
char *store_aside_newest(const char *path);

/* Give the closed database at fresh its name, durably. A log that was left at
 * path is moved aside first. */
int store_files_place(const char *fresh, const char *path, struct err *err);

/* Remove a database and what is beside it, if anything. */
void store_files_remove(const char *path);

#endif
