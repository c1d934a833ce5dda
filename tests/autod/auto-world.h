/* SPDX-License-Identifier: ISC */

/*
 * The whole daemon in this process: core, fleet, landing and auto mode on a
 * scratch repository with a folder of tasks, and workers with fake sessions.
 */
#ifndef AUTO_WORLD_H
#define AUTO_WORLD_H

#include "fake-session.h"
#include "floor-world.h"

struct agent;
struct auto_mode;
struct landings;
struct task;

struct auto_world {
	struct floor_world floor;
	struct core *core; /* floor.core */
	struct landings *landings;
	struct auto_mode *mode;
	struct buf told; /* events, see auto_world_told() */
};

/* One auto worker. settings: more lines for [auto] in config.toml, and other
 * tables after them; may be NULL. Nothing runs yet, so that the test can add
 * tasks. */
void auto_world_begin(struct auto_world *world, const char *settings);
void auto_world_live(struct auto_world *world);
void auto_world_end(struct auto_world *world);
/* This daemon dies at once and another one is created, which runs when the test
 * says so. */
void auto_world_reopen(struct auto_world *world);
/* This daemon stops cleanly and another one is created. */
void auto_world_restart(struct auto_world *world);
/* Stop, until the loop has ended. */
void auto_world_stop(struct auto_world *world);

/* Put a task into the folder. */
void
auto_world_task(struct auto_world *world, const char *name, const char *text);
/* The folder contains exactly these files: "todo: b.md; doing: a.md; ". */
void auto_world_folder(struct auto_world *world, const char *want);
/* Exactly these tasks have ended: "t1 landed; t2 failed; ". */
void auto_world_filed(struct auto_world *world, const char *want);
/* The record of a task that has ended, as JSON; "" = none. Valid until the next
 * call. */
const char *auto_world_record(struct auto_world *world, const char *task);
/* Run the loop until a failure of this class ends it. */
void auto_world_fails(struct auto_world *world, const char *class);

/* auto-1, once it exists. */
struct agent *auto_world_agent(struct auto_world *world);
/* Run the loop until auto-1 is in a turn with its n-th prompt. */
struct agent *auto_world_turn(struct auto_world *world, int prompts);
/* Run the loop until a worker is in a turn on this task. */
struct agent *auto_world_turn_on(struct auto_world *world, const char *task);
/* Commit a change in its worktree. */
void auto_world_work(struct auto_world *world, const char *file);
/* Run the loop until this event. */
void auto_world_wait(struct auto_world *world, const char *told);
/* Run the loop until no task is left and nothing is in progress. */
void auto_world_wait_done(struct auto_world *world);
/* Run the loop until post_accept_command is at that step, "" = until there is
 * none. */
void auto_world_wait_post(struct auto_world *world, const char *step);
/* Let the daemon patrol everything. */
void auto_world_patrol(struct auto_world *world);

/* The events of tasks, workers and failures since the last call: "task_assigned
 * t1; waiting; failure outage; ". */
void auto_world_told(struct auto_world *world, const char *want);

#endif
