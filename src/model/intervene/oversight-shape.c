/* SPDX-License-Identifier: ISC */

#include "oversight-shape.h"

#include <stddef.h>

#include "detection.h"
#include "intervene.h"
#include "shape.h"

#define FIELDS (const struct schema_field[])
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
#define END                  \
	{                    \
		.name = NULL \
	}

/* --- an iteration ---------------------------------------------------- */

static const struct schema hashes = {
	.fields = FIELDS{ { .type = SHAPE_STRING, .flags = SHAPE_NULLABLE } }
};

static const struct schema analysis = {
	.fields = FIELDS{ { .name = "failureClass",
			      .type = SHAPE_STRING,
			      .flags = SHAPE_OPTIONAL | SHAPE_NULLABLE,
			      .help =
				  "the first error; null = there was none" },

	    { .name = "errors",
		.type = SCHEMA_LIST,
		.flags = SHAPE_OPTIONAL | SHAPE_NULLABLE,
		.help = "null = not known" },
	    MAY("blockers", SCHEMA_LIST), MAY("learnings", SHAPE_STRING),
	    MAY("completionPercentage", SHAPE_NUMBER),
	    MAY("testsPassing", SHAPE_BOOL), MAY("checkFailure", SHAPE_STRING),
	    MAY("coveragePercent", SHAPE_NUMBER),
	    MAY("artifactsModified", SCHEMA_LIST), END },
};

static const struct schema context = {
	.fields = FIELDS{ MAY("objective", SHAPE_STRING),
	    MAY("maxIterations", SHAPE_INT), MAY("estimatedCost", SHAPE_NUMBER),
	    END },
};

static const struct schema tokens = {
	.fields = FIELDS{ MAY("input", SHAPE_INT), MAY("output", SHAPE_INT),
	    MAY("cacheRead", SHAPE_INT), MAY("cacheWrite", SHAPE_INT), END },
};

static const struct schema iteration = {
	.fields = FIELDS{ IS("number", SHAPE_INT), MAY("status", SHAPE_STRING),
	    MAY("durationMs", SHAPE_INT),
	    OF("analysis", SHAPE_OBJECT, &analysis),
	    OF("context", SHAPE_OBJECT, &context), MAY("cost", SHAPE_NUMBER),
	    MAY_OF("tokens", SHAPE_OBJECT, &tokens), MAY("scope", SCHEMA_LIST),
	    MAY_OF("blobs", SHAPE_MAP, &hashes), MAY("treeHash", SHAPE_STRING),
	    END },
};

/* --- what was found and done ----------------------------------------- */

static const struct schema usage = {
	.fields = FIELDS{ NULLABLE("iterations", SHAPE_NUMBER),
	    NULLABLE("cost", SHAPE_NUMBER), END },
};

static const struct schema quality = {
	.fields = FIELDS{ NULLABLE("testsPassing", SHAPE_BOOL),
	    NULLABLE("coveragePercent", SHAPE_NUMBER),
	    NULLABLE("coverageChange", SHAPE_NUMBER), END },
};

static const struct schema metrics = {
	.fields = FIELDS{ NULLABLE("progressRate", SHAPE_NUMBER),
	    IS("errorPatterns", SHAPE_INT),
	    OF("resourceUsage", SHAPE_OBJECT, &usage),
	    NULLABLE("timeElapsedMs", SHAPE_INT),
	    OF("qualityTrajectory", SHAPE_OBJECT, &quality), END },
};

static const struct schema check = {
	.fields = FIELDS{ WORD("status", oversight_status_words),
	    OF("metrics", SHAPE_OBJECT, &metrics),
	    OF("detections", SHAPE_ARRAY, &detection_list), END },
};

static const struct schema act = {
	.fields = FIELDS{ WORD("type", detection_type_words),
	    WORD("level", intervention_words), WORD("severity", severity_words),
	    IS("iteration", SHAPE_INT), IS("message", SHAPE_STRING),
	    MAY("by", SHAPE_STRING), END },
};

static const struct schema outcome = {
	.fields = FIELDS{ WORD("type", detection_type_words),
	    WORD("level", intervention_words), IS("iteration", SHAPE_INT),
	    WORD("outcome", intervene_outcome_words), END },
};

static const struct schema record = {
	.fields = FIELDS{ IS("at_ms", SHAPE_INT), MAY("worker", SHAPE_STRING),
	    MAY_OF("iteration", SHAPE_OBJECT, &iteration),
	    MAY_OF("check", SHAPE_OBJECT, &check),
	    MAY_OF("intervention", SHAPE_OBJECT, &act),
	    MAY_OF("outcome", SHAPE_OBJECT, &outcome), END },
};

const struct schema oversight_record_list = {
	.fields = FIELDS{ { .type = SHAPE_OBJECT, .of = &record } },
};

/* --- the report ------------------------------------------------------ */

static const struct schema counts = { .fields =
					  FIELDS{ { .type = SHAPE_INT } } };

static const struct schema counts_by_type = {
	.fields = FIELDS{ { .type = SHAPE_MAP, .of = &counts } },
};

static const struct schema indicator = {
	.fields =
	    FIELDS{ IS("name", SHAPE_STRING), IS("observation", SHAPE_STRING),
		IS("adjustment", SHAPE_STRING), END },
};

static const struct schema indicators = {
	.fields = FIELDS{ { .type = SHAPE_OBJECT, .of = &indicator } },
};

const struct schema oversight_report_shape = {
	.fields = FIELDS{ IS("iterations", SHAPE_INT),
	    OF("detections", SHAPE_MAP, &counts_by_type),
	    OF("interventions", SHAPE_MAP, &counts),
	    OF("positives", SHAPE_MAP, &counts_by_type),
	    NULLABLE("truePositiveRate", SHAPE_NUMBER),
	    NULLABLE("falsePositiveRate", SHAPE_NUMBER),
	    OF("indicators", SHAPE_ARRAY, &indicators), END },
};
