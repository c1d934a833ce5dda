/* SPDX-License-Identifier: ISC */

/*
 * The top floor: oversight. It records the turns of workers with a task as
 * iterations, has the detectors of model/behaviour judge them, and does what
 * model/intervene decides.
 *
 *   iteration-make.c  an iteration out of facts
 *   watched.c         the iterations of a task, and what they mean
 *   oversight-act.c   warnings, redirections, pauses, aborts
 *   oversight-abort.c a task ended as failed, with evidence
 */
#ifndef OVERSIGHT_FLOOR_H
#define OVERSIGHT_FLOOR_H

#include "core.h"
#include "fleet-pattern.h"
#include "oversight-config.h"
#include "watched.h"

struct auto_mode;
struct fleet;
struct loop_call;
struct turn_clock;

#define OVERSIGHT_COSTS 64 /* of landed tasks that are remembered */

struct oversight_floor {
	struct core *core;
	struct fleet *fleet;
	struct auto_mode *mode;
	struct core_floor floor;
	struct oversight_config config;
	struct watched_list watched;
	const struct watched *aborting; /* its outcome is being set */
	struct loop_call *settle; /* does what had to wait */
	struct fleet_pattern pattern;
	struct turn_clock *clocks; /* when the turns of workers began */
	size_t clock_count;
	double costs[OVERSIGHT_COSTS]; /* of landed tasks, US dollars */
	size_t cost_count; /* ever seen */
};

/* Registers itself as a floor, and with auto mode. */
struct oversight_floor *oversight_floor_new(struct auto_mode *mode);
/* The task has ended. */
void oversight_floor_forget(struct watched *watched);
/* Call before the floors below are freed. */
void oversight_floor_free(struct oversight_floor *floor);

#endif
