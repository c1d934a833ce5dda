/* SPDX-License-Identifier: ISC */

#include "behaviour-metrics.h"

#include "schema.h"

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct behaviour_metrics, key, member, ##__VA_ARGS__)

static const struct schema_field usage_fields[] = {
	FIELD("iterations", iteration_ratio),
	FIELD("cost", cost_ratio),
};
static const struct schema usage =
    SCHEMA_OF(struct behaviour_metrics, usage_fields);

static const struct schema_field quality_fields[] = {
	SCHEMA_AS(struct behaviour_metrics, "testsPassing", TRUTH, tests),
	FIELD("coveragePercent", coverage),
	FIELD("coverageChange", coverage_change),
};
static const struct schema quality =
    SCHEMA_OF(struct behaviour_metrics, quality_fields);

static const struct schema_field fields[] = {
	FIELD("progressRate", progress_rate),
	FIELD("errorPatterns", repeated_errors),
	SCHEMA_GROUP("resourceUsage", usage),
	FIELD("timeElapsedMs", elapsed_ms, .flags = SCHEMA_UNKNOWN),
	SCHEMA_GROUP("qualityTrajectory", quality),
};

const struct schema behaviour_metrics_schema =
    SCHEMA_OF(struct behaviour_metrics, fields);

struct json_object *
behaviour_metrics_to_json(const struct behaviour_metrics *metrics)
{
	struct behaviour_metrics shown = *metrics;

	shown.progress_rate /= 100;
	return schema_json(&behaviour_metrics_schema, &shown);
}
