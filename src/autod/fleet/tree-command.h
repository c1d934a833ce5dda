/* SPDX-License-Identifier: ISC */

/* A shell command from the settings in the worktree of a worker, within
 * auto.check_timeout; in the worker's box if it has one. Its environment has
 * LLMC_TASK. */
#ifndef TREE_COMMAND_H
#define TREE_COMMAND_H

#include "child.h"

struct agent;
struct err;

/* As child_spawn(); both outputs are one. ret_boxed: what the worker left
 * beside its work may have decided the result. */
int tree_command_spawn(struct agent *agent, const char *command, child_fn *done,
    void *arg, struct child **ret_child, bool *ret_boxed, struct err *err);

#endif
