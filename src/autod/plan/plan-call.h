/* SPDX-License-Identifier: ISC */

/*
 * Calls about goals, from the request to the answer: refused while goals are
 * off, given the goal that they are about (also one that has ended, and is only
 * in the store), and answered once everything that they changed is stored, or
 * when it turns out that the store cannot be written.
 */
#ifndef PLAN_CALL_H
#define PLAN_CALL_H

#include <stdbool.h>

struct err;
struct json_object;
struct plan;
struct plan_call_wait;
struct plan_calls;
struct plan_floor;
struct server_call;

struct plan_calls *plan_calls_new(struct plan_floor *floor);
void plan_calls_free(struct plan_calls *calls);
/* The book is about to be closed: refuse what waits for it. */
void plan_calls_closed(struct plan_calls *calls);

/* Is the book open? If not, the call is refused, with what to type. */
bool plan_call_begin(struct plan_floor *floor, struct server_call *call);

/* The same for a call that changes a plan: also refused while the store cannot
 * be written. */
bool plan_call_begin_change(struct plan_floor *floor, struct server_call *call);

/* Refuse it: err->code is a code of api.h, or an errno. */
void plan_call_refuse(struct server_call *call, const struct err *err);

/* Call fn with the goal that the member "goal" of params names. If there is
 * none, or several, the call is refused; fn is not called then. */
typedef void plan_call_fn(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, struct plan *plan);
void plan_call_goal(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, plan_call_fn *fn);

/* The same for overseer.plan.*, whose code for it is API_E_NOT_FOUND. */
void plan_call_plan(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, plan_call_fn *fn);

/* Read all goals of the store that are neither in memory nor implicit, oldest
 * first; fn is called with their records (owned by the caller of fn), an array.
 */
typedef void
plan_call_goals_fn(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, struct json_object *goals);
void plan_call_goals(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, plan_call_goals_fn *fn);

/* Answer when everything so far is stored, or refuse the call if the store
 * refuses what it changed in this goal. Takes result. */
void plan_call_answer(struct plan_floor *floor, struct server_call *call,
    const char *goal_id, struct json_object *result);

/* The same for a caller who knows when everything is stored. Until it replies,
 * which ends the wait, the call is refused if the book is closed. */
struct plan_call_wait *
plan_call_hold(struct plan_floor *floor, struct server_call *call);
void plan_call_reply(struct plan_call_wait *wait, struct json_object *result);

#endif
