/* SPDX-License-Identifier: ISC */

/* Calls that read the store: what it gives is passed on as JSON. A call whose
 * answer does not come is refused. For an open book only. */
#ifndef PLAN_QUERY_H
#define PLAN_QUERY_H

#include "store.h"

struct json_object;
struct plan_floor;
struct plan_queries;
struct server_call;

struct plan_queries *plan_queries_new(struct plan_floor *floor);
void plan_queries_free(struct plan_queries *queries);
/* The book is about to be closed: refuse what waits for it. */
void plan_queries_closed(struct plan_queries *queries);

/* context is what was given, rows an array in the order of the question; both
 * are valid until this returns. */
typedef void plan_query_fn(struct plan_floor *floor, struct server_call *call,
    struct json_object *context, struct json_object *rows);

/* Rows: {seq, ts, type, goal, assignment, node, worker, task, data}. Keeps a
 * reference to context (may be NULL). */
void plan_query_events(struct plan_floor *floor, struct server_call *call,
    struct json_object *context, const struct store_filter *filter,
    plan_query_fn *fn);
/* Rows: the bodies of records of this kind, goal and id (each NULL = any). */
void plan_query_records(struct plan_floor *floor, struct server_call *call,
    struct json_object *context, enum store_kind kind, const char *goal_id,
    const char *id, plan_query_fn *fn);

/* The same of mail, requests or reservations, the newest first: those of an
 * actor (NULL = of all). */
void plan_query_newest(struct plan_floor *floor, struct server_call *call,
    struct json_object *context, enum store_kind kind, const char *actor,
    size_t limit, plan_query_fn *fn);

/* A row of an event as a record of logs/auto.log, owned by the caller. */
struct json_object *plan_query_log_record(struct json_object *row);

#endif
