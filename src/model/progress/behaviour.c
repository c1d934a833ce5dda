/* SPDX-License-Identifier: ISC */

#include "behaviour.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "behaviour-metrics.h"
#include "behaviour-step.h"
#include "buf.h"
#include "detect-burn.h"
#include "detect-deviation.h"
#include "detect-oscillation.h"
#include "detect-regression.h"
#include "detect-stuck.h"
#include "errtext.h"
#include "iteration.h"
#include "json.h"
#include "mem.h"
#include "ladder.h"
#include "schema.h"
#include "thresholds.h"

struct behaviour {
	struct thresholds thresholds;
	double best; /* completion; NAN = not known */
	int64_t elapsed_ms; /* -1 = not known */
	int tests; /* the last that is known; -1 = none */
	enum severity severity[DETECTION_TYPES];
	struct stuck_checks checks;
	struct stuck_finding stuck;
	struct oscillation_finding oscillation;
	struct deviation deviation;
	struct burn burn;
	struct regression regression;
	struct step_history history;
};

struct behaviour *
behaviour_new(const struct thresholds *thresholds)
{
	struct behaviour *b = xcalloc(1, sizeof *b);

	b->thresholds = *thresholds;
	b->best = NAN;
	b->elapsed_ms = b->tests = -1;
	burn_init(&b->burn);
	regression_init(&b->regression);
	return b;
}

void
behaviour_free(struct behaviour *b)
{
	if (b == NULL)
		return;
	stuck_checks_release(&b->checks);
	deviation_release(&b->deviation);
	step_history_release(&b->history);
	free(b);
}

void
behaviour_cleanup(struct behaviour **behaviour)
{
	behaviour_free(*behaviour);
}

void
behaviour_prepare(struct behaviour *b, const struct iteration *iteration,
    struct behaviour_step *ret_step)
{
	deviation_learn(&b->deviation, iteration);
	behaviour_step_prepare(ret_step, iteration,
	    b->deviation.objective != NULL ? &b->deviation.words : NULL);
}

void
behaviour_judge(struct behaviour *b, const struct behaviour_step *prepared)
{
	struct behaviour_step *step = step_history_next(&b->history);
	const struct thresholds *t = &b->thresholds;

	/* The files beyond the count are not set. */
	memcpy(step, prepared,
	    offsetof(struct behaviour_step, files) +
		prepared->file_count * sizeof prepared->files[0]);
	iteration_ref(step->source);
	if (!(b->best >= step->completion) && !isnan(step->completion))
		b->best = step->completion;
	step->best = b->best;
	if (step->tests >= 0)
		b->tests = step->tests;
	if (step->duration_ms >= 0)
		b->elapsed_ms =
		    (b->elapsed_ms < 0 ? 0 : b->elapsed_ms) + step->duration_ms;
	b->severity[DETECTION_STUCK] =
	    detect_stuck(&b->history, &b->checks, t, &b->stuck);
	b->severity[DETECTION_OSCILLATION] =
	    detect_oscillation(&b->history, t, &b->oscillation);
	b->severity[DETECTION_DEVIATION] =
	    detect_deviation(&b->deviation, &b->history, t);
	b->severity[DETECTION_RESOURCE_BURN] = detect_burn(&b->burn, step, t);
	b->severity[DETECTION_REGRESSION] =
	    detect_regression(&b->regression, step, t);
}

void
behaviour_add(struct behaviour *b, const struct iteration *iteration)
{
	struct behaviour_step step;

	behaviour_prepare(b, iteration, &step);
	behaviour_judge(b, &step);
}

enum severity
behaviour_severity(const struct behaviour *b, enum detection_type type)
{
	return b->severity[type];
}

enum severity
behaviour_worst(const struct behaviour *b)
{
	enum severity worst = SEVERITY_NONE;

	for (int type = 0; type < DETECTION_TYPES; type++)
		if (b->severity[type] > worst)
			worst = b->severity[type];
	return worst;
}

void
behaviour_news(const struct behaviour *b, struct progress_policy *policy)
{
	const struct behaviour_step *step = step_history_at(&b->history, 0);
	bool tested = step->tests >= 0 || !isnan(step->coverage);
	bool by_turn = b->stuck.kind == STUCK_IDLE && step->part;
	bool by_check = b->stuck.kind == STUCK_CHECK && step->failure.hash == 0;

	policy->old = (by_check || by_turn ? 1u << DETECTION_STUCK : 0) |
	    (tested ? 0 : 1u << DETECTION_REGRESSION);
	policy->cause[DETECTION_STUCK] = b->stuck.kind == STUCK_IDLE ? 1 :
	    b->stuck.kind == STUCK_CHECK ? (int64_t)(b->checks.hash >> 1) :
					   (int64_t)(b->stuck.error >> 1);
}

