/* SPDX-License-Identifier: ISC */

/* Who spawned whom, and how they are doing. */
#ifndef TEAM_TREE_H
#define TEAM_TREE_H

struct team_floor;

/* Registers its methods. */
void team_tree_register(struct team_floor *floor);

#endif
