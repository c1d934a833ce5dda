/* SPDX-License-Identifier: ISC */

#include "detection.h"

#include <stdlib.h>

#include "json.h"
#include "shape.h"

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

#define END                  \
	{                    \
		.name = NULL \
	}
#define MAYBE(n, t)                                               \
	{                                                         \
		.name = (n), .type = (t), .flags = SHAPE_OPTIONAL \
	}
#define MAYBE_OF(n, t, shape)                                      \
	{                                                          \
		.name = (n), .type = (t), .flags = SHAPE_OPTIONAL, \
		.of = (shape)                                      \
	}

static const struct schema texts = {
	.fields = (const struct schema_field[]){ { .type = SHAPE_STRING } },
};

static const struct schema lists_of_texts = {
	.fields = (const struct schema_field[]){ { .type = SHAPE_ARRAY,
	    .of = &texts } },
};

static const struct schema example = {
	.fields = (const struct schema_field[]){ { .name = "iteration",
						     .type = SHAPE_INT },
	    { .name = "similarity", .type = SHAPE_NUMBER },
	    { .name = "artifacts", .type = SHAPE_ARRAY, .of = &texts }, END },
};

static const struct schema examples = {
	.fields = (const struct schema_field[]){ { .type = SHAPE_OBJECT,
	    .of = &example } },
};

static const struct schema regression = {
	.fields = (const struct schema_field[]){ { .name = "iteration",
						     .type = SHAPE_INT },
	    { .name = "message", .type = SHAPE_STRING },
	    MAYBE("from", SHAPE_NUMBER), MAYBE("to", SHAPE_NUMBER), END },
};

static const struct schema regressions = {
	.fields = (const struct schema_field[]){ { .type = SHAPE_OBJECT,
	    .of = &regression } },
};

/* Each type has its own. */
static const struct schema evidence = {
	.fields = (const struct schema_field[]){ MAYBE("repeatedError",
						     SHAPE_STRING),
	    MAYBE("occurrences", SHAPE_INT),
	    { .name = "avgProgressRate",
		.type = SHAPE_NUMBER,
		.flags = SHAPE_OPTIONAL | SHAPE_NULLABLE },
	    MAYBE_OF("recentBlockers", SHAPE_ARRAY, &texts),
	    MAYBE("undoRedoCycles", SHAPE_INT),
	    MAYBE_OF("recentFileChanges", SHAPE_ARRAY, &lists_of_texts),
	    MAYBE_OF("returnedBlobs", SHAPE_MAP, &texts),
	    MAYBE("originalObjective", SHAPE_STRING),
	    MAYBE_OF("deviationExamples", SHAPE_ARRAY, &examples),
	    MAYBE("averageSimilarity", SHAPE_NUMBER),
	    MAYBE("filesOutside", SHAPE_INT), MAYBE("filesInside", SHAPE_INT),
	    MAYBE("estimatedIterations", SHAPE_INT),
	    MAYBE("actualIterations", SHAPE_INT),
	    MAYBE("iterationRatio", SHAPE_NUMBER),
	    MAYBE("estimatedCost", SHAPE_NUMBER),
	    MAYBE("actualCost", SHAPE_NUMBER), MAYBE("costRatio", SHAPE_NUMBER),
	    MAYBE("completionPercent", SHAPE_NUMBER),
	    MAYBE("efficiency", SHAPE_NUMBER),
	    MAYBE_OF("regressions", SHAPE_ARRAY, &regressions), END },
};

static const struct schema detection_object = {
	.fields = (const struct schema_field[]){ { .name = "type",
						     .type = SHAPE_STRING,
						     .choices =
							 detection_type_words },
	    { .name = "severity",
		.type = SHAPE_STRING,
		.choices = severity_words },
	    { .name = "message", .type = SHAPE_STRING },
	    { .name = "evidence", .type = SHAPE_OBJECT, .of = &evidence },
	    { .name = "recommendations", .type = SHAPE_ARRAY, .of = &texts },
	    END },
};

const struct schema detection_list = {
	.fields = (const struct schema_field[]){ { .type = SHAPE_OBJECT,
	    .of = &detection_object } },
};

const struct schema_field detections_shape = { .type = SHAPE_ARRAY,
	.of = &detection_list };

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
	struct json_object *json = json_object_new_object();
	struct json_object *list = json_object_new_array();

	json_set_string(json, "type", detection_type_words[detection->type]);
	json_set_string(json, "severity", severity_words[detection->severity]);
	json_set_string(json, "message",
	    detection->message != NULL ? detection->message : "");
	json_set(json, "evidence", json_object_get(detection->evidence));
	for (const char *const *r = detection->recommendations; *r != NULL; r++)
		json_object_array_add(list, json_object_new_string(*r));
	json_set(json, "recommendations", list);
	return json;
}
