/* SPDX-License-Identifier: ISC */

/* The shapes of the records of goals and plans, as they are stored, for the
 * tables of the RPC methods. */
#ifndef API_PLAN_RECORD_H
#define API_PLAN_RECORD_H

#include "plan-text.h"
#include "shape.h"

/* For api-goal.c and api-work.c: a parameter that is a list of texts, and a
 * member of a result that is a text or null. */
#define API_PLAN_LIST(member, words)                           \
	{                                                      \
		.name = (member), .type = SHAPE_ARRAY,         \
		.of = &api_plan_strings, .max = PLAN_LIST_MAX, \
		.flags = SHAPE_OPTIONAL, .help = (words)       \
	}
#define API_PLAN_NULL_OR(member, words)                  \
	{                                                \
		.name = (member), .type = SHAPE_STRING,  \
		.flags = SHAPE_NULLABLE, .help = (words) \
	}

extern const struct schema api_plan_strings; /* elements of a list */
extern const struct schema api_plan_evidence;
extern const struct schema api_plan_goal; /* with its nodes */
extern const struct schema api_plan_node;
extern const struct schema api_plan_assignments; /* elements of a list */
extern const struct schema api_plan_assignment;
extern const struct schema api_plan_summary;

#endif
