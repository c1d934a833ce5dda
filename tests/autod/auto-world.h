/* SPDX-License-Identifier: ISC */

/*
 * The whole daemon in this process: core, fleet, landing and auto mode on a
 * scratch repository with a folder of tasks, and workers whose sessions are
 * fake.
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
	struct core *core; /* the floor's */
	struct landings *landings;
	struct auto_mode *mode;
	struct buf told; /* see auto_world_told() */
};

/* One auto worker; settings: further lines of config.toml's [auto], and other
 * tables behind them; may be NULL. Nothing runs yet, so that the test can put
 * tasks there. */
void auto_world_begin(struct auto_world *world, const char *settings);
void auto_world_live(struct auto_world *world);
void auto_world_end(struct auto_world *world);
/* This daemon dies at once, and another one is there; it lives when the test
 * says so. */
void auto_world_reopen(struct auto_world *world);
/* This one stops in an orderly way, and another one is there. */
void auto_world_restart(struct auto_world *world);
/* Stop, until the loop has ended. */
void auto_world_stop(struct auto_world *world);

/* Put a task into the folder. */
void
auto_world_task(struct auto_world *world, const char *name, const char *text);
/* The folder's files are these: "todo: b.md; doing: a.md; ". */
void auto_world_folder(struct auto_world *world, const char *want);
/* The records of tasks.jsonl are these: "t1 landed; t2 failed; ". */
void auto_world_filed(struct auto_world *world, const char *want);
/* Let the loop run until it is ended by a failure of this class. */
void auto_world_fails(struct auto_world *world, const char *class);

/* auto-1, once it is there. */
struct agent *auto_world_agent(struct auto_world *world);
/* Let the loop run until auto-1 is in a turn with its n-th prompt. */
struct agent *auto_world_turn(struct auto_world *world, int prompts);
/* Commit a change in its worktree. */
void auto_world_work(struct auto_world *world, const char *file);
/* Let the loop run until this is told. */
void auto_world_wait(struct auto_world *world, const char *told);
/* Until no task is left and nothing is under way. */
void auto_world_wait_done(struct auto_world *world);
/* Until post_accept_command is at that step, "" = until there is none. */
void auto_world_wait_post(struct auto_world *world, const char *step);
/* A look of the daemon at everything. */
void auto_world_patrol(struct auto_world *world);

/* What was told of tasks, workers and failures since this was asked last:
 * "task_assigned t1; waiting; failure outage; ". */
void auto_world_told(struct auto_world *world, const char *want);

#endif
