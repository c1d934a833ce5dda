/* SPDX-License-Identifier: ISC */

/* What agents may do with their tools: the policies of the workers follow their
 * tasks, and what others have reserved. */
#ifndef TEAM_GUARD_H
#define TEAM_GUARD_H

struct agent;
struct event;
struct guard_policy;
struct team_floor;

/* As in struct fleet_policy. */
void team_guard_fill(struct team_floor *floor, const struct agent *agent,
    struct guard_policy *policy);

/* A worker gets a task: where the task may write, as its plan says now. */
void team_guard_assigned(struct team_floor *floor, const struct event *event);

/* Something that policies depend on has changed: they are written anew at the
 * end of this pass of the loop. */
void team_guard_changed(struct team_floor *floor);
/* Write them now; floor is a struct team_floor. */
void team_guard_refresh(void *floor);

#endif
