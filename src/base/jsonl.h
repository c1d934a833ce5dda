/* SPDX-License-Identifier: ISC */

/*
 * Files of JSON, one object a line, that are appended to and rotated: path is
 * the current one, path.1 the one before, up to path.<keep>. One write(2) a
 * record, nothing buffered.
 */
#ifndef JSONL_H
#define JSONL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct json_object;

/* Rotates first when the file has more than max_size bytes (0 = never). The
 * record stays the caller's. Makes no directory. */
int jsonl_append(const char *path, struct json_object *record, int64_t max_size,
    int keep, struct err *err);

/* The last `count` records (0 = all), oldest first, those of path.1, path.2,
 * ... too when the file has fewer. fn returns false to stop. Lines that are not
 * an object, torn ones and those above JSONL_LINE_MAX are left out. Reads at
 * most JSONL_LOOK_MAX bytes from the end of each file. No file is no record. */
#define JSONL_LINE_MAX ((size_t)1024 * 1024)
#define JSONL_LOOK_MAX ((size_t)8 * 1024 * 1024)
typedef bool jsonl_fn(struct json_object *record, void *arg);
int jsonl_last(
    const char *path, size_t count, jsonl_fn *fn, void *arg, struct err *err);

#endif
