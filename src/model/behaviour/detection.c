/* SPDX-License-Identifier: ISC */

#include "detection.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"

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
