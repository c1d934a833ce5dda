/* SPDX-License-Identifier: ISC */

#include "oversight-shape.h"

#include <stddef.h>

#include "behaviour.h"
#include "detection.h"
#include "iteration.h"
#include "ladder.h"
#include "schema.h"

#define IS(member, kind)                         \
	{                                        \
		.name = (member), .type = (kind) \
	}
#define MAY(member, kind)                                                  \
	{                                                                  \
		.name = (member), .type = (kind), .flags = SCHEMA_OPTIONAL \
	}
#define NULLABLE(member, kind)                                             \
	{                                                                  \
		.name = (member), .type = (kind), .flags = SCHEMA_NULLABLE \
	}
#define OF(member, kind, what)                                 \
	{                                                      \
		.name = (member), .type = (kind), .of = (what) \
	}
#define MAY_OF(member, kind, what)                                          \
	{                                                                   \
		.name = (member), .type = (kind), .flags = SCHEMA_OPTIONAL, \
		.of = (what)                                                \
	}
#define WORD(member, list)                                                 \
	{                                                                  \
		.name = (member), .type = SCHEMA_STRING, .choices = (list) \
	}

static const struct schema check = {
	SCHEMA_FIELDS{
	    WORD("status", oversight_status_words),
	    OF("metrics", SCHEMA_OBJECT, &behaviour_metrics_schema),
	    OF("detections", SCHEMA_ROWS, &detection_schema),
	    SCHEMA_END,
	},
};

static const struct schema act = {
	SCHEMA_FIELDS{
	    WORD("type", detection_type_words),
	    WORD("level", progress_step_words),
	    WORD("severity", severity_words),
	    IS("iteration", SCHEMA_INT),
	    IS("message", SCHEMA_STRING),
	    MAY("by", SCHEMA_STRING),
	    SCHEMA_END,
	},
};

static const struct schema outcome = {
	SCHEMA_FIELDS{
	    WORD("type", detection_type_words),
	    WORD("level", progress_step_words),
	    IS("iteration", SCHEMA_INT),
	    WORD("outcome", progress_outcome_words),
	    SCHEMA_END,
	},
};

static const struct schema record = {
	SCHEMA_FIELDS{
	    IS("at_ms", SCHEMA_INT),
	    MAY("worker", SCHEMA_STRING),
	    MAY_OF("iteration", SCHEMA_OBJECT, &iteration_schema),
	    MAY_OF("check", SCHEMA_OBJECT, &check),
	    MAY_OF("intervention", SCHEMA_OBJECT, &act),
	    MAY_OF("outcome", SCHEMA_OBJECT, &outcome),
	    SCHEMA_END,
	},
};

const struct schema oversight_record_list = {
	SCHEMA_FIELDS{ { .type = SCHEMA_OBJECT, .of = &record } },
};

/* --- the report ------------------------------------------------------ */

static const struct schema counts = { SCHEMA_FIELDS{ { .type = SCHEMA_INT } } };

static const struct schema counts_by_type = {
	SCHEMA_FIELDS{ { .type = SCHEMA_MAP, .of = &counts } },
};

static const struct schema indicator = {
	SCHEMA_FIELDS{
	    IS("name", SCHEMA_STRING),
	    IS("observation", SCHEMA_STRING),
	    IS("adjustment", SCHEMA_STRING),
	    SCHEMA_END,
	},
};

const struct schema oversight_report_shape = {
	SCHEMA_FIELDS{
	    IS("iterations", SCHEMA_INT),
	    OF("detections", SCHEMA_MAP, &counts_by_type),
	    OF("interventions", SCHEMA_MAP, &counts),
	    OF("positives", SCHEMA_MAP, &counts_by_type),
	    NULLABLE("truePositiveRate", SCHEMA_NUMBER),
	    NULLABLE("falsePositiveRate", SCHEMA_NUMBER),
	    OF("indicators", SCHEMA_ROWS, &indicator),
	    SCHEMA_END,
	},
};
