/* SPDX-License-Identifier: ISC */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "json.h"
#include "log-view.h"
#include "mem.h"
#include "moment.h"
#include "text.h"

#define LINE_MAX_BYTES (1024 * 1024)
#define CHUNK          (64 * 1024)
#define ROTATED_MAX    9

bool
log_view_wants(const struct log_view *view, struct json_object *record)
{
	struct json_object *object = NULL;
	enum log_level level;

	if (!json_object_is_type(record, json_type_object) ||
	    !log_level_parse(json_string_or(record, "level", ""), &level) ||
	    level < view->level)
		return false;
	if (view->worker != NULL &&
	    strcmp(json_string_or(record, "worker", ""), view->worker) != 0)
		return false;
	if (view->object != NULL &&
	    json_get_object(record, "", view->object, &object, NULL) < 0)
		return false;
	return view->wants == NULL || view->wants(record, view->wants_arg);
}

struct json_object *
log_view_read(const struct log_view *view, const char *line, size_t len)
{
	cleanup_json struct json_object *record = NULL;

	if (json_parse(line, len, LINE_MAX_BYTES, &record, NULL) < 0 ||
	    !log_view_wants(view, record))
		return NULL;
	return take_ptr(&record);
}

static void
add_stamp(struct json_object *record, struct buf *out)
{
	const char *stamp = json_string_or(record, "timestamp", "");
	int64_t at = 0;

	if (moment_parse(stamp, &at))
		moment_add(out, at);
	else
		text_add_visible(out, stamp, strlen(stamp), false);
}

static void
add_level(
    const struct log_view *view, struct json_object *record, struct buf *out)
{
	static const char *const colours[LOG_LEVEL_COUNT] = { "90", "", "33",
		"1;31" };
	const char *name = json_string_or(record, "level", "");
	enum log_level level;

	if (view->colour && log_level_parse(name, &level) &&
	    colours[level][0] != '\0')
		buf_addf(out, " \033[%sm%-5s\033[0m ", colours[level], name);
	else
		buf_addf(out, " %-5s ", name);
}

static bool
is_field(const char *key)
{
	static const char *const shown[] = { "timestamp", "level", "pid",
		"component", "message" };

	for (size_t i = 0; i < nitems(shown); i++)
		if (strcmp(shown[i], key) == 0)
			return false;
	return true;
}

static void
add_fields(struct json_object *record, struct buf *out)
{
	json_object_object_foreach(record, key, value)
	{
		const char *text = json_object_get_string(value);

		if (!is_field(key) || text == NULL)
			continue;
		buf_addf(out, "  %s=", key);
		text_add_visible(out, text, strlen(text), false);
	}
}

void
log_view_print(
    const struct log_view *view, struct json_object *record, struct buf *out)
{
	const char *message = json_string_or(record, "message", "");

	add_stamp(record, out);
	add_level(view, record, out);
	text_add_visible(out, message, strlen(message), false);
	add_fields(record, out);
	buf_addc(out, '\n');
}

/* A file that is read backwards, line by line. */
struct backwards {
	int fd;
	off_t at; /* everything from here on has been read */
	struct buf part; /* read, not yet handed out */
};

/* Read the piece before the one that was read last; false at the beginning of
 * the file. */
static bool
read_more(struct backwards *b)
{
	cleanup_free char *piece = xmalloc(CHUNK);
	size_t want = b->at < CHUNK ? (size_t)b->at : CHUNK;
	ssize_t n;

	if (want == 0 || b->part.len > LINE_MAX_BYTES)
		return false;
	n = pread(b->fd, piece, want, b->at - (off_t)want);
	if (n != (ssize_t)want)
		return false;
	b->at -= (off_t)want;
	buf_splice(&b->part, 0, 0, piece, want);
	return true;
}

/* The line before the one that was returned last; the caller frees it. NULL at
 * the beginning of the file. */
static char *
line_before(struct backwards *b)
{
	const char *newline;
	char *line;

	while (b->part.len > 0 && b->part.data[b->part.len - 1] == '\n')
		buf_truncate(&b->part, b->part.len - 1);
	for (;;) {
		newline = memrchr(b->part.data, '\n', b->part.len);
		if (newline != NULL || !read_more(b))
			break;
		while (b->part.len > 0 && b->part.data[b->part.len - 1] == '\n')
			buf_truncate(&b->part, b->part.len - 1);
	}
	if (b->part.len == 0)
		return NULL;
	line = xstrdup(newline != NULL ? newline + 1 : b->part.data);
	buf_truncate(
	    &b->part, newline != NULL ? (size_t)(newline - b->part.data) : 0);
	return line;
}

/* Wanted records of one file, newest first, until there are `count`. */
static void
collect(const struct log_view *view, const char *path, uint64_t end,
    size_t count, struct json_object *list)
{
	struct backwards b = { .part = BUF_INIT };
	struct stat st;
	char *line;

	b.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (b.fd == -1)
		return;
	if (fstat(b.fd, &st) == 0 && S_ISREG(st.st_mode))
		b.at = (uint64_t)st.st_size > end ? (off_t)end : st.st_size;
	while (json_object_array_length(list) < count &&
	    (line = line_before(&b)) != NULL) {
		struct json_object *record =
		    log_view_read(view, line, strlen(line));

		free(line);
		if (record != NULL)
			json_object_array_add(list, record);
	}
	buf_release(&b.part);
	fd_close(b.fd);
}

struct json_object *
log_view_last(
    const struct log_view *view, const char *path, uint64_t end, size_t count)
{
	cleanup_json struct json_object *newest = json_object_new_array();
	struct json_object *list = json_object_new_array();

	collect(view, path, end, count, newest);
	for (int i = 1; i <= ROTATED_MAX; i++) {
		cleanup_free char *older = xasprintf("%s.%d", path, i);

		collect(view, older, UINT64_MAX, count, newest);
	}
	for (size_t i = json_object_array_length(newest); i > 0; i--)
		json_object_array_add(list,
		    json_object_get(json_object_array_get_idx(newest, i - 1)));
	return list;
}
