/* SPDX-License-Identifier: ISC */

/* The questions that wait for the planner or are being asked: how each is
 * asked, and what its answer does. For planner.c only. */
#ifndef PLANNER_JOB_H
#define PLANNER_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "planner-prompt.h"
#include "planner.h"

struct core;
struct loop_call;
struct loop_timer;
struct planner_outcome;
struct planner_talk;

struct planner_job {
	TAILQ_ENTRY(planner_job) entry;
	struct planner *planner;
	enum planner_template template;
	char *goal_id, *node_id; /* node_id: NULL for a new plan */
	char *reason, *prompt;
	struct planner_talk *talk;
	bool storing; /* the attempt is being stored, and then begins */
	struct loop_timer *again; /* after a run without an answer */
	struct plan *next; /* the valid answer */
	planner_replan_fn *replanned; /* may be NULL */
	void *arg;
};
TAILQ_HEAD(planner_jobs, planner_job);

struct planner {
	struct plan_floor *floor;
	struct core *core;
	struct planner_jobs jobs;
	size_t count;
	bool stopped;
	struct loop_call *look;
};

struct planner_job *planner_job_new(struct planner *planner,
    enum planner_template template, const char *goal_id, const char *node_id);
/* Ends it; no callback is called. */
void planner_job_free(struct planner_job *job);

bool planner_job_is_busy(const struct planner_job *job);
/* Is the goal still open, and without the plan that was asked for? */
bool planner_job_is_needed(const struct planner_job *job);
/* The plan of its goal; NULL = it has ended. */
struct plan *planner_job_plan(const struct planner_job *job);
/* node_id NULL: any. NULL = none. */
struct planner_job *planner_job_find(const struct planner *planner,
    enum planner_template template, const char *goal_id, const char *node_id);

/* Ask it now. */
void planner_job_begin(struct planner_job *job);
/* The goal has ended: call back, and end it. */
void planner_job_drop(struct planner_job *job);

#endif
