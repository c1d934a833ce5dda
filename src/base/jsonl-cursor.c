/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "json.h"
#include "jsonl-cursor.h"
#include "jsonl.h"
#include "mem.h"

#define CURSOR_CHUNK ((size_t)64 * 1024)
#define CURSOR_NAMES 100 /* search path.1 to path.99 */

void
jsonl_cursor_init(struct jsonl_cursor *cursor, const char *path)
{
	memset(cursor, 0, sizeof *cursor);
	cursor->path = xstrdup(path);
	cursor->fd = -1;
	buf_init(&cursor->data);
}

void
jsonl_cursor_release(struct jsonl_cursor *cursor)
{
	fd_close(cursor->fd);
	buf_release(&cursor->data);
	free(cursor->path);
	memset(cursor, 0, sizeof *cursor);
	cursor->fd = -1;
	buf_init(&cursor->data);
}

void
jsonl_cursor_copy(struct jsonl_cursor *to, const struct jsonl_cursor *from)
{
	jsonl_cursor_release(to);
	jsonl_cursor_init(to, from->path);
	to->fd = from->fd == -1 ? -1 : fcntl(from->fd, F_DUPFD_CLOEXEC, 0);
	to->dev = from->dev;
	to->ino = from->ino;
	to->offset = from->offset;
	to->skipping = from->skipping;
	buf_add(&to->data, from->data.data + from->taken,
	    from->data.len - from->taken);
}

static void
cursor_place(struct jsonl_cursor *cursor, uint64_t offset)
{
	cursor->offset = offset;
	cursor->skipping = false;
	cursor->taken = 0;
	buf_clear(&cursor->data);
}

/* Switch to the file of that name. Returns false, and changes nothing, if there
 * is none. Only a regular file: opening a fifo would block. */
static bool
cursor_open(struct jsonl_cursor *cursor, const char *name)
{
	cleanup_fd int fd = -1;
	struct stat st;

	fd = file_open(name, O_RDONLY, 0);
	if (fd < 0 || fstat(fd, &st) == -1)
		return false;
	fd_close(cursor->fd);
	cursor->fd = take_fd(&fd);
	cursor->dev = st.st_dev;
	cursor->ino = st.st_ino;
	cursor_place(cursor, 0);
	return true;
}

void
jsonl_cursor_hold(struct jsonl_cursor *cursor)
{
	if (cursor->fd == -1)
		cursor_open(cursor, cursor->path);
}

/* Open the current file at its beginning, if it exists. */
static bool
cursor_reopen(struct jsonl_cursor *cursor)
{
	cursor->fd = fd_close(cursor->fd);
	cursor->dev = 0;
	cursor->ino = 0;
	cursor_place(cursor, 0);
	return cursor_open(cursor, cursor->path);
}

int
jsonl_cursor_seek(struct jsonl_cursor *cursor, uint64_t offset)
{
	struct stat st;

	if (!cursor_reopen(cursor))
		return offset == 0 ? 0 : -ESTALE;
	if (fstat(cursor->fd, &st) == -1 || (uint64_t)st.st_size < offset)
		return -ESTALE;
	cursor_place(cursor, offset);
	return 0;
}

static ssize_t
cursor_pread(int fd, char *bytes, size_t len, uint64_t offset)
{
	ssize_t n;

	do
		n = pread(fd, bytes, len, (off_t)offset);
	while (n == -1 && errno == EINTR);
	return n;
}

void
jsonl_cursor_seek_end(struct jsonl_cursor *cursor)
{
	cleanup_free char *bytes = NULL;
	const char *newline = NULL;
	struct stat st;
	uint64_t end, want;
	ssize_t n;

	if (!cursor_reopen(cursor) || fstat(cursor->fd, &st) == -1)
		return;
	bytes = xmalloc(CURSOR_CHUNK);
	for (end = (uint64_t)st.st_size; end > 0 && newline == NULL;
	     end -= want) {
		want = end < CURSOR_CHUNK ? end : CURSOR_CHUNK;
		n = cursor_pread(cursor->fd, bytes, want, end - want);
		if (n > 0)
			newline = memrchr(bytes, '\n', (size_t)n);
		if (newline != NULL)
			cursor_place(cursor,
			    end - want + (uint64_t)(newline - bytes) + 1);
	}
}

static bool
cursor_is_at(const struct jsonl_cursor *cursor, const char *name)
{
	struct stat st;

	return cursor->fd != -1 && stat(name, &st) == 0 &&
	    st.st_dev == cursor->dev && st.st_ino == cursor->ino;
}

