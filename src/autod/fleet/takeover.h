/* SPDX-License-Identifier: ISC */

/*
 * The fleet begins: sessions that an earlier daemon left running are adopted,
 * workers whose session is gone resume, and what was under way is continued.
 */
#ifndef TAKEOVER_H
#define TAKEOVER_H

struct fleet;

/* Calls life_floor_begun() when the sessions are known. */
void takeover_begin(struct fleet *fleet);

#endif
