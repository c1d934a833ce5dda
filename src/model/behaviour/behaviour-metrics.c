/* SPDX-License-Identifier: ISC */

#include "behaviour-metrics.h"

#include <math.h>
#include <stddef.h>

#include "json.h"

static struct json_object *
number(double value)
{
	return isfinite(value) ? json_object_new_double(value) : NULL;
}

struct json_object *
behaviour_metrics_to_json(const struct behaviour_metrics *m)
{
	struct json_object *json = json_object_new_object();
	struct json_object *usage = json_object_new_object();
	struct json_object *quality = json_object_new_object();

	json_set(json, "progressRate", number(m->progress_rate / 100));
	json_set_int(json, "errorPatterns", m->repeated_errors);
	json_set(usage, "iterations", number(m->iteration_ratio));
	json_set(usage, "cost", number(m->cost_ratio));
	json_set(json, "resourceUsage", usage);
	json_set(json, "timeElapsedMs",
	    m->elapsed_ms < 0 ? NULL : json_object_new_int64(m->elapsed_ms));
	json_set(quality, "testsPassing",
	    m->tests < 0 ? NULL : json_object_new_boolean(m->tests > 0));
	json_set(quality, "coveragePercent", number(m->coverage));
	json_set(quality, "coverageChange", number(m->coverage_change));
	json_set(json, "qualityTrajectory", quality);
	return json;
}
