/* SPDX-License-Identifier: ISC */

/*
 * The safety net: what is known of the workers compared with what there is
 * (sessions, processes, git, spool), and repaired. Events do the real work;
 * this finds what they missed.
 */
#ifndef PATROL_H
#define PATROL_H

#include <stdbool.h>

struct fleet;

/* all: a look at everything, not only at what is due. */
void patrol_run(struct fleet *fleet, bool all);

#endif
