/* SPDX-License-Identifier: ISC */

/* The end-to-end tests with a forge: a fleet whose root has an origin, and a
 * forge that knows three people: me (whose token it is), ann, who may write,
 * and eve, who may not. */
#ifndef FORGERUN_H
#define FORGERUN_H

#include "autorun.h"
#include "forge-stand.h"

/* fleet_begin(), with a minute of the daemon in three seconds. */
void forge_begin(const char *dialect);
/* fleet_begin_real() and `llmc doctor trust`, with a minute in fifteen. */
void forge_begin_real(const char *dialect);

/* Nobody may push to main: work becomes pull requests. */
void forge_protect(void);

#endif
