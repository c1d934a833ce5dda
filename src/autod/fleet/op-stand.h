/* SPDX-License-Identifier: ISC */

/* Before a session is launched: the worktree of a worker with a sandbox
 * has HEAD detached (git-stand.h), since it cannot write refs; without one,
 * HEAD is on the worker's branch. With sandbox strict it is a clone of its own
 * (git-turn.h). */
#ifndef OP_STAND_H
#define OP_STAND_H

#include <stdbool.h>

struct agent;

/* Begin it if it stands in the other way; false: nothing to do. */
bool op_stand(struct agent *agent);

#endif
