/* SPDX-License-Identifier: ISC */

/*
 * One worker's work on one task, looked at iteration by iteration: one pass
 * through all detectors. What an iteration costs does not depend on how many
 * came before. The state is not stored: replay the iterations to get it back.
 *
 *   behaviour_add(b, iteration);
 *   for each type: if (behaviour_severity(b, type) != SEVERITY_NONE)
 *           behaviour_describe(b, type, &detection);
 */
#ifndef BEHAVIOUR_H
#define BEHAVIOUR_H

#include "progress-step.h"

struct behaviour;
struct err;
struct iteration;
struct json_object;
struct schema;
struct schema_field;
struct thresholds;

/* What a detector found: {type, severity, message, evidence, recommendations}.
 */

enum detection_type {
	DETECTION_STUCK,
	DETECTION_OSCILLATION,
	DETECTION_DEVIATION,
	DETECTION_RESOURCE_BURN,
	DETECTION_REGRESSION,
	DETECTION_TYPES
};

enum severity {
	SEVERITY_NONE, /* nothing was found */
	SEVERITY_LOW,
	SEVERITY_MEDIUM,
	SEVERITY_HIGH,
	SEVERITY_CRITICAL,
	SEVERITY_COUNT
};

extern const char *const detection_type_words[];
extern const char *const severity_words[];

/* One, and an array of them. */
extern const struct schema detection_schema;
extern const struct schema_field detections_shape;

struct detection {
	enum detection_type type;
	enum severity severity;
	char *message; /* a sentence for a person */
	struct json_object *evidence; /* an object */
	const char *const *recommendations; /* constant, NULL terminated */
};

/* With an empty message and an empty object of evidence. */
void detection_init(struct detection *detection, enum detection_type type,
    enum severity severity);
void detection_release(struct detection *detection);

struct json_object *detection_to_json(const struct detection *detection);

/* --- the detectors -------------------------------------------------------- */

#define COST_ESTIMATE_LEAST 20 /* landed tasks of the same kind */

/* What a task should cost at most: its own estimate, else the most that one of
 * its kind has cost that has landed, if there are enough of them. Tasks differ
 * by far more than twice: a median would make every larger one suspicious. In
 * US dollars; NAN = not known, for `own` too. */
double cost_estimate(double own, const double *landed, size_t count);

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

struct behaviour *behaviour_new(const struct thresholds *thresholds);
void behaviour_free(struct behaviour *behaviour); /* NULL is fine */

/* Judge the next iteration; a reference is kept while it is needed. */
void
behaviour_add(struct behaviour *behaviour, const struct iteration *iteration);

/* What was found at the last iteration. */
enum severity
behaviour_severity(const struct behaviour *behaviour, enum detection_type type);

/* What it calls for. */
enum progress_step
behaviour_step(const struct behaviour *behaviour, enum detection_type type);

/* In words; the severity must not be none. Release it. */
void behaviour_describe(const struct behaviour *behaviour,
    enum detection_type type, struct detection *ret_detection);

/* All that is watched, after the last iteration. */
void behaviour_measure(
    const struct behaviour *behaviour, struct behaviour_metrics *ret_metrics);

/* An array of all detections; the caller owns it. */
struct json_object *behaviour_to_json(const struct behaviour *behaviour);

/* {"history": [iterations], "thresholds": {...}} or an array of iterations:
 * the detections after the last one. Of an iteration that is null nothing is
 * known. Thresholds are merged over `thresholds`. The names of members that it
 * does not know are appended to `unknown` (NULL = leave them).
 * -EINVAL with the path of what is wrong. */
int behaviour_check(const struct thresholds *thresholds,
    struct json_object *document, struct json_object **ret_detections,
    char ***unknown, struct err *err);

/* What the ladder would have done in each history: [{"name", "steps":
 * [{"iteration", "step", "type", "why"}]}]. The document is an array of
 * histories, or one: {"name", "history", "calls"}, or an array of iterations.
 * calls are those of all iterations, where those have none of their own. */
int behaviour_replay(const struct thresholds *thresholds,
    struct json_object *document, struct json_object **ret_replays,
    struct err *err);
extern const struct schema replay_schema; /* one of them */
void behaviour_cleanup(struct behaviour **behaviour);

#define cleanup_behaviour __attribute__((cleanup(behaviour_cleanup)))

#endif
