/* SPDX-License-Identifier: ISC */

/*
 * Stuck: the same error again and again, and no progress. Two rules:
 *
 * - The check of the work, or its tests, fail in the same way several times,
 * and no tree in between was better: it did not pass, the failure was no other
 *   one, and there was no less of it (failure_signature()). Parts of a turn
 * that nobody checks do not count.
 * - A tool fails with the same error in several of the last iterations, the
 *   latest that is known of among them, and nothing moves: the tree is the
 * same, and the highest completion so far gains too little or, where that is
 * not known, no test passes.
 */
#ifndef DETECT_STUCK_H
#define DETECT_STUCK_H

#include <stdbool.h>
#include <stdint.h>

#include "detection.h"

struct iteration;
struct step_history;
struct thresholds;

/* The checks that failed in the same way since one that did not, and the turns
 * since one that changed a file. */
struct stuck_checks {
	uint64_t hash; /* see failure_signature(); 0 = none */
	int count;
	int64_t lines, stated; /* the least so far */
	struct iteration *latest; /* a reference */
	int idle; /* turns */
	uint64_t tree; /* the last that is known, 0 = none */
};

#define STUCK_IDLE_TURNS 10

enum stuck_kind {
	STUCK_ERROR, /* the same error of a tool */
	STUCK_CHECK, /* the same failure of the check */
	STUCK_IDLE /* nothing has changed */
};

struct stuck_finding {
	enum stuck_kind kind;
	int occurrences;
	uint64_t error; /* its signature */
	unsigned back; /* the step that had it last */
	double rate; /* progress in percent per iteration; NAN = not known */
};

void stuck_checks_release(struct stuck_checks *checks);

/* The most frequent of the latest errors, and the progress. */
void stuck_measure(const struct step_history *history,
    const struct stuck_checks *checks, const struct thresholds *thresholds,
    struct stuck_finding *ret_finding);

/* Counts the last step's check, too. */
enum severity
detect_stuck(const struct step_history *history, struct stuck_checks *checks,
    const struct thresholds *thresholds, struct stuck_finding *ret_finding);

void detect_stuck_describe(const struct step_history *history,
    const struct stuck_checks *checks, const struct stuck_finding *finding,
    struct detection *detection);

#endif
