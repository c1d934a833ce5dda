/* SPDX-License-Identifier: ISC */

/* The whole daemon with delegation: plan-world.h and the top floor above it. */
#ifndef FAMILY_WORLD_H
#define FAMILY_WORLD_H

#include "plan-world.h"

struct team_floor;

extern struct family_world {
	struct team_floor *floor;
} family_world;

/* A daemon with one auto worker, and a goal "g" with the task T1.1 (t1). more:
 * other tables of config.toml, may be NULL. */
void family_world_begin(const char *more);
void family_world_end(void);
/* This daemon is killed, and the next one runs. */
void family_world_die(void);

/* The agent of this task asks for another one, on the node with this id; more:
 * further members of its run, in JSON, or "". */
void family_world_spawn(const char *parent, const char *node, const char *more);
/* The same, and the node depends on another one: it does not begin yet. */
void family_world_spawn_after(
    const char *parent, const char *node, const char *more, const char *after);

/* Run the loop until a worker is in a turn on this task, and return it. */
struct agent *family_world_turn(const char *task);
/* Its turn ends; file: after a commit of it, NULL = without. */
void family_world_turn_ends(struct agent *agent, const char *file);
/* Run the loop until the worker has this status and nothing is in progress. */
void family_world_wait(const char *worker, enum worker_status status);
/* Run the loop until this task has ended and is forgotten. */
void family_world_wait_filed(const char *task);
/* The task as it was filed; the caller frees it. */
struct task *family_world_filed(const char *task);

#endif
