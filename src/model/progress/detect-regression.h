/* SPDX-License-Identifier: ISC */

/*
 * Regression: tests that passed fail, or coverage is lower than it was at its
 * best, however slowly it sank. The latest known values count: what has
 * recovered is not reported. One of the two is high; both, or tests that still
 * fail at the next result, are critical.
 */
#ifndef DETECT_REGRESSION_H
#define DETECT_REGRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "detection.h"

struct behaviour_step;
struct thresholds;

struct regression {
	bool passed; /* the tests have passed before */
	int failing; /* results since then that were failures */
	int64_t failed_at; /* the iteration of the first of them */
	double best, coverage; /* NAN = not known */
	int64_t sank_at; /* the iteration of the latest coverage */
	bool tests_fell, coverage_fell; /* as judged last */
};

void regression_init(struct regression *regression);

enum severity detect_regression(struct regression *regression,
    const struct behaviour_step *step, const struct thresholds *thresholds);

void detect_regression_describe(
    const struct regression *regression, struct detection *detection);

#endif
