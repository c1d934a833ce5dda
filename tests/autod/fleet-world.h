/* SPDX-License-Identifier: ISC */

/*
 * The fleet with sessions: a tmux that is none (fake-tmux.h), processes that
 * stand for the agents, their hooks over the daemon's own socket or through the
 * spool, the real git, and what the fleet tells.
 */
#ifndef FLEET_WORLD_H
#define FLEET_WORLD_H

#include "base.h"
#include "event.h"
#include "fake-tmux.h"
#include "floor-world.h"

extern struct fleet_world {
	struct fake_tmux *tmux; /* of the core of now */
	struct agent *adam; /* of fleet_world_begin_idle() and the like */
	int told[EVENT_KIND_COUNT]; /* how often */
	struct buf moves; /* "adam:starting adam:working " */
	char *reason; /* of the last event that had one */
	int hooks; /* numbered so far */
	/* Before the next daemon begins; NULL = nothing. */
	void (*unbegun)(void);
} fleet_world;

/* A daemon without workers. settings: further ones of [repo], then of other
 * tables; NULL = none. */
void fleet_world_begin(const char *settings);
/* The same with adam, who has a session, ready and idle; with adam, whose turn
 * on the task "do it" runs. */
void fleet_world_begin_idle(const char *settings);
void fleet_world_begin_working(const char *settings);
/* Ends the agents too. */
void fleet_world_end(void);
/* This daemon dies, the next one begins; sessions live on. */
void fleet_world_reopen(void);

/* A worker with a worktree; its session is launched. */
struct agent *fleet_world_add(const char *name);
/* The launch of its session has come so far that its agent runs; it reports. */
void fleet_world_wait_launched(struct agent *agent);
void fleet_world_start(struct agent *agent, const char *source);
void fleet_world_wait_up(struct agent *agent);
/* Its agent has begun to write the conversation's file. */
void fleet_world_write_transcript(struct agent *agent);
/* The prompt that is on its way to it is pasted, after a /clear if that is
 * wanted; and it is submitted. */
void fleet_world_wait_pasted(struct agent *agent);
void fleet_world_submit(struct agent *agent);
/* Its agent ends by itself. */
void fleet_world_kill(struct agent *agent);

/* A hook of its session, data in JSON: over the socket, into the spool. */
struct floor_call *
fleet_world_hook(struct agent *agent, const char *event, const char *data);
void
fleet_world_spool(struct agent *agent, const char *event, const char *data);
/* The same, and wait for the answer; what a Stop is answered, "" = nothing. */
const char *fleet_world_stop(struct agent *agent);

/* How many events lie in the spool of adam. */
int fleet_world_spooled(void);
void fleet_world_expect(const struct agent *agent, enum worker_status status);
/* Let the loop run for so long. */
void fleet_world_run(int64_t ms);

/* How a worker has moved since this was asked last. */
void fleet_world_moved(const char *moves);
/* Its operation is at that step now, and it has none. */
bool fleet_world_is_at(const struct agent *agent, const char *step);

#endif
