/* SPDX-License-Identifier: ISC */

/*
 * A position in a file of JSON lines (jsonl.h) from which records are read one
 * by one, across rotations: no matter how often the file was rotated, the
 * records come in order and none is missed while the rotated files exist.
 *
 * Nothing here watches the file: the caller asks again when it has grown.
 */
#ifndef JSONL_CURSOR_H
#define JSONL_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "buf.h"

struct json_object;

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
