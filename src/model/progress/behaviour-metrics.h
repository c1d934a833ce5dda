/* SPDX-License-Identifier: ISC */

/* The five things that are watched, as numbers: progress, errors, resources,
 * time, quality. What is not known is NAN or -1. */
#ifndef BEHAVIOUR_METRICS_H
#define BEHAVIOUR_METRICS_H

#include <stdint.h>

struct json_object;
struct schema;

struct behaviour_metrics {
	double progress_rate; /* percent per iteration */
	int repeated_errors; /* of the error that was there most often */
	double iteration_ratio, cost_ratio; /* used, by what was estimated */
	int64_t elapsed_ms;
	int tests; /* 1 = pass, 0 = fail */
	double coverage; /* percent */
	double coverage_change; /* compared with its best: 0 or below */
};

/* {"progressRate", "errorPatterns", "resourceUsage", "timeElapsedMs",
 * "qualityTrajectory"}; what is not known is null. The caller owns it. */
struct json_object *
behaviour_metrics_to_json(const struct behaviour_metrics *metrics);

extern const struct schema behaviour_metrics_schema;

#endif
