/* SPDX-License-Identifier: ISC */

#include "oversight-shape.h"

#include <stddef.h>

#include "behaviour-metrics.h"
#include "detection.h"
#include "intervene.h"
#include "iteration.h"
#include "shape.h"

#define IS(member, kind)                         \
	{                                        \
		.name = (member), .type = (kind) \
	}
#define MAY(member, kind)                                                 \
	{                                                                 \
		.name = (member), .type = (kind), .flags = SHAPE_OPTIONAL \
	}
#define NULLABLE(member, kind)                                            \
	{                                                                 \
		.name = (member), .type = (kind), .flags = SHAPE_NULLABLE \
	}
#define OF(member, kind, what)                                 \
	{                                                      \
		.name = (member), .type = (kind), .of = (what) \
	}
#define MAY_OF(member, kind, what)                                         \
	{                                                                  \
		.name = (member), .type = (kind), .flags = SHAPE_OPTIONAL, \
		.of = (what)                                               \
	}
#define WORD(member, list)                                                \
	{                                                                 \
		.name = (member), .type = SHAPE_STRING, .choices = (list) \
	}

static const struct schema check = {
	SCHEMA_FIELDS{
	    WORD("status", oversight_status_words),
	    OF("metrics", SHAPE_OBJECT, &behaviour_metrics_schema),
	    OF("detections", SCHEMA_ROWS, &detection_schema),
	    SCHEMA_END,
	},
};

static const struct schema act = {
	SCHEMA_FIELDS{
	    WORD("type", detection_type_words),
	    WORD("level", intervention_words),
	    WORD("severity", severity_words),
	    IS("iteration", SHAPE_INT),
	    IS("message", SHAPE_STRING),
	    MAY("by", SHAPE_STRING),
	    SCHEMA_END,
	},
};

static const struct schema outcome = {
	SCHEMA_FIELDS{
	    WORD("type", detection_type_words),
	    WORD("level", intervention_words),
	    IS("iteration", SHAPE_INT),
	    WORD("outcome", intervene_outcome_words),
	    SCHEMA_END,
	},
};

static const struct schema record = {
	SCHEMA_FIELDS{
	    IS("at_ms", SHAPE_INT),
	    MAY("worker", SHAPE_STRING),
	    MAY_OF("iteration", SHAPE_OBJECT, &iteration_schema),
	    MAY_OF("check", SHAPE_OBJECT, &check),
	    MAY_OF("intervention", SHAPE_OBJECT, &act),
	    MAY_OF("outcome", SHAPE_OBJECT, &outcome),
	    SCHEMA_END,
	},
};

const struct schema oversight_record_list = {
	SCHEMA_FIELDS{ { .type = SHAPE_OBJECT, .of = &record } },
};

/* --- the report ------------------------------------------------------ */

static const struct schema counts = { SCHEMA_FIELDS{ { .type = SHAPE_INT } } };

static const struct schema counts_by_type = {
	SCHEMA_FIELDS{ { .type = SHAPE_MAP, .of = &counts } },
};

static const struct schema indicator = {
	SCHEMA_FIELDS{
	    IS("name", SHAPE_STRING),
	    IS("observation", SHAPE_STRING),
	    IS("adjustment", SHAPE_STRING),
	    SCHEMA_END,
	},
};

const struct schema oversight_report_shape = {
	SCHEMA_FIELDS{
	    IS("iterations", SHAPE_INT),
	    OF("detections", SHAPE_MAP, &counts_by_type),
	    OF("interventions", SHAPE_MAP, &counts),
	    OF("positives", SHAPE_MAP, &counts_by_type),
	    NULLABLE("truePositiveRate", SHAPE_NUMBER),
	    NULLABLE("falsePositiveRate", SHAPE_NUMBER),
	    OF("indicators", SCHEMA_ROWS, &indicator),
	    SCHEMA_END,
	},
};
