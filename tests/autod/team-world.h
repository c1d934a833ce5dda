/* SPDX-License-Identifier: ISC */

/* The whole daemon with delegation: auto-world.h and all floors above it. */
#ifndef TEAM_WORLD_H
#define TEAM_WORLD_H

#include "auto-world.h"

struct agent;
struct plan_floor;
struct team_floor;

struct team_world {
	struct auto_world world;
	struct plan_floor *plan;
	struct team_floor *team;
};

/* settings: lines for [auto] in config.toml, and other tables after them; may
 * be NULL. Goals are off unless they say otherwise. */
void team_world_begin(struct team_world *world, const char *settings);
void team_world_end(struct team_world *world);
/* The daemon dies, and the next one takes over. */
void team_world_die(struct team_world *world);

/* A worker calls one of its tools. */
struct floor_call *team_world_call(struct team_world *world, const char *worker,
    const char *tool, const char *params);
/* The same, until it is answered: the error's message, or NULL. */
const char *team_world_tool(struct team_world *world, const char *worker,
    const char *tool, const char *params);
/* A hook of a worker's session; data: what Claude Code says. */
void team_world_hook(struct team_world *world, const struct agent *agent,
    const char *event, const char *data);

#endif
