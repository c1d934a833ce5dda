/* SPDX-License-Identifier: ISC */

/*
 * Messages to people that are told once, whenever the daemon is killed: a
 * folder with a file for each, named by its id. "<id>.json" waits to be told,
 * "<id>.told" is the receipt of one whose command was started.
 */
#ifndef OUTBOX_H
#define OUTBOX_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct json_object;

#define OUTBOX_KEEP_MS ((int64_t)7 * 24 * 3600 * 1000) /* receipts */

/* Does it wait, or was it told? */
bool outbox_has(const char *dir, const char *id);
/* It has to wait. */
int outbox_put(const char *dir, const char *id, struct json_object *message,
    struct err *err);
/* It is told now. */
int outbox_told(const char *dir, const char *id, struct err *err);

/* Call fn with everything that waits; what cannot be read is left. Removes old
 * receipts. */
typedef void outbox_fn(const char *id, struct json_object *message, void *arg);
void outbox_each(const char *dir, outbox_fn *fn, void *arg);

#endif
