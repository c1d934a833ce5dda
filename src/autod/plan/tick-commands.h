/* SPDX-License-Identifier: ISC */

/* The methods overseer.tick and overseer.wake. */
#ifndef TICK_COMMANDS_H
#define TICK_COMMANDS_H

struct plan_floor;

void tick_commands_register(struct plan_floor *floor);

#endif
