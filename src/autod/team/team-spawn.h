/* SPDX-License-Identifier: ISC */

/* Agents ask for other agents, and look how those are doing. */
#ifndef TEAM_SPAWN_H
#define TEAM_SPAWN_H

struct team_floor;

/* Registers its methods. */
void team_spawn_register(struct team_floor *floor);

#endif
