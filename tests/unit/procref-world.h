/* SPDX-License-Identifier: ISC */

/* Processes for the tests of procref to refer to. */
#ifndef PROCREF_WORLD_H
#define PROCREF_WORLD_H

#include "unit.h"

/* A child that runs body (NULL: nothing), reports that, and waits for a
 * signal. */
pid_t procref_world_start(void (*body)(void));

/* Reap it; returns the signal that killed it, 0 = it exited. */
int procref_world_reap(pid_t pid);
void procref_world_end(pid_t pid); /* by SIGKILL */
void procref_world_expect_running(pid_t pid);

#endif
