/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "detection.h"

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

static const struct schema texts = {
	.fields = &(const struct schema_field){ .type = SCHEMA_STRING },
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
	    SCHEMA_MAY("returnedBlobs", MAP, NULL, .of = &texts),
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
	    SCHEMA_MAY("completionPercent", NUMBER, NULL),
	    SCHEMA_MAY("efficiency", NUMBER, NULL),
	    SCHEMA_MAY("regressions", ROWS, NULL, .of = &regression),
	    SCHEMA_END,
	},
};

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
