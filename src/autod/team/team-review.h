/* SPDX-License-Identifier: ISC */

/*
 * Plans that do not fit: the overseer gets mail, and a person is told once for
 * each node. An agent says so itself (plan_review_needed), or it has tried
 * again and again to change what is not its own.
 */
#ifndef TEAM_REVIEW_H
#define TEAM_REVIEW_H

struct agent;
struct json_object;
struct team_floor;

struct team_review;

/* Registers its method. */
struct team_review *team_review_new(struct team_floor *floor);
void team_review_free(struct team_review *review);

/* A guard has stopped the agent: what hook_guard() says. Told once a second at
 * most, with how often it was stopped since then. */
void team_review_denied(
    struct team_floor *floor, struct agent *agent, struct json_object *denied);

/* The agent has changed files that are not its own: words name them. */
void team_review_violation(struct team_floor *floor, struct agent *agent,
    const char *guard, const char *words);

#endif
