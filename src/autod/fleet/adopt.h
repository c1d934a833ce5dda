/* SPDX-License-Identifier: ISC */

/*
 * How the fleet begins: adopt sessions that an earlier daemon left running,
 * resume workers whose session is gone, and continue what was in progress. A
 * worker waits until what its lost session left is gone; the others and the
 * floors above do not, and are told of it with EVENT_CLEARED.
 */
#ifndef ADOPT_H
#define ADOPT_H

struct fleet;

/* Calls life_floor_begun() when all sessions are known. If tmux fails, that is
 * a hard failure (failure.h), and the sessions are left as they are. */
void adopt_begin(struct fleet *fleet);

#endif
