/* SPDX-License-Identifier: ISC */

#include <stdint.h>

#include "api-shape.h"
#include "api-store.h"
#include "api.h"
#include "event.h"

#define COUNT(member, words) MAY(member, SHAPE_INT, words)
#define WORDS(member, words)                                                  \
	{                                                                     \
		.name = (member), .type = SCHEMA_LIST, .size = PLAN_LINE_MAX, \
		.max = 100, .flags = SHAPE_OPTIONAL, .help = (words)          \
	}
#define RECORDS                                                              \
	{                                                                    \
		.name = "events", .type = SHAPE_ARRAY, .of = &event_records, \
		.help = "the oldest is first"                                \
	}

static const struct schema event_records = { .fields = &event_record_schema };

/* --- jobs ------------------------------------------------------------ */

const struct schema api_store_file_params = {
	.fields = FIELDS{ FIELD("file", SHAPE_STRING, "its whole path"), END },
};

const struct schema api_store_compact_params = {
	.fields =
	    FIELDS{
		{ .name = "older_than",
		    .type = SHAPE_INT,
		    .min = 0,
		    .max = INT32_MAX,
		    .flags = SHAPE_OPTIONAL,
		    .help = "seconds: younger events stay as they are; if "
			    "absent, 30 days" },
		END,
	    },
};

static const struct schema report = {
	.fields =
	    FIELDS{
		MAY("ok", SHAPE_BOOL, "check: nothing is wrong"),
		COUNT("records",
		    "goals, nodes, assignments, dispatches, "
		    "crystallizations, mail, requests and reservations"),
		COUNT("events", NULL),
		WORDS("problems", "check: what is wrong, the first 100"),
		MAY("file", SHAPE_STRING,
		    "export: that was written; recover: the damaged store"),
		COUNT("refused", "recover: rows that are no records"),
		COUNT("gaps", "recover: places that could not be read"),
		COUNT("removed", "compact: events that were replaced"),
		COUNT("milestones", "compact: what they were replaced by"),
		COUNT("ended",
		    "compact: mail, requests and reservations that were "
		    "removed"),
		END,
	    },
};

const struct schema_field api_store_result = RESULT(report);

/* --- events ---------------------------------------------------------- */

const struct schema api_events_params = {
	.fields =
	    FIELDS{
		MAY("goal", SHAPE_STRING,
		    "only of this goal: its id, or a part of it that no other "
		    "has"),
		WORDS("workers", "only about one of these workers"),
		WORDS("tasks", "only about one of these tasks"),
		WORDS("kinds", "only of one of these types"),
		{ .name = "lines",
		    .type = SHAPE_INT,
		    .min = 1,
		    .max = API_EVENTS_MAX,
		    .flags = SHAPE_OPTIONAL,
		    .help = "how many at most; the newest" },
		{ .name = "before",
		    .type = SHAPE_INT,
		    .min = 1,
		    .max = INT64_MAX,
		    .flags = SHAPE_OPTIONAL,
		    .help = "only older ones than in that answer" },
		END,
	    },
};

static const struct schema page = {
	.fields =
	    FIELDS{
		RECORDS,
		MAY("before", SHAPE_INT,
		    "there are older ones: ask again with this"),
		END,
	    },
};

const struct schema_field api_events_result = RESULT(page);

/* --- why ------------------------------------------------------------- */

const struct schema api_why_params = {
	.fields =
	    FIELDS{
		FIELD("subject", SHAPE_STRING,
		    "an assignment, a worker, a task, or a node of a plan (its "
		    "id, or GOAL/NODE)"),
		END,
	    },
};

static const struct schema reasons = {
	.fields =
	    FIELDS{
		FIELD("subject", SHAPE_STRING, NULL),
		{ .name = "kind",
		    .type = SHAPE_STRING,
		    .choices = (const char *const[]){ "assignment", "worker",
			"task", "node", NULL },
		    .help = "what it is" },
		MAY("assignment", SHAPE_STRING,
		    "the one that the answers are about; absent if it has "
		    "none"),
		MAY("goal", SHAPE_STRING, NULL),
		MAY("goal_title", SHAPE_STRING, NULL),
		MAY("node", SHAPE_STRING, NULL),
		MAY("worker", SHAPE_STRING, NULL),
		MAY("task", SHAPE_STRING, NULL),
		MAY("status", SHAPE_STRING, "of the assignment"),
		MAY("now", SHAPE_STRING,
		    "what is true now: the status, or as what it landed"),
		MAY("stalled", SHAPE_STRING, "is it stalled, and why?"),
		MAY("dispatch", SHAPE_STRING,
		    "what was sent last, and was it received?"),
		MAY("backoff", SHAPE_STRING, "which back-off is active?"),
		MAY("progress", SHAPE_STRING, "what shows progress?"),
		{ .name = "chain",
		    .type = SCHEMA_LIST,
		    .size = PLAN_LINE_MAX,
		    .help = "what happened, in words; the newest is last" },
		RECORDS,
		END,
	    },
};

const struct schema_field api_why_result = RESULT(reasons);
