/* SPDX-License-Identifier: ISC */

/* Park: save the screen in logs/screens, let the worker wait for a person, end
 * its session. */
#ifndef OP_PARK_H
#define OP_PARK_H

#include "worker-status.h"

struct agent;

/* status: paused, or error. */
void
op_park(struct agent *agent, enum worker_status status, const char *reason);

#endif
