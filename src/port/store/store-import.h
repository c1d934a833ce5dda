/* SPDX-License-Identifier: ISC */

/* An export read back, without loss. Blocks; for child processes. */
#ifndef STORE_IMPORT_H
#define STORE_IMPORT_H

#include <stddef.h>

struct err;
struct store_change;
struct store_event;

struct store_counts {
	size_t records, events;
};

/* Where the parts of a document go; negative errno ends the reading. */
struct store_sink {
	int (*record)(
	    const struct store_change *record, void *arg, struct err *err);
	int (*event)(
	    const struct store_event *event, void *arg, struct err *err);
	void *arg;
};

/* Read a document. -EINVAL or -E2BIG with the path of what is wrong. */
int store_import_parse(const char *text, size_t len,
    const struct store_sink *sink, struct err *err);

/* Make the store at path out of the file; nothing is there if it fails. -EEXIST
 * if there is a store with anything in it. */
int store_import(const char *path, const char *file,
    struct store_counts *ret_counts, struct err *err);

#endif
