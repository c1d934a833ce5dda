/* SPDX-License-Identifier: ISC */

/*
 * A core with nothing but a state and its book, commits that fail or wait when
 * the test says so, effects that add a letter to a trace, and virtual time.
 */
#ifndef PERSIST_WORLD_H
#define PERSIST_WORLD_H

#include "unit.h"
#include "core.h"
#include "workspace.h"

extern struct persist_world {
	struct core core;
	struct core_options options;
	struct workspace workspace;
	bool held; /* commits wait for persist_world_answer() */
	bool failing;
	bool busy; /* another program writes */
	bool other; /* an owner of effects */
	uint64_t written; /* the number that was saved, 0 = none */
	int commits, unwritten;
	struct buf trace; /* effects */
} persist_world;

void persist_world_begin(void);
void persist_world_end(void);
void persist_world_run(int64_t ms);

/* Set the state to this number. */
void persist_world_change(struct persist_world *world, uint64_t number);
/* Add a letter to the trace when the current state is saved. */
void persist_world_after(void *owner, char letter);
/* Let what was held be committed. */
void persist_world_answer(void);
/* The letters so far. */
void persist_world_expect(const char *trace);

#endif
