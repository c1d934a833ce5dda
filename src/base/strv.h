/* SPDX-License-Identifier: ISC */

/*
 * Lists of owned strings, ended by NULL, as argument vectors are. A list that
 * is NULL itself is empty. Adding looks for the end each time: for words of a
 * command and names, not for thousands of paths.
 */
#ifndef STRV_H
#define STRV_H

#include <stddef.h>

struct json_object;

void strv_free(char **list);
void strv_cleanup(char ***list);
#define cleanup_strv __attribute__((cleanup(strv_cleanup)))

/* Free it and leave NULL. */
void strv_clear(char ***list);

/* Add a copy, or take over a string from the heap. */
void strv_add(char ***list, const char *s);
void strv_take(char ***list, char *owned);

/* Add copies of all of a list; NULL is none. */
void strv_add_all(char ***list, const char *const *more);

/* Remove and free every string that is the same as s. */
void strv_remove(char **list, const char *s);

size_t strv_count(char *const *list);

/* To read only, for those that want constant strings; never NULL. */
const char *const *strv_const(char *const *list);

/* Never NULL; owned by the caller. */
char **strv_copy(const char *const *list);

/* A JSON array of strings, which the caller has checked, and back; owned by the
 * caller. NULL is empty. */
char **strv_from_json(struct json_object *array);
struct json_object *strv_to_json(char *const *list);

#endif
