/* SPDX-License-Identifier: ISC */

/*
 * The whole daemon in this process: core, fleet, landing and auto mode on a
 * scratch repository with a folder of tasks, and workers with fake sessions.
 */
#ifndef AUTO_WORLD_H
#define AUTO_WORLD_H

#include "base.h"
#include "auto.h"
#include "fake-session.h"
#include "floor-world.h"

struct agent;
struct auto_mode;
struct landings;
struct task;

extern struct auto_world {
	struct core *core; /* floor.core */
	struct landings *landings;
	struct auto_mode *mode;
	struct buf told; /* events, see auto_world_told() */
} auto_world;

/* One auto worker. settings: more lines for [auto] in config.toml, and other
 * tables after them; may be NULL. Nothing runs yet, so that the test can add
 * tasks. */
void auto_world_begin(const char *settings);
/* repo: lines of [repo]. */
void auto_world_begin_repo(const char *repo, const char *settings);
void auto_world_live(void);
void auto_world_end(void);
struct task *auto_world_of(const char *id);
/* This daemon dies at once and another one is created, which runs when the test
 * says so. */
void auto_world_reopen(void);
/* This daemon stops cleanly and another one is created. */
void auto_world_restart(void);
/* Stop, until the loop has ended. */
void auto_world_stop(void);

/* Put a task into the folder. */
void auto_world_task(const char *name, const char *text);
/* The folder contains exactly these files: "todo: b.md; doing: a.md; ". */
void auto_world_folder(const char *want);
/* Exactly these tasks have ended: "t1 landed; t2 failed; ". */
void auto_world_filed(const char *want);
/* The same, once no task is left. */
void auto_world_all_filed(const char *want);
/* The record of a task that has ended, as JSON; "" = none. Valid until the next
 * call. */
const char *auto_world_record(const char *task);
/* Run the loop until a failure of this class ends it. */
void auto_world_fails(const char *class);

/* auto-1, once it exists. */
struct agent *auto_world_agent(void);
/* Run the loop until auto-1 is in a turn with its n-th prompt. */
struct agent *auto_world_turn(int prompts);
/* Begin, with a task of this text, until auto-1 is in its first turn. */
struct agent *auto_world_begin_turn(const char *settings, const char *text);
/* Run the loop until a worker is in a turn on this task. */
struct agent *auto_world_turn_on(const char *task);
/* Run the loop until the task is at this step; -1: it is filed. */
void auto_world_wait_step(const char *task, int step);
/* Commit a change in its worktree. */
void auto_world_work(const char *file);
/* The same, and end the turn. */
void auto_world_finish(struct agent *agent, const char *file);
/* Run the loop until this event. */
void auto_world_wait(const char *told);
/* Run the loop until no task is left and nothing is in progress. */
void auto_world_wait_done(void);
/* Run the loop until post_accept_command is at that step, "" = until there is
 * none. */
void auto_world_wait_post(const char *step);
/* Let the daemon patrol everything. */
void auto_world_patrol(void);

/* The events of tasks, workers and failures since the last call: "task_assigned
 * t1; waiting; failure outage; ". */
void auto_world_told(const char *want);

#endif
