/* SPDX-License-Identifier: ISC */

#include "detection.h"

#include <stdlib.h>

#include "json.h"
#include "schema.h"

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

#define IS(field, kind)                                \
	{                                              \
		.name = (field), .type = SCHEMA_##kind \
	}
#define MAYBE(field, kind)                              \
	{                                               \
		.name = (field), .type = SCHEMA_##kind, \
		.flags = SCHEMA_OPTIONAL                \
	}
#define MAYBE_OF(field, kind, schema)                                    \
	{                                                                \
		.name = (field), .type = SCHEMA_##kind, .of = &(schema), \
		.flags = SCHEMA_OPTIONAL                                 \
	}
#define TABLE(table)                                                           \
	{                                                                      \
		.fields = (table), .count = sizeof(table) / sizeof((table)[0]) \
	}

static const struct schema texts = {
	.fields = &(const struct schema_field){ .type = SCHEMA_STRING },
};
static const struct schema lists_of_texts = {
	.fields = &(const struct schema_field){ .type = SCHEMA_LIST },
};

static const struct schema_field example_fields[] = {
	IS("iteration", INT),
	IS("similarity", NUMBER),
	IS("artifacts", LIST),
};
static const struct schema example = TABLE(example_fields);

static const struct schema_field regression_fields[] = {
	IS("iteration", INT),
	IS("message", STRING),
	MAYBE("from", NUMBER),
	MAYBE("to", NUMBER),
};
static const struct schema regression = TABLE(regression_fields);

/* Each type has its own. */
static const struct schema_field evidence_fields[] = {
	MAYBE("repeatedError", STRING),
	MAYBE("occurrences", INT),
	SCHEMA_MAY_OR_NULL("avgProgressRate", NUMBER, NULL),
	MAYBE("recentBlockers", LIST),
	MAYBE("undoRedoCycles", INT),
	MAYBE_OF("recentFileChanges", ARRAY, lists_of_texts),
	MAYBE_OF("returnedBlobs", MAP, texts),
	MAYBE("originalObjective", STRING),
	MAYBE_OF("deviationExamples", ROWS, example),
	MAYBE("averageSimilarity", NUMBER),
	MAYBE("filesOutside", INT),
	MAYBE("filesInside", INT),
	MAYBE("estimatedIterations", INT),
	MAYBE("actualIterations", INT),
	MAYBE("iterationRatio", NUMBER),
	MAYBE("estimatedCost", NUMBER),
	MAYBE("actualCost", NUMBER),
	MAYBE("costRatio", NUMBER),
	MAYBE("completionPercent", NUMBER),
	MAYBE("efficiency", NUMBER),
	MAYBE_OF("regressions", ROWS, regression),
};
static const struct schema evidence = TABLE(evidence_fields);

#define FIELD(key, member, ...)                                               \
	SCHEMA_FIELD(struct detection, key, member, .flags = SCHEMA_REQUIRED, \
	    ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("type", type, .words = detection_type_words),
	FIELD("severity", severity, .words = severity_words),
	FIELD("message", message),
	FIELD("evidence", evidence, .of = &evidence),
	SCHEMA_AS(struct detection, "recommendations", LIST, recommendations),
};

const struct schema detection_schema = SCHEMA_OF(struct detection, fields);

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
