/* SPDX-License-Identifier: ISC */

#include "detect-regression.h"

#include <math.h>

#include "behaviour-step.h"
#include "json.h"
#include "mem.h"
#include "thresholds.h"

static const char *const recommendations[] = {
	"Stop making changes that break tests",
	"Fix tests instead of deleting or disabling them",
	"Review anti-laziness rules: weaken nothing to make it pass",
	"Restore previous working state if needed",
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
	    t->coverage_drop + THRESHOLDS_ROUNDING;
	if (!regression->tests_fell && !regression->coverage_fell)
		return SEVERITY_NONE;
	if (regression->tests_fell &&
	    (regression->coverage_fell || regression->failing > 1))
		return SEVERITY_CRITICAL;
	return SEVERITY_HIGH;
}

static void
add_entry(struct json_object *list, int64_t iteration, const char *message,
    double from, double to)
{
	struct json_object *json = json_object_new_object();

	json_set_int(json, "iteration", iteration);
	json_set_string(json, "message", message);
	if (!isnan(from)) {
		json_set(json, "from", json_object_new_double(from));
		json_set(json, "to", json_object_new_double(to));
	}
	json_object_array_add(list, json);
}

void
detect_regression_describe(
    const struct regression *regression, struct detection *detection)
{
	static const char *const fell = "Tests went from passing to failing";
	struct json_object *list = json_object_new_array();
	cleanup_free char *dropped = xasprintf(
	    "Coverage dropped %.1f%%", regression->best - regression->coverage);
	bool tests = regression->tests_fell;
	bool coverage = regression->coverage_fell;

	if (tests)
		add_entry(list, regression->failed_at, fell, NAN, NAN);
	if (coverage)
		add_entry(list, regression->sank_at, dropped, regression->best,
		    regression->coverage);
	json_set(detection->evidence, "regressions", list);
	detection->recommendations = recommendations;
	detection->message = xasprintf("Regression: %s%s%s", tests ? fell : "",
	    tests && coverage ? "; " : "", coverage ? dropped : "");
}
