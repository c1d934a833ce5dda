/* SPDX-License-Identifier: ISC */

#include "report-make.h"
#include "report-money.h"
#include "report-shape.h"
#include "report-verdict.h"
#include "view-needs.h"

#define INT(member, words)                                           \
	{                                                            \
		.name = (member), .type = SHAPE_INT, .help = (words) \
	}
#define NULLABLE(member, kind, words)                                      \
	{                                                                  \
		.name = (member), .type = (kind), .flags = SHAPE_NULLABLE, \
		.help = (words)                                            \
	}
#define BOOL(member, words)                                           \
	{                                                             \
		.name = (member), .type = SHAPE_BOOL, .help = (words) \
	}
#define OBJECT(member, shape)                                          \
	{                                                              \
		.name = (member), .type = SHAPE_OBJECT, .of = &(shape) \
	}
#define LIST(member, shape, words)                                     \
	{                                                              \
		.name = (member), .type = SCHEMA_ROWS, .of = &(shape), \
		.help = (words)                                        \
	}
#define END                  \
	{                    \
		.name = NULL \
	}
#define FIELDS (const struct schema_field[])

static const struct schema verdict = {
	.fields =
	    FIELDS{
		{ .name = "level",
		    .type = SHAPE_STRING,
		    .choices = report_levels },
		{ .name = "words",
		    .type = SHAPE_STRING,
		    .help = "how it went, in one sentence" },
		END,
	    },
};

static const struct schema task = {
	.fields =
	    FIELDS{
		{ .name = "id", .type = SHAPE_STRING },
		NULLABLE("title", SHAPE_STRING, NULL),
		NULLABLE("outcome", SHAPE_STRING, "null: it has not ended"),
		NULLABLE("step", SHAPE_STRING, NULL),
		NULLABLE("commit", SHAPE_STRING, "that it landed as"),
		NULLABLE("worker", SHAPE_STRING, "that had it last"),
		NULLABLE("run_id", SHAPE_STRING, NULL),
		INT("attempts", NULL),
		INT("turns", NULL),
		NULLABLE("finished_unix", SHAPE_INT, NULL),
		NULLABLE("wall_ms", SHAPE_INT, "from its creation to its end"),
		NULLABLE("cost_micros", SHAPE_INT,
		    "millionths of a dollar; null: not known"),
		NULLABLE("cost_source", SHAPE_STRING,
		    "unknown, estimate or reported"),
		NULLABLE("lines_added", SHAPE_INT, "null: not known"),
		NULLABLE("lines_removed", SHAPE_INT, NULL),
		NULLABLE("reason", SHAPE_STRING, "why it failed"),
		NULLABLE("last_words", SHAPE_STRING, "of its agent"),
		INT("worked_ms", "what was worked on it in this period"),
		{ .name = "finished_ms",
		    .type = SHAPE_INT,
		    .flags = SHAPE_OPTIONAL },
		END,
	    },
};
static const struct schema uses = {
	.fields = &(const struct schema_field){ .type = SHAPE_INT,
	    .help = "milliseconds" },
};
static const struct schema titles = {
	.fields = &(const struct schema_field){ .type = SHAPE_STRING },
};
static const struct schema worker = {
	.fields =
	    FIELDS{
		{ .name = "worker", .type = SHAPE_STRING },
		INT("worker_ms", "the sum of its rows"),
		{ .name = "rows", .type = SHAPE_MAP, .of = &uses },
		END,
	    },
};
static const struct schema time_shape = {
	.fields =
	    FIELDS{
		INT("workers", "that existed"),
		INT("worker_ms", "their time: the sum of the rows"),
		INT("wall_ms", "of the period"),
		{ .name = "rows",
		    .type = SHAPE_MAP,
		    .of = &uses,
		    .help = "what that time was used for" },
		{ .name = "titles",
		    .type = SHAPE_MAP,
		    .of = &titles,
		    .help = "what these are called" },
		LIST("by_worker", worker, NULL),
		END,
	    },
};

