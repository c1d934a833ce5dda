/* SPDX-License-Identifier: ISC */

/* Words for the values of an enum: a NULL-terminated list in the enum's
 * order. */
#ifndef WORD_H
#define WORD_H

#include <stdbool.h>

struct err;
struct json_object;

bool word_find(const char *const *words, const char *word, unsigned *ret_index);

/* -EINVAL for another word; the message has the path, and suggests one. */
int word_parse(const char *word, const char *path, const char *const *words,
    unsigned *ret_index, struct err *err);

/* Get a member that is one of the words. Like json_get_string(); another word
 * is -EINVAL, and the message suggests the nearest one. */
int word_get(struct json_object *json, const char *at, const char *key,
    const char *const *words, unsigned *ret_index, struct err *err);

#endif
