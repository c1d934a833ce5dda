/* SPDX-License-Identifier: ISC */

/* Usage limits and outages of the service: all workers wait, but not
 * forever. */
#ifndef OUTAGE_H
#define OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

struct agent;

/* Part of struct fleet_policy; mode is a struct auto_mode. */
void outage_limited(void *mode, struct agent *agent, bool outage,
    const char *text, int64_t until_ms);

#endif
