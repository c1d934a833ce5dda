/* SPDX-License-Identifier: ISC */

#include <stdint.h>

#include "api-shape.h"
#include "api-store.h"
#include "event.h"

#define COUNT(member, words) SCHEMA_MAY(member, INT, words)
#define WORDS(member, words)                                                  \
	{                                                                     \
		.name = (member), .type = SCHEMA_LIST, .size = PLAN_LINE_MAX, \
		.max = 100, .flags = SCHEMA_OPTIONAL, .help = (words)         \
	}
#define RECORDS                                                               \
	{                                                                     \
		.name = "events", .type = SCHEMA_ARRAY, .of = &event_records, \
		.help = "the oldest is first"                                 \
	}

static const struct schema event_records = { .fields = &event_record_schema };

/* --- jobs ------------------------------------------------------------ */

const struct schema api_store_file_params = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("file", STRING, "its whole path"),
	    SCHEMA_END,
	},
};

const struct schema api_store_sql_params = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("sql", STRING, "one SELECT, in SQLite's SQL"),
	    SCHEMA_END,
	},
};

/* The cells of one row. */
static const struct schema cell = { SCHEMA_FIELDS{ { .type = SCHEMA_ANY } } };
static const struct schema row = {
	SCHEMA_FIELDS{ { .type = SCHEMA_ARRAY, .of = &cell } },
};

static const struct schema report = {
	SCHEMA_FIELDS{
	    SCHEMA_MAY("ok", BOOL, "check: nothing is wrong"),
	    COUNT("records",
		"goals, nodes, assignments, dispatches, "
		"crystallizations, mail, requests and reservations"),
	    COUNT("events", NULL),
	    WORDS("problems", "check: what is wrong, the first 100"),
	    SCHEMA_MAY("file", STRING, "export: that was written"),
	    WORDS("columns", "sql: their names"),
	    { .name = "rows",
		.type = SCHEMA_ARRAY,
		.of = &row,
		.flags = SCHEMA_OPTIONAL,
		.help = "sql: a list of values each" },
	    SCHEMA_MAY("truncated", BOOL, "sql: there are more rows"),
	    SCHEMA_END,
	},
};

const struct schema_field api_store_result = RESULT(report);

/* --- events ---------------------------------------------------------- */

const struct schema api_events_params = {
	SCHEMA_FIELDS{
	    SCHEMA_MAY("goal", STRING,
		"only of this goal: its id, or a part of it that no other "
		"has"),
	    WORDS("workers", "only about one of these workers"),
	    WORDS("tasks", "only about one of these tasks"),
	    WORDS("kinds", "only of one of these types"),
	    SCHEMA_MAY("lines", INT, "how many at most; the newest", .min = 1,
		.max = API_EVENTS_MAX),
	    SCHEMA_MAY("before", INT, "only older ones than in that answer",
		.min = 1, .max = INT64_MAX),
	    SCHEMA_END,
	},
};

static const struct schema page = {
	SCHEMA_FIELDS{
	    RECORDS,
	    SCHEMA_MAY(
		"before", INT, "there are older ones: ask again with this"),
	    SCHEMA_END,
	},
};

const struct schema_field api_events_result = RESULT(page);

/* --- why ------------------------------------------------------------- */

const struct schema api_why_params = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("subject", STRING,
		"an assignment, a worker, a task, or a node of a plan (its "
		"id, or GOAL/NODE)"),
	    SCHEMA_END,
	},
};

static const struct schema reasons = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("subject", STRING, NULL),
	    { .name = "kind",
		.type = SCHEMA_STRING,
		.choices = (const char *const[]){ "assignment", "worker",
		    "task", "node", NULL },
		.help = "what it is" },
	    SCHEMA_MAY("assignment", STRING,
		"the one that the answers are about; absent if it has "
		"none"),
	    SCHEMA_MAY("goal", STRING, NULL),
	    SCHEMA_MAY("goal_title", STRING, NULL),
	    SCHEMA_MAY("node", STRING, NULL),
	    SCHEMA_MAY("worker", STRING, NULL),
	    SCHEMA_MAY("task", STRING, NULL),
	    SCHEMA_MAY("status", STRING, "of the assignment"),
	    SCHEMA_MAY("now", STRING,
		"what is true now: the status, or as what it landed"),
	    SCHEMA_MAY("stalled", STRING, "is it stalled, and why?"),
	    SCHEMA_MAY(
		"dispatch", STRING, "what was sent last, and was it received?"),
	    SCHEMA_MAY("backoff", STRING, "which back-off is active?"),
	    SCHEMA_MAY("progress", STRING, "what shows progress?"),
	    SCHEMA_IS("chain", LIST,
		"what happened, in words; the newest is last",
		.size = PLAN_LINE_MAX),
	    RECORDS,
	    SCHEMA_END,
	},
};

const struct schema_field api_why_result = RESULT(reasons);
