/* SPDX-License-Identifier: ISC */

/* What the last landed tasks have cost: what others are compared with. */
#ifndef OVERSIGHT_COSTS_H
#define OVERSIGHT_COSTS_H

#include <stddef.h>
#include <stdint.h>

struct workspace;

#define OVERSIGHT_COSTS 64 /* tasks that are remembered */

struct oversight_costs {
	double dollars[OVERSIGHT_COSTS];
	size_t count; /* ever seen */
};

/* Of the tasks that are filed. */
void oversight_costs_load(
    struct oversight_costs *costs, const struct workspace *workspace);
/* One more has landed; in millionths of a dollar, 0 = not known. */
void oversight_costs_add(struct oversight_costs *costs, int64_t cost);
/* US dollars; NAN = too few are known. */
double oversight_costs_estimate(const struct oversight_costs *costs);

#endif
