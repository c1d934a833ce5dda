/* SPDX-License-Identifier: ISC */

/* Reads of the store, in parts. Runs in its thread. */
#ifndef STORE_READ_H
#define STORE_READ_H

#include <stddef.h>

struct store_answer;
struct store_db;
struct store_request;

/* Parts are about this many bytes. */
#define STORE_PART_SIZE ((size_t)64 * 1024)

/* Called with each part, which it takes; the last one has its mark, and the
 * error if there was one. */
typedef void store_read_fn(struct store_answer *answer, void *arg);

/* For STORE_OP_LOAD, STORE_OP_READ and STORE_OP_EVENTS. */
void store_read_run(struct store_db *db, struct store_request *request,
    store_read_fn *fn, void *arg);

#endif
