/* SPDX-License-Identifier: ISC */

/* Mail into sessions: as a prompt to one that waits or is idle, as added
 * context after a tool of one that works, or at the end of its turn. */
#ifndef TEAM_DELIVER_H
#define TEAM_DELIVER_H

struct team_floor;

/* There is new mail for this actor; it is stored at the end of this pass. */
void team_deliver_posted(struct team_floor *floor, const char *actor);

#endif
