/* SPDX-License-Identifier: ISC */

/* One goal, and agents that ask for others: mail-world.h. */
#ifndef FAMILY_WORLD_H
#define FAMILY_WORLD_H

#include "mail-world.h"

/* A daemon with one auto worker, and a goal "g" with the task T1.1 (t1). more:
 * other tables of config.toml, may be NULL. */
void family_world_begin(const char *more);

/* The agent of this task asks for another one, on the node with this id; more:
 * further members of its run, in JSON, or "". */
void family_world_spawn(const char *parent, const char *node, const char *more);
/* The same, and the node depends on another one: it does not begin yet. */
void family_world_spawn_after(
    const char *parent, const char *node, const char *more, const char *after);

/* Its turn ends; file: after a commit of it, NULL = without. */
void family_world_turn_ends(struct agent *agent, const char *file);
/* Run the loop until the worker has this status and nothing is in progress. */
void family_world_wait(const char *worker, enum worker_status status);
/* The task as it was filed; the caller frees it. */
struct task *family_world_filed(const char *task);

#endif
