/* SPDX-License-Identifier: ISC */

/* The whole daemon with goals: auto-world.h and the floor of plans above it, on
 * a real book. */
#ifndef PLAN_WORLD_H
#define PLAN_WORLD_H

#include "base.h"
#include "auto-world.h"
#include "book-history.h"
#include "plan-floor.h"
#include "plan.h"

struct plan_floor;

extern struct plan_world {
	struct plan_floor *floor;
	int works; /* files that were committed so far */
	const char *words; /* the end of every turn */
} plan_world;

/* Goals are enabled. plan, more: lines for [plan] and [auto] in config.toml;
 * may be NULL. */
void plan_world_begin(const char *plan, const char *more);
void plan_world_live(void);
void plan_world_end(void);
/* This daemon dies at once: what is not committed is lost. The next one is
 * created. */
void plan_world_reopen(void);

void plan_world_die(void); /* and it runs */
/* All of it: a daemon runs, and has goal_a. */
void plan_world_begin_goal(const char *more, int tasks);

/* The node that was assigned last; one was. */
struct plan_node *plan_world_worked(void);
/* A goal with a phase P1 and so many tasks T1.1, T1.2, ..., each of which
 * depends on the one before. Stored when this returns. */
void plan_world_goal(const char *id, int tasks);

struct plan *plan_world_plan(const char *goal);
struct plan_node *plan_world_node(const char *goal, const char *node);
/* "T1.1 done; T1.2 queued; ", and "goal active; " in front. */
void plan_world_is(const char *goal, const char *want);

/* Call a method, which must succeed; the result is valid until the end. */
struct json_object *plan_world_must(const char *method, const char *params);
/* It must be refused with this code, and these words in the message. */
void plan_world_refused(
    const char *method, const char *params, int code, const char *words);

/* Run the loop until fn returns true; meanwhile every turn ends with a
 * commit. */
void plan_world_work(floor_fn *fn, void *arg);
/* The same until no task is left and everything is stored. */
void plan_world_work_all(void);
/* Work until the state of tasks, nodes or assignments, or of what is being
 * written, was seen to change so often, in any pass of the loop. False: all is
 * done before that. */
bool plan_world_work_changes(int changes);
/* Run the loop until everything is stored. */
void plan_world_settle(void);
/* How many events of this type the store has. */
int plan_world_events(const char *type);

#endif
