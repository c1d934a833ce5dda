/* SPDX-License-Identifier: ISC */

/*
 * A story in which the daemon is killed at one of its steps. A step is a
 * program that it starts, or a file that it puts in place (stepkill.c); steps
 * count from faults_arm() on. The story is a test of several rows: the first
 * kills nobody and counts the steps, each of the others kills at one of them.
 *
 *   static struct faults story = { .sample = 2 };
 *   TEST_ROWS(a_kill_changes_nothing, faults_rows(&story))
 *   {
 *           if (!faults_begin(&story, _i))
 *                   return;
 *           ...; faults_arm(); ...; faults_wait("...", NULL);
 *           faults_end(NULL);
 *
 * In the environment:
 *   FAULTS       how many steps each story is killed at, or "all" of them;
 *                without it, the story's own sample
 *   FAULTS_SEED  selects another sample (1)
 *   FAULTS_AT    kills at this step only, and counts nothing
 *
 * Tests that kill at random times take how often from FAULTS too.
 */
#ifndef FAULTS_H
#define FAULTS_H

#include "unit.h"

struct faults {
	int sample; /* kills, unless FAULTS says how many */
	/* What the first row counted, shared by the processes of all rows. */
	int *steps;
};

/* How many rows the story has. */
int faults_rows(struct faults *story);

/* The programs that are started from now on are killed at the step of this
 * row. Returns false if the story has no such step; the test returns. */
bool faults_begin(struct faults *story, int row);

/* Steps count from now on. */
void faults_arm(void);

/* Wait until the script succeeds; a daemon that was killed is started again,
 * after `killed` (or NULL). */
void faults_wait(const char *script, void (*killed)(void));

/* Wait until a daemon with --until-empty ends; one that was killed runs again.
 * Then faults_end(). */
void faults_run(void);

/* No step from now on; says on the standard output what the last one was.
 * Returns whether there was a kill, after which the daemon is running again. */
bool faults_end(void (*killed)(void));

/* How often a test kills at random times, and the seed of these times. */
int faults_count(int sample);
uint64_t faults_seed(void);

#endif
