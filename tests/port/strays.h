/* SPDX-License-Identifier: ISC */

/* Processes that a command may have left behind, found by a text in their
 * arguments or in the environment that they began with. For tests. */
#ifndef STRAYS_H
#define STRAYS_H

#include "base.h"

#include <sys/types.h>

/* How many have it; *ret_pid (may be NULL): the one with the highest pid. Those
 * that have ended but are not collected yet do not count, nor do we. */
int strays_count(const char *text, pid_t *ret_pid);

/* Wait until exactly so many have it. */
bool strays_become(const char *text, int count, int ms);

#endif
