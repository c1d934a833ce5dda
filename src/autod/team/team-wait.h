/* SPDX-License-Identifier: ISC */

/*
 * Workers that wait for agents that they have asked for (the status waiting),
 * and runs whose time is limited.
 *
 * A worker waits when its turn has ended and some of these agents have not, or
 * work of theirs has landed that its own is not based on. As soon as work has
 * landed, its own is rebased; a conflict is its own to resolve. Then it is told
 * what is there to be told, and goes on. When all have ended and nothing is
 * there to be told, it is told that.
 */
#ifndef TEAM_WAIT_H
#define TEAM_WAIT_H

#include <stdbool.h>

struct agent;
struct team_floor;
struct team_wait;

struct team_wait *team_wait_new(struct team_floor *floor);
void team_wait_free(struct team_wait *wait);

/* Something has changed for those that wait: a result, mail. They are looked at
 * at the end of this pass of the loop: what `stop_words` of struct auto_team
 * has for them becomes their prompt. */
void team_wait_look(struct team_floor *floor);

/* Tell a worker that waits this, as its next prompt. -EAGAIN: it does not wait,
 * or its work must be rebased first; team_wait_look() comes by itself then. */
int team_wait_deliver(
    struct team_floor *floor, struct agent *agent, const char *text);

/* As in struct auto_team; arg is a struct team_floor. */
bool team_wait_waits(void *arg, struct agent *agent);

#endif
