/* SPDX-License-Identifier: ISC */

/* Short forms for the tables of api.c, api-landing.c and api-task.c only. */
#ifndef API_SHAPE_H
#define API_SHAPE_H

#include <stddef.h>

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