bool
jsonl_cursor_is_current(const struct jsonl_cursor *cursor)
{
	return cursor_is_at(cursor, cursor->path);
}

bool
jsonl_cursor_reached(
    const struct jsonl_cursor *cursor, const struct jsonl_cursor *goal)
{
	return (cursor->fd == -1) == (goal->fd == -1) &&
	    cursor->dev == goal->dev && cursor->ino == goal->ino &&
	    cursor->offset >= goal->offset;
}

static char *
cursor_name(const struct jsonl_cursor *cursor, int index)
{
	return index == 0 ? xstrdup(cursor->path) :
			    xasprintf("%s.%d", cursor->path, index);
}

/* The number in the open file's current name. Returns 0 if it has been deleted;
 * *ret_oldest is then the oldest file that is left. */
static int
cursor_find(const struct jsonl_cursor *cursor, int *ret_oldest)
{
	struct stat st;

	*ret_oldest = 0;
	for (int i = 1; i < CURSOR_NAMES; i++) {
		cleanup_free char *name = cursor_name(cursor, i);

		if (cursor_is_at(cursor, name))
			return i;
		if (stat(name, &st) == 0)
			*ret_oldest = i;
	}
	return 0;
}

/* Move from a file that was rotated away to the one written after it. Returns
 * false if there is none yet, or if files are being renamed right now. */
static bool
cursor_open_next(struct jsonl_cursor *cursor)
{
	int oldest, at = cursor_find(cursor, &oldest);
	cleanup_free char *name =
	    cursor_name(cursor, at == 0 ? oldest : at - 1);
	cleanup_free char *own = cursor_name(cursor, at);
	struct jsonl_cursor next;

	jsonl_cursor_init(&next, cursor->path);
	/* The names are still the same, so the right file was opened. */
	if (!cursor_open(&next, name) ||
	    (at > 0 && !cursor_is_at(cursor, own)) ||
	    !cursor_is_at(&next, name)) {
		jsonl_cursor_release(&next);
		return false;
	}
	jsonl_cursor_release(cursor);
	*cursor = next;
	return true;
}

/* Read more; false if there is nothing more for now. */
static bool
cursor_fill(struct jsonl_cursor *cursor)
{
	struct buf *data = &cursor->data;
	bool current;
	struct stat st;
	ssize_t n;

	jsonl_cursor_hold(cursor);
	if (cursor->fd == -1)
		return false;
	/* Only once per read, which keeps short lines cheap. */
	buf_consume(data, cursor->taken);
	cursor->taken = 0;
	/* Checked before the read, so everything written up to a rotation is
	 * read. */
	current = jsonl_cursor_is_current(cursor);
	if (fstat(cursor->fd, &st) == 0 &&
	    (uint64_t)st.st_size < cursor->offset + data->len)
		cursor_place(cursor, 0);
	buf_reserve(data, CURSOR_CHUNK);
	n = cursor_pread(cursor->fd, data->data + data->len, CURSOR_CHUNK,
	    cursor->offset + data->len);
	if (n > 0)
		buf_grew(data, (size_t)n);
	return n > 0 || (n == 0 && !current && cursor_open_next(cursor));
}

/* Advance by `len` bytes of what was read. */
static void
cursor_pass(struct jsonl_cursor *cursor, size_t len)
{
	cursor->offset += len;
	cursor->taken += len;
}

/* Parse the line up to the newline, if it is a record. */
static struct json_object *
cursor_take(struct jsonl_cursor *cursor, const char *line, size_t len)
{
	struct json_object *record = NULL;

	if (!cursor->skipping && len > 0)
		json_parse(line, len, JSONL_LINE_MAX, &record, NULL);
	cursor->skipping = false;
	cursor_pass(cursor, len + 1);
	if (json_object_is_type(record, json_type_object))
		return record;
	json_object_put(record);
	return NULL;
}

struct json_object *
jsonl_cursor_next(struct jsonl_cursor *cursor)
{
	struct json_object *record = NULL;
	const char *line, *newline;
	size_t len;

	while (record == NULL) {
		line = cursor->data.data + cursor->taken;
		len = cursor->data.len - cursor->taken;
		newline = memchr(line, '\n', len);
		if (newline != NULL) {
			record =
			    cursor_take(cursor, line, (size_t)(newline - line));
			continue;
		}
		if (len > JSONL_LINE_MAX) {
			cursor->skipping = true;
			cursor_pass(cursor, len);
		}
		if (!cursor_fill(cursor))
			break;
	}
	return record;
}
