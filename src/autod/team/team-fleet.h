/* SPDX-License-Identifier: ISC */

/* The agents that can be asked for, in the prompts of those who may ask. */
#ifndef TEAM_FLEET_H
#define TEAM_FLEET_H

struct buf;
struct task;
struct team_floor;

/* Append the table (fleet-table.h) to the prompt of a task, if its agent may
 * start others: goals are on, it does not stand too deep, and it has the tool
 * for it. */
void team_fleet_task_text(
    const struct team_floor *floor, const struct task *task, struct buf *out);

#endif