void
behaviour_describe(const struct behaviour *b, enum detection_type type,
    struct detection *ret_detection)
{
	detection_init(ret_detection, type, b->severity[type]);
	switch (type) {
	case DETECTION_STUCK:
		detect_stuck_describe(
		    &b->history, &b->checks, &b->stuck, ret_detection);
		break;
	case DETECTION_OSCILLATION:
		detect_oscillation_describe(
		    &b->history, &b->oscillation, ret_detection);
		break;
	case DETECTION_DEVIATION:
		detect_deviation_describe(
		    &b->deviation, &b->thresholds, ret_detection);
		break;
	case DETECTION_RESOURCE_BURN:
		detect_burn_describe(&b->burn, ret_detection);
		break;
	case DETECTION_REGRESSION:
		detect_regression_describe(&b->regression, ret_detection);
		break;
	case DETECTION_TYPES:
		break;
	}
}

void
behaviour_measure(
    const struct behaviour *b, struct behaviour_metrics *ret_metrics)
{
	const struct regression *r = &b->regression;
	struct stuck_finding stuck = { .rate = NAN };

	if (b->history.count > 0)
		stuck_measure(&b->history, &b->checks, &b->thresholds, &stuck);
	*ret_metrics = (struct behaviour_metrics){
		.progress_rate = stuck.rate,
		.repeated_errors = stuck.occurrences,
		.iteration_ratio = b->burn.expected > 0 ?
		    (double)b->burn.iterations / (double)b->burn.expected :
		    NAN,
		.cost_ratio = b->burn.estimate > 0 ?
		    b->burn.cost / b->burn.estimate :
		    NAN,
		.elapsed_ms = b->elapsed_ms,
		.tests = b->tests,
		.coverage = r->coverage,
		.coverage_change = r->coverage - r->best,
	};
}

struct json_object *
behaviour_to_json(const struct behaviour *b)
{
	struct json_object *list = json_object_new_array();

	for (int type = 0; type < DETECTION_TYPES; type++) {
		struct detection detection;

		if (b->severity[type] == SEVERITY_NONE)
			continue;
		behaviour_describe(b, (enum detection_type)type, &detection);
		json_object_array_add(list, detection_to_json(&detection));
		detection_release(&detection);
	}
	return list;
}

/* --- a document ------------------------------------------------------ */

/* The parts of a document; a bare array is a history. */
static int
take_parts(struct json_object *document, struct json_object **ret_history,
    struct json_object **ret_thresholds, struct err *err)
{
	static const char *const keys[] = { "history", "thresholds", NULL };
	int r;

	*ret_thresholds = NULL;
	if (json_object_is_type(document, json_type_array)) {
		*ret_history = document;
		return 0;
	}
	if (!json_object_is_type(document, json_type_object))
		return err_set(err, -EINVAL,
		    "expected an array of iterations, or an object with "
		    "\"history\"");
	r = schema_known(&(const struct schema){ 0 }, keys, document, "", err);
	if (r == 0)
		r = json_get_array(document, "", "history", ret_history, err);
	if (r == -ENOENT)
		return err_set(err, -EINVAL,
		    "\"history\", the array of iterations, is missing");
	if (r < 0)
		return r;
	r = json_get_object(document, "", "thresholds", ret_thresholds, err);
	return r == -ENOENT ? 0 : r;
}

int
behaviour_check(const struct thresholds *thresholds,
    struct json_object *document, struct json_object **ret_detections,
    struct err *err)
{
	struct thresholds merged = *thresholds;
	struct json_object *history = NULL, *given = NULL;
	cleanup_behaviour struct behaviour *b = NULL;
	bool bare = json_object_is_type(document, json_type_array);
	int r = take_parts(document, &history, &given, err);

	if (r == 0)
		r = thresholds_merge(&merged, given, "thresholds", err);
	if (r < 0)
		return r;
	b = behaviour_new(&merged);
	for (size_t i = 0; i < json_object_array_length(history); i++) {
		cleanup_iteration struct iteration *it = NULL;
		cleanup_buf struct buf at = BUF_INIT;
		struct json_object *json;

		json_path_index(&at, bare ? "" : "history", i);
		json = json_object_array_get_idx(history, i);
		if (json == NULL)
			it = iteration_new((int64_t)i + 1);
		else
			r = iteration_from_json(
			    json, at.data, (int64_t)i + 1, &it, err);
		if (r < 0)
			return r;
		behaviour_add(b, it);
	}
	*ret_detections = behaviour_to_json(b);
	return 0;
}
