/* SPDX-License-Identifier: ISC */

/* The whole daemon with delegation: auto-world.h and all floors above it. */
#ifndef TEAM_WORLD_H
#define TEAM_WORLD_H

#include "auto-world.h"

struct agent;
struct plan_floor;
struct team_floor;

extern struct team_world {
	struct plan_floor *plan;
	struct team_floor *team;
} team_world;

/* settings: lines for [auto] in config.toml, and other tables after them; may
 * be NULL. Goals are off unless they say otherwise. */
void team_world_begin(const char *settings);
void team_world_end(void);
/* The daemon dies, and the next one takes over. */
void team_world_die(void);

/* A worker calls one of its tools. */
struct floor_call *
team_world_call(const char *worker, const char *tool, const char *params);
/* The same, until it is answered: the error's message, or NULL. */
const char *
team_world_tool(const char *worker, const char *tool, const char *params);
/* A hook of a worker's session; data: what Claude Code says. */
void
team_world_hook(const struct agent *agent, const char *event, const char *data);

#endif
