/* SPDX-License-Identifier: ISC */

/*
 * A core with nothing but a state, a store that answers when the test says so,
 * effects that add a letter to a trace, and virtual time.
 */
#ifndef PERSIST_WORLD_H
#define PERSIST_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "core.h"

struct persist_store;

/* Which step of the store fails. */
enum persist_fails {
	FAILS_NOTHING,
	FAILS_BEGIN,
	FAILS_PUT,
	FAILS_COMMIT
};

struct persist_world {
	struct core core;
	struct core_options options;
	struct persist_store *store;
	bool held; /* commits wait for persist_world_answer() */
	enum persist_fails failing;
	bool foreign; /* another program wrote the state */
	uint64_t written; /* the number that was saved, 0 = none */
	int commits, freed, unwritten, told_foreign;
	struct buf trace; /* effects */
};

void persist_world_begin(struct persist_world *world);
void persist_world_end(struct persist_world *world);
void persist_world_run(struct persist_world *world, int64_t ms);

/* Set the state to this number. */
void persist_world_change(struct persist_world *world, uint64_t number);
/* Add a letter to the trace when the current state is saved. */
void persist_world_after(struct persist_world *world, void *owner, char letter);
/* The store answers the commit in progress. */
void persist_world_answer(struct persist_world *world);
/* The letters so far. */
void persist_world_expect(struct persist_world *world, const char *trace);

#endif
