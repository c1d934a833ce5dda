/* SPDX-License-Identifier: ISC */

/* What a task should cost: its own estimate, else the median of what tasks cost
 * that have landed, if there are enough of them. Pure. */
#ifndef COST_ESTIMATE_H
#define COST_ESTIMATE_H

#include <stddef.h>

#define COST_ESTIMATE_LEAST 5 /* landed tasks */

/* In US dollars; NAN = not known, for `own` too. */
double cost_estimate(double own, const double *landed, size_t count);

#endif
