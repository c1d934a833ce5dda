/* SPDX-License-Identifier: ISC */

/* Commands for the folder of tasks, private to source-folder.c; each function
 * as the one of that name in source.h. */
#ifndef FOLDER_EDIT_H
#define FOLDER_EDIT_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct json_object;

struct json_object *
folder_edit_list(const char *where, size_t limit, struct err *err);
char *folder_edit_text(const char *where, const char *key, const char *status);
int64_t folder_edit_count_todo(const char *where);

/* The task is added to todo/, with a number, so that later ones come later. */
int folder_edit_add(const char *where, const char *text, char **ret_key,
    char **ret_path, struct err *err);
int folder_edit_retry(const char *where, const char *key, struct err *err);
int folder_edit_drop(const char *where, const char *key, struct err *err);

#endif
