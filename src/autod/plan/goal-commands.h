/* SPDX-License-Identifier: ISC */

/* The methods overseer.goal.*: create, list, show, plan, update, pause, resume,
 * cancel, archive; and overseer.status. */
#ifndef GOAL_COMMANDS_H
#define GOAL_COMMANDS_H

struct plan_floor;

void goal_commands_register(struct plan_floor *floor);

#endif
