/* SPDX-License-Identifier: ISC */

/* Events from the book, which the owner reads, beside those of
 * logs/auto.log, which is there without a daemon, too. The book keeps them
 * longer. */
#ifndef EVENT_STORE_H
#define EVENT_STORE_H

#include <stddef.h>

struct cli;
struct event_filter;
struct json_object;

/* The last `lines` that are wanted, oldest first, as records of the log: an
 * array, owned by the caller. NULL with CLI_OK: there is no store, or it cannot
 * be asked. Otherwise the failure is reported. */
int event_store_last(struct cli *cli, const struct event_filter *filter,
    size_t lines, struct json_object **ret_events);

/* Both in the order of time, without those that are in both: the last `lines`
 * of them, owned by the caller. */
struct json_object *event_store_merge(
    struct json_object *stored, struct json_object *logged, size_t lines);

#endif
