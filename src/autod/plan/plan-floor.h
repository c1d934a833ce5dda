/* SPDX-License-Identifier: ISC */

/*
 * The top floor: goals. Their plans are one more source of tasks for auto mode;
 * a tick compares what should happen with what does, and steps in.
 *
 *   plan-book.c      the plans in memory, as the book has them; its log
 *   plan-apply.c     puts into the book and tells what was decided
 *   plan-tasks.c     ready nodes are tasks for auto mode
 *   plan-bind.c      the assignment of a task, from its start to its outcome
 *   plan-floor.c     work of hand-driven workers that lands; reverts
 *   plan-tick.c      when the tick runs, and what it tells; what is known
 *                    about the assignments
 *   plan-dispatch.c  messages, fresh workers, persons
 *   goal-commands.c, work-commands.c, plan-commands.c, plan-call.c,
 *   plan-change.c, plan-view.c
 *                    the methods overseer.goal.*, .work.* and .plan.*
 *   planner.c        asks a model for plans; planner.c: what it is told
 *                    about the repository
 *   plan-query.c, why-command.c
 *                    the methods overseer.events and overseer.why
 *   plan-floor.c     the methods overseer.store.*: jobs on the book's file
 */
#ifndef PLAN_FLOOR_H
#define PLAN_FLOOR_H

#include "core.h"

struct auto_mode;
struct fleet;
struct landings;
struct loop_call;
struct plan_book;
struct plan_calls;
struct plan_dispatcher;
struct plan_set;
struct plan_tasks;
struct plan_tick;
struct planner;
struct store_jobs;

enum plan_state {
	PLAN_OFF, /* not enabled, and there are no goals */
	PLAN_OPEN,
	PLAN_SAFE, /* the plans cannot be read: nothing is planned */
	PLAN_JOB, /* a job puts other plans in their place: plan-floor.h */
};

/* The floor above keeps records of its own in the book. */
struct plan_guest {
	/* They can be read and changed; they cannot any more, and what is in
	 * memory of them does not count. */
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
	struct plan_book *book;
	struct plan_dispatcher *dispatcher; /* PLAN_OPEN */
	struct plan_tick *tick; /* PLAN_OPEN */
	struct planner *planner; /* PLAN_OPEN */
	struct plan_tasks *tasks;
	struct plan_calls *calls; /* to be answered after the commit */
	struct loop_call *show; /* what llmc status shows */
	struct store_jobs *jobs;
	const struct plan_guest *guest; /* NULL = none */
	void *guest_arg;
	bool begun; /* the floors below have begun */
};

/* Registers itself as a floor, its policy and its methods. */
struct plan_floor *plan_floor_new(struct auto_mode *mode);

/* Call before the floors below are freed. */
void plan_floor_free(struct plan_floor *floor);

/* NULL = none. opened is called from here if the plans are open. */
void plan_floor_set_guest(
    struct plan_floor *floor, const struct plan_guest *guest, void *arg);

/* For a job: forget the plans, and read what is there now. */
void plan_floor_close(struct plan_floor *floor);
void plan_floor_open(struct plan_floor *floor);

/* PLAN_OPEN only. */
struct plan_set *plan_floor_set(const struct plan_floor *floor);

/* Call it after every change of a plan by a command or the planner: what became
 * ready is offered, what is not wanted any more is taken back. */
void plan_floor_changed(struct plan_floor *floor);

#endif
