/* SPDX-License-Identifier: ISC */

/*
 * Calls about goals, from the request to the answer: refused while goals are
 * off, given the goal that they are about (also one that has ended, and is only
 * in the book), and answered once everything that they changed is committed, or
 * when it turns out that the book cannot be written.
 */
#ifndef PLAN_CALL_H
#define PLAN_CALL_H

struct err;
struct json_object;
struct plan;
struct plan_calls;
struct plan_floor;
struct server_call;

struct plan_calls *plan_calls_new(struct plan_floor *floor);
void plan_calls_free(struct plan_calls *calls);
/* The plans are about to be closed: refuse what waits. */
void plan_calls_closed(struct plan_calls *calls);
/* The book has refused what was changed in this goal. */
void plan_calls_refuse(
    struct plan_calls *calls, const char *goal_id, const struct err *why);

/* Are the plans open? If not, the call is refused, with what to type. */
bool plan_call_begin(struct plan_floor *floor, struct server_call *call);

/* The same for a call that changes a plan: also refused while the book cannot
 * be written. */
bool plan_call_begin_change(struct plan_floor *floor, struct server_call *call);

/* Refuse it: err->code is a code of api.h, or an errno. */
void plan_call_refuse(struct server_call *call, const struct err *err);

/* The goal that the member "goal" of params names, by its id or a part of it.
 * NULL: there is none, or several, and the call was refused. */
struct plan *plan_call_goal(struct plan_floor *floor, struct server_call *call,
    struct json_object *params);

/* The same for overseer.plan.*, whose code for it is API_E_NOT_FOUND. */
struct plan *plan_call_plan(struct plan_floor *floor, struct server_call *call,
    struct json_object *params);

/* plan_call_begin(), and the plan of a goal that may be named; *ret NULL = none
 * is. False: refused. */
bool plan_call_begin_maybe(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, const struct plan **ret);

/* Answer when everything so far is committed, or refuse the call if the book
 * refuses what it changed in this goal (NULL = in none). Takes result. */
void plan_call_answer(struct plan_floor *floor, struct server_call *call,
    const char *goal_id, struct json_object *result);

#endif
