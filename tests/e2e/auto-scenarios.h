/* SPDX-License-Identifier: ISC */

/*
 * What auto mode must be able to do with any agent: always run with the fake
 * agent, and with the real Claude Code if it is available.
 */
#ifndef AUTO_SCENARIOS_H
#define AUTO_SCENARIOS_H

#include "unit.h"

/* Add them to a suite; begin() makes a fleet without a daemon. */
void auto_scenarios_add(Suite *suite, SFun begin);

#endif
