/* SPDX-License-Identifier: ISC */

/*
 * What the landing queue must be able to do with any agent: always run with the
 * fake agent, and with the real Claude Code if it is available.
 */
#ifndef QUEUE_SCENARIOS_H
#define QUEUE_SCENARIOS_H

#include "unit.h"

/* Add them to a suite; begin() makes a fleet without a daemon. */
void queue_scenarios_add(Suite *suite, SFun begin);

/* Set a script as check_command. */
void queue_check(const char *script);

/* Run it on every commit that main ever was at, and in land_mode each on every
 * commit of main: all pass, and no move of the branch is missing from its log.
 * Returns their number. */
int queue_never_red(void);

/* Every commit on main since `base` has the tree that plain git makes when it
 * squashes the same work on the commit before. The agents have tagged their
 * work, one commit each: work/NAME. */
void queue_is_serial(const char *base);

#endif
