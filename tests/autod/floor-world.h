/* SPDX-License-Identifier: ISC */

/*
 * The lower floors of the daemon in this process: a core on real files, the
 * real git on a scratch repository, and a fleet whose workers have no sessions.
 * Calls go through the daemon's own socket, as in production.
 */
#ifndef FLOOR_WORLD_H
#define FLOOR_WORLD_H

#include "unit.h"
#include "agent.h"
#include "api.h"
#include "attempt.h"
#include "core.h"
#include "emit.h"
#include "life.h"
#include "persist.h"
#include "workspace.h"
#include "serve.h"
#include "task.h"
#include "worker.h"

struct agent;
struct fleet;
struct floor_call;
struct repo;

#define FLOOR_CALLS_MAX 256

extern struct floor_world {
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
} floor_world;

/* A repository with one commit on main and [repo] settings (may be NULL) in its
 * config.toml; then core and fleet. The test adds the floors above, and then
 * calls life_begin(). */
void floor_world_begin(const char *settings);
/* What is in config.toml now may be used, without asking git. */
void floor_world_accept(void);
void floor_world_live(void);
/* Free the floors above first. */
void floor_world_end(void);

/* Errands work: by the real llmc, which is in PATH. */
void floor_world_errands(void);

/* To test the next daemon: the same files, another core and another fleet. */
void floor_world_close(void);
void floor_world_open(void);

/* Is a write waiting? Let it and the following ones finish. */
bool floor_world_store_waits(void);
void floor_world_store_answer(void);

/* The state that was committed, as text in JSON; valid until the end. */
const char *floor_world_saved(void);

/* A new worker with a worktree, in that status. */
struct agent *floor_world_add(const char *name, enum worker_status status);
/* Run a shell script in its worktree (W) or in the root; it must succeed. The
 * output is valid until the end. */
const char *floor_world_wt(const char *worker, const char *text);
const char *floor_world_sh(const char *text);

/* The n-th git command from now is killed instead of run ("before"), run and
 * then killed ("after"), or never ends ("hang"); 0 = none. And the number of
 * git commands since then. */
void floor_world_trap(int nth, const char *mode);
int floor_world_trap_count(void);

/* Run the loop until the condition holds. A wait ends in vain when most of the
 * time of the test is over (unit_is_late()), and says what there was. */
#define floor_world_until(condition)                  \
	do {                                          \
		while (!(condition))                  \
			floor_world_pass(#condition); \
	} while (0)
void floor_world_pass(const char *what);
/* The same, fn returns it. */
typedef bool floor_fn(void *arg);
#define floor_world_wait(fn, ...) floor_world_wait_for(#fn, fn, __VA_ARGS__)
void floor_world_wait_for(const char *what, floor_fn *fn, void *arg);
/* The same for short-lived conditions: fn is called in each pass of the loop,
 * before the state is saved. */
#define floor_world_wait_closely(fn, arg) \
	floor_world_wait_closely_for(#fn, fn, arg)
void floor_world_wait_closely_for(const char *what, floor_fn *fn, void *arg);
/* Run until life has ended the loop. */
void floor_world_wait_stopped(void);
/* Run until nothing is in progress: no operation, no write, no git. */
void floor_world_settle(void);
void
floor_world_wait_status(const struct agent *agent, enum worker_status status);
/* Run until an operation on this worker is at that step, however short. */
void floor_world_wait_step(const struct agent *agent, const char *step);

/* Call a method for a worker, NULL = none; more: further members of params, or
 * "". */
struct floor_call *
floor_world_call(const char *method, const char *worker, const char *more);
/* Call a method with any params, in JSON; NULL = none. */
struct floor_call *floor_world_ask(const char *method, const char *params);
/* The same at another socket than the people's. */
struct floor_call *
floor_world_ask_at(const char *path, const char *method, const char *params);
/* The same at the socket of a worker. */
struct floor_call *
floor_world_ask_as(const char *worker, const char *method, const char *params);
/* It must succeed: the result. Or be refused, with this code and words. */
struct json_object *floor_world_result(struct floor_call *call);
void floor_world_refused(struct floor_call *call, int code, const char *words);
/* The text, which may be NULL, has these words. */
void floor_has(const char *text, const char *words);
/* The same without waiting for the answer: returns the connection, which the
 * caller closes. */
int floor_world_send(const char *method, const char *params);
/* Run the loop until it is answered. Returns the message of the error, or NULL
 * on success. */
const char *floor_world_answer(struct floor_call *call);
/* It succeeds; returns it. */
struct floor_call *floor_world_done(struct floor_call *call);
/* Its client goes away without an answer. */
void floor_call_hang_up(struct floor_call *call);
bool floor_call_is_answered(const struct floor_call *call);
int floor_call_code(const struct floor_call *call); /* of the error, 0 = none */
struct json_object *floor_call_result(const struct floor_call *call);

#endif
