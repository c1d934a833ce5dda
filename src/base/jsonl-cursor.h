/* SPDX-License-Identifier: ISC */

/*
 * A place in a file of JSON lines (jsonl.h) from which records are read one by
 * one, through rotations: however often the file was rotated since, the
 * records come in order and none is left out, as long as the files are kept.
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
	struct buf data; /* what was read */
	size_t taken; /* bytes of it before the next line */
	bool skipping; /* inside a line that is too long */
};

/* At the beginning of the current file, or of the one to come. */
void jsonl_cursor_init(struct jsonl_cursor *cursor, const char *path);
void jsonl_cursor_release(struct jsonl_cursor *cursor);

/* Go to a byte of the current file, which must be the first of a line. -ESTALE
 * when the file is shorter: another has taken its name. No file has no byte, so
 * 0 is its end too. */
int jsonl_cursor_seek(struct jsonl_cursor *cursor, uint64_t offset);
/* Go behind the last whole line of the current file. */
void jsonl_cursor_seek_end(struct jsonl_cursor *cursor);

/* The next record, owned by the caller; NULL when there is none yet. Lines that
 * are not an object, torn ones and those above JSONL_LINE_MAX are left out. A
 * file that shrank is read from its beginning. */
struct json_object *jsonl_cursor_next(struct jsonl_cursor *cursor);

/* Keep the file that has the name now, if none is kept yet: what follows in it
 * will be found, even when it is rotated before it is read. */
void jsonl_cursor_hold(struct jsonl_cursor *cursor);

/* Is its file the one that has the name? */
bool jsonl_cursor_is_current(const struct jsonl_cursor *cursor);
/* Is it in the same file as the goal, at the goal or behind it? */
bool jsonl_cursor_reached(
    const struct jsonl_cursor *cursor, const struct jsonl_cursor *goal);
/* Release `to` and make it a second cursor at the same place. */
void
jsonl_cursor_copy(struct jsonl_cursor *to, const struct jsonl_cursor *from);

#endif
