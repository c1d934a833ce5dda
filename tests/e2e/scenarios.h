/* SPDX-License-Identifier: ISC */

/*
 * What a worker must be able to do with any agent: always run with the fake
 * agent, and with the real Claude Code if it is available.
 */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include "unit.h"

/* Add them to a suite; begin() makes a running fleet. */
void scenarios_add(Suite *suite, SFun begin);

/* Add a test with such a fixture, and fleet_end() after it. */
void scenarios_add_test(Suite *suite, SFun begin, const TTest *test);

/* The same for a rule about commits and landings, which no agent changes: with
 * another agent than the usual stand-in only the soak runs it (UNIT_WHOLE), if
 * the suite begins with scenarios_of_agent(). */
void scenarios_add_ours(Suite *suite, SFun begin, const TTest *test);
void scenarios_of_agent(void);

/* The agent has its conversations elsewhere than in the file that llmc reads.
 */
extern bool scenarios_kept_elsewhere;

/* For the tests of a suite that follow, the real Claude Code is needed: without
 * it the whole program is skipped. */
void scenarios_real(void);
/* The same for another one, with its name in tests/tools/real-agent.sh; the
 * path of its program. */
const char *scenarios_need(const char *title, const char *name);

#endif
