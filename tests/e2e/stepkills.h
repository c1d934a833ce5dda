/* SPDX-License-Identifier: ISC */

/*
 * The daemon is killed at one of its steps: a program that it starts, or a file
 * that it puts in place (tests/tools/stepkill.c). Steps count from
 * stepkills_arm() on; the file unit_path("arm") is gone when it was killed, and
 * unit_path("steps") names the steps.
 */
#ifndef STEPKILLS_H
#define STEPKILLS_H

#include "unit.h"

/* In the environment of the programs that are started from now on. */
void stepkills_at(int step);
void stepkills_arm(void);

/* Wait until the script succeeds; a daemon that was killed is started again,
 * after `killed` (or NULL). */
void stepkills_wait(const char *script, void (*killed)(void));

/* No step from now on; says on the standard output what the last one was.
 * Returns whether there was a kill, after which the daemon is running again. */
bool stepkills_disarm(void (*killed)(void));

/* The step of a row out of `count`, spread over all steps. */
int stepkills_spread(int row, int count, int steps);

#endif
