/* SPDX-License-Identifier: ISC */

/*
 * The draft of a plan: a whole plan that is kept with its goal, and changes
 * nothing until it is applied. It knows the version of the plan that it was
 * made for. Pure.
 */
#ifndef PLAN_KEPT_H
#define PLAN_KEPT_H

struct err;
struct json_object;
struct plan;
struct plan_goal;

/* More, as JSON, is not kept. */
#define PLAN_KEPT_MAX ((size_t)2 * 1024 * 1024)

struct plan_kept {
	const struct plan *next; /* the draft; of the same goal */
	int64_t base; /* the version of the plan that it replaces */
	int64_t at_ms;
	const char *actor; /* who made it */
	const char *how, *why; /* NULL = not said */
};

/* Keep it instead of the one before. API_E_LIMIT if it is too large. */
int plan_kept_set(
    struct plan_goal *goal, const struct plan_kept *kept, struct err *err);
void plan_kept_clear(struct plan_goal *goal);

/* The plan of the draft; the caller frees it. API_E_NOT_FOUND if there is none,
 * API_E_INVALID_PLAN if it cannot be read. */
int plan_kept_read(
    const struct plan_goal *goal, struct plan **ret_next, struct err *err);
/* The version that it was made for; 0 = the goal had no plan. */
int64_t plan_kept_base(const struct plan_goal *goal);

/* May a plan be applied that was made for this version? API_E_CONFLICT with
 * what to type. */
int
plan_kept_check(const struct plan_goal *goal, int64_t version, struct err *err);

/* For people and programs: {"goal", "version", "state", "base", ...}, with the
 * plan as "record"; owned by the caller. state: none, asked or ready. */
struct json_object *plan_kept_view(const struct plan_goal *goal);

#endif
