/* SPDX-License-Identifier: ISC */

/*
 * The fleet begins: sessions that an earlier daemon left running are adopted,
 * workers whose session is gone resume, and what was under way is continued.
 */
#ifndef ADOPT_H
#define ADOPT_H

struct fleet;

/* Calls life_floor_begun() when the sessions are known. */
void adopt_begin(struct fleet *fleet);

#endif
