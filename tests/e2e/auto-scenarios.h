/* SPDX-License-Identifier: ISC */

/*
 * What auto mode must be able to do whatever agent its workers have: played
 * with the stand-in by every run of the tests, and with the real Claude Code
 * where that is to be had.
 */
#ifndef AUTO_SCENARIOS_H
#define AUTO_SCENARIOS_H

#include "unit.h"

/* Add them to a suite; begin() makes a fleet without a daemon. */
void auto_scenarios_add(Suite *suite, SFun begin);

#endif
