/* SPDX-License-Identifier: ISC */

#include "detect-regression.h"

#include <math.h>

#include "behaviour-step.h"
#include "json.h"
#include "mem.h"
#include "thresholds.h"

/* 0.3 - 0.2 is not 0.1: a drop that equals the threshold is not above it. */
#define ROUNDING 1e-9

static const char *const recommendations[] = {
	"Make no further changes that break tests",
	"Repair what broke the tests; do not delete or disable them",
	"Go back to the last state that passed, if need be",
	"Add tests for code that has lost its own",
	NULL,
};

void
regression_init(struct regression *regression)
{
	*regression = (struct regression){ .best = NAN, .coverage = NAN };
}

static void
note(struct regression *regression, const struct behaviour_step *step)
{
	if (step->tests > 0) {
		regression->passed = true;
		regression->failing = 0;
	} else if (step->tests == 0 && regression->passed) {
		if (regression->failing++ == 0)
			regression->failed_at = step->number;
	}
	if (isnan(step->coverage))
		return;
	regression->coverage = step->coverage;
	regression->sank_at = step->number;
	if (!(regression->best >= step->coverage))
		regression->best = step->coverage;
}

enum severity
detect_regression(struct regression *regression,
    const struct behaviour_step *step, const struct thresholds *t)
{
	note(regression, step);
	regression->tests_fell =
	    t->test_pass_to_fail && regression->failing > 0;
	regression->coverage_fell = regression->best - regression->coverage >
	    t->coverage_drop + ROUNDING;
	if (!regression->tests_fell && !regression->coverage_fell)
		return SEVERITY_NONE;
	if (regression->tests_fell &&
	    (regression->coverage_fell || regression->failing > 1))
		return SEVERITY_CRITICAL;
	return SEVERITY_HIGH;
}

static struct json_object *
entry(int64_t iteration, char *owned_message)
{
	struct json_object *json = json_object_new_object();
	cleanup_free char *message = owned_message;

	json_set_int(json, "iteration", iteration);
	json_set_string(json, "message", message);
	return json;
}

void
detect_regression_describe(
    const struct regression *regression, struct detection *detection)
{
	struct json_object *list = json_object_new_array(), *json;
	double drop = regression->best - regression->coverage;

	if (regression->tests_fell)
		json_object_array_add(list,
		    entry(regression->failed_at,
			regression->failing > 1 ?
			    xasprintf("The tests passed before, and have "
				      "failed %d times since",
				regression->failing) :
			    xstrdup("The tests passed before, and fail now")));
	if (regression->coverage_fell) {
		json = entry(regression->sank_at,
		    xasprintf("Coverage dropped by %.1f%%", drop));
		json_set(
		    json, "from", json_object_new_double(regression->best));
		json_set(
		    json, "to", json_object_new_double(regression->coverage));
		json_object_array_add(list, json);
	}
	json_set(detection->evidence, "regressions", list);
	detection->recommendations = recommendations;
	detection->message = regression->tests_fell ?
	    regression->coverage_fell ?
	    xasprintf("Regression: the tests fail, and coverage dropped by "
		      "%.1f%%",
		drop) :
	    xstrdup("Regression: tests that passed before fail") :
	    xasprintf("Regression: coverage dropped by %.1f%%", drop);
}
