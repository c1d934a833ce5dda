/* SPDX-License-Identifier: ISC */

/* The methods overseer.work.*: nodes of plans, looked at and changed by a
 * person. */
#ifndef WORK_COMMANDS_H
#define WORK_COMMANDS_H

struct plan_floor;

void work_commands_register(struct plan_floor *floor);

#endif
