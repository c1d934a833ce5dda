/* SPDX-License-Identifier: ISC */

/*
 * Deviation: the work drifts away from the objective. Two rules:
 *
 * - What a turn says is compared with the objective (objective-words.h). Two of
 *   the last three turns that said something, the latest among them, must be
 *   below the threshold. A turn that said nothing is not looked at. While the
 *   task progresses, a word that all turns say counts as much as others.
 * - The files outside the task's scope are compared with those inside, over the
 *   last iterations that changed files. At least two must have left the scope,
 *   the latest among them.
 *
 * The first objective that is known counts.
 */
#ifndef DETECT_DEVIATION_H
#define DETECT_DEVIATION_H

#include <stddef.h>
#include <stdint.h>

#include "detection.h"
#include "objective-words.h"

struct behaviour_step;
struct iteration;
struct step_history;
struct thresholds;

#define DEVIATION_TURNS 3

struct deviation_turn {
	int64_t number;
	uint64_t said; /* see objective-words.h */
	double similarity; /* as judged last */
	struct iteration *source; /* a reference */
};

struct deviation {
	char *objective; /* NULL = not known yet */
	struct objective_words words;
	struct deviation_turn turns[DEVIATION_TURNS]; /* the latest first */
	size_t turn_count;
	/* Of the last judgement. */
	unsigned inside, outside;
	bool drifted, crept;
};

void deviation_release(struct deviation *deviation);

/* Take the objective of an iteration, where none is known yet. */
void
deviation_learn(struct deviation *deviation, const struct iteration *iteration);

enum severity detect_deviation(struct deviation *deviation,
    const struct step_history *history, const struct thresholds *thresholds);

void detect_deviation_describe(const struct deviation *deviation,
    const struct thresholds *thresholds, struct detection *detection);

#endif
