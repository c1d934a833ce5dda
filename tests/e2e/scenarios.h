/* SPDX-License-Identifier: ISC */

/*
 * What a worker must be able to do whatever agent it has: played with the
 * stand-in by every run of the tests, and with the real Claude Code where that
 * is to be had.
 */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include "unit.h"

/* Add them to a suite; begin() makes a fleet that is up. */
void scenarios_add(Suite *suite, SFun begin);

/* Add a test with such a fixture, and fleet_end() behind it. */
void scenarios_add_test(Suite *suite, SFun begin, const TTest *test);

#endif
