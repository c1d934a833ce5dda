/* SPDX-License-Identifier: ISC */

/* The files of a book: looked at before SQLite sees them, and moved together.
 */

#include "base.h"

#include <fcntl.h>
#include <libgen.h>
#include <sys/stat.h>

#include "book-private.h"
#include "state.h"

/* --- the first bytes ---------------------------------------------------- */

#define HEADER_SIZE 100
#define MAGIC       "SQLite format 3" /* and its NUL */

/* Offsets in the header, from SQLite's file format. */
#define AT_PAGE_SIZE       16
#define AT_CHANGES         24
#define AT_PAGES           28
#define AT_APPLICATION_ID  68
#define AT_PAGES_VALID_FOR 92

static uint32_t
number(const unsigned char *header, size_t at)
{
	return (uint32_t)header[at] << 24 | (uint32_t)header[at + 1] << 16 |
	    (uint32_t)header[at + 2] << 8 | (uint32_t)header[at + 3];
}

bool
book_files_has_log(const char *path)
{
	cleanup_free char *log = xasprintf("%s-wal", path);
	struct stat st;

	return stat(log, &st) == 0 && st.st_size > 0;
}

static int
check(const char *path, const unsigned char *header, ssize_t len, off_t size,
    struct err *err)
{
	uint32_t page_size;

	if (len < HEADER_SIZE)
		return err_set(err, -EUCLEAN,
		    "%s is damaged: it has only %zd bytes", path, len);
	if (memcmp(header, MAGIC, sizeof MAGIC) != 0)
		return err_set(err, -EUCLEAN,
		    "%s is damaged: it does not begin as a database", path);
	if (number(header, AT_APPLICATION_ID) != BOOK_APPLICATION_ID)
		return err_set(err, -EINVAL,
		    "%s is a database of another program; move it away", path);
	page_size = number(header, AT_PAGE_SIZE) >> 16;
	if (page_size == 1)
		page_size = 65536;
	if (page_size < 512 || (page_size & (page_size - 1)) != 0)
		return err_set(err, -EUCLEAN,
		    "%s is damaged: pages of %u bytes", path, page_size);
	if (number(header, AT_CHANGES) == number(header, AT_PAGES_VALID_FOR) &&
	    (uint64_t)size < (uint64_t)number(header, AT_PAGES) * page_size &&
	    /* While a log is beside it, it may be shorter than it will be. */
	    !book_files_has_log(path))
		return err_set(err, -EUCLEAN,
		    "%s is damaged: %llu of its bytes are missing", path,
		    (unsigned long long)number(header, AT_PAGES) * page_size -
			(unsigned long long)size);
	return 0;
}

int
book_files_check(const char *path, struct err *err)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char header[HEADER_SIZE];
	struct stat st;
	ssize_t len;

	if (fd == -1)
		return errno == ENOENT ? -ENOENT :
					 err_errno(err, -errno, "%s", path);
	if (fstat(fd, &st) == -1)
		return err_errno(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s is not a file", path);
	len = pread(fd, header, sizeof header, 0);
	if (len == -1)
		return err_errno(err, -errno, "%s", path);
	return check(path, header, len, st.st_size, err);
}

/* --- all files ---------------------------------------------------------- */

#define MARK ".corrupt-"

static const char *const beside[] = { "-wal", "-shm", "-journal" };

static char *
folder_of(const char *path)
{
	cleanup_free char *copy = xstrdup(path);

	return xstrdup(dirname(copy));
}

static int
sync_folder(const char *path, struct err *err)
{
	cleanup_free char *folder = folder_of(path);
	cleanup_fd int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1 || (fsync(fd) == -1 && errno != EINVAL))
		return err_errno(err, -errno, "%s", folder);
	return 0;
}

static int
move(const char *from, const char *to, struct err *err)
{
	if (rename(from, to) == -1)
		return err_errno(
		    err, -errno, "%s cannot be renamed to %s", from, to);
	return 0;
}

/* Everything beside the database; those that are not there are no failure. */
static int
move_beside(const char *from, const char *to, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < nitems(beside); i++) {
		cleanup_free char *old = xasprintf("%s%s", from, beside[i]);
		cleanup_free char *new = xasprintf("%s%s", to, beside[i]);

		if (file_exists(old))
			r = move(old, new, err);
	}
	return r;
}

