/* SPDX-License-Identifier: ISC */

/*
 * NULL-terminated lists of owned strings, like argument vectors. A list that is
 * NULL is empty. Adding searches for the end each time: meant for command words
 * and names, not for thousands of paths.
 */
#ifndef STRV_H
#define STRV_H

#include <stdbool.h>
#include <stddef.h>

struct json_object;

void strv_free(char **list);
void strv_cleanup(char ***list);
#define cleanup_strv __attribute__((cleanup(strv_cleanup)))

/* Free it and set it to NULL. */
void strv_clear(char ***list);

/* Add a copy, or take ownership of an allocated string. */
void strv_add(char ***list, const char *s);
void strv_take(char ***list, char *owned);

/* Add copies of all strings of a list, which may be NULL. */
void strv_add_all(char ***list, const char *const *more);

/* Remove and free every string equal to s. */
void strv_remove(char **list, const char *s);

size_t strv_count(char *const *list);
/* Is one of them equal to s? The list may be NULL. */
bool strv_has(const char *const *list, const char *s);

/* For qsort() of a list. */
int strv_order(const void *a, const void *b);

/* A view for functions that take constant strings; never NULL. */
const char *const *strv_const(char *const *list);

/* Never NULL; owned by the caller. */
char **strv_copy(const char *const *list);

/* From a JSON array of strings that the caller has checked (NULL is empty), and
 * back. Owned by the caller. */
char **strv_from_json(struct json_object *array);
struct json_object *strv_to_json(char *const *list);

#endif
