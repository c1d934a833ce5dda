/* SPDX-License-Identifier: ISC */

/*
 * A JSON document too long to be held as objects, walked member by member: what
 * is wanted comes as text, for json_parse(). Only what leads there is checked
 * here; the parser checks the rest. Pure.
 */
#ifndef STORE_WALK_H
#define STORE_WALK_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;

struct store_walk {
	const char *text;
	size_t len;
	size_t pos;
	bool first; /* no member of this list has been read */
};

/* The text of a value. */
struct store_span {
	const char *text;
	size_t len;
};

void store_walk_init(struct store_walk *walk, const char *text, size_t len);

/* Is the value an object, or an array? */
bool store_span_is(const struct store_span *span, char opening);

/* Enter the object or array that the text is: '{' or '['. -EINVAL with words
 * that have the offset. */
int store_walk_enter(struct store_walk *walk, char opening, struct err *err);

/* The next member: 1, or 0 at the end, after which only blanks may follow. key
 * (of an object; NULL in an array) is replaced. */
int store_walk_next(struct store_walk *walk, char opening, struct buf *key,
    struct store_span *ret_value, struct err *err);

#endif
