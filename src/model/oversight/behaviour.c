/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "behaviour-private.h"
#include "schema.h"

#define RED_TURNS 3 /* results in a row, after tests passed */

struct behaviour {
	struct thresholds thresholds;
	int64_t elapsed_ms; /* -1 = not known */
	int tests; /* the last that is known; -1 = none */
	enum severity severity[DETECTION_TYPES];
	enum progress_step step[DETECTION_TYPES];
	enum stuck_rule rule;
	struct stuck stuck;
	struct oscillation oscillation;
	struct deviation deviation;
	struct burn burn;
	struct regression regression;
};

struct behaviour *
behaviour_new(const struct thresholds *thresholds)
{
	struct behaviour *b = xcalloc(1, sizeof *b);

	b->thresholds = *thresholds;
	b->burn.completion = NAN;
	b->regression.best = b->regression.coverage = NAN;
	b->elapsed_ms = b->tests = -1;
	stuck_init(&b->stuck);
	return b;
}

void
behaviour_free(struct behaviour *b)
{
	if (b == NULL)
		return;
	stuck_release(&b->stuck);
	oscillation_release(&b->oscillation);
	deviation_release(&b->deviation);
	free(b);
}

void
behaviour_cleanup(struct behaviour **behaviour)
{
	behaviour_free(*behaviour);
}

/* What is judged from words and contents is only noted, and what is counted
 * warns: good work may look like that. */
void
behaviour_add(struct behaviour *b, const struct iteration *it)
{
	const struct thresholds *t = &b->thresholds;
	const struct regression *r = &b->regression;
	enum progress_step step = STEP_NONE;

	if (it->tests >= 0)
		b->tests = it->tests;
	if (it->duration_ms >= 0)
		b->elapsed_ms =
		    (b->elapsed_ms < 0 ? 0 : b->elapsed_ms) + it->duration_ms;
	stuck_add(&b->stuck, it, t);
	b->severity[DETECTION_OSCILLATION] = oscillation_add(
	    &b->oscillation, it, t, b->stuck.rate >= PROGRESS_LEAST);
	b->severity[DETECTION_DEVIATION] = deviation_add(&b->deviation, it, t);
	b->severity[DETECTION_RESOURCE_BURN] = burn_add(&b->burn, it, t);
	b->severity[DETECTION_REGRESSION] =
	    regression_add(&b->regression, it, t);
	for (int type = 0; type < DETECTION_TYPES; type++)
		b->step[type] =
		    b->severity[type] != SEVERITY_NONE ? STEP_LOG : STEP_NONE;
	b->severity[DETECTION_STUCK] =
	    stuck_judge(&b->stuck, t, &b->rule, &step);
	b->step[DETECTION_STUCK] = step;
	if (b->severity[DETECTION_RESOURCE_BURN] != SEVERITY_NONE)
		b->step[DETECTION_RESOURCE_BURN] = STEP_WARN;
	if (r->own && r->tests_fell &&
	    (r->failing > RED_TURNS || r->coverage_fell))
		b->step[DETECTION_REGRESSION] = STEP_WARN;
}

enum severity
behaviour_severity(const struct behaviour *b, enum detection_type type)
{
	return b->severity[type];
}

enum progress_step
behaviour_step(const struct behaviour *b, enum detection_type type)
{
	return b->step[type];
}

void
behaviour_describe(const struct behaviour *b, enum detection_type type,
    struct detection *ret_detection)
{
	detection_init(ret_detection, type, b->severity[type]);
	switch (type) {
	case DETECTION_STUCK:
		stuck_describe(&b->stuck, b->rule, ret_detection);
		break;
	case DETECTION_OSCILLATION:
		oscillation_describe(&b->oscillation, ret_detection);
		break;
	case DETECTION_DEVIATION:
		deviation_describe(
		    &b->deviation, &b->thresholds, ret_detection);
		break;
	case DETECTION_RESOURCE_BURN:
		burn_describe(&b->burn, ret_detection);
		break;
	case DETECTION_REGRESSION:
		regression_describe(&b->regression, ret_detection);
		break;
	case DETECTION_TYPES:
		break;
	}
}

/* --- metrics ------------------------------------------------------------ */

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

