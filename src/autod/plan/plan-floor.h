/* SPDX-License-Identifier: ISC */

/*
 * The top floor: goals. Their plans are one more source of tasks for auto mode;
 * a tick compares what should happen with what does, and steps in.
 *
 *   planbook.c       the plans in memory, as the store has them
 *   plan-persist.c   store, then act
 *   plan-log.c       what the daemon tells goes to the store's log
 */
#ifndef PLAN_FLOOR_H
#define PLAN_FLOOR_H

#include <stdbool.h>

#include "core.h"

struct auto_mode;
struct fleet;
struct landings;
struct plan_log;
struct plan_persist;
struct plan_set;
struct planbook;

enum plan_state {
	PLAN_OFF, /* not enabled, and there is no store */
	PLAN_OPENING,
	PLAN_OPEN,
	PLAN_SAFE, /* the store is of no use: nothing is planned */
};

struct plan_floor {
	struct core *core;
	struct fleet *fleet;
	struct landings *landings;
	struct auto_mode *mode;
	struct core_floor floor;
	enum plan_state state;
	char *why; /* PLAN_SAFE: the reason, and what to type */
	bool begin_waits; /* the floor begins when the book is open */
	struct planbook *book; /* PLAN_OPENING, PLAN_OPEN */
	struct plan_log *log;
};

/* Registers itself as a floor, its policy and its methods. */
struct plan_floor *plan_floor_new(struct auto_mode *mode);
/* Call before the floors below are freed. */
void plan_floor_free(struct plan_floor *floor);

/* For an open book only. */
struct plan_set *plan_floor_set(struct plan_floor *floor);
struct plan_persist *plan_floor_persist(struct plan_floor *floor);

#endif
