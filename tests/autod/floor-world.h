/* SPDX-License-Identifier: ISC */

/*
 * The lower floors of the daemon in this process: a core on real files, the
 * real git on a scratch repository, and a fleet whose workers have no sessions.
 * Calls go through the daemon's own socket, so that a call is a call.
 */
#ifndef FLOOR_WORLD_H
#define FLOOR_WORLD_H

#include <stdbool.h>

#include "buf.h"
#include "core.h"
#include "worker.h"
#include "workspace.h"

struct agent;
struct fleet;
struct floor_call;
struct repo;
struct world_store;

#define FLOOR_CALLS_MAX 32

struct floor_world {
	struct repo *repo;
	struct loop *loop; /* the repository's */
	struct workspace workspace;
	struct core_options options;
	struct core *core;
	struct fleet *fleet;
	struct core_floor fleet_floor; /* without a beginning: no tmux */
	bool store_fails; /* every write of the state from now on */
	bool store_held; /* the next write waits for
			  * floor_world_store_answer() */
	bool store_untold; /* the same, but only its answer waits */
	struct world_store *store;
	struct floor_call *calls[FLOOR_CALLS_MAX];
	size_t call_count;
};

/* A repository with one commit on main and [repo] settings (may be NULL) in its
 * config.toml; then core and fleet. The floors above are the test's: it adds
 * them, and then has life begin. */
void floor_world_begin(struct floor_world *world, const char *settings);
void floor_world_live(struct floor_world *world);
/* The floors above are gone already. */
void floor_world_end(struct floor_world *world);

/* As a daemon that comes after this one: the same files, another core and
 * another fleet. */
void floor_world_close(struct floor_world *world);
void floor_world_open(struct floor_world *world);

/* Does a write wait? Let it, and those after it, be done. */
bool floor_world_store_waits(const struct floor_world *world);
void floor_world_store_answer(struct floor_world *world);

/* A new worker with a worktree, in that status. */
struct agent *floor_world_add(
    struct floor_world *world, const char *name, enum worker_status status);
/* Run shell text in its worktree (W) or in the root; it must succeed. The
 * output lives until the end. */
const char *
floor_world_wt(struct floor_world *world, const char *worker, const char *text);
const char *floor_world_sh(struct floor_world *world, const char *text);

/* The n-th git from now is not run but killed ("before"), run and then killed
 * ("after"), or never ends ("hang"); 0 = none. And how many have run since. */
void floor_world_trap(struct floor_world *world, int nth, const char *mode);
int floor_world_trap_count(struct floor_world *world);

/* Let the loop run until fn says so. */
typedef bool floor_fn(void *arg);
void floor_world_wait(struct floor_world *world, floor_fn *fn, void *arg);
/* The same for what does not last: fn is asked in each pass of the loop, before
 * the state is written. */
void
floor_world_wait_closely(struct floor_world *world, floor_fn *fn, void *arg);
/* Until life has ended the loop. */
void floor_world_wait_stopped(struct floor_world *world);
/* Until nothing is under way any more: no operation, no write, no git. */
void floor_world_settle(struct floor_world *world);
void floor_world_wait_status(struct floor_world *world,
    const struct agent *agent, enum worker_status status);
/* Until an operation on this worker is at that step, however short. */
void floor_world_wait_step(
    struct floor_world *world, const struct agent *agent, const char *step);

/* Call a method on a worker, NULL = on none; more: further members of params,
 * or "". */
struct floor_call *floor_world_call(struct floor_world *world,
    const char *method, const char *worker, const char *more);
/* Call a method with any params, in JSON; NULL = none. */
struct floor_call *floor_world_ask(
    struct floor_world *world, const char *method, const char *params);
/* The same without listening to what comes of it: the connection, which the
 * caller closes. */
int floor_world_send(
    struct floor_world *world, const char *method, const char *params);
/* Let the loop run until it is answered: the message of its error, or NULL when
 * it went well. */
const char *
floor_world_answer(struct floor_world *world, struct floor_call *call);
bool floor_call_is_answered(const struct floor_call *call);
int floor_call_code(const struct floor_call *call); /* of the error, 0 = none */
struct json_object *floor_call_result(const struct floor_call *call);

#endif
