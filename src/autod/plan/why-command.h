/* SPDX-License-Identifier: ISC */

/* The method overseer.why: why an assignment, or what a worker, a task or a
 * node has of one, is where it is. */
#ifndef WHY_COMMAND_H
#define WHY_COMMAND_H

struct plan_floor;

void why_command_register(struct plan_floor *floor);

#endif
