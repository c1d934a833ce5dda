/* SPDX-License-Identifier: ISC */

/*
 * The top floor: oversight. It records the turns of workers with a task as
 * iterations, has the detectors of model/oversight judge them, and takes the
 * steps of its ladder.
 *
 *   oversight-floor.c  what auto mode asks and tells; what tests say about the
 *                      work of a turn
 *   oversight-turn.c   which task a turn is of; iterations at its end, or
 *                      inside of a long one, which is told of them
 *   oversight-act.c    warnings, redirections, fresh sessions, new attempts,
 *                      parked tasks, and people are told; a task that a person
 *                      ends, with evidence
 *   iteration-make.c   an iteration out of facts; what others cost
 *   watched.c          the iterations of a task, and what they mean
 */
#ifndef OVERSIGHT_FLOOR_H
#define OVERSIGHT_FLOOR_H

#include "core.h"
#include "ladder.h"
#include "thresholds.h"
#include "watched.h"

struct agent;
struct auto_mode;
struct cost_kind;
struct fleet;
struct iteration_facts;
struct loop_call;
struct watched;

LIST_HEAD(slice_list, slice);
LIST_HEAD(abort_list, abort_wait);

/* See oversight_costs_load(). Zeroes are the beginning. */
struct oversight_costs {
	struct cost_kind *kinds;
	size_t count;
	bool loaded;
};

/* The turn of a worker, or the part of it since the last iteration. */
struct turn_clock {
	char *worker;
	int64_t since_ms; /* monotonic; 0 = not known */
	int tools; /* that have ended */
	bool partial; /* it had begun before */
	bool looking; /* a part of it is about to be recorded */
	int64_t due_ms; /* since when it is to get something, 0 = not */
};

struct oversight_floor {
	struct core *core;
	struct fleet *fleet;
	struct auto_mode *mode;
	struct core_floor floor;
	struct oversight_config config;
	struct watched_list watched;
	bool unpruned; /* there may be too many files of theirs */
	struct loop_call *settle; /* does what had to wait */
	struct loop_call *given; /* records what was delivered */
	struct fleet_pattern pattern;
	struct turn_clock *clocks;
	size_t clock_count;
	struct slice_list slices; /* see oversight-turn.c */
	struct abort_list aborts; /* see oversight-act.c */
	struct oversight_costs costs;
};

/* Registers itself as a floor, and with auto mode. */
struct oversight_floor *oversight_floor_new(struct auto_mode *mode);

/* The task that the worker has; NULL: none, or it is not watched. */
struct watched *oversight_turn_watched(
    struct oversight_floor *floor, const struct agent *agent);

/* By its name, with what its file has if it is not in memory. */
struct watched *
oversight_turn_find(struct oversight_floor *floor, const char *task);

/* The same if it is in memory, else NULL: nothing is read. */
struct watched *
oversight_turn_known(const struct oversight_floor *floor, const char *task);
struct turn_clock *
oversight_turn_clock(struct oversight_floor *floor, const char *worker);

/* The next iteration of the worker's task is there, and the one before is
 * judged; and it is judged itself. */
void
oversight_turn_begin(struct oversight_floor *floor, struct watched *watched,
    const struct agent *agent, struct iteration_facts *facts);
void oversight_turn_judge(struct oversight_floor *floor,
    struct watched *watched, const struct agent *agent);

/* Call before the floors below are freed. */
void oversight_floor_free(struct oversight_floor *floor);

#endif
