/* SPDX-License-Identifier: ISC */

/* What people see of Claude Code's task files, for source-files.c only; each
 * function as the one of that name in source.h. */
#ifndef FILES_VIEW_H
#define FILES_VIEW_H

#include <stddef.h>

struct err;
struct json_object;

struct json_object *
files_view_list(const char *where, size_t limit, struct err *err);
char *files_view_text(const char *where, const char *key, const char *status);

#endif
