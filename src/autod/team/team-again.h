/* SPDX-License-Identifier: ISC */

/* A new attempt at a task gets to know the agents that earlier ones have asked
 * for. */
#ifndef TEAM_AGAIN_H
#define TEAM_AGAIN_H

struct buf;
struct task;
struct team_floor;

/* Appended to the prompt of the task; nothing, if there are none. */
void team_again_task_text(
    const struct team_floor *floor, const struct task *task, struct buf *out);

#endif
