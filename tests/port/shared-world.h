/* SPDX-License-Identifier: ISC */

/*
 * A shared book for tests: hosts on one loop, and a clock that only the test
 * moves.
 */
#ifndef SHARED_WORLD_H
#define SHARED_WORLD_H

#include "unit.h"

#include "postgres-world.h"
#include "shared.h"

#define WORLD_HOSTS 20
#define WORLD_NOW   1000000 /* now_ms() at the beginning */

struct shared_world {
	struct loop *loop;
	char *database; /* of the hosts */
	char *owner_address; /* of the owner */
	struct shared *hosts[WORLD_HOSTS]; /* a, b, c, ... */
	struct shared_owner_task owner; /* join and others add the verb */
	bool is_write; /* what is asked now */
	int hints;
	char hint[64]; /* the last one */
	struct err err;
};

/* With an empty book; the test is skipped without a server. */
void shared_world_begin(struct shared_world *world);
void shared_world_end(struct shared_world *world);

/* The owner does something, for host n or none (-1). */
void
shared_world_owner_runs(struct shared_world *world, const char *verb, int n);
/* Connect host n, whatever comes of it; or join, connect, and wait. */
void shared_world_connect(struct shared_world *world, int n);
void shared_world_host(struct shared_world *world, int n);
/* Run the loop until the host is in this state. */
void
shared_world_wait(struct shared_world *world, int n, enum shared_state state);

/* The first cell that a statement of the owner gives, or "ERROR
 * words". Valid until the next one. role NULL = the owner, else a host. */
const char *
shared_world_sql(struct shared_world *world, const char *host, const char *sql);

/* Move the clock of the database. */
void shared_world_advance(struct shared_world *world, int64_t ms);

/* Ask, and wait for the answer. "cell,cell;cell,cell" of the last call, null is
 * "-"; "REFUSED words" or "AWAY words". Valid until the next one. args: values
 * with
 * '|' between them; "-" is null. */
const char *shared_world_ask(
    struct shared_world *world, int n, const char *statement, const char *args);

enum shared_statement shared_world_find(const char *name);

#endif