void
behaviour_measure(
    const struct behaviour *b, struct behaviour_metrics *ret_metrics)
{
	const struct regression *r = &b->regression;
	const int *found = b->stuck.found;

	*ret_metrics = (struct behaviour_metrics){
		.progress_rate = b->stuck.rate,
		.repeated_errors = found[STUCK_FAILURE] > found[STUCK_ERROR] ?
		    found[STUCK_FAILURE] :
		    found[STUCK_ERROR],
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

/* --- detection ---------------------------------------------------------- */

const char *const detection_type_words[] = {
	[DETECTION_STUCK] = "stuck",
	[DETECTION_OSCILLATION] = "oscillation",
	[DETECTION_DEVIATION] = "deviation",
	[DETECTION_RESOURCE_BURN] = "resource_burn",
	[DETECTION_REGRESSION] = "regression",
	[DETECTION_TYPES] = NULL,
};

const char *const severity_words[] = {
	[SEVERITY_NONE] = "none",
	[SEVERITY_LOW] = "low",
	[SEVERITY_MEDIUM] = "medium",
	[SEVERITY_HIGH] = "high",
	[SEVERITY_CRITICAL] = "critical",
	[SEVERITY_COUNT] = NULL,
};

static const struct schema lists_of_texts = {
	.fields = &(const struct schema_field){ .type = SCHEMA_LIST },
};

static const struct schema example = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("iteration", INT, NULL),
	    SCHEMA_IS("similarity", NUMBER, NULL),
	    SCHEMA_IS("artifacts", LIST, NULL),
	    SCHEMA_END,
	},
};

static const struct schema regression = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("iteration", INT, NULL),
	    SCHEMA_IS("message", STRING, NULL),
	    SCHEMA_MAY("from", NUMBER, NULL),
	    SCHEMA_MAY("to", NUMBER, NULL),
	    SCHEMA_END,
	},
};

/* Each type has its own. */
static const struct schema evidence = {
	SCHEMA_FIELDS{
	    SCHEMA_MAY("repeatedError", STRING, NULL),
	    SCHEMA_MAY("occurrences", INT, NULL),
	    SCHEMA_MAY_OR_NULL("avgProgressRate", NUMBER, NULL),
	    SCHEMA_MAY("recentBlockers", LIST, NULL),
	    SCHEMA_MAY("undoRedoCycles", INT, NULL),
	    SCHEMA_MAY("recentFileChanges", ARRAY, NULL, .of = &lists_of_texts),
	    SCHEMA_MAY("originalObjective", STRING, NULL),
	    SCHEMA_MAY("deviationExamples", ROWS, NULL, .of = &example),
	    SCHEMA_MAY("averageSimilarity", NUMBER, NULL),
	    SCHEMA_MAY("filesOutside", INT, NULL),
	    SCHEMA_MAY("filesInside", INT, NULL),
	    SCHEMA_MAY("estimatedIterations", INT, NULL),
	    SCHEMA_MAY("actualIterations", INT, NULL),
	    SCHEMA_MAY("iterationRatio", NUMBER, NULL),
	    SCHEMA_MAY("estimatedCost", NUMBER, NULL),
	    SCHEMA_MAY("actualCost", NUMBER, NULL),
	    SCHEMA_MAY("costRatio", NUMBER, NULL),
	    SCHEMA_MAY("estimatedCalls", INT, NULL),
	    SCHEMA_MAY("actualCalls", INT, NULL),
	    SCHEMA_MAY("completionPercent", NUMBER, NULL),
	    SCHEMA_MAY("efficiency", NUMBER, NULL),
	    SCHEMA_MAY("regressions", ROWS, NULL, .of = &regression),
	    SCHEMA_END,
	},
};

#define DETECTION_FIELD(key, member, ...)                                     \
	SCHEMA_FIELD(struct detection, key, member, .flags = SCHEMA_REQUIRED, \
	    ##__VA_ARGS__)

static const struct schema_field detection_fields[] = {
	DETECTION_FIELD("type", type, .words = detection_type_words),
	DETECTION_FIELD("severity", severity, .words = severity_words),
	DETECTION_FIELD("message", message),
	DETECTION_FIELD("evidence", evidence, .of = &evidence),
	SCHEMA_AS(struct detection, "recommendations", LIST, recommendations),
};

const struct schema detection_schema =
    SCHEMA_OF(struct detection, detection_fields);

const struct schema_field detections_shape = { .type = SCHEMA_ROWS,
	.of = &detection_schema };

static const char *const no_recommendations[] = { NULL };

void
detection_init(struct detection *detection, enum detection_type type,
    enum severity severity)
{
	detection->type = type;
	detection->severity = severity;
	detection->message = NULL;
	detection->evidence = json_object_new_object();
	detection->recommendations = no_recommendations;
}

void
detection_release(struct detection *detection)
{
	free(detection->message);
	json_object_put(detection->evidence);
	detection->message = NULL;
	detection->evidence = NULL;
}

struct json_object *
detection_to_json(const struct detection *detection)
{
	struct json_object *json = schema_json(&detection_schema, detection);

	if (detection->message == NULL)
		json_set_string(json, "message", "");
	return json;
}
