/* SPDX-License-Identifier: ISC */

/* What people see of Claude Code's task files, for source-files.c only; each
 * function as the one of that name in source.h. */
#ifndef FILES_VIEW_H
#define FILES_VIEW_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct folder_order;
struct json_object;

struct json_object *
files_view_list(const char *where, size_t limit, struct err *err);
struct json_object *files_view_todo(const char *where,
    struct folder_order *order, size_t most, int64_t *ret_count);
char *files_view_text(const char *where, const char *key, const char *status);

#endif
