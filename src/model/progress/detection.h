/* SPDX-License-Identifier: ISC */

/* What a detector found: {type, severity, message, evidence, recommendations}.
 */
#ifndef DETECTION_H
#define DETECTION_H

struct json_object;
struct schema;
struct schema_field;

enum detection_type {
	DETECTION_STUCK,
	DETECTION_OSCILLATION,
	DETECTION_DEVIATION,
	DETECTION_RESOURCE_BURN,
	DETECTION_REGRESSION,
	DETECTION_TYPES
};

enum severity {
	SEVERITY_NONE, /* nothing was found */
	SEVERITY_LOW,
	SEVERITY_MEDIUM,
	SEVERITY_HIGH,
	SEVERITY_CRITICAL,
	SEVERITY_COUNT
};

extern const char *const detection_type_words[];
extern const char *const severity_words[];

/* One, and an array of them. */
extern const struct schema detection_schema;
extern const struct schema_field detections_shape;

struct detection {
	enum detection_type type;
	enum severity severity;
	char *message; /* a sentence for a person */
	struct json_object *evidence; /* an object */
	const char *const *recommendations; /* constant, NULL terminated */
};

/* With an empty message and an empty object of evidence. */
void detection_init(struct detection *detection, enum detection_type type,
    enum severity severity);
void detection_release(struct detection *detection);

struct json_object *detection_to_json(const struct detection *detection);

#endif
