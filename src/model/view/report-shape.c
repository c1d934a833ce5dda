/* SPDX-License-Identifier: ISC */

#include "report-make.h"
#include "report-money.h"
#include "report-shape.h"
#include "report-verdict.h"
#include "view-needs.h"

#define INT(member, words)                                            \
	{                                                             \
		.name = (member), .type = SCHEMA_INT, .help = (words) \
	}
#define NULLABLE(member, kind, words)                                       \
	{                                                                   \
		.name = (member), .type = (kind), .flags = SCHEMA_NULLABLE, \
		.help = (words)                                             \
	}
#define BOOL(member, words)                                            \
	{                                                              \
		.name = (member), .type = SCHEMA_BOOL, .help = (words) \
	}
#define OBJECT(member, shape)                                           \
	{                                                               \
		.name = (member), .type = SCHEMA_OBJECT, .of = &(shape) \
	}
#define LIST(member, shape, words)                                     \
	{                                                              \
		.name = (member), .type = SCHEMA_ROWS, .of = &(shape), \
		.help = (words)                                        \
	}

static const struct schema verdict = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("level", STRING, NULL, .choices = report_levels),
	    SCHEMA_IS("words", STRING, "how it went, in one sentence"),
	    SCHEMA_END,
	},
};

static const struct schema task = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("id", STRING, NULL),
	    NULLABLE("title", SCHEMA_STRING, NULL),
	    NULLABLE("outcome", SCHEMA_STRING, "null: it has not ended"),
	    NULLABLE("step", SCHEMA_STRING, NULL),
	    NULLABLE("commit", SCHEMA_STRING, "that it landed as"),
	    NULLABLE("worker", SCHEMA_STRING, "that had it last"),
	    NULLABLE("run_id", SCHEMA_STRING, NULL),
	    INT("attempts", NULL),
	    INT("turns", NULL),
	    NULLABLE("finished_unix", SCHEMA_INT, NULL),
	    NULLABLE("wall_ms", SCHEMA_INT, "from its creation to its end"),
	    NULLABLE("cost_micros", SCHEMA_INT,
		"millionths of a dollar; null: not known"),
	    NULLABLE(
		"cost_source", SCHEMA_STRING, "unknown, estimate or reported"),
	    NULLABLE("lines_added", SCHEMA_INT, "null: not known"),
	    NULLABLE("lines_removed", SCHEMA_INT, NULL),
	    NULLABLE("reason", SCHEMA_STRING, "why it failed"),
	    NULLABLE("last_words", SCHEMA_STRING, "of its agent"),
	    INT("worked_ms", "what was worked on it in this period"),
	    SCHEMA_MAY("finished_ms", INT, NULL),
	    SCHEMA_END,
	},
};
static const struct schema uses = {
	.fields = &(const struct schema_field){ .type = SCHEMA_INT,
	    .help = "milliseconds" },
};
static const struct schema titles = {
	.fields = &(const struct schema_field){ .type = SCHEMA_STRING },
};
static const struct schema worker = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("worker", STRING, NULL),
	    INT("worker_ms", "the sum of its rows"),
	    SCHEMA_IS("rows", MAP, NULL, .of = &uses),
	    SCHEMA_END,
	},
};
static const struct schema time_shape = {
	SCHEMA_FIELDS{
	    INT("workers", "that existed"),
	    INT("worker_ms", "their time: the sum of the rows"),
	    INT("wall_ms", "of the period"),
	    SCHEMA_IS("rows", MAP, "what that time was used for", .of = &uses),
	    SCHEMA_IS("titles", MAP, "what these are called", .of = &titles),
	    LIST("by_worker", worker, NULL),
	    SCHEMA_END,
	},
};

static const struct schema bars = {
	.fields = &(const struct schema_field){ .type = SCHEMA_INT },
};
static const struct schema series = {
	SCHEMA_FIELDS{
	    INT("step_ms", "length of one element"),
	    SCHEMA_IS("landed", ARRAY,
		"tasks, from the beginning of the period", .of = &bars),
	    SCHEMA_IS("not_landed", ARRAY, NULL, .of = &bars),
	    SCHEMA_END,
	},
};

static const struct schema check = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("command", STRING, NULL),
	    INT("trees", "that it has judged"),
	    INT("flaky_trees", "of them, those that both failed and passed"),
	    BOOL("flaky_alarm", "that is too many"),
	    SCHEMA_END,
	},
};

static const struct schema landing = {
	SCHEMA_FIELDS{
	    INT("queue", "what waits to land now"),
	    BOOL("red", "the branch itself fails its check"),
	    SCHEMA_IS("checks", MAP, "checks of the period by their result",
		.of = &bars),
	    SCHEMA_OR_NULL(
		"check", OBJECT, "null: no check command is set", .of = &check),
	    SCHEMA_END,
	},
};

static const struct schema repair = {
	SCHEMA_FIELDS{
	    INT("at_ms", NULL),
	    SCHEMA_IS("kind", STRING, NULL),
	    NULLABLE("class", SCHEMA_STRING, NULL),
	    NULLABLE("words", SCHEMA_STRING, NULL),
	    NULLABLE("outcome", SCHEMA_STRING, "of a repair"),
	    INT("took_ms", NULL),
	    NULLABLE("cost_micros", SCHEMA_INT, "of a repair"),
	    SCHEMA_END,
	},
};
static const struct schema intervention = {
	SCHEMA_FIELDS{
	    INT("at_ms", NULL),
	    SCHEMA_IS("type", STRING, NULL),
	    NULLABLE("worker", SCHEMA_STRING, NULL),
	    NULLABLE("task", SCHEMA_STRING, NULL),
	    NULLABLE("result", SCHEMA_STRING, NULL),
	    NULLABLE("class", SCHEMA_STRING, "what was found"),
	    NULLABLE("action", SCHEMA_STRING, "what was done; log: nothing"),
	    NULLABLE("words", SCHEMA_STRING, NULL),
	    SCHEMA_END,
	},
};
static const struct schema oversight_counts = {
	SCHEMA_FIELDS{
	    INT("detections", NULL),
	    INT("interventions", "those with an action"),
	    SCHEMA_END,
	},
};
static const struct schema left_off = {
	SCHEMA_FIELDS{
	    INT("landed", NULL),
	    INT("not_landed", NULL),
	    INT("open", NULL),
	    INT("repairs", NULL),
	    INT("oversight", NULL),
	    SCHEMA_END,
	},
};

static const struct schema report = {
	SCHEMA_FIELDS{
	    NULLABLE("project", SCHEMA_STRING, NULL),
	    NULLABLE("root", SCHEMA_STRING, NULL),
	    NULLABLE("branch", SCHEMA_STRING, NULL),
	    NULLABLE("made_unix", SCHEMA_INT, NULL),
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
	    SCHEMA_IS("notes", LIST, "what is estimated or not known"),
	    OBJECT("left_off", left_off),
	    SCHEMA_END,
	},
};

const struct schema_field report_shape = { .type = SCHEMA_OBJECT,
	.of = &report };
