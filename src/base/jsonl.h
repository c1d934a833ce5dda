/* SPDX-License-Identifier: ISC */

/*
 * Append-only files of JSON with rotation, one object per line: path is the
 * current file, path.1 the one before, up to path.<keep>. One write(2) per
 * record, no buffering.
 */
#ifndef JSONL_H
#define JSONL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

struct err;
struct json_object;

/* Rotates first if the file has more than max_size bytes (0 = never). The
 * caller keeps the record. Does not create directories. */
int jsonl_append(const char *path, struct json_object *record, int64_t max_size,
    int keep, struct err *err);

/* The last `count` records (0 = all), oldest first, continuing into path.1,
 * path.2, ... if the file has fewer. fn returns false to stop. Skips lines that
 * are not an object, incomplete ones and those over JSONL_LINE_MAX. Reads at
 * most JSONL_LOOK_MAX bytes from the end of each file. A missing file is not an
 * error. A line may have 1 MiB of output in it, escaped. */
#define JSONL_LINE_MAX ((size_t)2 * 1024 * 1024)
#define JSONL_LOOK_MAX ((size_t)16 * 1024 * 1024)

typedef bool jsonl_fn(struct json_object *record, void *arg);

int jsonl_last(
    const char *path, size_t count, jsonl_fn *fn, void *arg, struct err *err);

/* All records of the files that were written to at since_ms (wall clock) or
 * later, oldest first, however long they are; otherwise as jsonl_last(). */
int jsonl_since(const char *path, int64_t since_ms, jsonl_fn *fn, void *arg,
    struct err *err);

struct jsonl_cursor {
	char *path;
	int fd; /* -1 = no file yet */
	dev_t dev;
	ino_t ino;
	uint64_t offset; /* of the next line, in the open file */
	struct buf data; /* bytes that were read */
	size_t taken; /* bytes of data before the next line */
	bool skipping; /* inside a line that is too long */
};

/* Start at the beginning of the current file, which may not exist yet. */
void jsonl_cursor_init(struct jsonl_cursor *cursor, const char *path);
void jsonl_cursor_release(struct jsonl_cursor *cursor);

/* Go to a byte offset of the current file, which must be the start of a line.
 * -ESTALE if the file is shorter, which means that another file has taken its
 * name. Without a file, 0 is valid. */
int jsonl_cursor_seek(struct jsonl_cursor *cursor, uint64_t offset);

/* Go to the end of the last complete line of the current file. */
void jsonl_cursor_seek_end(struct jsonl_cursor *cursor);

/* The next record, owned by the caller; NULL if there is none yet. Skips lines
 * that are not an object, incomplete ones and those over JSONL_LINE_MAX. A file
 * that shrank is read from its beginning. */
struct json_object *jsonl_cursor_next(struct jsonl_cursor *cursor);

/* Open the file that has the name now, unless one is open already, so that its
 * records are found even if it is rotated before they are read. */
void jsonl_cursor_hold(struct jsonl_cursor *cursor);

/* Is the open file the one that has the name now? */
bool jsonl_cursor_is_current(const struct jsonl_cursor *cursor);

/* Is the cursor in the same file as the goal, at or after its offset? */
bool jsonl_cursor_reached(
    const struct jsonl_cursor *cursor, const struct jsonl_cursor *goal);

/* Release `to` and make it a copy of `from`. */
void
jsonl_cursor_copy(struct jsonl_cursor *to, const struct jsonl_cursor *from);

#endif
