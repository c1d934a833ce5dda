/* SPDX-License-Identifier: ISC */

/* What a task should cost at most: its own estimate, else the most that one of
 * its kind has cost that has landed, if there are enough of them. Tasks differ
 * by far more than twice: a median would make every larger one suspicious.
 * Pure. */
#ifndef COST_ESTIMATE_H
#define COST_ESTIMATE_H

#include <stddef.h>

#define COST_ESTIMATE_LEAST 20 /* landed tasks of the same kind */

/* In US dollars; NAN = not known, for `own` too. */
double cost_estimate(double own, const double *landed, size_t count);

#endif
