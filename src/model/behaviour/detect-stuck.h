/* SPDX-License-Identifier: ISC */

/*
 * Stuck: the same error again and again, and no progress. Both are needed. The
 * error must be the latest that is known of; progress is what the highest
 * completion so far has gained over the window. Where no percentage is known,
 * an unchanged tree or tests that fail all the time take its place.
 */
#ifndef DETECT_STUCK_H
#define DETECT_STUCK_H

#include "detection.h"

struct step_history;
struct thresholds;

struct stuck_finding {
	int occurrences;
	unsigned error; /* which one of the step that had it last */
	unsigned back; /* that step */
	double rate; /* progress in percent per iteration; NAN = not known */
};

/* The most frequent of the latest errors, and the progress. */
void stuck_measure(const struct step_history *history,
    const struct thresholds *thresholds, struct stuck_finding *ret_finding);

enum severity detect_stuck(const struct step_history *history,
    const struct thresholds *thresholds, struct stuck_finding *ret_finding);

void detect_stuck_describe(const struct step_history *history,
    const struct stuck_finding *finding, struct detection *detection);

#endif
