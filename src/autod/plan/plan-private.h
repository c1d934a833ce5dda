/* SPDX-License-Identifier: ISC */

/* Shared by the units of this folder only. */
#ifndef PLAN_PRIVATE_H
#define PLAN_PRIVATE_H

#include <sys/queue.h>

#include "plan-node.h"
#include "plan-floor.h"
#include "plan-prompt.h"
#include "reconcile.h"

struct core;
struct err;
struct json_object;
struct loop_call;
struct loop_timer;
struct plan;
struct plan_dispatcher;
struct plan_floor;
struct plan_limits;
struct plan_tick;
struct planner_talk;
struct reconcile_decision;
struct reconcile_result;
struct server_call;
struct settings;

/* --- methods of goals, plans and nodes, goal-commands.c --------------- */

/*
 * The methods overseer.goal.* and overseer.status; overseer.plan.draft and
 * .apply: a plan is made first, looked at, and becomes the plan of its goal
 * when it is applied, which is for people (and the daemon's own planner), not
 * for agents; and overseer.work.*: nodes of plans, looked at and changed by a
 * person.
 */

void goal_commands_register(struct plan_floor *floor);

/* --- why, why-command.c ---------------------------------------------- */

/* The method overseer.why: why an assignment, or what a worker, a task or a
 * node has of one, is where it is. */

void why_command_register(struct plan_floor *floor);

/* --- dispatches, plan-dispatch.c ------------------------------------- */

/*
 * Carries out what the tick has decided, after it is stored: a message to a
 * worker between its turns, a fresh worker (a task of auto mode), a person.
 * Each has a dispatch id; its result is stored with it, so that the next daemon
 * carries out what this one could not, and nothing twice.
 */

struct plan_dispatcher *plan_dispatcher_new(struct plan_floor *floor);
/* Call before the book is closed. */
void plan_dispatcher_free(struct plan_dispatcher *dispatcher);

/* Before a commit: carry out what was decided once it is done. */
void plan_dispatcher_order(struct plan_dispatcher *dispatcher);

/* The book is open: carry out what an earlier daemon has stored only. */
void plan_dispatcher_begin(struct plan_dispatcher *dispatcher);

/* --- the tick, plan-tick.c ------------------------------------------- */

/*
 * The tick: compares the plans with what is known about their assignments,
 * keeps what follows from that (reconcile.h) and, when it is committed, carries
 * it out. Every two minutes, soon after something happened, and on request.
 */

/* The methods overseer.tick and overseer.wake. */
void plan_tick_register(struct plan_floor *floor);
struct plan_tick *plan_tick_new(struct plan_floor *floor);
void plan_tick_free(struct plan_tick *tick);

/* The floor has begun. */
void plan_tick_begin(struct plan_tick *tick);

/* Something happened: once, after this pass of the loop, and not more than
 * once in a second. reason is a constant. */
void plan_tick_wake(struct plan_tick *tick, const char *reason);

/* A tick at once. dry_run: nothing is changed or done. fn (may be NULL) is
 * called with the result, which is valid until it returns; the decisions are
 * carried out after the commit of this pass. */
typedef void plan_tick_fn(const struct reconcile_result *result, void *arg);

void plan_tick_now(struct plan_floor *floor, const char *reason, bool dry_run,
    plan_tick_fn *fn, void *arg);

/* --- a question to the planner, planner-talk.c ----------------------- */

/*
 * One question to the planner, asked again with what was wrong until the answer
 * is valid, or for PLANNER_REPAIRS times. Each time is a run of its own without
 * a memory: the first prompt goes along. What it cost is booked on the day.
 */

#define PLANNER_REPAIRS 2

struct auto_mode;
struct err;
struct json_object;
struct planner_result;
struct planner_talk;

struct planner_outcome {
	const struct err *err; /* NULL: the answer was valid */
	bool invalid; /* it answered, but never correctly */
	char *const *problems; /* of all answers, with their paths */
	const char *answer; /* the last one; NULL = none */
	const char *model; /* "" = unknown */
	int repairs;
	int64_t cost_millionths; /* of all answers */
};

struct planner_question {
	struct auto_mode *mode;
	const char *prompt;
	/* Judge an answer, as planner_judge(). */
	void (*check)(void *arg, const char *answer, size_t len, int repairs,
	    struct planner_result *ret_result);
	/* Called once, later; the talk is gone then. */
	void (*done)(void *arg, const struct planner_outcome *outcome);
	void *arg;
};

struct planner_talk *planner_talk_start(const struct planner_question *q);

/* End it; done is not called. */
void planner_talk_free(struct planner_talk *talk);

/* Append what the repository looks like, for the planner. What cannot be read
 * is left out. */
void
plan_survey(const char *root, const struct settings *settings, struct buf *out);

/* --- what an answer does --------------------------------------------- */

/* What the planner's answer does to a goal: its plan, where that came from, or
 * the reason why there is none. Everything is stored with the events of it. */

/* --- the planner, planner.c ------------------------------------------ */

/*
 * Asks the planner, a model, where rules are not enough: for the plan of a goal
 * that has none, for a change of a plan. Answers are checked strictly; what
 * cannot be used is never guessed at: a goal stays without a plan, and a person
 * learns what to type.
 *
 * That a goal waits for its plan, and how often that was tried, is in its
 * record, so that the next daemon goes on with it. The other questions are
 * forgotten with the daemon.
 */

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
 * API_E_CLOSED; API_E_STARTED if a node was worked on already. */
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

/* Make it the plan, as far as it has not begun (plan-revise.h, and its errors).
 * The node that is planned anew must have been released before. */
int planner_apply(struct planner *planner, const struct plan *next,
    const char *node_id, const char *why, struct err *err);

/* Those callbacks that have this arg are not called any more. */
void planner_forget(struct planner *planner, const void *arg);

#endif
