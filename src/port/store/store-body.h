/* SPDX-License-Identifier: ISC */

/*
 * The one gate to the file: what comes through here is JSON of the right
 * shape, within its bounds, with anything that looks like a key or password
 * masked (model/remedy-mask), printed in one way. Doing it twice changes
 * nothing.
 */
#ifndef STORE_BODY_H
#define STORE_BODY_H

#include <stdint.h>

#include "store.h"

struct err;
struct json_object;
struct store_pool;

#define STORE_COLUMN_MAX 3

/* The columns of a record that come from its body, in the order of its
 * statement (STORE_PUT). */
struct store_column {
	const char *text; /* NULL = null, if not a number */
	int64_t number;
	bool is_number;
};
struct store_columns {
	struct store_column list[STORE_COLUMN_MAX];
	size_t count;
};

/* Replace the strings of the change by what is stored of them, in the pool. A
 * change that deletes is checked for its ids only. */
int store_body_change(struct store_change *change, struct store_pool *pool,
    struct store_columns *ret_columns, struct err *err);

/* The same for an event, which is cut where it is too long; only its type and
 * the shape of its data can be wrong. */
int store_body_event(
    struct store_event *event, struct store_pool *pool, struct err *err);

/* A copy with all strings and keys masked; strings over max bytes are cut
 * (0 = never). The caller owns it. */
struct json_object *store_body_masked(struct json_object *value, size_t max);

#endif
