/* SPDX-License-Identifier: ISC */

/* A loop with a store, and calls that wait for its answers. */
#ifndef STORE_WORLD_H
#define STORE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "errtext.h"
#include "store.h"

struct loop;

struct store_world {
	struct loop *loop;
	struct store *store;
	const char *path;
	struct err err; /* of the last answer; code 0 = none */
	int answers; /* so far */
	/* What the last read gave. */
	size_t records, events, parts;
	struct buf text; /* "kind goal/id body\n", "type data\n" */
	int64_t first_seq, last_seq; /* in the order of the answer */
};

/* Open the store at path and wait; world->err says how it went. */
void store_world_open(struct store_world *world, const char *path);
void store_world_close(struct store_world *world);

/* Each waits for its answer and returns its code. */
int store_world_put(struct store_world *world, enum store_kind kind,
    const char *goal, const char *id, const char *body);
int store_world_event(struct store_world *world, struct store_event event);
int store_world_commit(struct store_world *world,
    const struct store_change *changes, size_t change_count,
    const struct store_event *events, size_t event_count);
int store_world_load(struct store_world *world);
int store_world_read(struct store_world *world, enum store_kind kind,
    const char *goal, const char *id);
int store_world_find(
    struct store_world *world, enum store_kind kind, const char *text);
int store_world_events(struct store_world *world, struct store_filter filter);

/* For calls of a test's own. */
void store_world_done(const struct err *err, void *world);
void store_world_part(const struct store_part *part, void *world);
void store_world_wait(struct store_world *world, int answers);

/* A goal G with the nodes P1 and T1.1, an assignment A_1 of T1.1, a dispatch
 * D_1, a crystallization C_1 and three events. */
void store_world_fill(struct store_world *world);

#endif
