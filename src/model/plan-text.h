/* SPDX-License-Identifier: ISC */

/* The bounds of what the records of a plan hold, and what all of them need to
 * keep to these. Pure. */
#ifndef PLAN_TEXT_H
#define PLAN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct json_object;

#define PLAN_ID_MAX          64 /* bytes */
#define PLAN_NAME_MAX        512
#define PLAN_LINE_MAX        4096 /* an entry of a list, a short text */
#define PLAN_TEXT_MAX        8192 /* a text; a summary */
#define PLAN_INSTRUCTION_MAX 16384
#define PLAN_LIST_MAX        200 /* entries */

/* NULL, empty, or blanks only. */
bool plan_blank(const char *s);

/* Replace an owned string by a copy of at most max bytes, cut between
 * characters; NULL clears it. The text may be the old string. */
void plan_cut(char **to, const char *text, size_t max);

/* Is the string in the list? NULL is empty. */
bool plan_has(char *const *list, const char *s);

/* Replace an owned list by a copy of another one; an empty one becomes NULL. */
void plan_set_list(char ***to, char *const *from);

/* Get the member `key` of json, an object; *ret is NULL if it is missing. With
 * its path in ret_path. */
int plan_member(struct json_object *json, const char *at, const char *key,
    struct json_object **ret, struct buf *ret_path, struct err *err);

#endif
