/* SPDX-License-Identifier: ISC */

/* The agents that can be asked for, in the prompts of those who may ask. */
#ifndef TEAM_FLEET_H
#define TEAM_FLEET_H

#include <stdbool.h>

#include "hierarchy.h"

struct buf;
struct settings;
struct task;
struct task_run;
struct team_floor;

/* Append to the prompt of a task how deep its agent stands and the table
 * (fleet-table.h), if the agent may start others: goals are on, and it has the
 * tool for it. One that stands too deep is told that. */
void team_fleet_task_text(
    const struct team_floor *floor, const struct task *task, struct buf *out);

/* Where the agent of this run (NULL = of none) stands. */
struct hierarchy_place
team_fleet_place(const struct settings *settings, const struct task_run *run);

/* May the agent of this run (NULL = of none) use this tool? */
bool team_fleet_has_tool(const struct settings *settings,
    const struct task_run *run, const char *tool);

#endif
