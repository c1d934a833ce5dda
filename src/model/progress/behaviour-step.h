/* SPDX-License-Identifier: ISC */

/*
 * What the detectors compare: an iteration prepared as numbers, and the last
 * ones of them. Memory and time are bounded, however long the history is.
 */
#ifndef BEHAVIOUR_STEP_H
#define BEHAVIOUR_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error-signature.h"
#include "iteration.h"
#include "thresholds.h"

struct objective_words;

/* Of more files, those with the smallest hashes are taken: the same ones each
 * time. */
#define STEP_FILES 32

struct behaviour_file {
	uint64_t path;
	uint64_t content; /* 0 = not known */
	bool outside; /* the task's scope */
};

struct behaviour_step {
	const struct iteration *source; /* for words in the evidence */
	int64_t number;
	int64_t duration_ms; /* -1 = not known */
	double completion, coverage, cost; /* NAN = not known */
	int64_t max_iterations; /* -1 = not known */
	double estimated_cost;
	uint64_t tree; /* 0 = not known */
	uint64_t paths; /* a bit for each file, to find quickly what is not
			 * among them */
	uint64_t said; /* the words of the objective, see objective-words.h */
	int tests; /* -1 = not known */
	bool part, waits; /* as of its iteration */
	bool spoke; /* enough was said to be judged */
	bool errors_known;
	bool scope_known; /* and files are */
	bool cycle; /* it undid earlier work: set by the oscillation detector */
	unsigned error_count, file_count;
	unsigned inside, outside; /* files in the task's scope, and others */
	struct failure_signature failure; /* of the check; hash 0 = none */
	double best; /* the highest completion so far: set by behaviour */
	uint64_t errors[ITERATION_ERRORS];
	struct behaviour_file files[STEP_FILES]; /* by path */
};

/* The step borrows the iteration. Words may be NULL: nothing was said then. */
void behaviour_step_prepare(struct behaviour_step *step,
    const struct iteration *iteration, const struct objective_words *words);

/* The file of this path, or NULL. */
const struct behaviour_file *
behaviour_step_file(const struct behaviour_step *step, uint64_t path);

struct step_history {
	struct behaviour_step steps[THRESHOLDS_WINDOW_MAX];
	uint64_t count; /* of all steps ever */
};

/* How many are kept, at most `window`. */
size_t step_history_kept(const struct step_history *history, size_t window);

/* The step this many before the last one; it must be kept. */
const struct behaviour_step *
step_history_at(const struct step_history *history, size_t back);

/* Percent per iteration that the best completion gained in the window, up to
 * the last one that is known of; NAN = not known. */
double step_history_progress(const struct step_history *history, size_t window);

#define PROGRESS_LEAST (2.0 - THRESHOLDS_ROUNDING) /* less is none */

/* Is that enough? False where it is not known. Weak evidence does not count
 * then. */
bool step_history_moves_on(
    const struct step_history *history, const struct thresholds *thresholds);

/* Room for the next step, with a reference to the oldest one's iteration given
 * back. The caller fills it. */
struct behaviour_step *step_history_next(struct step_history *history);

void step_history_release(struct step_history *history);

#endif
