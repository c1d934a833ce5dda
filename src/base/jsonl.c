/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "jsonl.h"

/* The last complete lines of one file. */
struct jsonl_part {
	struct buf text;
	size_t from; /* offset of the first line to report */
	dev_t dev;
	ino_t ino;
};

struct jsonl_parts {
	struct jsonl_part *at; /* newest first */
	size_t count;
};

static char *
jsonl_name(const char *path, int index)
{
	return index == 0 ? xstrdup(path) : xasprintf("%s.%d", path, index);
}

/* Rename everything up to the first gap. A rotation that crashed halfway leaves
 * a gap, and the files after it need not move. */
static int
jsonl_shift(const char *path, int keep)
{
	int gap = 1;

	if (keep < 1)
		return unlink(path) == -1 ? -errno : 0;
	for (; gap < keep; gap++) {
		cleanup_free char *name = jsonl_name(path, gap);

		if (!file_exists(name))
			break;
	}
	for (int i = gap; i >= 1; i--) {
		cleanup_free char *to = jsonl_name(path, i);
		cleanup_free char *from = jsonl_name(path, i - 1);

		if (rename(from, to) == -1)
			return -errno;
	}
	return 0;
}

int
jsonl_append(const char *path, struct json_object *record, int64_t max_size,
    int keep, struct err *err)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct stat st;
	int r = 0;

	if (max_size > 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size > max_size)
		r = jsonl_shift(path, keep);
	if (r < 0)
		return err_errno(err, r, "cannot rotate %s", path);
	json_print(record, false, &line);
	buf_addc(&line, '\n');
	return file_append(path, line.data, line.len, 0600, false, err);
}

static int
jsonl_pread(int fd, off_t from, size_t len, struct buf *text)
{
	ssize_t n;

	buf_reserve(text, len);
	while (text->len < len) {
		n = pread(fd, text->data + text->len, len - text->len,
		    from + (off_t)text->len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -errno;
		if (n == 0)
			break;
		buf_grew(text, (size_t)n);
	}
	return 0;
}

/* Text after the last newline is incomplete; so is text before the first one,
 * unless the file starts there. */
static void
jsonl_whole_lines(struct buf *text, bool from_start)
{
	const char *last = memrchr(text->data, '\n', text->len);
	const char *first = memchr(text->data, '\n', text->len);

	if (last == NULL) {
		buf_clear(text);
		return;
	}
	buf_truncate(text, (size_t)(last + 1 - text->data));
	if (!from_start)
		buf_consume(text, (size_t)(first + 1 - text->data));
}

static int
jsonl_read_part(const char *path, struct jsonl_part *part)
{
	cleanup_fd int fd = file_open(path, O_RDONLY, 0);
	struct stat st;
	off_t from = 0;
	int r;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == -1)
		return -errno;
	part->dev = st.st_dev;
	part->ino = st.st_ino;
	if (st.st_size > (off_t)JSONL_LOOK_MAX)
		from = st.st_size - (off_t)JSONL_LOOK_MAX;
	r = jsonl_pread(fd, from, (size_t)(st.st_size - from), &part->text);
	if (r == 0)
		jsonl_whole_lines(&part->text, from == 0);
	return r;
}

/* NULL if the line is not an object; the caller owns the result. */
static struct json_object *
jsonl_parse(const char *line, size_t len)
{
	struct json_object *value = NULL;

	if (json_parse(line, len, JSONL_LINE_MAX, &value, NULL) == 0 &&
	    json_object_is_type(value, json_type_object))
		return value;
	json_object_put(value);
	return NULL;
}

/* Step back from the end over at most count records; returns how many there
 * were. */
static size_t
jsonl_back(struct jsonl_part *part, size_t count)
{
	const char *text = part->text.data;
	size_t end = part->text.len, found = 0;

	while (end > 0 && found < count) {
		const char *before = memrchr(text, '\n', end - 1);
		size_t start = before != NULL ? (size_t)(before + 1 - text) : 0;
		struct json_object *record =
		    jsonl_parse(text + start, end - 1 - start);

		if (record != NULL)
			found++;
		json_object_put(record);
		end = start;
	}
	part->from = end;
	return found;
}

static bool
jsonl_forth(const struct jsonl_part *part, jsonl_fn *fn, void *arg)
{
	size_t at = part->from;
	bool more = true;

	while (more && at < part->text.len) {
		const char *line = part->text.data + at;
		const char *end = memchr(line, '\n', part->text.len - at);
		struct json_object *record =
		    jsonl_parse(line, (size_t)(end - line));

		if (record != NULL)
			more = fn(record, arg);
		json_object_put(record);
		at = (size_t)(end + 1 - part->text.data);
	}
	return more;
}

