/* SPDX-License-Identifier: ISC */

/*
 * The task_guard once more, from git: a shell can write anywhere in its
 * worktree, whatever the hooks of other tools deny. Finished work that changes
 * files outside the scope_paths of its task is sent back with their names, and
 * counted as a violation (team-review.h). The commit that is within them is
 * noted in the task, and it is what lands: another one is looked at again.
 */
#ifndef TEAM_SCOPE_H
#define TEAM_SCOPE_H

#include <stdbool.h>

struct agent;
struct team_floor;

/* As auto_team.verify, before the contract. A task without scope_paths costs
 * nothing. */
bool
team_scope(struct team_floor *floor, struct agent *agent, const char *head);

#endif
