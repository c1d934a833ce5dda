/* SPDX-License-Identifier: ISC */

/*
 * Oscillation: work that is undone and done again. A cycle is an iteration in
 * which nearly all changed files return to a content that they had before, with
 * another one in between. Where contents are not known, names are compared: the
 * files of the last change but one come back, and those of the last one do not,
 * and the task does not progress.
 * Iterations that change no file are left out. Several cycles are needed, and
 * the latest change must be one.
 */
#ifndef DETECT_OSCILLATION_H
#define DETECT_OSCILLATION_H

#include "detection.h"

struct step_history;
struct thresholds;

struct oscillation_finding {
	int cycles;
};

/* Sets step->cycle of the last step. */
enum severity detect_oscillation(struct step_history *history,
    const struct thresholds *thresholds,
    struct oscillation_finding *ret_finding);

void detect_oscillation_describe(const struct step_history *history,
    const struct oscillation_finding *finding, struct detection *detection);

#endif
