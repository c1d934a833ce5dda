/* SPDX-License-Identifier: ISC */

/*
 * The daemon's life cycle with two floors of the test above the fleet, low and
 * high, in virtual time.
 */
#ifndef LIFE_WORLD_H
#define LIFE_WORLD_H

#include "floor-world.h"

#define LIFE_GOES_ON (-1) /* life_world_run(): it is still running */

struct json_object;
struct life_world;

struct life_floor {
	struct core_floor floor;
	const char *name;
	bool late; /* the test calls life_floor_begun() */
	bool noisy; /* not quiet */
	const char *phase; /* NULL = none */
};

extern struct life_world {
	struct core_options options; /* set before it begins */
	struct life_floor low, high;
	struct buf trace; /* what the floors were called for */
	int failures, unwritten, resumes, stopping; /* number of events */
} life_world;

/* The floors and the options may have been set before; the rest is zero. */
void life_world_begin(const char *settings);
void life_world_end(void);
/* The same, and forget the events of the beginning. */
void life_world_begin_quietly(void);
/* Create the floors on another core, as the next daemon does. */
void life_world_build(void);

/* Let time pass; returns the exit status of the daemon, or LIFE_GOES_ON. */
int life_world_run(int64_t ms);
/* What the floors were called for since the last call. */
void life_world_expect(const char *trace);

/* A file in .llmc: does it exist? Its JSON, owned by the caller. */
bool life_world_exists(const char *name);
struct json_object *life_world_load(const char *name);

#endif