/* Add the next older file as a part, unless it was already read under its
 * previous name because of a rotation in between. */
static int
jsonl_add_part(const char *path, struct jsonl_parts *parts)
{
	struct jsonl_part part = { .text = BUF_INIT }, *last = NULL;
	int r = jsonl_read_part(path, &part);

	if (parts->count > 0)
		last = &parts->at[parts->count - 1];
	if (r < 0 ||
	    (last != NULL && last->dev == part.dev && last->ino == part.ino)) {
		buf_release(&part.text);
		return r < 0 ? r : 0;
	}
	parts->at =
	    xreallocarray(parts->at, parts->count + 1, sizeof *parts->at);
	parts->at[parts->count++] = part;
	return 1;
}

/* Stop after two missing names in a row: a rotation that crashed halfway leaves
 * one. */
static int
jsonl_collect(
    const char *path, size_t count, struct jsonl_parts *parts, struct err *err)
{
	size_t left = count;
	int missing = 0, r;

	for (int i = 0; missing < 2 && (count == 0 || left > 0); i++) {
		cleanup_free char *name = jsonl_name(path, i);

		r = jsonl_add_part(name, parts);
		if (r < 0 && r != -ENOENT)
			return err_set(err, r, "cannot read %s: %s", name,
			    file_strerror(r));
		missing = r == -ENOENT ? missing + 1 : 0;
		if (r == 1 && count > 0)
			left -= jsonl_back(&parts->at[parts->count - 1], left);
	}
	return 0;
}

int
jsonl_last(
    const char *path, size_t count, jsonl_fn *fn, void *arg, struct err *err)
{
	struct jsonl_parts parts = { 0 };
	int r = jsonl_collect(path, count, &parts, err);
	bool more = r == 0;

	for (size_t i = parts.count; i-- > 0;) {
		more = more && jsonl_forth(&parts.at[i], fn, arg);
		buf_release(&parts.at[i].text);
	}
	free(parts.at);
	return r;
}

/* --- all of them ----------------------------------------------------- */

/* Files that stay what they are when they are rotated. */
struct jsonl_files {
	struct jsonl_file {
		FILE *file;
		struct stat st;
	} * at; /* newest first */
	size_t count;
};

/* 1 = added, 0 = it was there under another name, or is too old. */
static int
jsonl_open(const char *path, int64_t since_ms, struct jsonl_files *files)
{
	int fd = file_open(path, O_RDONLY, 0);
	const struct stat *last = NULL;
	struct stat st;
	int r = 0;

	if (fd < 0)
		return fd;
	if (files->count > 0)
		last = &files->at[files->count - 1].st;
	if (fstat(fd, &st) == -1)
		r = -errno;
	else if (clock_file_ms(&st.st_mtim) >= since_ms &&
	    (last == NULL || last->st_ino != st.st_ino ||
		last->st_dev != st.st_dev))
		r = 1;
	if (r != 1) {
		close(fd);
		return r;
	}
	files->at =
	    xreallocarray(files->at, files->count + 1, sizeof *files->at);
	files->at[files->count].file = fdopen(fd, "r");
	files->at[files->count++].st = st;
	return 1;
}

static int
jsonl_open_all(const char *path, int64_t since_ms, struct jsonl_files *files,
    struct err *err)
{
	int missing = 0, r;

	for (int i = 0; missing < 2; i++) {
		cleanup_free char *name = jsonl_name(path, i);

		r = jsonl_open(name, since_ms, files);
		if (r < 0 && r != -ENOENT)
			return err_set(err, r, "cannot read %s: %s", name,
			    file_strerror(r));
		missing = r == -ENOENT ? missing + 1 : 0;
	}
	return 0;
}

static bool
jsonl_read_file(FILE *file, jsonl_fn *fn, void *arg)
{
	cleanup_free char *line = NULL;
	size_t size = 0;
	bool more = true;
	ssize_t len;

	while (more && (len = getline(&line, &size, file)) > 0) {
		struct json_object *record = NULL;

		if (line[len - 1] == '\n')
			record = jsonl_parse(line, (size_t)len - 1);
		if (record != NULL)
			more = fn(record, arg);
		json_object_put(record);
	}
	return more;
}

int
jsonl_since(const char *path, int64_t since_ms, jsonl_fn *fn, void *arg,
    struct err *err)
{
	struct jsonl_files files = { 0 };
	int r = jsonl_open_all(path, since_ms, &files, err);
	bool more = r == 0;

	for (size_t i = files.count; i-- > 0;) {
		more = more && jsonl_read_file(files.at[i].file, fn, arg);
		fclose(files.at[i].file);
	}
	free(files.at);
	return r;
}

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
