/* SPDX-License-Identifier: ISC */

/*
 * auto-world.h with the floor of oversight on top, and a worker that does not
 * get on. The task is t1, its worker auto-1.
 */
#ifndef STUCK_WORLD_H
#define STUCK_WORLD_H

#include "auto-world.h"
#include "buf.h"

struct agent;
struct oversight_floor;

#define STUCK_ON "max_turns = 50\n[oversight]\nenabled = true\n"

struct stuck_world {
	struct auto_world world;
	struct oversight_floor *floor;
	struct buf transcript; /* of auto-1 */
};

/* With one task; the daemon runs. settings: see auto_world_begin(). */
void stuck_world_begin(struct stuck_world *w, const char *settings);
void stuck_world_end(struct stuck_world *w);
/* The daemon dies, and the next one takes over; or it is only there. */
void stuck_world_die(struct stuck_world *w);
void stuck_world_reopen(struct stuck_world *w);

/* Run a script in the worktree of auto-1. */
void stuck_world_sh(struct stuck_world *w, const char *text);
/* A tool fails in its session, with an error that has this line in it. */
void
stuck_world_tool_fails(struct stuck_world *w, struct agent *agent, int line);
/* Turn n ends with a file that is not committed: the prompt with which it is
 * sent back. */
const char *stuck_world_sent_back(struct stuck_world *w, int n);
/* From the first turn on, until it is paused. */
void stuck_world_get_paused(struct stuck_world *w);

/* Call a method; the answer: the error's message, or NULL. */
const char *
stuck_world_ask(struct stuck_world *w, const char *method, const char *params);
/* The message of auto.resume. worker: NULL = all. */
const char *
stuck_world_resume(struct stuck_world *w, const char *worker, const char *more);

/* The last record of t1 with this member, in short, "" = none; and how many
 * there are. */
const char *
stuck_world_recorded(struct stuck_world *w, const char *member, int *ret_count);
/* The text has these words. */
void stuck_world_has(const char *text, const char *words);

#endif
