/* SPDX-License-Identifier: ISC */

/* The landing floor on a core and a fleet, and its events. */
#ifndef LANDING_WORLD_H
#define LANDING_WORLD_H

#include "base.h"
#include "floor-world.h"
#include "landing.h"

struct landings;

extern struct landing_world {
	struct landings *landings;
	bool may_not_begin; /* what the policy answers */
	int unwritten; /* times the state could not be written */
	/* "landed adam; not landed eve: reason; ended eve: failed; " */
	struct buf told;
} landing_world;

void landing_world_begin(const char *settings);
void landing_world_end(void);
/* This daemon dies, the next one begins. */
void landing_world_reopen(void);

/* A worker that has finished: one commit that writes text to the file. */
struct agent *
landing_world_work(const char *name, const char *file, const char *text);
/* The world with adam, who has made b.txt. */
struct agent *landing_world_begin_work(const char *settings);
/* Another commit to main, made by someone else. */
void landing_world_meanwhile(const char *file, const char *text);

/* Accept it and wait for the answer: the message of the error, NULL = none. */
const char *landing_world_accept(const char *worker);

/* Run until it is at that step of an operation on the worker, or in that stage
 * of the queue: "queued", "moving". */
void landing_world_wait(const struct agent *agent, const char *stage);

/* The events since the last call. */
void landing_world_told(const char *want);
/* The subjects of main's commits, newest first, each followed by a comma. */
void landing_world_main(const char *want);

#endif
