/* SPDX-License-Identifier: ISC */

/*
 * In which order the tasks of todo/ are done, for source-folder.c and
 * folder-edit.c only: by priority, then by name. The priority is in the file,
 * so what was read is remembered until the file changes: there may be many.
 */
#ifndef FOLDER_ORDER_H
#define FOLDER_ORDER_H

#include <stddef.h>

struct folder_names;
struct folder_rank;

struct folder_order {
	struct folder_rank *at; /* in natural order of the names */
	size_t count;
};

/* names: those of todo/, in natural order; they are put into the order of the
 * tasks. A file that cannot be read has the default priority. */
void folder_order_sort(
    struct folder_order *order, const char *where, struct folder_names *names);
void folder_order_release(struct folder_order *order);
#define cleanup_folder_order __attribute__((cleanup(folder_order_release)))

#endif
