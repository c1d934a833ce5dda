/* SPDX-License-Identifier: ISC */

/*
 * What oversight has done, and whether it helped: counts, and what they say
 * about the thresholds. Pure; zeroes are the beginning.
 */
#ifndef OVERSIGHT_REPORT_H
#define OVERSIGHT_REPORT_H

#include "behaviour.h"
#include "ladder.h"

struct buf;
struct json_object;
struct schema;

/* What is recorded of a task: an array of {"at_ms", "worker", and one of
 * "iteration" with its "check", "intervention", "outcome"}: its elements. */
extern const struct schema oversight_record_list;

struct oversight_tally {
	int iterations;
	int detections[DETECTION_TYPES][SEVERITY_COUNT];
	int interventions[STEP_COUNT];
	int helped[DETECTION_TYPES]; /* true positives */
	int useless[DETECTION_TYPES]; /* false positives */
	int burns_late; /* first seen when they were critical already */
	int regressions_brief; /* gone by themselves at the next result */
	int tasks_stopped; /* paused or aborted ... */
	int tasks_stopped_landed; /* ... whose work landed after all */
};

void oversight_tally_outcome(struct oversight_tally *tally,
    enum detection_type type, enum progress_outcome outcome);

/* {"iterations", "detections", "interventions", "positives",
 * "truePositiveRate", "falsePositiveRate", "indicators"}; a rate of nothing is
 * null. */
struct json_object *oversight_report_json(const struct oversight_tally *tally);
extern const struct schema oversight_report_shape;

/* The same for people, in Markdown. */
void
oversight_report_text(const struct oversight_tally *tally, struct buf *out);

#endif
