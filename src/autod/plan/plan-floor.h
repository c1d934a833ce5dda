/* SPDX-License-Identifier: ISC */

/*
 * The top floor: goals. Their plans are one more source of tasks for auto mode;
 * a tick compares what should happen with what does, and steps in.
 *
 *   planbook.c       the plans in memory, as the store has them
 *   plan-persist.c   store, then act
 *   plan-log.c       what the daemon tells goes to the store's log
 *   plan-apply.c     stores and tells what was decided
 *   plan-tasks.c     ready nodes are tasks for auto mode
 *   plan-bind.c      the assignment of a task, from its start to its outcome
 *   plan-pool.c      implicit goals record the tasks of other sources
 *   plan-landed.c    work of hand-driven workers that lands; reverts
 *   plan-files.c     the files that a landed commit changed
 *   plan-tick.c      when the tick runs, and what it tells
 *   plan-telemetry.c what is known about the assignments
 *   plan-advice.c    what the planner advises about those that are stuck
 *   plan-dispatch.c  messages, fresh workers, persons
 *   goal-commands.c, work-commands.c, plan-commands.c, plan-call.c,
 *   plan-change.c, plan-view.c
 *                    the methods overseer.goal.*, .work.* and .plan.*
 *   planner.c        asks a model for plans
 *   event-query.c, why-command.c, plan-query.c
 *                    the methods overseer.events and overseer.why
 *   store-jobs.c     the methods overseer.store.*: jobs on the store's file
 */
#ifndef PLAN_FLOOR_H
#define PLAN_FLOOR_H

#include <stdbool.h>

#include "core.h"

struct auto_mode;
struct fleet;
struct landings;
struct plan_calls;
struct plan_dispatcher;
struct plan_landed;
struct plan_log;
struct plan_persist;
struct plan_pool;
struct plan_queries;
struct plan_set;
struct plan_shown;
struct plan_tasks;
struct plan_tick;
struct planbook;
struct planner;
struct store_change;
struct store_jobs;

enum plan_state {
	PLAN_OFF, /* not enabled, and there is no store */
	PLAN_OPENING,
	PLAN_OPEN,
	PLAN_SAFE, /* the store is of no use: nothing is planned */
	PLAN_JOB, /* a job puts another store in its place: store-jobs.h */
};

/* The floor above keeps records of its own in the store. */
struct plan_guest {
	/* While the store is read: an open record, or one that has ended, with
	 * body NULL. */
	void (*record)(void *arg, const struct store_change *record);
	/* The store can be used; it cannot be used any more, and what is in
	 * memory of it does not count. */
	void (*opened)(void *arg);
	void (*closed)(void *arg);
};

struct plan_floor {
	struct core *core;
	struct fleet *fleet;
	struct landings *landings;
	struct auto_mode *mode;
	struct core_floor floor;
	enum plan_state state;
	char *why; /* PLAN_SAFE: the reason, and what to type */
	bool safe_since_start; /* to be told when the floor begins */
	bool begin_waits; /* the floor begins when the book is open */
	struct planbook *book; /* PLAN_OPENING, PLAN_OPEN */
	struct plan_log *log;
	struct plan_dispatcher *dispatcher; /* with the book */
	struct plan_tick *tick; /* with the book */
	struct plan_pool *pool;
	struct plan_tasks *tasks;
	struct plan_landed *landed;
	struct plan_calls *calls; /* that wait for the store */
	struct plan_shown *shown; /* in llmc status */
	struct plan_queries *queries; /* the same */
	struct store_jobs *jobs;
	const struct plan_guest *guest; /* NULL = none */
	void *guest_arg;
	bool begun; /* the floors below have begun */
	struct planner *planner; /* with the book */
};

/* Registers itself as a floor, its policy and its methods. */
struct plan_floor *plan_floor_new(struct auto_mode *mode);
/* Call before the floors below are freed. */
void plan_floor_free(struct plan_floor *floor);

/* Call it before the loop runs; NULL = none. */
void plan_floor_set_guest(
    struct plan_floor *floor, const struct plan_guest *guest, void *arg);

/* For a job: close the book, whatever its state (not from inside a callback of
 * the store), and open what is there now. */
void plan_floor_close(struct plan_floor *floor);
void plan_floor_open(struct plan_floor *floor);

/* For an open book only. */
struct plan_set *plan_floor_set(const struct plan_floor *floor);
struct plan_persist *plan_floor_persist(const struct plan_floor *floor);

/* Call it after every change of a plan by a command or the planner: what became
 * ready is offered, what is not wanted any more is taken back. */
void plan_floor_changed(struct plan_floor *floor);

#endif
