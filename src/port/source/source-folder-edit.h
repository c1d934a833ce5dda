/* SPDX-License-Identifier: ISC */

/* The folder as people see it: source_list() of it, for source-folder.c. What
 * people do with it (source_folder_add() and so on) is in source.h. */
#ifndef SOURCE_FOLDER_EDIT_H
#define SOURCE_FOLDER_EDIT_H

#include <stddef.h>

struct err;
struct json_object;

struct json_object *
folder_list(const char *where, size_t limit, struct err *err);

#endif
