/* SPDX-License-Identifier: ISC */

/*
 * Resource burn: more iterations or money than the task was estimated to need.
 * Without an estimate nothing is said. The number of iterations was expected by
 * somebody; the money is what others have cost, which is never critical. A task
 * that is nearly done is not critical, one that is done is not reported.
 */
#ifndef DETECT_BURN_H
#define DETECT_BURN_H

#include <stdint.h>

#include "detection.h"

struct behaviour_step;
struct thresholds;

struct burn {
	int64_t iterations, expected; /* 0 = not known */
	double cost, estimate; /* estimate 0 = not known */
	double completion; /* the last that is known; NAN = none */
};

void burn_init(struct burn *burn);

enum severity detect_burn(struct burn *burn, const struct behaviour_step *step,
    const struct thresholds *thresholds);

void detect_burn_describe(const struct burn *burn, struct detection *detection);

#endif
