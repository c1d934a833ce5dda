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
 * error. */
#define JSONL_LINE_MAX ((size_t)1024 * 1024)
#define JSONL_LOOK_MAX ((size_t)8 * 1024 * 1024)
typedef bool jsonl_fn(struct json_object *record, void *arg);
int jsonl_last(
    const char *path, size_t count, jsonl_fn *fn, void *arg, struct err *err);

/* All records of the files that were written to at since_ms (wall clock) or
 * later, oldest first, however long they are; otherwise as jsonl_last(). */
int jsonl_since(const char *path, int64_t since_ms, jsonl_fn *fn, void *arg,
    struct err *err);

#endif
