/* SPDX-License-Identifier: ISC */

/* Commits, many of them in one transaction. Runs in the thread of the store,
 * and in the children that import and repair. */
#ifndef STORE_WRITE_H
#define STORE_WRITE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct store_change;
struct store_columns;
struct store_db;
struct store_event;
struct store_request;

/* Commit the requests (STORE_OP_COMMIT) together, in their order. Each has its
 * err set: if its own content is wrong, it alone has no effect; if the
 * transaction fails, all have. */
void store_write(
    struct store_db *db, struct store_request *const *requests, size_t count);

/* One record and one event, inside a transaction; they went through
 * store-body.h before. An event gets its seq, or 0 if it is there already. */
int store_write_change(struct store_db *db, const struct store_change *change,
    const struct store_columns *columns, struct err *err);
int store_write_event(
    struct store_db *db, struct store_event *event, struct err *err);
/* The same with a seq of its own, which must be free; for imports. */
int store_write_event_at(struct store_db *db, int64_t seq,
    struct store_event *event, struct err *err);

#endif
