/* SPDX-License-Identifier: ISC */

/* Short forms for the tables of api.c, api-landing.c and api-task.c only. */
#ifndef API_SHAPE_H
#define API_SHAPE_H

#include <stddef.h>

#include "plan-text.h"
#include "shape.h"

#define FIELD(member, kind, words)                                \
	{                                                         \
		.name = (member), .type = (kind), .help = (words) \
	}
#define MAY(member, kind, words)                                           \
	{                                                                  \
		.name = (member), .type = (kind), .flags = SHAPE_OPTIONAL, \
		.help = (words)                                            \
	}
#define END                  \
	{                    \
		.name = NULL \
	}

#define FIELDS (const struct schema_field[])
#define RESULT(members)                                \
	{                                              \
		.type = SHAPE_OBJECT, .of = &(members) \
	}

/* A parameter that is a list of texts, and a member of a result that is a text
 * or null. */
#define API_PLAN_LIST(member, words)                                           \
	{                                                                      \
		.name = (member), .type = SCHEMA_LIST, .size = PLAN_LINE_MAX,  \
		.max = PLAN_LIST_MAX, .flags = SHAPE_OPTIONAL, .help = (words) \
	}
#define API_PLAN_NULL_OR(member, words)                  \
	{                                                \
		.name = (member), .type = SHAPE_STRING,  \
		.flags = SHAPE_NULLABLE, .help = (words) \
	}

#define WORKER FIELD("worker", SHAPE_STRING, "name of a worker")
#define SENDER                      \
	MAY("sender", SHAPE_STRING, \
	    "whose session calls, if it is a worker's; the daemon says so")
#define RESULT_WORKER FIELD("worker", SHAPE_STRING, NULL)
#define RESULT_BEFORE \
	FIELD("previous_status", SHAPE_STRING, "status of the worker before")
#define RESULT_AFTER \
	FIELD("new_status", SHAPE_STRING, "status of the worker after")

#endif
