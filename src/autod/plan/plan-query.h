/* SPDX-License-Identifier: ISC */

/* The method overseer.events, and what calls read in the book, as JSON: arrays
 * for the caller to free; NULL = it cannot be read, and the call was refused.
 * PLAN_OPEN only. */
#ifndef PLAN_QUERY_H
#define PLAN_QUERY_H

#include "book.h"

struct json_object;
struct plan_floor;
struct server_call;

void plan_query_register(struct plan_floor *floor);

/* {seq, ts, type, goal, assignment, node, worker, task, data}. */
struct json_object *plan_query_events(struct plan_floor *floor,
    struct server_call *call, const struct book_filter *filter);
/* The bodies of records of this kind, goal and id (each NULL = any). */
struct json_object *
plan_query_records(struct plan_floor *floor, struct server_call *call,
    enum book_kind kind, const char *goal_id, const char *id);

/* The same of mail, requests or reservations, the newest first: those of an
 * actor (NULL = of all). */
struct json_object *
plan_query_newest(struct plan_floor *floor, struct server_call *call,
    enum book_kind kind, const char *actor, size_t limit);

/* A row of an event as a record of logs/auto.log, owned by the caller. */
struct json_object *plan_query_log_record(struct json_object *row);

#endif
