/* SPDX-License-Identifier: ISC */

/* Files that an agent has reserved for itself. */
#ifndef TEAM_RESERVE_H
#define TEAM_RESERVE_H

struct team_floor;

/* Registers its methods. */
void team_reserve_register(struct team_floor *floor);

#endif
