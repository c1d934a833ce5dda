/* SPDX-License-Identifier: ISC */

/* Short forms for the tables of api*.c and of the contract. */
#ifndef API_SHAPE_H
#define API_SHAPE_H

#include "work-record.h"
#include "schema.h"

#define RESULT(members)                                 \
	{                                               \
		.type = SCHEMA_OBJECT, .of = &(members) \
	}

/* A schema of JSON with these fields, or with none. */
#define API_OBJECT(...)                                 \
	{                                               \
		.fields = (const struct schema_field[]) \
		{                                       \
			__VA_ARGS__, SCHEMA_END         \
		}                                       \
	}
#define API_NOTHING                                     \
	{                                               \
		.fields = (const struct schema_field[]) \
		{                                       \
			SCHEMA_END                      \
		}                                       \
	}

/* A parameter that is a list of texts. */
#define API_PLAN_LIST(member, words)                                          \
	{                                                                     \
		.name = (member), .type = SCHEMA_LIST, .size = PLAN_LINE_MAX, \
		.max = PLAN_LIST_MAX, .flags = SCHEMA_OPTIONAL,               \
		.help = (words)                                               \
	}

#define WORKER SCHEMA_IS("worker", STRING, "name of a worker")
#define SENDER                       \
	SCHEMA_MAY("sender", STRING, \
	    "whose session calls, if it is a worker's; the daemon says so")
#define RESULT_WORKER SCHEMA_IS("worker", STRING, NULL)
#define RESULT_BEFORE \
	SCHEMA_IS("previous_status", STRING, "status of the worker before")
#define RESULT_AFTER \
	SCHEMA_IS("new_status", STRING, "status of the worker after")

#define TEXT(member, bytes, words)                                 \
	{                                                          \
		.name = (member), .type = SCHEMA_STRING, .min = 1, \
		.max = (bytes), .help = (words)                    \
	}
#define MAY_TEXT(member, bytes, words)                                   \
	{                                                                \
		.name = (member), .type = SCHEMA_STRING, .max = (bytes), \
		.flags = SCHEMA_OPTIONAL, .help = (words)                \
	}
#define MAY_WORD(member, list, words)                                       \
	{                                                                   \
		.name = (member), .type = SCHEMA_STRING, .choices = (list), \
		.flags = SCHEMA_OPTIONAL, .help = (words)                   \
	}
/* A word that the handler may understand in other spellings too. */
#define MAY_SAY(member, list, words)                                \
	{                                                           \
		.name = (member), .type = SCHEMA_STRING, .max = 64, \
		.choices = (list), .help = (words),                 \
		.flags = SCHEMA_OPTIONAL | SCHEMA_ADVICE            \
	}
#define MAY_INT(member, low, high, words)                                \
	{                                                                \
		.name = (member), .type = SCHEMA_INT, .min = (low),      \
		.max = (high), .flags = SCHEMA_OPTIONAL, .help = (words) \
	}
#define MAY_STRINGS(member, count, words)                                 \
	{                                                                 \
		.name = (member), .type = SCHEMA_LIST, .size = 4096,      \
		.max = (count), .flags = SCHEMA_OPTIONAL, .help = (words) \
	}
#define MAY_LIST(member, shape, count, words)                             \
	{                                                                 \
		.name = (member), .type = SCHEMA_ROWS, .of = &(shape),    \
		.max = (count), .flags = SCHEMA_OPTIONAL, .help = (words) \
	}

#endif
