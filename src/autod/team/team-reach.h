/* SPDX-License-Identifier: ISC */

/* Whom mail is for: what may stand in "to", and who may write to whom. */
#ifndef TEAM_REACH_H
#define TEAM_REACH_H

struct agent;
struct err;
struct task;
struct team_floor;

struct team_reach {
	char *actor; /* id */
	char *worker; /* that has it now; NULL = none */
};
void team_reach_release(struct team_reach *reach);

/* An actor id, a worker's name, "parent", "overseer" or "person". An agent may
 * write to its parent, to its children, to agents of the same goal, to the
 * overseer and to a person. 0, or API_E_NOT_FOUND or API_E_UNAUTHORIZED with
 * words. */
int team_reach_of_agent(struct team_floor *floor, const struct agent *agent,
    const char *to, struct team_reach *ret, struct err *err);
/* A person may write to everybody who has not ended. */
int team_reach_of_person(struct team_floor *floor, const char *to,
    struct team_reach *ret, struct err *err);

/* The id of the goal that a task belongs to; NULL = none; the caller frees
 * it. */
char *team_reach_goal(const struct task *task);

#endif
