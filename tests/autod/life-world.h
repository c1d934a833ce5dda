/* SPDX-License-Identifier: ISC */

/*
 * The daemon's life with two floors of the test above the fleet, low and high,
 * in virtual time.
 */
#ifndef LIFE_WORLD_H
#define LIFE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "floor-world.h"

#define LIFE_GOES_ON (-1) /* life_world_run(): the daemon has not ended */

struct json_object;
struct life_world;

struct life_floor {
	struct core_floor floor;
	const char *name;
	struct life_world *world;
	bool late; /* says itself when it has begun */
	bool noisy; /* not quiet */
	const char *phase; /* NULL = no opinion */
};

struct life_world {
	struct floor_world world;
	struct life_floor low, high;
	struct buf trace; /* what the floors were asked for */
	int failures, unwritten, resumes, stopping; /* events */
};

/* The floors and the options may have been set up before; the rest is zero. */
void life_world_begin(struct life_world *house, const char *settings);
void life_world_end(struct life_world *house);
/* The same, and what happens at the beginning is over and forgotten. */
void life_world_begin_quietly(struct life_world *house);
/* The floors above another core, as that of the next daemon. */
void life_world_build(struct life_world *house);

/* Let time pass; what the daemon ends with, or LIFE_GOES_ON. */
int life_world_run(struct life_world *house, int64_t ms);
/* What the floors were asked for since this was called last. */
void life_world_expect(struct life_world *house, const char *trace);

/* Of a file below .llmc: is it there? Its JSON, owned by the caller. */
bool life_world_exists(struct life_world *house, const char *name);
struct json_object *life_world_load(struct life_world *house, const char *name);

#endif
