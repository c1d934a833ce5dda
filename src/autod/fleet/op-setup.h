/* SPDX-License-Identifier: ISC */

/* Setup: prepare a worktree before a session runs in it (port setup). */
#ifndef OP_SETUP_H
#define OP_SETUP_H

#include <stdbool.h>

struct agent;

/* Begin it if it is due; false: the worktree is ready. */
bool op_setup(struct agent *agent);

#endif
