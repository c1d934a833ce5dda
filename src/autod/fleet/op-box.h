/* SPDX-License-Identifier: ISC */

/* Try a worker's sandbox before a session is launched in it. What cannot be
 * made blocks the launch (launch-block.h), with the reason. */
#ifndef OP_BOX_H
#define OP_BOX_H

#include <stdbool.h>

struct agent;

/* Begin it if the worker has a sandbox that was not tried as it is now; false:
 * nothing to do. */
bool op_box(struct agent *agent);

#endif
