/* SPDX-License-Identifier: ISC */

/*
 * The lowest floor of the daemon: what every floor stands on. The core holds
 * the loop, the settings, the state and the ports; it writes the state and then
 * lets effects follow (persist.h), tells what happens (emit.h), answers calls
 * (serve.h), raises failures (failure.h) and beats (heartbeat.h).
 *
 * The floors above register themselves (struct core_floor) from the bottom up;
 * the daemon's life (life.h) asks them in that order. The core knows nothing
 * else of them.
 */
#ifndef CORE_H
#define CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state.h"

struct emitter;
struct err;
struct event_stream;
struct git;
struct heartbeat;
struct life;
struct loop;
struct persist;
struct serve;
struct settings;
struct store;
struct tmux;
struct watch;
struct workspace;

/* What the command line asked for; NULL = as the settings say. */
struct core_options {
	bool oneshot; /* one request, no sessions */
	bool auto_mode;
	bool until_empty;
	const char *concurrency;
	const char *task_pool_command;
	const char *post_accept_command;
};

/* What the daemon's life asks of a floor; each may be NULL. */
struct core_floor {
	const char *name;
	void *self;
	/* The floors below have begun. Calls life_floor_begun() when done. */
	void (*begin)(void *self);
	/* The safety net: compare what is known with what there is. all: a look
	 * at everything, not only at what is due. */
	void (*patrol)(void *self, bool all);
	/* Begin to end what runs; is all of it over? */
	void (*stop)(void *self);
	bool (*is_quiet)(const void *self);
	/* The last changes before the state is written for the last time. now:
	 * nobody waited for anything to end. */
	void (*close)(void *self, bool now);
	/* What the daemon is at, in a word, for the heartbeat; the top floor
	 * that has an opinion is asked. */
	const char *(*phase)(const void *self);
};

#define CORE_FLOORS_MAX 8

struct core {
	const struct core_options *options;
	struct loop *loop;
	const struct workspace *workspace;
	struct settings *settings;
	struct state state;
	struct git *git;
	struct tmux *tmux;
	char *llmc; /* path of the command line program */
	char *socket; /* path */
	char *instance; /* uuid of this run */
	char *detected_branch; /* what git says, NULL = nothing */
	int lock; /* descriptor of state.lock */
	bool stopping;
	int exit_status;
	struct watch *config_watch;
	/* Each belongs to the file of its name. */
	struct emitter *emitter;
	struct persist *persist;
	struct serve *serve;
	struct heartbeat *heartbeat; /* auto mode only */
	struct event_stream *stream;
	struct life *life;
	const struct core_floor *floors[CORE_FLOORS_MAX]; /* bottom first */
	size_t floor_count;
};

/* Lock, settings, ports, state. store: where the state is written, taken over;
 * NULL = the file. Negative errno: nothing is held. */
int core_new(struct loop *loop, const struct workspace *workspace,
    const struct core_options *options, struct store *store,
    struct core **ret_core, struct err *err);
/* The floors above must be gone. */
void core_free(struct core *core);

/* Borrowed until core_free(). */
void core_add_floor(struct core *core, const struct core_floor *floor);

/* Read the settings again; an error keeps the old ones. */
int core_reload(struct core *core, struct err *err);
/* The default branch. */
const char *core_branch(const struct core *core);
/* Only changes to the very files of a landing are in its way. */
bool core_lands_over_dirt(const struct core *core);

#endif
