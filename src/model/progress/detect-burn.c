/* SPDX-License-Identifier: ISC */

#include "detect-burn.h"

#include <math.h>

#include "behaviour-step.h"
#include "buf.h"
#include "json.h"
#include "mem.h"
#include "thresholds.h"

#define CRITICAL    2.5 /* times the estimate */
#define NEARLY_DONE 90.0 /* percent */
#define HALF_DONE   50.0

#define SHARED                                         \
	"Analyze why estimates were incorrect",        \
	    "Break remaining work into smaller tasks", \
	    "Request human decision on continuation"

static const char *const stop_rather[] = {
	"Consider aborting if little progress made",
	SHARED,
	NULL,
};

static const char *const go_on_rather[] = {
	"Increase iteration budget if task is viable",
	SHARED,
	NULL,
};

void
burn_init(struct burn *burn)
{
	*burn = (struct burn){ .completion = NAN };
}

static double
ratio(double actual, double estimate)
{
	return estimate > 0 ? actual / estimate : 0;
}

static enum severity
judge(double times, double multiplier)
{
	if (times <= multiplier + THRESHOLDS_ROUNDING)
		return SEVERITY_NONE;
	return times >= CRITICAL - THRESHOLDS_ROUNDING ? SEVERITY_CRITICAL :
							 SEVERITY_HIGH;
}

enum severity
detect_burn(struct burn *burn, const struct behaviour_step *step,
    const struct thresholds *t)
{
	enum severity by_count, by_cost, severity;

	burn->iterations++;
	if (step->number > burn->iterations)
		burn->iterations = step->number;
	if (step->max_iterations > 0)
		burn->expected = step->max_iterations;
	if (!isnan(step->cost))
		burn->cost += step->cost;
	if (step->estimated_cost > 0)
		burn->estimate = step->estimated_cost;
	if (!isnan(step->completion))
		burn->completion = step->completion;

	if (step->waits)
		return SEVERITY_NONE;
	by_count =
	    judge(ratio((double)burn->iterations, (double)burn->expected),
		t->iteration_multiplier);
	by_cost = judge(ratio(burn->cost, burn->estimate), t->cost_multiplier);
	if (by_cost > SEVERITY_HIGH)
		by_cost = SEVERITY_HIGH; /* what others cost is no budget */
	severity = by_count > by_cost ? by_count : by_cost;
	if (burn->completion >= 100)
		return SEVERITY_NONE;
	if (severity == SEVERITY_CRITICAL && burn->completion >= NEARLY_DONE)
		return SEVERITY_HIGH;
	return severity;
}

void
detect_burn_describe(const struct burn *burn, struct detection *detection)
{
	struct json_object *evidence = detection->evidence;
	cleanup_buf struct buf message = BUF_INIT;

	buf_addf(
	    &message, "Resource burn: Used %lld", (long long)burn->iterations);
	if (burn->expected > 0) {
		double times =
		    ratio((double)burn->iterations, (double)burn->expected);

		buf_addf(&message, "/%lld iterations (%.0f%% of budget)",
		    (long long)burn->expected, times * 100);
		json_set_int(evidence, "estimatedIterations", burn->expected);
		json_set_int(evidence, "actualIterations", burn->iterations);
		json_set(
		    evidence, "iterationRatio", json_object_new_double(times));
	} else {
		buf_adds(&message, " iterations");
	}
	if (burn->estimate > 0) {
		buf_addf(&message, "; %.2f of %.2f US dollars", burn->cost,
		    burn->estimate);
		json_set(evidence, "estimatedCost",
		    json_object_new_double(burn->estimate));
		json_set(
		    evidence, "actualCost", json_object_new_double(burn->cost));
		json_set(evidence, "costRatio",
		    json_object_new_double(ratio(burn->cost, burn->estimate)));
	}
	if (!isnan(burn->completion)) {
		buf_addf(&message, "; %g%% done", burn->completion);
		json_set(evidence, "completionPercent",
		    json_object_new_double(burn->completion));
		json_set(evidence, "efficiency",
		    json_object_new_double(
			burn->completion / 100 / (double)burn->iterations));
	}
	detection->recommendations =
	    burn->completion > HALF_DONE ? go_on_rather : stop_rather;
	detection->message = buf_take(&message);
}
