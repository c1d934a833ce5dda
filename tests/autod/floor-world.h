/* SPDX-License-Identifier: ISC */

/*
 * The lower floors of the daemon in this process: a core on real files, the
 * real git on a scratch repository, and a fleet whose workers have no sessions.
 * Calls go through the daemon's own socket, as in production.
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

#define FLOOR_CALLS_MAX 256

struct floor_world {
	struct repo *repo;
	struct loop *loop; /* owned by repo */
	struct workspace workspace;
	struct core_options options;
	struct core *core;
	struct fleet *fleet;
	struct core_floor fleet_floor; /* without begin: no tmux */
	bool store_fails; /* every write of the state fails */
	bool store_held; /* the next write waits for
			  * floor_world_store_answer() */
	bool store_untold; /* the same, but only the answer waits */
	bool store_waits; /* a write does */
	struct floor_call *calls[FLOOR_CALLS_MAX];
	size_t call_count;
	struct buf saved;
};

/* A repository with one commit on main and [repo] settings (may be NULL) in its
 * config.toml; then core and fleet. The test adds the floors above, and then
 * calls life_begin(). */
void floor_world_begin(struct floor_world *world, const char *settings);
/* What is in config.toml now may be used, without asking git. */
void floor_world_accept(struct floor_world *world);
void floor_world_live(struct floor_world *world);
/* Free the floors above first. */
void floor_world_end(struct floor_world *world);

/* Errands work: by the real llmc, which is in PATH. */
void floor_world_errands(const struct floor_world *world);

/* To test the next daemon: the same files, another core and another fleet. */
void floor_world_close(struct floor_world *world);
void floor_world_open(struct floor_world *world);

/* Is a write waiting? Let it and the following ones finish. */
bool floor_world_store_waits(const struct floor_world *world);
void floor_world_store_answer(struct floor_world *world);

/* The state that was committed, as text in JSON; valid until the end. */
const char *floor_world_saved(struct floor_world *world);

/* A new worker with a worktree, in that status. */
struct agent *floor_world_add(
    struct floor_world *world, const char *name, enum worker_status status);
/* Run a shell script in its worktree (W) or in the root; it must succeed. The
 * output is valid until the end. */
const char *
floor_world_wt(struct floor_world *world, const char *worker, const char *text);
const char *floor_world_sh(struct floor_world *world, const char *text);

/* The n-th git command from now is killed instead of run ("before"), run and
 * then killed ("after"), or never ends ("hang"); 0 = none. And the number of
 * git commands since then. */
void floor_world_trap(struct floor_world *world, int nth, const char *mode);
int floor_world_trap_count(struct floor_world *world);

/* Run the loop until fn returns true. */
typedef bool floor_fn(void *arg);
void floor_world_wait(struct floor_world *world, floor_fn *fn, void *arg);
/* The same for short-lived conditions: fn is called in each pass of the loop,
 * before the state is saved. */
void
floor_world_wait_closely(struct floor_world *world, floor_fn *fn, void *arg);
/* Run until life has ended the loop. */
void floor_world_wait_stopped(struct floor_world *world);
/* Run until nothing is in progress: no operation, no write, no git. */
void floor_world_settle(struct floor_world *world);
void floor_world_wait_status(struct floor_world *world,
    const struct agent *agent, enum worker_status status);
/* Run until an operation on this worker is at that step, however short. */
void floor_world_wait_step(
    struct floor_world *world, const struct agent *agent, const char *step);

/* Call a method for a worker, NULL = none; more: further members of params, or
 * "". */
struct floor_call *floor_world_call(struct floor_world *world,
    const char *method, const char *worker, const char *more);
/* Call a method with any params, in JSON; NULL = none. */
struct floor_call *floor_world_ask(
    struct floor_world *world, const char *method, const char *params);
/* The same at another socket than the people's. */
struct floor_call *floor_world_ask_at(struct floor_world *world,
    const char *path, const char *method, const char *params);
/* The same without waiting for the answer: returns the connection, which the
 * caller closes. */
int floor_world_send(
    struct floor_world *world, const char *method, const char *params);
/* Run the loop until it is answered. Returns the message of the error, or NULL
 * on success. */
const char *
floor_world_answer(struct floor_world *world, struct floor_call *call);
/* Its client goes away without an answer. */
void floor_call_hang_up(struct floor_call *call);
bool floor_call_is_answered(const struct floor_call *call);
int floor_call_code(const struct floor_call *call); /* of the error, 0 = none */
struct json_object *floor_call_result(const struct floor_call *call);

#endif
