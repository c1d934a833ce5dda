/* SPDX-License-Identifier: ISC */

/*
 * The top floor: auto mode. It takes tasks from a source to workers, and has
 * their work landed on the default branch. It hears from the floors below
 * through their events, and answers their questions through its policies.
 *
 * A daemon without --auto has this floor too. It gives out nothing then, but it
 * settles what an earlier daemon left, and serves the commands of people.
 *
 *   scheduler.c      who is free, what is given out, when all is done
 *   intake.c         tasks out of their source
 *   turn-policy.c    the end of a turn on a task
 *   op-check.c       check_command
 *   after-landing.c  landings: when they may begin, what follows them
 *   post-accept.c    post_accept_command
 *   outcome.c        how attempts and tasks end
 *   spending.c       tokens, cost, budgets
 *   stalls.c         workers that are silent
 *   outage.c         usage limits and outages of the service
 *   task-commands.c  what people do with tasks
 *   foreign-state.c  somebody else wrote state.json
 */
#ifndef AUTO_H
#define AUTO_H

#include <stdbool.h>
#include <stdint.h>

#include "core.h"

struct agent;
struct err;
struct fleet;
struct landings;
struct loop_call;
struct loop_timer;
struct post_accept;
struct source;
struct task;

struct auto_mode {
	struct core *core;
	struct fleet *fleet;
	struct landings *landings;
	struct core_floor floor;
	bool active; /* --auto */
	bool begun; /* tasks may be given out */
	bool failing; /* a hard failure has been raised */
	int workers; /* how many there are to be */
	/* scheduler.c */
	struct loop_call *look;
	bool until_empty; /* stop when no task is left */
	bool told_waiting; /* that no task is left */
	uint64_t done, failed; /* tasks of this run */
	/* intake.c */
	struct source *source; /* NULL = not opened yet */
	bool worth_asking; /* the source may have something new */
	char *quarantined; /* what was told last of unusable tasks */
	/* after-landing.c */
	struct loop_timer *again; /* a landing that had to wait */
	int git_tries; /* landings in a row that met a git lock file */
	/* post-accept.c */
	struct post_accept *post; /* due or running; NULL = none */
};

/* Registers itself as a floor, its policies and its methods. NULL, and err says
 * why: with --auto the source of tasks must open. */
struct auto_mode *
auto_new(struct fleet *fleet, struct landings *landings, struct err *err);
/* Before the floors below are freed. */
void auto_free(struct auto_mode *mode);

/* Does auto mode give this worker its tasks? */
bool auto_drives(const struct auto_mode *mode, const struct agent *agent);
/* The worker's task, NULL when it has none. */
struct task *auto_task(const struct agent *agent);
/* Does a worker have this task? */
bool auto_is_held(const struct auto_mode *mode, const struct task *task);

#endif
