/* SPDX-License-Identifier: ISC */

/*
 * A night with default settings and everything on, on top of overrun.h: the
 * overseer on a terminal that nobody reads, goals, delegation, oversight and,
 * where the machine can, a sandbox. Healthy work of every kind must land, and
 * everything else be in the one list of what needs a person.
 */
#ifndef NIGHTRUN_H
#define NIGHTRUN_H

#include "unit.h"

struct night {
	int small; /* tasks of one commit each */
	int calls; /* of tools, in the long task */
	int children; /* of the parent */
	bool kills_agent; /* one loses its process in a turn */
	bool plans; /* the planner makes the plan of another goal; only the
		     * real program can answer it */
};

/* Turn everything on; the fleet has begun. */
void night_begin(void);
/* The whole story, from the first task to the report in the morning. */
void night_story(const struct night *night);

#endif