static const struct schema bars = {
	.fields = &(const struct schema_field){ .type = SHAPE_INT },
};
static const struct schema series = {
	.fields =
	    FIELDS{
		INT("step_ms", "length of one element"),
		{ .name = "landed",
		    .type = SHAPE_ARRAY,
		    .of = &bars,
		    .help = "tasks, from the beginning of the period" },
		{ .name = "not_landed", .type = SHAPE_ARRAY, .of = &bars },
		END,
	    },
};

static const struct schema check = {
	.fields =
	    FIELDS{
		{ .name = "command", .type = SHAPE_STRING },
		INT("trees", "that it has judged"),
		INT("flaky_trees",
		    "of them, those that both failed and passed"),
		BOOL("flaky_alarm", "that is too many"),
		END,
	    },
};

static const struct schema landing = {
	.fields =
	    FIELDS{
		INT("queue", "what waits to land now"),
		BOOL("red", "the branch itself fails its check"),
		{ .name = "checks",
		    .type = SHAPE_MAP,
		    .of = &bars,
		    .help = "checks of the period by their result" },
		{ .name = "check",
		    .type = SHAPE_OBJECT,
		    .flags = SHAPE_NULLABLE,
		    .of = &check,
		    .help = "null: no check command is set" },
		END,
	    },
};

static const struct schema repair = {
	.fields =
	    FIELDS{
		INT("at_ms", NULL),
		{ .name = "kind", .type = SHAPE_STRING },
		NULLABLE("class", SHAPE_STRING, NULL),
		NULLABLE("words", SHAPE_STRING, NULL),
		NULLABLE("outcome", SHAPE_STRING, "of a repair"),
		INT("took_ms", NULL),
		NULLABLE("cost_micros", SHAPE_INT, "of a repair"),
		END,
	    },
};
static const struct schema intervention = {
	.fields =
	    FIELDS{
		INT("at_ms", NULL),
		{ .name = "type", .type = SHAPE_STRING },
		NULLABLE("worker", SHAPE_STRING, NULL),
		NULLABLE("task", SHAPE_STRING, NULL),
		NULLABLE("result", SHAPE_STRING, NULL),
		NULLABLE("class", SHAPE_STRING, "what was found"),
		NULLABLE("action", SHAPE_STRING, "what was done; log: nothing"),
		NULLABLE("words", SHAPE_STRING, NULL),
		END,
	    },
};
static const struct schema oversight_counts = {
	.fields =
	    FIELDS{
		INT("detections", NULL),
		INT("interventions", "those with an action"),
		END,
	    },
};
static const struct schema left_off = {
	.fields =
	    FIELDS{
		INT("landed", NULL),
		INT("not_landed", NULL),
		INT("open", NULL),
		INT("repairs", NULL),
		INT("oversight", NULL),
		END,
	    },
};

static const struct schema report = {
	.fields =
	    FIELDS{
		NULLABLE("project", SHAPE_STRING, NULL),
		NULLABLE("root", SHAPE_STRING, NULL),
		NULLABLE("branch", SHAPE_STRING, NULL),
		NULLABLE("made_unix", SHAPE_INT, NULL),
		OBJECT("period", report_period_schema),
		OBJECT("verdict", verdict),
		LIST("needs", view_need_schema, "what needs a person now"),
		OBJECT("counts", report_counts_schema),
		LIST("landed", task, "with those that needed no change"),
		LIST("not_landed", task, NULL),
		LIST("open", task, NULL),
		OBJECT("money", report_money_schema),
		OBJECT("time", time_shape),
		OBJECT("series", series),
		OBJECT("landing", landing),
		LIST("repairs", repair, "failures of llmc, and repairs"),
		LIST("oversight", intervention, NULL),
		OBJECT("oversight_counts", oversight_counts),
		{ .name = "notes",
		    .type = SCHEMA_LIST,
		    .help = "what is estimated or not known" },
		OBJECT("left_off", left_off),
		END,
	    },
};

const struct schema_field report_shape = { .type = SHAPE_OBJECT,
	.of = &report };
