/* SPDX-License-Identifier: ISC */

/* Words that stand for the values of an enum: a list in its order, ended by
 * NULL. */
#ifndef WORD_H
#define WORD_H

#include <stdbool.h>

struct err;
struct json_object;

bool word_find(const char *const *words, const char *word, unsigned *ret_index);

/* A member that is one of the words. As json_get_string(); another word is
 * -EINVAL, and the nearest one is named. */
int word_get(struct json_object *json, const char *at, const char *key,
    const char *const *words, unsigned *ret_index, struct err *err);

#endif
