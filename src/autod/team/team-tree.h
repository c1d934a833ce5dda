/* SPDX-License-Identifier: ISC */

/* Who asked for whom, and how they are doing: team.tree for everybody,
 * team.agent_status for an agent about those below it. */
#ifndef TEAM_TREE_H
#define TEAM_TREE_H

struct team_floor;

/* Registers its methods. */
void team_tree_register(struct team_floor *floor);

#endif
