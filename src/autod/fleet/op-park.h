/* SPDX-License-Identifier: ISC */

/* Park: save the screen in logs/screens, let the worker wait for a person, end
 * its session. */
#ifndef OP_PARK_H
#define OP_PARK_H

struct agent;

void op_park(struct agent *agent, const char *reason);

#endif
