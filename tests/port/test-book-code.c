/* SPDX-License-Identifier: ISC */

/* Which results of SQLite count as damage, all of them. */
#include "unit.h"

#include <sqlite3.h>

#include "book-private.h"

static const struct {
	int code, want;
} rows[] = {
	{ SQLITE_OK, 0 },
	{ SQLITE_ROW, 0 },
	{ SQLITE_DONE, 0 },
	{ SQLITE_CORRUPT, -EUCLEAN },
	{ SQLITE_CORRUPT_INDEX, -EUCLEAN },
	{ SQLITE_CORRUPT_SEQUENCE, -EUCLEAN },
	{ SQLITE_NOTADB, -EUCLEAN },
	{ SQLITE_ERROR, -EIO },
	{ SQLITE_ERROR_SNAPSHOT, -EIO },
	{ SQLITE_BUSY, -EAGAIN },
	{ SQLITE_BUSY_RECOVERY, -EAGAIN },
	{ SQLITE_BUSY_SNAPSHOT, -EAGAIN },
	{ SQLITE_LOCKED, -EAGAIN },
	{ SQLITE_LOCKED_SHAREDCACHE, -EAGAIN },
	{ SQLITE_PROTOCOL, -EAGAIN },
	{ SQLITE_SCHEMA, -EAGAIN },
	{ SQLITE_IOERR, -EIO },
	{ SQLITE_IOERR_READ, -EIO },
	{ SQLITE_IOERR_SHORT_READ, -EIO },
	{ SQLITE_IOERR_FSYNC, -EIO },
	{ SQLITE_IOERR_CORRUPTFS, -EIO },
	{ SQLITE_FULL, -ENOSPC },
	{ SQLITE_NOMEM, -ENOMEM },
	{ SQLITE_READONLY, -EROFS },
	{ SQLITE_READONLY_DBMOVED, -EROFS },
	{ SQLITE_CANTOPEN, -EACCES },
	{ SQLITE_CANTOPEN_ISDIR, -EACCES },
	{ SQLITE_PERM, -EACCES },
	{ SQLITE_AUTH, -EACCES },
	{ SQLITE_CONSTRAINT, -EEXIST },
	{ SQLITE_CONSTRAINT_UNIQUE, -EEXIST },
	{ SQLITE_TOOBIG, -E2BIG },
	{ SQLITE_MISMATCH, -EINVAL },
	{ SQLITE_INTERNAL, -EIO },
	{ SQLITE_ABORT, -EIO },
	{ SQLITE_ABORT_ROLLBACK, -EIO },
	{ SQLITE_INTERRUPT, -EIO },
	{ SQLITE_NOTFOUND, -EIO },
	{ SQLITE_EMPTY, -EIO },
	{ SQLITE_MISUSE, -EIO },
	{ SQLITE_NOLFS, -EIO },
	{ SQLITE_FORMAT, -EIO },
	{ SQLITE_RANGE, -EIO },
};

TEST(every_result_has_its_meaning)
{
	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_msg(book_errno(rows[i].code) == rows[i].want,
		    "%d: %d, not %d", rows[i].code, book_errno(rows[i].code),
		    rows[i].want);
}

TEST(only_a_broken_database_is_damage)
{
	for (int code = 0; code < 0x10000; code++) {
		int primary = code & 0xff;
		bool broken =
		    primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;

		ck_assert_msg(
		    (book_errno(code) == -EUCLEAN) == broken, "%d", code);
		ck_assert_int_le(book_errno(code), 0);
	}
}
