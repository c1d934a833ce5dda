/* SPDX-License-Identifier: ISC */

#include <errno.h>

#include <sqlite3.h>

#include "mem.h"
#include "store-code.h"

/* What is not here is -EIO. */
static const int meanings[] = {
	[SQLITE_ERROR] = -EIO,
	[SQLITE_INTERNAL] = -EIO,
	[SQLITE_PERM] = -EACCES,
	[SQLITE_ABORT] = -EIO,
	[SQLITE_BUSY] = -EAGAIN,
	[SQLITE_LOCKED] = -EAGAIN,
	[SQLITE_NOMEM] = -ENOMEM,
	[SQLITE_READONLY] = -EROFS,
	[SQLITE_INTERRUPT] = -EIO,
	[SQLITE_IOERR] = -EIO,
	[SQLITE_CORRUPT] = -EUCLEAN,
	[SQLITE_NOTFOUND] = -EIO,
	[SQLITE_FULL] = -ENOSPC,
	[SQLITE_CANTOPEN] = -EACCES,
	[SQLITE_PROTOCOL] = -EAGAIN,
	[SQLITE_EMPTY] = -EIO,
	[SQLITE_SCHEMA] = -EAGAIN,
	[SQLITE_TOOBIG] = -E2BIG,
	[SQLITE_CONSTRAINT] = -EEXIST,
	[SQLITE_MISMATCH] = -EINVAL,
	[SQLITE_MISUSE] = -EIO,
	[SQLITE_NOLFS] = -EIO,
	[SQLITE_AUTH] = -EACCES,
	[SQLITE_FORMAT] = -EIO,
	[SQLITE_RANGE] = -EIO,
	[SQLITE_NOTADB] = -EUCLEAN,
};

int
store_code_errno(int code)
{
	/* The other bits say more about the same. */
	unsigned primary = (unsigned)code & 0xff;

	if (primary == SQLITE_OK || primary == SQLITE_ROW ||
	    primary == SQLITE_DONE)
		return 0;
	if (primary < nitems(meanings) && meanings[primary] != 0)
		return meanings[primary];
	return -EIO;
}
