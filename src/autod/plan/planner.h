/* SPDX-License-Identifier: ISC */

/*
 * Asks the planner, a model, where rules are not enough: for the plan of a goal
 * that has none, for a change of a plan. Answers are
 * checked strictly; what cannot be used is never guessed at: a goal stays
 * without a plan, and a person is told what to type.
 *
 * That a goal waits for its plan, and how often that was tried, is in its
 * record, so that the next daemon goes on with it. The other questions are
 * forgotten with the daemon.
 */
#ifndef PLANNER_H
#define PLANNER_H

#include <sys/queue.h>

#include "planner-prompt.h"

struct core;
struct err;
struct loop_call;
struct loop_timer;
struct plan;
struct plan_floor;
struct planner;
struct planner_talk;

/* The goal's whole plan with the node divided, for planner_apply(); owned by
 * the callee. NULL: err says why not. */
typedef void
planner_replan_fn(struct plan *next, const struct err *err, void *arg);

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

/* For a floor with an open book. */
struct planner *planner_new(struct plan_floor *floor);

/* Ends what runs; no callback is called. */
void planner_free(struct planner *planner);

/* At the end of this pass: plan the goals that wait for it. */
void planner_look(struct planner *planner);

/* The daemon stops: what runs is ended, and does not count as an attempt. */
void planner_stop(struct planner *planner);

/* Will there be a plan without anyone's doing? */
bool planner_expects(const struct planner *planner);

/* A person wants a plan made (again), or only a draft of one. 0: it will be,
 * see the events plan.generated, plan.drafted and plan.failed. API_E_UNKNOWN,
 * API_E_CLOSED; API_E_STARTED if somebody has worked on a node already. */
int planner_ask(
    struct planner *planner, const char *goal_id, bool draft, struct err *err);

/* 0: fn will be called, later. -EALREADY: this is being asked; -EAGAIN: too
 * many questions wait; API_E_UNKNOWN. */
int planner_replan(struct planner *planner, const char *goal_id,
    const char *node_id, const char *reason, planner_replan_fn *fn, void *arg,
    struct err *err);

/* Is it being asked that? */
bool planner_is_replanning(
    const struct planner *planner, const char *goal_id, const char *node_id);

/* Make it the plan, as far as it has not begun (plan-replan.h, and its errors).
 * The node that is planned anew must have been released before. */
int planner_apply(struct planner *planner, const struct plan *next,
    const char *node_id, const char *why, struct err *err);

/* Those callbacks that have this arg are not called any more. */
void planner_forget(struct planner *planner, const void *arg);

#endif
