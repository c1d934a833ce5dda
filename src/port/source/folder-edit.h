/* SPDX-License-Identifier: ISC */

/* Commands for the folder of tasks, private to source-folder.c; each function
 * as the one of that name in source.h. */
#ifndef FOLDER_EDIT_H
#define FOLDER_EDIT_H

#include <stddef.h>
#include <stdint.h>

#include "folder.h"
#include "priority.h"

struct err;
struct folder_order;
struct json_object;
struct task_head;

struct json_object *
folder_edit_list(const char *where, size_t limit, struct err *err);
char *folder_edit_text(const char *where, const char *key, const char *status);
int64_t folder_edit_count_todo(const char *where);
struct json_object *folder_edit_todo(const char *where,
    struct folder_order *order, size_t most, int64_t *ret_count);

/* It goes into todo/, numbered, so that later ones come later. */
int folder_edit_add(const char *where, const struct task_head *head,
    const char *prompt, char **ret_key, char **ret_path, struct err *err);
char *folder_edit_maker(const char *where, const char *key);
int folder_edit_retry(
    const char *where, const char *key, const char *commit, struct err *err);
int folder_edit_drop(const char *where, const char *key, struct err *err);

/* Of one that is there. */
int folder_edit_prioritize(const char *where, enum folder_place place,
    const char *key, enum priority priority, struct err *err);
/* Replace its prompt, if that is still `before`; -ESTALE otherwise. */
int folder_edit_prompt(const char *where, enum folder_place place,
    const char *key, const char *before, const char *prompt, struct err *err);

#endif
