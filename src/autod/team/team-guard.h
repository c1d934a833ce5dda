/* SPDX-License-Identifier: ISC */

/* What agents may do with their tools: the policies of the workers follow their
 * tasks, and what others have reserved. */
#ifndef TEAM_GUARD_H
#define TEAM_GUARD_H

struct agent;
struct api_method;
struct err;
struct event;
struct guard_policy;
struct team_floor;

/* As in struct fleet_policy. */
void team_guard_fill(struct team_floor *floor, const struct agent *agent,
    struct guard_policy *policy);

/* As serve_gate_fn; floor is a struct team_floor. A session has those of llmc's
 * tools that its task leaves it, whatever its own processes offer. Who was
 * spawned, or has a scope or limited tools, starts, changes and tells nothing
 * beside them. */
int team_guard_admits(void *floor, const char *worker,
    const struct api_method *method, struct err *err);

/* A worker gets a task: where the task may write, as its plan says now. */
void team_guard_assigned(struct team_floor *floor, const struct event *event);

/* Something that policies depend on has changed: they are written anew at the
 * end of this pass of the loop. */
void team_guard_changed(struct team_floor *floor);
/* Write them now; floor is a struct team_floor. */
void team_guard_refresh(void *floor);
/* Try again where that failed. */
void team_guard_patrol(const struct team_floor *floor);

#endif
