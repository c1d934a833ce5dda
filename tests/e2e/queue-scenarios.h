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

/* Set a script as check_command, and run it on every commit that main ever was
 * at since. */
void queue_check(const char *script);
void queue_never_red(void);

#endif
