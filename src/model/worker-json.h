/* SPDX-License-Identifier: ISC */

/* The record of a worker. */
#ifndef WORKER_JSON_H
#define WORKER_JSON_H

#include <stdint.h>

struct err;
struct json_object;
struct schema;
struct worker;

/* The record of a worker, owned by the caller; it shares
 * `session.pane`. Reading: the name is required and must be valid; other
 * members may be missing or null and then are as in worker_new(). Unknown
 * members are ignored; a wrong type, an unknown word or a negative count is
 * -EINVAL. Times before 1970 become 0, and all but until are at most now.
 * Combinations that do not fit together are repaired: an impossible `before`
 * becomes offline, and a step without text and receipt becomes none. */
struct json_object *worker_to_json(const struct worker *worker);
int worker_from_json(struct json_object *json, const char *at, int64_t now_ms,
    struct worker **ret_worker, struct err *err);

/* The names of a set of enum worker_hold, in an array. */
struct json_object *worker_holds_to_json(unsigned holds);

extern const struct schema worker_table; /* the columns of its row */

#endif