static bool
has_beside(const char *path)
{
	for (size_t i = 0; i < nitems(beside); i++) {
		cleanup_free char *file = xasprintf("%s%s", path, beside[i]);

		if (file_exists(file))
			return true;
	}
	return false;
}

/* "llmc.corrupt-" of "/a/llmc.db"; *ret_ending is ".db". */
static char *
stem_of(const char *path, const char **ret_ending)
{
	const char *name = strrchr(path, '/');
	const char *dot;

	name = name != NULL ? name + 1 : path;
	dot = strrchr(name, '.');
	if (dot == NULL || dot == name)
		dot = name + strlen(name);
	*ret_ending = dot;
	return xasprintf("%.*s%s", (int)(dot - name), name, MARK);
}

static char *
newest_damaged(const char *path)
{
	cleanup_free char *folder = folder_of(path), *stem = NULL, *best = NULL;
	const char *ending;
	const char *name;
	cleanup_dir DIR *dir = opendir(folder);

	stem = stem_of(path, &ending);
	while ((name = dir_next(dir)) != NULL)
		if (text_begins(name, stem) && text_ends(name, ending) &&
		    (best == NULL || strcmp(name, best) > 0))
			xstrset(&best, name);
	return best != NULL ? file_join(folder, best) : NULL;
}

/* The newest one, if it was moved aside without its log; NULL = none. */
static char *
half_moved(const char *path)
{
	cleanup_free char *newest = newest_damaged(path);

	return newest != NULL && !has_beside(newest) ? take_ptr(&newest) : NULL;
}

char *
book_files_damaged_name(const char *path, int64_t wall_ms)
{
	cleanup_free char *folder = folder_of(path), *stem = NULL;
	char stamp[CLOCK_STAMP_SIZE];
	const char *ending;
	char *name = NULL;

	clock_format_compact(wall_ms, stamp);
	stem = stem_of(path, &ending);
	for (int i = 0; name == NULL; i++) {
		cleanup_free char *base = i == 0 ?
		    xasprintf("%s%s%s", stem, stamp, ending) :
		    xasprintf("%s%s.%d%s", stem, stamp, i, ending);
		cleanup_free char *full = file_join(folder, base);

		if (!file_exists(full) && !has_beside(full))
			name = take_ptr(&full);
	}
	return name;
}

/* A log without its database: the rest of a move that a crash interrupted. */
static int
finish(const char *path, int64_t wall_ms, struct err *err)
{
	cleanup_free char *to = half_moved(path);
	int r;

	if (to == NULL)
		to = book_files_damaged_name(path, wall_ms);
	r = move_beside(path, to, err);
	return r < 0 ? r : sync_folder(path, err);
}

int
book_files_move_damaged(
    const char *path, int64_t wall_ms, char **ret_path, struct err *err)
{
	cleanup_free char *to = NULL;
	int r;

	if (!file_exists(path)) {
		r = has_beside(path) ? finish(path, wall_ms, err) : 0;
		return r < 0 ? r :
			       err_set(err, -ENOENT, "there is no %s", path);
	}
	to = book_files_damaged_name(path, wall_ms);
	r = move(path, to, err);
	/* On the disk in this order too. */
	if (r == 0)
		r = sync_folder(path, err);
	if (r == 0)
		r = move_beside(path, to, err);
	if (r == 0)
		r = sync_folder(path, err);
	if (r == 0 && ret_path != NULL)
		*ret_path = take_ptr(&to);
	return r;
}

/* When the log was written: no clock is read here. */
static int64_t
log_time(const char *path)
{
	cleanup_free char *log = xasprintf("%s%s", path, beside[0]);
	struct stat st;

	return stat(log, &st) == 0 ? (int64_t)st.st_mtime * 1000 : 0;
}

int
book_files_place(const char *fresh, const char *path, struct err *err)
{
	int r = 0;

	if (has_beside(path))
		r = finish(path, log_time(path), err);
	if (r == 0)
		r = move(fresh, path, err);
	return r < 0 ? r : sync_folder(path, err);
}

void
book_files_remove(const char *path)
{
	unlink(path);
	for (size_t i = 0; i < nitems(beside); i++) {
		cleanup_free char *file = xasprintf("%s%s", path, beside[i]);

		unlink(file);
	}
}

int
book_files_sync(const char *path, struct err *err)
{
	cleanup_fd int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd == -1 || fsync(fd) == -1)
		return err_errno(err, -errno, "%s", path);
	return 0;
}
