/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "book-care.h"
#include "book-private.h"
#include "errtext.h"
#include "file.h"
#include "mem.h"

/* All that was committed. SQLite itself would let others read it. */
static int
copy(struct book *book, const char *to, struct err *err)
{
	cleanup_fd int fd =
	    open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd == -1)
		return err_errno(err, -errno, "%s", to);
	book_rollback(book);
	return book_run_now(
	    book, "VACUUM INTO $1", BOOK_VALUES(BOOK_T(to)), NULL, err);
}

int
book_keep(struct book *book, int64_t wall_ms, char **ret_kept, struct err *err)
{
	cleanup_free char *to = book_files_aside_name(book->path, wall_ms);
	int r = copy(book, to, err);

	if (r == 0)
		r = book_files_sync(to, err);
	if (r == 0)
		*ret_kept = take_ptr(&to);
	return r;
}

/* The copy has no log. */
static int
finish(const char *path, struct err *err)
{
	struct book *book = NULL;
	int r = book_look_damaged(path, &book, err);

	if (r == 0)
		r = book_exec(book,
		    "PRAGMA query_only = OFF; PRAGMA journal_mode = WAL", err);
	book_close(book);
	return r == 0 ? book_files_sync(path, err) : r;
}

int
book_put_back(struct book *book, struct err *err)
{
	cleanup_free char *path = xstrdup(book->path);
	cleanup_free char *fresh = xasprintf("%s.new", path);
	cleanup_free char *ready = xasprintf("%s" BOOK_RECOVERED, path);
	cleanup_free char *other = xasprintf("%s.replaced", path);
	int r;

	book_files_remove(fresh);
	r = copy(book, fresh, err);
	/* This removes the log, which has the name that the other file would
	 * use. */
	book_close(book);
	if (r == 0)
		r = finish(fresh, err);
	/* If we are killed from here on, the next daemon gives it its name. */
	if (r == 0)
		r = book_files_place(fresh, ready, err);
	if (r == 0 && file_exists(path) && rename(path, other) == -1)
		r = err_errno(err, -errno, "%s", path);
	if (r == 0)
		r = book_files_place(ready, path, err);
	return r;
}
